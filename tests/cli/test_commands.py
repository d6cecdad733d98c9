"""The commands as a person types them: against a saved file, and against a job's own HTTP server."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.cli.render_answer import explanation_shown, tell
from monitor.explain.statements import Explanation
from monitor.model import ClusterSnapshot
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from monitor.web.views.deployment import Deployment
from tests.support.builders import NOW, catalog, commit, group, member, topic
from tests.web.examples import Served, offsets_only, ready_cluster, snapshot
from tests.web.saved import Saved, pieces

AT_MS = 1_795_313_640_000

BOTH = ("a", "b")
PAIR = group(
    member("C0", BOTH, {"a": [0, 1], "b": [0, 1]}, client_id="front", wire=None),
    member("C1", BOTH, {"a": [2], "b": [2]}, client_id="back", wire=None),
    offsets=[commit("a", 0, 90, NOW - 5_000)],
)
SAVED = Saved(catalog(topic("a", 4, grown=1), topic("b", 3)), (PAIR,), NOW)


def ask(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A file that groupwatch snapshot would have written."""
    file = tmp_path / "saved.jsonl"
    file.write_bytes(b"".join(pieces(SAVED)))
    return str(file)


@pytest.fixture
def job():
    """The address of a job that serves the same."""
    shown = snapshot(ready_cluster(offsets_only("g", "c"), cluster="c"))
    server = HttpServer(Served(shown, {"c": SAVED}), port=0)
    server.start()
    yield server.url
    server.stop()


def test_explain_tells_a_group_from_a_file(saved):
    """The last partition of a came 5 s after generation 3, which was stored 1,000 s ago."""
    answer = ask("explain", "c", "g", "--snapshot", saved)
    assert answer.exit_code == 0
    age = "This has lasted 16 min 35 s, since 1970-01-01 00:33:25 UTC."
    instant, *told = answer.stdout.splitlines()
    assert re.fullmatch(r"instant    1970-01-01 00:50:00 UTC, \d+ d( \d+ h)? ago\.", instant)
    assert told == [
        "group      g of cluster c is a kafka-classic group, stable for 16 min 40 s; "
        "generation 3 was stored 16 min 40 s ago.",
        "finding    1 partition of a (3) has no owner. The topic grew after generation 3 was assigned, and the "
        f"members have not refreshed their metadata. {age}",
        "             What to do: Most client libraries notice new partitions within 5 minutes by default. If these "
        "still have no owner then, restart the leader (a static member must be away longer than its session timeout).",
        "finding    1 partition of a (3) would get a different owner if the group rebalanced now. It belongs to no "
        "member but would go to back. Likely cause: a grew from 3 to 4 partitions, and the members still use the "
        f"older metadata. {age}",
        "             What to do: Not urgent: partitions that have an owner are still consumed. The next rebalance "
        "fixes it. To fix it now, restart the leader (a static member must be away longer than its session timeout).",
        "finding    front owns 4 partitions, but these subscriptions allow an assignment with at most 3 for any "
        "member. The range assignor assigns each topic separately, starting with the same members. With "
        "cooperative-sticky, the largest member would own 3 instead of 4. This has lasted 16 min 40 s, since "
        "1970-01-01 00:33:20 UTC.",
        "             What to do: Not urgent while the member keeps up. To see what another assignor would assign, run "
        "groupwatch what-if with --assignor.",
        "assignor   Its assignor is range (from the log); groupwatch replays it exactly.",
        "             a had 3 partitions for generation 3 and has 4 now.",
        "members    2 members own 6 partitions.",
        "             C0 (client front): a 0-1; b 0-1",
        "             C1 (client back): a 2; b 2; expected: 3 partitions",
        "rebalance  groupwatch has not observed a complete rebalance.",
        "lag        Its lag is unknown: 6 partitions with content have no committed offset. It is at least 10 records, "
        "and at most 600 records more, all that the log has of them.",
    ]


@pytest.mark.parametrize(
    ("state_ms", "told"),
    [
        (None, "instant    2026-11-22 02:14:00 UTC, 3 h 2 min ago."),
        (0, "instant    2026-11-22 02:14:00 UTC, 3 h 2 min ago, from the recording: from its first record on."),
        (
            AT_MS - 840_000,
            "instant    2026-11-22 02:14:00 UTC, 3 h 2 min ago, from the recording: the state of 2026-11-22 02:00:00 "
            "UTC, and the records after it.",
        ),
    ],
)
def test_explain_begins_with_the_instant_that_it_answers_for(capsys, state_ms, told):
    then = Explanation(cluster="c", group="g", evaluated_ms=AT_MS, statements=(), state_ms=state_ms)
    tell(explanation_shown(then, now_ms=AT_MS + 10_920_000))
    assert capsys.readouterr().out == f"{told}\n"


def test_explain_tells_a_partition_from_a_job(job):
    answer = ask("explain", "c", "g", "b", "1", "--url", job)
    assert answer.exit_code == 0
    assert (
        "rule       range divides partitions 0-2 of b among 2 members, sorted by member id (instance id first). "
        "C0 is 1st and gets 0-1."
    ) in answer.stdout.splitlines()


def test_explain_ends_with_the_page_of_the_group_if_the_job_knows_its_address(job):
    shown = Served(snapshot(ready_cluster(offsets_only("g", "c"), cluster="c")), {"c": SAVED})
    with HttpServer(create_app(shown, deployment=Deployment("https://ops.example.com/groupwatch")), port=0) as server:
        told = ask("explain", "c", "g", "--url", server.url).stdout.splitlines()
    assert told[-1] == "page       https://ops.example.com/groupwatch/groups/c/g"
    assert told[:-1] == ask("explain", "c", "g", "--url", job).stdout.splitlines()


def test_what_if_shows_a_table_of_members_and_moves(saved):
    """Round robin over a0-a3 and b0-b2: seven in turn."""
    answer = ask("what-if", "c", "g", "--assignor", "roundrobin", "--snapshot", saved)
    assert answer.exit_code == 0
    lines = [line for line in answer.stdout.splitlines() if set(line) != {"\N{BOX DRAWINGS LIGHT HORIZONTAL}"}]
    assert [line.split() for line in lines[1:4]] == [
        ["member", "before", "after"],
        ["front", "4", "a", "0-1;", "b", "0-1", "4", "a", "0,", "2;", "b", "0,", "2"],
        ["back", "2", "a", "2;", "b", "2", "3", "a", "1,", "3;", "b", "1"],
    ]
    assert lines[0] == "g of cluster c, assigned by roundrobin instead of range:"
    assert lines[4] == "5 partitions get a different owner:"
    assert [line.split() for line in lines[6:11]] == [
        ["a", "1", "front", "back"],
        ["a", "2", "back", "front"],
        ["a", "3", "no", "member", "back"],
        ["b", "1", "front", "back"],
        ["b", "2", "back", "front"],
    ]
    assert lines[11] == (
        "Balance before: at most 4 partitions per member, optimum 3 (ratio 1.33); "
        "after: at most 4 partitions per member, optimum 4 (ratio 1.00)."
    )


def test_what_if_takes_changes_together_and_answers_as_json(job):
    answer = ask(
        *("what-if", "c", "g", "--members", "2", "--without", "back", "--partitions", "a=6", "--partitions", "b=4"),
        *("--json", "--url", job),
    )
    assert answer.exit_code == 0
    told = json.loads(answer.stdout)
    assert [(each["member_id"], each.get("partitions_after", 0)) for each in told["members"]] == [
        ("C0", 5),
        ("C1", 0),
        ("new-1", 5),
    ]
    assert told["assignor"] == "range"


def test_a_forecast_of_a_rollout_has_a_line_for_each_way_and_says_what_is_unknown(saved):
    """One topic is cut as two members stop first, as in tests/explain/test_rollout_cost.py; the topics are two here."""
    answer = ask("what-if", "c", "g", "--rollout", "surge=0,start=20s", "--snapshot", saved)
    assert answer.exit_code == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[0] == (
        "A rollout of g of cluster c, with 2 members and 7 partitions. Each old pod stops before its new one starts; a "
        "new pod joins 20 s after its start."
    )
    assert [line.split()[0] for line in lines[4:8]] == ["range", "range,", "cooperative-sticky", "uniform"]
    assert "range: No eager rebalance of this group has been measured, so its pauses are unknown." in lines
    assert "range: 48 rollouts replayed, all that are possible." in lines
    assert (
        "uniform (KIP-848): The ids of the topics are not known, so the coordinator's assignor cannot be replayed."
        in lines
    )
    assert [line.split()[-1] for line in lines[4:8]] == ["unknown"] * 4
    told = json.loads(ask("what-if", "g", "--rollout", "surge=0,start=20s", "--json", "--snapshot", saved).stdout)
    assert told["rollout"] == {"surge": 0, "start_ms": 20_000}
    assert told["ways"][0]["rebalances"] == {"least": 3, "median": 3, "most": 4}


@pytest.mark.parametrize(
    "words", [("--rollout", "surge=1", "--members", "3"), ("--static",), ("--protocol", "consumer")]
)
def test_options_of_a_rollout_are_refused_where_they_have_no_effect(saved, words):
    answer = ask("what-if", "g", *words, "--snapshot", saved)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "--rollout" in answer.stderr


def test_a_snapshot_leaves_no_cluster_out_unless_it_is_told_to(tmp_path):
    ready = ready_cluster(offsets_only("g", "c"), cluster="c")
    with HttpServer(Served(snapshot(ready, ClusterSnapshot(cluster="slow")), {"c": SAVED}), port=0) as server:
        refused = ask("snapshot", "--url", server.url)
        saved = ask("snapshot", "--url", server.url, "--partial")
        of_one = ask("snapshot", "c", "g", "--url", server.url)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert (
        "groupwatch: The groups of slow are not known yet. Starting: the first micro-batch has not been"
        in refused.stderr
    )
    assert (saved.exit_code, of_one.exit_code) == (0, 0)
    assert '"cluster":"c"' in saved.stdout


def test_a_snapshot_of_a_job_can_be_asked_later(job, tmp_path):
    for names in ([], ["c", "g"]):
        saved = ask("snapshot", *names, "--url", job)
        assert saved.exit_code == 0
        file = tmp_path / "file"
        file.write_bytes(saved.stdout_bytes)
        offline = ask("explain", "c", "g", "--json", "--snapshot", str(file))
        assert offline.exit_code == 0
        assert offline.stdout == ask("explain", "c", "g", "--json", "--url", job).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explain", "c", "x"], "SAVED: The snapshot has no group x in cluster c."),
        (["explain", "d", "g"], "SAVED: The snapshot has no cluster d; it has c."),
        (["explain", "c", "g", "a", "7"], "The group has no partition 7 of a; it has 0-3."),
        (["what-if", "c", "g", "--without", "x"], "The group has no member x; its members are C0 (front), C1 (back)."),
        (
            ["what-if", "c", "g", "--assignor", "best"],
            "groupwatch does not support the assignor best for this group; "
            "it supports range, roundrobin, sticky, cooperative-sticky, and those of client libraries, for example "
            "sarama.roundrobin.",
        ),
    ],
)
def test_a_wrong_name_is_one_sentence_and_code_2(saved, words, sentence):
    answer = ask(*words, "--snapshot", saved)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr == f"groupwatch: {sentence.replace('SAVED', saved)}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "c", "g", "a", "1", "2"],
        ["snapshot", "c", "g", "a"],
        ["report", "c", "g", "a"],
        ["what-if", "c", "g", "--partitions", "a"],
        ["what-if", "c", "g", "--partitions", "a=-1"],
        ["what-if", "c", "g", "--members", "many"],
    ],
)
def test_words_that_make_no_question_are_refused(words):
    assert ask(*words).exit_code == 2


def test_a_topic_that_is_to_have_two_numbers_of_partitions_is_refused(saved):
    answer = ask("what-if", "c", "g", "--partitions", "a=20", "--partitions", "a=30", "--snapshot", saved)
    assert (answer.exit_code, answer.stdout) == (2, "")
    told = " ".join(word for word in answer.stderr.split() if word != "│")
    assert "Invalid value for --partitions: a may be given only once, not with 20 and 30" in told


def test_a_job_that_refuses_is_heard(job):
    answer = ask("explain", "c", "absent", "--url", job)
    assert (answer.exit_code, answer.stderr) == (2, "groupwatch: No group named absent was found in cluster c.\n")
    elsewhere = ask("snapshot", "c", "g", "--url", f"{job}/elsewhere")
    assert elsewhere.exit_code == 2
    assert "responded with status 404: it is not groupwatch, or a different version." in elsewhere.stderr


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "http://127.0.0.1:1",
            "Could not connect to http://127.0.0.1:1: connection refused. Is groupwatch running there? "
            "Name another address with --url or GROUPWATCH_URL.\n",
        ),
        ("127.0.0.1:1", "Could not connect to http://127.0.0.1:1: connection refused. "),
        (
            "file:///etc/passwd",
            "file:///etc/passwd is not the address of a job: it must start with http:// or https://, or be HOST:PORT.",
        ),
        ("http://[", "http://[ is not the address of a job: "),
        ("http://a b", ""),
    ],
)
def test_an_address_where_no_job_is_is_one_sentence_and_code_2(url, sentence):
    for words in (["explain", "c", "g"], ["snapshot"], ["census"]):
        answer = ask(*words, "--url", url)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.stderr.startswith(f"groupwatch: {sentence}")
        assert answer.stderr.count("\n") == 1


def test_a_password_in_an_address_is_not_told():
    answer = ask("explain", "c", "g", "--url", "http://me:secret@127.0.0.1:1")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr == "groupwatch: The address of a job must not contain a user name or password.\n"


@pytest.mark.parametrize("content", [None, b"", b"\x00\xff\n", b'{"line":"header","groupwatch_snapshot":9}\n'])
def test_a_file_that_is_no_snapshot_is_one_sentence_and_code_2(tmp_path, content):
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    answer = ask("what-if", "c", "g", "--snapshot", str(file))
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"groupwatch: {file}")
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("where", "code", "sentence"),
    [
        ("| head -c 20", 0, ""),
        ("> /dev/full", 2, "groupwatch: Cannot write the answer: No space left on device.\n"),
    ],
)
def test_an_answer_that_nobody_takes_is_no_stack_trace(job, where, code, sentence):
    command = f"set -o pipefail; {sys.executable} -m monitor.cli snapshot --url {job} {where}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (code, sentence)


def test_help_loads_neither_spark_nor_what_answers():
    """In a process of its own: here everything is loaded."""
    loaded = (
        "import sys; from monitor.cli.app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'pyspark', 'numpy', 'starlette', 'monitor.detection.evaluate'} & sys.modules.keys()))"
    )
    shown = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.splitlines()[-1] == "[]"
