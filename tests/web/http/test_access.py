"""Who may read: the real server on a real port, with files as an operator writes them."""

import base64
import json
import logging
import os
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import bcrypt
import httpx
import pytest
from msgspec.structs import replace

from monitor.model import WarmUpProgress
from monitor.web.http import access_files
from monitor.web.http.access_files import AccessFiles, WatchedAccess
from monitor.web.http.web_config import WebConfig, read_web_config
from monitor.web.server import AccessUnusable, HttpServer, ListenError
from tests.support import plain_http
from tests.support.job_process import eventually
from tests.web.examples import Served, orders, ready_cluster, snapshot
from tests.web.http.certificates import Authority
from tests.web.http.raw_client import connected, is_ended
from tests.web.problems import problem

OLD, NEW = "old-token-0123456789", "new-token-0123456789"


def hashed(password: str, cost: int = 4) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(cost)).decode()


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., AccessFiles]:
    """Writes the files anew, as tools do it: another file takes the place of the old one."""

    def written(config: dict[str, object] | None = None, tokens: str | None = None) -> AccessFiles:
        return AccessFiles(
            web_config_file=None if config is None else secret(tmp_path / "web.yml", json.dumps(config)),
            token_file=None if tokens is None else secret(tmp_path / "tokens", tokens),
        )

    return written


def users(*names: str) -> dict[str, object]:
    return {"basic_auth_users": {name: hashed(name) for name in names}}


def secret(path: Path, text: str) -> Path:
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o600)
    fresh.replace(path)
    return path


@contextmanager
def serving(access: AccessFiles, **options):
    with HttpServer(Served(snapshot(ready_cluster(orders()))), port=0, access=access, **options) as server:
        yield server


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def status(server: HttpServer, headers: dict[str, str] | None = None, path: str = "/metrics", **options) -> int:
    with plain_http.client(timeout=60, **options) as client:
        return client.get(server.url + path, headers=headers).status_code


@pytest.mark.parametrize("path", ["/metrics", "/", "/api/v1/groups", "/api/v1/snapshot", "/style.css", "/absent"])
def test_nothing_but_the_probes_is_served_without_credentials(files, path):
    with serving(files(tokens=OLD)) as server:
        answer = plain_http.get(server.url + path)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="groupwatch"'
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "orders" not in answer.text


def test_an_answer_without_credentials_under_api_is_json(files):
    with serving(files(tokens=OLD)) as server:
        assert plain_http.get(f"{server.url}/api/v1/groups").json() == problem(401, "Credentials are required.")


def test_probes_are_open_and_name_no_cluster_to_strangers(files):
    waiting = replace(ready_cluster(orders()), ready=False, problem="Kafka at 10.0.0.1 refuses us.")
    with HttpServer(Served(snapshot(waiting)), port=0, access=files(tokens=OLD)) as server:
        assert plain_http.get(f"{server.url}/healthz").text == "ok\n"
        stranger = plain_http.get(f"{server.url}/readyz")
        assert (stranger.status_code, stranger.text) == (503, "not ready\n")
        known = plain_http.get(f"{server.url}/readyz", headers=bearer(OLD))
        assert (known.status_code, known.text) == (503, "main: Kafka at 10.0.0.1 refuses us.\n")
        assert plain_http.get(f"{server.url}/readyz", headers=bearer(NEW)).status_code == 401
        assert plain_http.head(f"{server.url}/readyz").headers["content-length"] == "10"


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        pytest.param(basic("alice", "wonder"), 200, id="a user"),
        pytest.param(basic("bob", "a:b:ü"), 200, id="a password with colons and other letters"),
        pytest.param(basic("carol", "x" * 72 + "ignored"), 200, id="bcrypt looks at 72 bytes"),
        pytest.param(bearer(OLD), 200, id="a token"),
        pytest.param({"Authorization": f"bEaReR {NEW}"}, 200, id="another one; schemes have no case"),
        pytest.param(basic("alice", "wonderland"), 401, id="another password"),
        pytest.param(basic("alice", ""), 401, id="no password"),
        pytest.param(basic("mallory", "wonder"), 401, id="nobody"),
        pytest.param(basic("", ""), 401, id="empty"),
        pytest.param(basic("alice", "wonder\0"), 401, id="a NUL"),
        pytest.param(bearer(OLD[:-1]), 401, id="a part of a token"),
        pytest.param(bearer("# a comment"), 401, id="a comment is no token"),
        pytest.param({"Authorization": "Bearer"}, 401, id="no token"),
        pytest.param({"Authorization": "Basic !!!"}, 401, id="not base64"),
        pytest.param({"Authorization": "Basic YWxpY2U="}, 401, id="no colon"),
        pytest.param({"Authorization": "Digest alice"}, 401, id="another scheme"),
        pytest.param({"Authorization": ""}, 401, id="an empty header"),
        pytest.param({}, 401, id="nothing"),
    ],
)
def test_who_is_served(guarded, shown, wanted):
    assert status(guarded, shown) == wanted


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    users = {"alice": hashed("wonder"), "bob": hashed("a:b:ü"), "carol": hashed("x" * 72)}
    users["alice"] = users["alice"].replace("$2b$", "$2y$")  # as htpasswd writes it
    config = secret(folder / "web.yml", json.dumps({"basic_auth_users": users}))
    tokens = secret(folder / "tokens", f"# a comment\n\n{OLD}\n  {NEW}\n")
    with serving(AccessFiles(web_config_file=config, token_file=tokens)) as server:
        yield server


def test_two_authorizations_at_once_are_none(guarded):
    both = [("Authorization", f"Bearer {OLD}"), ("Authorization", f"Bearer {OLD}")]
    assert plain_http.get(f"{guarded.url}/metrics", headers=both).status_code == 401


def test_a_user_that_was_right_once_is_not_checked_again(files):
    """Cost 12 takes 4,096 rounds of bcrypt, some 200 ms of CPU; the second scrape needs none of them."""
    with (
        serving(files({"basic_auth_users": {"alice": hashed("wonder", 12)}})) as server,
        plain_http.client(timeout=60) as client,
    ):

        def cpu_s() -> float:
            began = time.process_time()
            assert client.get(f"{server.url}/metrics", headers=basic("alice", "wonder")).status_code == 200
            return time.process_time() - began

        first = cpu_s()
        assert min(cpu_s() for _ in range(5)) < first / 2


def test_a_flood_of_wrong_passwords_does_not_keep_out_who_was_right_before(files):
    access = files({"basic_auth_users": {"alice": hashed("wonder", 8)}})
    with serving(access) as server:
        assert status(server, basic("alice", "wonder")) == 200
        seen: list[int] = []

        def guess(number: int) -> None:
            seen.extend(status(server, basic("alice", f"{number}-{guess}")) for guess in range(10))

        threads = [threading.Thread(target=guess, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        assert [status(server, basic("alice", "wonder")) for _ in range(20)] == [200] * 20
        for thread in threads:
            thread.join()
    assert set(seen) == {401, 429}
    assert seen.count(401) <= 10 + 5  # ten at once, and one more each six seconds


def test_tokens_are_changed_without_a_restart(files):
    with serving(files(tokens=OLD)) as server:
        files(tokens=f"{OLD}\n{NEW}\n")
        eventually(lambda: status(server, bearer(NEW)) == 200, "the new token", 30)
        assert status(server, bearer(OLD)) == 200
        files(tokens=NEW)
        eventually(lambda: status(server, bearer(OLD)) == 401, "the end of the old token", 30)
        assert status(server, bearer(NEW)) == 200


def test_a_user_who_is_taken_away_while_the_file_is_read_is_away_with_the_next_look(files, monkeypatch):
    """The file is put in its place between its reading and what else there is to read."""
    watched = WatchedAccess(files(users("alice", "mallory")))

    def while_it_is_read(path: Path) -> WebConfig:
        found = read_web_config(path)
        files(users("alice"))
        return found

    files(users("alice", "mallory", "bob"))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(access_files, "read_web_config", while_it_is_read)
        watched.refresh()
    assert set(watched.current.credentials.users) == {"alice", "mallory", "bob"}
    watched.refresh()
    assert set(watched.current.credentials.users) == {"alice"}


@pytest.mark.parametrize("broken", ["", "short", "a token with spaces in it"])
def test_a_broken_file_of_tokens_is_told_once_and_opens_nothing(files, caplog, broken):
    with serving(files(tokens=OLD)) as server, caplog.at_level(logging.ERROR):
        files(tokens=broken)
        eventually(lambda: caplog.messages, "an error in the log", 30)
        assert status(server) == 401
        assert status(server, bearer(OLD)) == 200
        files(tokens=NEW)
        eventually(lambda: status(server, bearer(NEW)) == 200, "the mended file", 30)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].endswith("The previous version stays in effect.")
    assert broken == "" or broken not in caplog.text


def test_users_that_vanish_open_nothing(files, caplog):
    with serving(files({"basic_auth_users": {"alice": hashed("wonder")}})) as server, caplog.at_level(logging.ERROR):
        files({})
        eventually(lambda: caplog.messages, "an error in the log", 30)
        assert status(server) == 401
        assert status(server, basic("alice", "wonder")) == 200
    assert "only a restart removes the access control" in caplog.text


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def pair(authority):
    return authority.sign("server")


def tls(pair: tuple[Path, Path], **more: object) -> dict[str, object]:
    return {"tls_server_config": {"cert_file": str(pair[0]), "key_file": str(pair[1]), **more}}


def trusting(authority: Authority, pair: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority.file)
    if pair is not None:
        context.load_cert_chain(*pair)
    return context


def test_tls_is_served_to_clients_that_check_the_certificate(files, authority, pair):
    with serving(files(tls(pair))) as server:
        assert server.url.startswith("https://")
        answer = httpx.get(f"{server.url}/metrics", verify=trusting(authority))
        assert answer.status_code == 200
        assert "groupwatch_up" in answer.text
        assert "Strict-Transport-Security" not in answer.headers
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            httpx.get(f"{server.url}/metrics")


def test_the_header_hsts_is_sent_where_the_file_has_it_and_over_tls_only(files, authority, pair):
    headers = {"http_server_config": {"headers": {"Strict-Transport-Security": "max-age=60"}}}
    with serving(files(tls(pair) | headers)) as server:
        answer = httpx.get(f"{server.url}/metrics", verify=trusting(authority))
        assert answer.headers["Strict-Transport-Security"] == "max-age=60"
    with serving(files(headers)) as server:
        assert "Strict-Transport-Security" not in httpx.get(f"{server.url}/metrics").headers


def test_who_speaks_no_tls_gets_nothing_and_disturbs_nobody(files, authority, pair, caplog):
    with serving(files(tls(pair))) as server:
        for said in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01garbage" * 100, b"\0" * 5000):
            with connected(server) as client:
                client.sendall(said)
                eventually(lambda client=client: is_ended(client), "the end of the connection", 30)
        assert status(server, verify=trusting(authority)) == 200
    assert not caplog.messages


def test_only_a_certificate_of_the_client_ca_is_served_where_one_is_required(tmp_path, files, authority, pair):
    mine = authority.sign("mine")
    stranger = Authority(tmp_path, "other").sign("stranger")
    wanted = tls(pair, client_auth_type="RequireAndVerifyClientCert", client_ca_file=str(authority.file))
    with serving(files(wanted)) as server:
        assert status(server, verify=trusting(authority, mine)) == 200
        for shown in (None, stranger):
            with pytest.raises(httpx.TransportError):
                status(server, verify=trusting(authority, shown))


def test_a_certificate_that_has_ended_is_not_served_as_a_client(files, authority, pair):
    ended = authority.sign("ended", days=-1)
    wanted = tls(pair, client_auth_type="VerifyClientCertIfGiven", client_ca_file=str(authority.file))
    with serving(files(wanted)) as server:
        assert status(server, verify=trusting(authority)) == 200
        with pytest.raises(httpx.TransportError):
            status(server, verify=trusting(authority, ended))


def test_a_certificate_is_renewed_without_a_restart_and_open_connections_go_on(tmp_path, files, authority):
    first, second = authority.sign("first"), authority.sign("second")
    used = tmp_path / "used.pem", tmp_path / "used.key"

    def use(pair: tuple[Path, Path]) -> None:
        for place, file in zip(used, pair, strict=True):
            fresh = place.with_suffix(".fresh")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(file)
            fresh.replace(place)

    use(first)
    with serving(files(tls(used))) as server, httpx.Client(verify=trusting(authority)) as open_before:
        assert open_before.get(f"{server.url}/healthz").status_code == 200
        assert name_of(server, authority) == "first"
        use(second)
        eventually(lambda: name_of(server, authority) == "second", "the second certificate", 30)
        assert open_before.get(f"{server.url}/healthz").status_code == 200


def name_of(server: HttpServer, authority: Authority) -> str:
    with connected(server) as plain, trusting(authority).wrap_socket(plain, server_hostname="127.0.0.1") as client:
        shown = client.getpeercert()
        assert shown is not None
        return shown["subject"][0][0][1]


def test_a_server_of_tls_13_refuses_older_clients(files, authority, pair):
    older = trusting(authority)
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    with serving(files(tls(pair, min_version="TLS13"))) as server:
        assert status(server, verify=trusting(authority)) == 200
        with pytest.raises(httpx.ConnectError):
            status(server, verify=older)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        pytest.param({"tls_server_confg": {}}, r"unknown field `tls_server_confg`", id="a misspelt section"),
        pytest.param(
            tls(("a", "b"), cert="x"), r"tls_server_config\.cert is not supported: use cert_file", id="inline"
        ),
        pytest.param(tls(("a", "b"), client_allowed_sans=["x"]), r"client_allowed_sans is not supported", id="sans"),
        pytest.param(tls(("a", "b"), cipher_suites=[]), r"cipher_suites is not supported", id="ciphers"),
        pytest.param(tls(("a", "b"), min_version="TLS10"), r"min_version should be TLS12 or TLS13", id="old TLS"),
        pytest.param(tls(("a", "b"), client_auth_type="RequestClientCert"), r"checks nothing", id="unchecked"),
        pytest.param(tls(("a", "b"), client_auth_type="Maybe"), r"client_auth_type is not known", id="unknown"),
        pytest.param(
            tls(("a", "b"), client_auth_type="RequireAndVerifyClientCert"), r"are required together", id="no client CA"
        ),
        pytest.param(
            tls(("a", "b"), client_ca_file="ca"), r"are required together", id="a client CA that nobody asks for"
        ),
        pytest.param({"tls_server_config": {"cert_file": "a"}}, r"missing required field `key_file`", id="no key"),
        pytest.param(tls(("absent", "b")), r"absent cannot be read \(No such file", id="an absent certificate"),
        pytest.param({"basic_auth_users": {"alice": "wonder"}}, r"alice should be a bcrypt hash", id="a password"),
        pytest.param({"basic_auth_users": {"a:b": "x"}}, r"a name that is empty or has a colon", id="a colon"),
        pytest.param(
            {"basic_auth_users": {"a": "$2b$31$" + "x" * 53}}, r"has the cost 31; 4 to 16 are supported", id="too hard"
        ),
        pytest.param({"basic_auth_users": ["alice"]}, r"Expected `object \| null`, got `array`", id="a list"),
        pytest.param({"rate_limit": {"burst": 1}}, r"rate_limit is not supported", id="a rate limit"),
        pytest.param({"http_server_config": {"http2": True}}, r"http2 is not served", id="HTTP/2"),
        pytest.param({"http_server_config": {"headers": {"X-Frame-Options": "deny"}}}, r"unknown field", id="a header"),
    ],
)
def test_what_is_not_served_is_refused_in_a_sentence_before_the_port_is_taken(files, config, sentence):
    with pytest.raises(AccessUnusable, match=sentence) as caught:
        HttpServer(Served(snapshot()), port=0, access=files(config)).start()
    assert isinstance(caught.value, ListenError)
    assert "wonder" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["basic_auth_users: {alice: wonder", "a: *wonder", "\0", "- wonder", "a: !!python/x y"]
)
def test_text_that_is_no_configuration_is_told_without_showing_it(tmp_path, text):
    file = secret(tmp_path / "web.yml", text)
    with pytest.raises(AccessUnusable) as caught:
        HttpServer(Served(snapshot()), port=0, access=AccessFiles(web_config_file=file)).start()
    assert "wonder" not in str(caught.value)


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        ("", "has no token"),
        ("# only words\n", "has no token"),
        ("one-token-0123456789\nshort\n", r"line 2: a token has at least 16 characters"),
        ("a token with spaces\n", r"line 1: a token has letters, digits and"),
    ],
)
def test_a_file_of_tokens_that_cannot_be_used_is_refused(files, tokens, sentence):
    with pytest.raises(AccessUnusable, match=sentence):
        HttpServer(Served(snapshot()), port=0, access=files(tokens=tokens)).start()


def test_absent_files_are_refused(tmp_path):
    for files in (AccessFiles(token_file=tmp_path / "x"), AccessFiles(web_config_file=tmp_path / "x")):
        with pytest.raises(AccessUnusable, match=r"x cannot be read \(No such file or directory\)"):
            HttpServer(Served(snapshot()), port=0, access=files).start()


def test_a_key_of_another_certificate_and_one_with_a_passphrase_are_refused(tmp_path, files, authority, pair):
    other = authority.sign("other")
    with pytest.raises(AccessUnusable, match="cannot serve TLS"):
        HttpServer(Served(snapshot()), port=0, access=files(tls((pair[0], other[1])))).start()
    locked = tmp_path / "locked.key"
    os.system(f"openssl ec -in {pair[1]} -out {locked} -aes128 -passout pass:tiger 2>/dev/null")
    with pytest.raises(AccessUnusable, match="cannot serve TLS"):
        HttpServer(Served(snapshot()), port=0, access=files(tls((pair[0], locked)))).start()


def test_files_of_secrets_that_everybody_may_open_are_warned_of(files, caplog):
    access = files({"basic_auth_users": {"alice": hashed("wonder")}}, tokens=OLD)
    for file in (access.web_config_file, access.token_file):
        file.chmod(0o644)
    with serving(access):
        pass
    assert [message.split(",")[0] for message in caplog.messages] == [
        f"Every user of this machine may open {access.token_file}",
        f"Every user of this machine may open {access.web_config_file}",
    ]


@pytest.mark.parametrize(
    ("host", "tokens", "warning"),
    [
        ("127.0.0.1", None, None),
        ("localhost", None, None),
        ("::1", None, None),
        ("0.0.0.0", None, "Any client that can reach 0.0.0.0 has access without a password"),
        ("0.0.0.0", OLD, "Credentials cross the network to 0.0.0.0 as plain text"),
    ],
)
def test_an_address_that_others_can_reach_is_warned_of_once(files, caplog, host, tokens, warning):
    with serving(files(tokens=tokens), host=host):
        pass
    if warning is None:
        assert not caplog.messages
    else:
        assert len(caplog.messages) == 1
        assert caplog.messages[0].startswith(warning)


def test_tls_alone_keeps_nobody_out_and_a_certificate_that_has_to_be_shown_does(files, authority, pair, caplog):
    optional = {"client_ca_file": str(authority.file), "client_auth_type": "VerifyClientCertIfGiven"}
    for more in ({}, optional):
        with serving(files(tls(pair, **more)), host="0.0.0.0"):
            pass
        assert [message.split(";")[0] for message in caplog.messages] == [
            "Any client that can reach 0.0.0.0 has access without a password"
        ]
        caplog.clear()
    with serving(files(tls(pair, **optional | {"client_auth_type": "RequireAndVerifyClientCert"})), host="0.0.0.0"):
        pass
    assert not caplog.messages


def test_secrets_are_in_no_text_of_what_holds_them(files):
    """What a debugger, a traceback or a log line would show."""
    from monitor.web.http.access_files import WatchedAccess  # noqa: PLC0415
    from monitor.web.http.web_config import read_web_config  # noqa: PLC0415

    alice = hashed("wonder")
    access = files({"basic_auth_users": {"alice": alice}}, tokens=OLD)
    watched = WatchedAccess(access)
    shown = repr(watched.current.credentials) + repr(read_web_config(access.web_config_file)) + repr(access)
    assert alice not in shown
    assert OLD not in shown
    assert watched.current.credentials.has_token(OLD)


def test_a_collecting_process_is_guarded_alike(files):
    from monitor.web.collect_app import create_collect_app  # noqa: PLC0415

    with HttpServer(create_collect_app(lambda: ()), port=0, access=files(tokens=OLD)) as server:
        assert status(server) == 401
        assert status(server, bearer(OLD)) == 200
        assert status(server, path="/healthz") == 200


def test_the_progress_of_a_start_is_for_who_may_read(files):
    waiting = replace(ready_cluster(orders()), ready=False, warm_up=WarmUpProgress(total=10, remaining=4))
    with HttpServer(Served(snapshot(waiting)), port=0, access=files(tokens=OLD)) as server:
        assert "4 of 10 offsets" in plain_http.get(f"{server.url}/readyz", headers=bearer(OLD)).text
