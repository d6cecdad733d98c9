"""status, findings, topics and unused as a person types them, against a job's own HTTP server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from click.testing import Result
from msgspec.structs import replace
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.cli.errors import SourceError
from monitor.cli.lists import FailOn, exit_code, keep_showing
from monitor.cli.sources.job_api import JobApi
from monitor.cli.sources.job_lists import JobLists, JobStatus
from monitor.model import ClusterSnapshot, FindingKind, Snapshot
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.findings import Severity
from monitor.model.snapshots import AgeLimits
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from monitor.web.views.snapshot_source import Source
from tests.cli.closed_pipe import code_without_reader
from tests.support.answering import Answer, answering
from tests.topics.test_unused import DAY_MS
from tests.web.api.api_example import NOW_MS, SLOW, example
from tests.web.examples import HOSTILE_NAMES, Served, offsets_only, orders, ready_cluster, snapshot, unattended

RECORDS = ClusterFinding(
    kind=ClusterFindingKind.RECORDS,
    reason="unknown_version",
    severity=Severity.WARNING,
    since_ms=NOW_MS - 63_000,
    sentence="Brokers write version 9.",
    advice="Update groupwatch.",
)

DRIFTING = replace(orders(), findings=tuple(each for each in orders().findings if each.kind is FindingKind.DRIFT))
"""Its only finding is a warning."""


def ask(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@contextmanager
def job_with(source: Source) -> Iterator[str]:
    """The address of a job that serves this, and has the time of the example."""
    with HttpServer(create_app(source, lambda: NOW_MS), port=0) as server:
        yield server.url


@pytest.fixture(scope="module")
def job() -> Iterator[str]:
    """The address of a job with one cluster of two groups, and one that is still being read."""
    with job_with(example()) as url:
        yield url


def lines(answer: Result) -> list[str]:
    assert answer.exit_code == 0, answer.stderr
    return answer.stdout.splitlines()


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_status_shows_the_worst_first_with_lag_and_its_age(job):
    """Partition 0 lacks 100 - 90 records, partition 3 has no commit, and ends are remembered for 200 s."""
    head, slow, headline, *rest = lines(ask("status", "--url", job))
    assert head == "main: Ready. 2 groups, evaluated 3 s ago."
    assert slow.startswith("slow: Reading the backlog: ")
    assert slow.endswith(" Its groups are not known yet.")
    assert headline == "1 of 2 groups has findings. Findings may be missing: 1 cluster not known yet."
    assert rest[0].startswith("critical  main orders: 1 partition of orders (3) has no owner. ")
    assert rest[0].endswith(", since 1970-01-01 00:33:25 UTC.")
    table = rest[rest.index("") + 1 :]
    assert cells(table[0]) == ["cluster", "group", "state", "members", "lag", "age of lag", "findings"]
    first, second = (cells(line) for line in table[2:])
    assert first[:6] == ["main", "orders", "stable", "2", "at least 10", "over 3 min 20 s"]
    assert first[-1].startswith("orphaned (critical), ")
    assert second == ["main", "mail", "offsets only", "unknown", "0", "-", "none"]


def test_status_shows_the_age_of_a_known_lag_and_the_least_age_of_another():
    late, old = orders("late"), orders("old")
    late = replace(late, lag=7, lag_ms=65_000, lag_since_ms=late.evaluated_ms - 65_000)
    old = replace(old, lag=None, lag_ms=None, lag_at_least=12, lag_at_least_ms=3_600_000, lag_since_ms=None)
    with job_with(Served(snapshot(ready_cluster(late, old)))) as url:
        table = lines(ask("status", "--url", url))[-2:]
    assert [cells(line)[3:5] for line in table] == [["7", "1 min 5 s"], ["at least 12", "over 1 h"]]


def test_a_cluster_that_was_read_once_is_not_shown_as_healthy():
    """It has no finding, as far as it is known."""
    away = replace(ready_cluster(offsets_only("g")), problem="No broker answers.\x1b[2J")
    with job_with(Served(snapshot(away))) as url:
        first, headline, *_ = lines(ask("status", "--url", url))
        in_findings = lines(ask("findings", "--url", url))
    assert first.startswith("main: No broker answers.\\x1b[2J Stale: 1 group, as evaluated ")
    assert headline == "1 group, no findings so far. Findings may be missing: 1 cluster stale."
    assert in_findings[-1] == "No findings so far: 1 cluster stale."


def test_the_status_and_the_page_say_where_groupwatch_writes_if_not_to_the_cluster():
    sentence = "groupwatch writes to topics of monitoring, and nothing to this cluster."
    with job_with(Served(snapshot(replace(ready_cluster(offsets_only("g")), carrier="monitoring")))) as url:
        assert lines(ask("status", "--url", url))[1] == f"main: {sentence}"
        with urllib.request.urlopen(url, timeout=10) as page:
            assert f">{sentence}<" in page.read().decode()


def test_what_is_not_known_is_no_empty_list():
    with job_with(Served(snapshot(SLOW))) as url:
        shown = lines(ask("status", "--url", url))
        assert shown[-1] == "No group is known. Findings may be missing: 1 cluster not known yet."
        assert ask("status", "--fail-on", "critical", "--url", url).exit_code == 2
        for command in ("findings", "topics", "unused"):
            answer = ask(command, "--url", url)
            assert (answer.exit_code, answer.stdout) == (2, "")
            assert " of slow are not known yet. Reading the backlog: " in answer.stderr


def test_findings_have_what_to_do_and_those_of_clusters_come_first():
    young = tuple(replace(each, since_ms=NOW_MS - 30_000) for each in orders().findings)
    cluster = replace(ready_cluster(replace(orders(), findings=young)), findings=(RECORDS,), evaluated_ms=NOW_MS)
    with job_with(Served(snapshot(cluster))) as url:
        shown = lines(ask("findings", "--url", url))
    assert shown[1].startswith("warning   Cluster main: Brokers write version 9. This has lasted 1 min 3 s, since ")
    assert shown[2] == "          What to do: Update groupwatch."
    assert [line.split("  ")[0] for line in shown[3::2]] == ["settling", "settling", "settling"]
    assert shown[3].endswith(" This has lasted 30 s, since 1970-01-01 00:49:33 UTC. It is settling: critical in 5 min.")
    assert all(line.startswith("          What to do: ") for line in shown[4::2])


@pytest.mark.parametrize(
    ("verdicts", "fail_on", "code"),
    [
        ((orders(),), "critical", 1),
        ((DRIFTING,), "critical", 0),
        ((DRIFTING,), "warning", 1),
        ((unattended("g"),), "critical", 1),
        ((offsets_only("g"),), "warning", 0),
    ],
)
def test_a_script_learns_from_the_code_whether_there_is_a_finding(verdicts, fail_on: str, code: int):
    with job_with(Served(snapshot(ready_cluster(*verdicts)))) as url:
        assert ask("status", "--url", url).exit_code == 0
        assert ask("status", "--fail-on", fail_on, "--url", url).exit_code == code


def test_a_group_that_is_not_evaluated_is_in_doubt():
    cluster = ready_cluster(offsets_only("g"))
    broken = replace(cluster, groups=(replace(cluster.groups[0], unjudged="it is broken"),))
    with job_with(Served(snapshot(broken))) as url:
        shown = lines(ask("status", "--url", url))
        assert ask("status", "--fail-on", "warning", "--url", url).exit_code == 2
    assert "unknown   g: Not evaluated: it is broken. groupwatch shows the previous result." in shown
    never = replace(cluster, groups=(replace(cluster.groups[0], unjudged="it is broken", is_unknown=True),))
    with job_with(Served(snapshot(never))) as url:
        assert "unknown   g: Not evaluated: it is broken. There is no previous result." in lines(
            ask("status", "--url", url)
        )
    assert cells(shown[-1])[-1] == "not evaluated"


def test_an_evaluation_that_is_too_old_is_told_once_and_leaves_a_script_in_doubt():
    old = replace(ready_cluster(offsets_only("g")), evaluated_ms=NOW_MS - 120_000, age_limits=AgeLimits(60_000, 90_000))
    with job_with(Served(snapshot(old))) as url:
        first, *_ = lines(ask("status", "--url", url))
        assert ask("status", "--fail-on", "critical", "--url", url).exit_code == 2
    assert first == "main: Stale: the newest evaluation was 2 min ago. 1 group, as evaluated 2 min ago."


def test_topics_and_what_could_be_deleted(job):
    shown = lines(ask("topics", "main", "--url", job))
    assert [cells(line) for line in shown[3:]] == [
        ["mail", "1", "1", "0.05", "1"],
        ["orders", "4", "1", "0.2", "1"],
    ]
    assert lines(ask("topics", "--unread", "main", "--url", job))[-1] == "A group reads every topic."
    assert lines(ask("unused", "--url", job))[-1] == (
        "Nothing could be deleted. 1 cluster not known yet: there may be some."
    )


def test_what_could_be_deleted_has_its_command():
    """The only commit of mail is older than seven days then."""
    served = example()
    (main, slow), saved = served.shown.clusters, served.saved["main"]
    later = replace(main, evaluated_ms=NOW_MS + 8 * DAY_MS)
    with job_with(Served(snapshot(later, slow), {"main": saved})) as url:
        shown = lines(ask("unused", "main", "--url", url))
    assert shown[1].startswith(
        "These groups and offsets have had no commit for 7 d or longer. groupwatch deletes nothing"
    )
    where = shown.index("  " + next(line for line in shown if "kafka-consumer-groups" in line).strip())
    assert shown[where - 1].startswith("mail: the whole group, 1 partition. No consumer has joined the group, ")
    assert "--delete --group mail" in shown[where]


def test_json_has_the_state_of_the_clusters_beside_the_rows(job):
    for command, rows in (("status", "groups"), ("findings", "findings"), ("topics", "topics"), ("unused", "unused")):
        answer = json.loads(ask(command, "--json", "--url", job).stdout)
        assert [(each["cluster"], each["ready"]) for each in answer["clusters"]] == [("main", True), ("slow", False)]
        assert isinstance(answer[rows], list)
    assert [each["group"] for each in json.loads(ask("status", "--json", "--url", job).stdout)["groups"]] == [
        "orders",
        "mail",
    ]


def test_a_cluster_that_is_not_watched_is_named_with_those_that_are(job):
    for command in ("status", "findings", "topics", "unused"):
        answer = ask(command, "prod", "--url", job)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.stderr == "groupwatch: No cluster named prod is watched; there are: main, slow.\n"


def test_alike_groups_share_a_line():
    """As on the page: each was used by one process."""
    kept = replace(unattended("g"), lag=3)
    kept = replace(kept, findings=(replace(kept.findings[0], reason="kept"),))
    with job_with(Served(snapshot(ready_cluster(*(replace(kept, group=f"g{n}") for n in range(60)))))) as url:
        shown = lines(ask("status", "--url", url))
    assert shown[1] == "60 of 60 groups have findings."
    names = "g0, g1, g10, g11, g12, g13, g14, g15, g16, g17 and 50 more"
    assert f" 60 groups ({names}) have offsets that MirrorMaker 2 seems to copy" in shown[2]
    assert len(shown) == 7
    assert cells(shown[-1])[:4] == ["60 groups", "empty", "-", "180"]


def test_no_name_forges_a_line_or_sends_a_control_to_the_terminal():
    own = "c\x1b[2J"
    named = tuple(replace(orders(), group=name, cluster=own) for name in HOSTILE_NAMES)
    cluster = replace(ready_cluster(*named, cluster=own), findings=(RECORDS,))
    with job_with(Served(snapshot(cluster))) as url:
        for command in ("status", "findings"):
            shown = lines(ask(command, "--url", url))
            assert [line for line in shown if not line.isprintable()] == []
            assert "(empty name)" in "".join(shown)


def test_no_cluster_is_no_health():
    with job_with(Served(snapshot())) as url:
        assert lines(ask("status", "--url", url))[0] == "No cluster is watched."
        assert ask("status", "--fail-on", "warning", "--url", url).exit_code == 2
        assert ask("findings", "--url", url).stderr == "groupwatch: No cluster is watched.\n"


@dataclass
class Counting:
    """A job's lists that answer a number of times, then fail, then are interrupted."""

    lists: JobLists
    answers: int
    failures: int = 1
    given: list[str] = field(default_factory=list)

    def __call__(self) -> JobStatus:
        self.answers -= 1
        if self.answers >= 0:
            return self.lists.status(None, None)
        if self.failures:
            self.failures -= 1
            raise SourceError("No groupwatch answers.")
        raise KeyboardInterrupt


def test_a_watch_says_above_its_last_answer_that_the_job_is_away(job, capsys):
    answer = Counting(JobLists(JobApi(job)), 2)
    assert keep_showing(answer, as_json=False, fail_on=None, pause_s=0) == 0
    shown = capsys.readouterr().out.splitlines()
    (away,) = [place for place, line in enumerate(shown) if line.startswith("No groupwatch answers. The rest is of ")]
    assert shown[away + 1] == shown[0] == "main: Ready. 2 groups, evaluated 3 s ago."
    assert sum(line == shown[0] for line in shown) == 3


def test_a_watch_ends_with_the_code_of_its_last_answer_and_prints_a_line_of_json_for_each(job, capsysbinary):
    fine = ready_cluster(offsets_only("g"))
    with job_with(Served(snapshot(fine))) as url:
        answer = Counting(JobLists(JobApi(url)), 1)
        assert keep_showing(answer, as_json=True, fail_on=FailOn.WARNING, pause_s=0) == 2
    first, last = map(json.loads, capsysbinary.readouterr().out.splitlines())
    assert ("problem" in first, last["problem"]) == (False, "No groupwatch answers.")
    with pytest.raises(SourceError):
        keep_showing(Counting(JobLists(JobApi(job)), 0), as_json=True, fail_on=None, pause_s=0)


def test_a_watch_in_a_process_ends_at_ctrl_c(job):
    command = [sys.executable, "-m", "monitor.cli", "status", "main", "--watch", "--url", job, "--fail-on", "warning"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "main: Ready. 2 groups, evaluated 3 s ago.\n"
        for line in run.stdout:
            if line.startswith("mail "):
                break
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 1


@pytest.mark.parametrize("words", [(), ("--watch",)], ids=str)
def test_the_code_does_not_need_a_reader(job, words):
    assert code_without_reader("status", "main", "--url", job, "--fail-on", "warning", *words) == 1


def test_the_code_counts_findings_of_clusters_too():
    cluster = replace(ready_cluster(offsets_only("g")), findings=(RECORDS,))
    with job_with(Served(snapshot(cluster))) as url:
        found = JobLists(JobApi(url)).status(None, None)
    assert [exit_code(found, fail_on) for fail_on in (None, FailOn.CRITICAL, FailOn.WARNING)] == [0, 0, 1]


def test_an_answer_that_is_no_list_is_one_sentence():
    def wrong(path: str, _body: bytes) -> Answer:
        return Answer(200, {}, b'[{"cluster":"c"}]' if path.startswith("/api/v1/clusters") else b"{}")

    with answering(wrong) as address:
        answer = ask("status", "--url", f"http://{address}")
    assert answer.exit_code == 2
    assert "sent an unusable response" in answer.stderr


def test_a_restored_cluster_is_stale_and_has_no_topics():
    restored = ClusterSnapshot(cluster="main", evaluated_ms=NOW_MS - 90_000, groups=ready_cluster(orders()).groups)
    with job_with(Served(Snapshot(clusters=(restored,)))) as url:
        first = lines(ask("status", "--url", url))[0]
        assert first.endswith(" Stale: 1 group, as evaluated 1 min 30 s ago.")
        assert ask("topics", "--url", url).exit_code == 2
        assert ask("findings", "--url", url).exit_code == 0
