"""Names as they are typed: the only cluster may be left out; variables name the job; a shell completes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from msgspec.structs import replace
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.cli.completion import plain_names
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.cli.test_commands import SAVED
from tests.web.api.api_example import Recorded
from tests.web.examples import HOSTILE_NAMES, Served, offsets_only, ready_cluster, snapshot
from tests.web.saved import Saved, pieces

MANY = Served(
    snapshot(ready_cluster(offsets_only("g", "c"), cluster="c"), ready_cluster(cluster="other")), {"c": SAVED}
)

SPAN = ("--since", "2026-11-22 02:00", "--until", "2026-11-22 03:00")


def ask(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(app, list(words), env=variables)


@pytest.fixture(scope="module")
def job() -> Iterator[str]:
    """The address of a job with one cluster."""
    names = ("g", "orders", "orders-eu", "$(reboot)", "ord;er", *HOSTILE_NAMES)
    cluster = ready_cluster(*(offsets_only(name, "c") for name in sorted(names)), cluster="c")
    with HttpServer(Served(snapshot(cluster), {"c": SAVED}), port=0) as server:
        yield server.url


@pytest.fixture(scope="module")
def job_of_two() -> Iterator[str]:
    """The address of a job with two clusters."""
    with HttpServer(MANY, port=0) as server:
        yield server.url


@pytest.mark.parametrize(
    "words", [("explain", "g"), ("explain", "g", "b", "1"), ("what-if", "g"), ("snapshot", "g")], ids=" ".join
)
def test_the_only_cluster_need_not_be_named(job, job_of_two, words: tuple[str, ...]):
    command, *names = words
    named = ask(command, "c", *names, "--url", job)
    assert named.exit_code == 0, named.stderr
    assert ask(*words, "--url", job).stdout == named.stdout
    refused = ask(*words, "--url", job_of_two)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == "groupwatch: Name the cluster, too; there are 2: c, other.\n"


def test_the_only_cluster_of_a_file_need_not_be_named(tmp_path: Path):
    file = tmp_path / "saved.jsonl"
    file.write_bytes(b"".join(pieces(SAVED)))
    named = ask("explain", "c", "g", "--snapshot", str(file))
    assert named.exit_code == 0
    assert ask("explain", "g", "--snapshot", str(file)).stdout == named.stdout


def test_one_name_of_a_report_is_a_cluster_or_else_a_group():
    cluster = ready_cluster(offsets_only("orders", "main"), cluster="main")
    with HttpServer(create_app(Served(snapshot(cluster)), past=Recorded()), port=0) as server:
        texts = {
            words: ask("report", *words, "--url", server.url, *SPAN)
            for words in ((), ("main",), ("orders",), ("main", "orders"))
        }
    assert {each.exit_code for each in texts.values()} == {0}, [each.stderr for each in texts.values()]
    assert texts["orders",].stdout == texts["main", "orders"].stdout
    assert texts[()].stdout.splitlines()[0] == texts["main",].stdout.splitlines()[0]
    assert texts["main",].stdout != texts["orders",].stdout


def test_a_name_that_is_no_cluster_of_several_is_refused(job_of_two):
    answer = ask("report", "orders", "--url", job_of_two)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr == "groupwatch: There is no cluster orders; the clusters are: c, other.\n"


def test_variables_name_the_job_and_what_is_typed_overrides_them(job):
    place = job.removeprefix("http://")
    named = ask("explain", "g", "--url", place).stdout
    assert named
    assert ask("explain", "g", GROUPWATCH_URL=place).stdout == named
    assert ask("explain", "g", "--url", job, GROUPWATCH_URL="http://127.0.0.1:1").stdout == named
    refused = ask("explain", "g", GROUPWATCH_URL=job, GROUPWATCH_TOKEN_FILE="/no/such/token")
    assert refused.stderr == "groupwatch: /no/such/token cannot be read (No such file or directory).\n"
    refused = ask("explain", "g", GROUPWATCH_URL=job, GROUPWATCH_CA_FILE="/no/such/ca")
    assert refused.stderr.startswith("groupwatch: /no/such/ca cannot be used (")


def test_a_user_that_is_typed_overrides_the_token_of_a_variable(job, tmp_path: Path):
    (tmp_path / "password").write_text("wonder land")
    user = ("--user", "alice", "--password-file", str(tmp_path / "password"))
    answer = ask("explain", "g", *user, GROUPWATCH_URL=job, GROUPWATCH_TOKEN_FILE="/no/such/token")
    assert answer.exit_code == 0, answer.stderr


@pytest.mark.parametrize(
    ("words", "variables", "is_job"),
    [
        ((), ("GROUPWATCH_URL", "GROUPWATCH_HISTORY__FOLDER"), True),
        (("--history", "FOLDER"), ("GROUPWATCH_URL",), False),
        (("--url", "URL"), ("GROUPWATCH_HISTORY__FOLDER",), True),
        ((), ("GROUPWATCH_HISTORY__FOLDER",), False),
    ],
)
def test_the_past_is_that_of_what_is_typed_else_of_the_job(tmp_path: Path, words, variables, is_job: bool):
    """Neither is there: the error says which was looked for."""
    values = {"URL": "http://127.0.0.1:1", "FOLDER": str(tmp_path / "absent")}
    environment = {name: values["URL" if name.endswith("URL") else "FOLDER"] for name in variables}
    answer = ask("history", "c", "g", *(values.get(word, word) for word in words), **environment)
    assert answer.exit_code == 2
    assert answer.stderr.startswith("groupwatch: Could not connect to ") == is_job, answer.stderr


def test_only_names_that_no_shell_runs_are_offered():
    assert plain_names(["orders", *HOSTILE_NAMES, "$(reboot)", "`id`", "a;b", "-rf", "a b", "~", "*"], "") == [
        "orders",
        ".",
        "..",
    ]


def test_a_bash_completes_names_of_clusters_groups_and_topics(job, job_of_two, tmp_path: Path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = tmp_path / "groupwatch"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'groupwatch'\nfrom monitor.cli import main\nmain()\n"
    )
    program.chmod(0o755)
    script = CliRunner().invoke(app, ["completion", "bash"]).stdout
    typed = [
        (job, "explain o"),
        (job, "explain c orders-"),
        (job_of_two, "what-if ''"),
        (job_of_two, "status o"),
        ("http://127.0.0.1:1", "status o"),
        (job, "explain g ''"),
        (job, "explain c g ''"),
        (job, "explain g g ''"),
        (job, "explain c g g ''"),
        (job_of_two, "explain c ''"),
        (job_of_two, "explain c g g"),
        (job, "explain c g g 0 ''"),
        (job, "explain c nobody ''"),
        (job, "what-if g --partitions g"),
    ]
    asked = "".join(
        f"COMP_CWORD={words.count(' ') + 1} COMP_WORDS=(groupwatch {words}); export GROUPWATCH_URL={url}\n"
        "_groupwatch_completion groupwatch; echo ${COMPREPLY[@]}\n"
        for url, words in typed
    )
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    run = subprocess.run(
        [bash, "-c", f"{script}\n{asked}"], env=environment, capture_output=True, text=True, check=False
    )
    places = ["g", "g", "0", "0", "g", "g", "", "", "g="]  # group g has committed offsets of partition 0 of topic g
    assert run.stdout.splitlines() == ["orders orders-eu", "orders-eu", "c other", "other", "", *places], run.stderr


def test_a_group_of_several_members_of_one_name_lists_them():
    first, second = SAVED.states[0].members
    alike = replace(second, client_id="front", host="/10.0.0.2")
    state = replace(SAVED.states[0], members=(replace(first, host="/10.0.0.1"), alike))
    with HttpServer(
        Served(snapshot(ready_cluster(cluster="c")), {"c": Saved(SAVED.catalog, (state,), SAVED.now_ms)}), port=0
    ) as server:
        by_host = ask("what-if", "g", "--without", "10.0.0.2", "--url", server.url)
        shown = ask("what-if", "g", "--without", "front at /10.0.0.2", "--url", server.url)
        ambiguous = ask("what-if", "g", "--without", "front", "--url", server.url)
    assert by_host.exit_code == 0, by_host.stderr
    assert by_host.stdout == shown.stdout
    (leaving,) = [line for line in by_host.stdout.splitlines() if " leaves " in line]
    assert leaving.startswith("front at /10.0.0.2 ")
    assert (ambiguous.exit_code, ambiguous.stderr) == (
        2,
        "groupwatch: 2 members match front; use a member id: C0 (front at /10.0.0.1), C1 (front at /10.0.0.2).\n",
    )
