"""The commands against a job that is guarded: HTTPS with a certificate of its own CA, users and tokens."""

import json
from pathlib import Path

import bcrypt
import pytest

from monitor.web.http.access_files import AccessFiles
from monitor.web.server import HttpServer
from tests.cli.test_commands import SAVED, ask
from tests.support.answering import Answer, answering
from tests.web.examples import Served, offsets_only, ready_cluster, snapshot
from tests.web.http.certificates import Authority

TOKEN = "token-0123456789"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A folder with what a client needs, and the address of a job."""
    folder = tmp_path_factory.mktemp("guarded")
    certificate, key = Authority(folder).sign("server")
    users = {"alice": bcrypt.hashpw(b"wonder land", bcrypt.gensalt(4)).decode()}
    config = {"tls_server_config": {"cert_file": str(certificate), "key_file": str(key)}, "basic_auth_users": users}
    for name, text in {"web.yml": json.dumps(config), "tokens": TOKEN, "password": "wonder land\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    access = AccessFiles(web_config_file=folder / "web.yml", token_file=folder / "tokens")
    shown = snapshot(ready_cluster(offsets_only("g", "c"), cluster="c"))
    with HttpServer(Served(shown, {"c": SAVED}), port=0, access=access) as server:
        yield folder, server.url


@pytest.mark.parametrize("words", [("explain", "c", "g"), ("what-if", "c", "g"), ("snapshot",)])
@pytest.mark.parametrize("with_token", [True, False], ids=["token", "user"])
def test_a_guarded_job_answers_who_shows_what_it_wants(guarded, words, with_token):
    folder, url = guarded
    user = ("--user", "alice", "--password-file", f"{folder}/password")
    shown = ("--token-file", f"{folder}/tokens") if with_token else user
    answer = ask(*words, "--url", url, "--ca-file", f"{folder}/ca.pem", *shown)
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param((), "rejected the credentials, or requires some", id="nothing shown"),
        pytest.param(("--user", "bob", "--password-file", "{}/password"), "rejected the credentials", id="nobody"),
        pytest.param(("--user", "alice"), "--user and --password-file are required together.", id="no password"),
        pytest.param(
            ("--user", "a:b", "--password-file", "{}/password"), "--user must not contain a colon", id="a colon"
        ),
        pytest.param(("--token-file", "{}/absent"), "absent cannot be read (No such file", id="an absent file"),
        pytest.param(("--token-file", "{}/empty"), "empty has no token.", id="an empty file"),
        pytest.param(("--ca-file", "{}/password"), "password cannot be used (it has no certificate", id="no CA"),
        pytest.param(
            ("--token-file", "{}/tokens", "--user", "alice", "--password-file", "{}/password"), "not both", id="both"
        ),
    ],
)
def test_what_opens_nothing_is_one_sentence_and_code_2(guarded, options, sentence):
    folder, url = guarded
    (folder / "empty").write_text("# none\n")
    given = [option.format(folder) for option in ("--ca-file", "{}/ca.pem", *options)]
    answer = ask("explain", "c", "g", "--url", url, *given)
    assert answer.exit_code == 2
    assert sentence in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert "wonder" not in answer.stderr


def test_a_job_whose_certificate_nobody_signed_is_not_asked(guarded):
    folder, url = guarded
    answer = ask("explain", "c", "g", "--url", url, "--token-file", f"{folder}/tokens")
    assert answer.exit_code == 2
    assert f"Could not connect to {url}: its certificate is not trusted (" in answer.stderr
    assert answer.stderr.endswith("Name its CA with --ca-file or GROUPWATCH_CA_FILE.\n")


def test_a_token_is_not_carried_to_where_a_job_redirects(tmp_path: Path):
    seen: list[str] = []

    def elsewhere(path: str, _body: bytes) -> Answer:
        seen.append(path)
        return Answer(302, {"Location": "/elsewhere"})

    (tmp_path / "tokens").write_text(TOKEN)
    with answering(elsewhere) as address:
        answer = ask("explain", "c", "g", "--url", f"http://{address}", "--token-file", str(tmp_path / "tokens"))
    assert answer.exit_code == 2
    assert "responded with status 302" in answer.stderr
    assert "/elsewhere" not in seen
