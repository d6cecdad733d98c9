"""groupwatch verify as a pipeline calls it: exit codes, JUnit, and the gate, against a job's own HTTP server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from msgspec.structs import replace
from rich.console import Console
from starlette.applications import Starlette
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.cli.errors import SourceError
from monitor.cli.gate import Clock, Gate, GateOptions
from monitor.cli.render_verify import result_shown
from monitor.cli.verify import duration_s
from monitor.detection.evaluation_input import GroupInputs
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.expectations.look import UnknownGroup
from monitor.expectations.rollout import RolloutLimits
from monitor.expectations.verification import KnownGroups
from monitor.explain.rollout_plan import rollout_typed
from monitor.model import GroupState, Rebalance, RebalanceCause
from monitor.model.expectations import Met
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.cli.closed_pipe import code_without_reader
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, topic
from tests.web.examples import Served, offsets_only, ready_cluster, snapshot
from tests.web.saved import Saved, pieces

PAIR = (member("C0", ("a",), {"a": [0, 1]}), member("C1", ("a",), {"a": [2, 3]}))
HEALTHY = group(*PAIR, offsets=[commit("a", number) for number in range(4)])
TOPICS = catalog(topic("a", 4))
SAVED = Saved(TOPICS, (HEALTHY,), NOW)


def ask(*words: str) -> Result:
    return CliRunner().invoke(app, ["verify", *words])


@pytest.fixture(scope="module")
def job() -> Iterator[str]:
    """A job that watches the cluster c with the group g, and another cluster that is not ready."""
    with HttpServer(job_with(HEALTHY), port=0) as server:
        yield server.url


def job_with(found: GroupState) -> Starlette:
    """What such a job serves."""
    shown = snapshot(ready_cluster(offsets_only("g", "c"), cluster="c"))
    return create_app(Served(shown, {"c": Saved(TOPICS, (found,), NOW)}), lambda: NOW + 1_000)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "expectations.toml"


MET = '[[expect]]\ngroups = "g"\nexists = true\nmembers = 2\n'
NOT_MET = '[[expect]]\ngroups = "g"\nteam = "checkout"\nmembers = 3\n[[expect]]\ngroups = "billing"\nexists = true\n'
WAIT = ("--wait", "0s", "--stable", "0s")
ROLLOUT = (*WAIT, "--rollout", "surge=1,start=20s")
UNKNOWN = '[[expect]]\ngroups = "billing"\nmembers = 1\n'


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        (MET, (), 0),
        (NOT_MET, (), 1),
        (NOT_MET, ("--group", "billing"), 1),
        (UNKNOWN, ("--group", "billing"), 2),
        (MET, ("--group", "other"), 2),
        (UNKNOWN, (), 2),
    ],
)
def test_the_exit_code_is_0_met_1_not_met_2_unknown(job, file, text, words, code):
    file.write_text(text)
    answer = ask(str(file), "--url", job, *words)
    assert answer.exit_code == code, answer.output
    assert (
        answer.stdout.splitlines()[-1]
        == (
            "All expectations are met.",
            "Not all expectations are met.",
            "Not all expectations could be checked.",
        )[code]
    )


def test_each_check_has_a_line_and_those_that_are_not_met_come_first(job, file):
    file.write_text(NOT_MET)
    lines = [line.split(maxsplit=3) for line in ask(str(file), "--url", job).stdout.splitlines()]
    assert lines[:2] == [["billing", "of", "cluster", "c:"], ["not", "met", "exists", "c has no such group."]]
    assert lines[2:4] == [
        ["g", "of", "cluster", "c (team checkout):"],
        ["not", "met", "members", "It has 2 members; expected: 3."],
    ]


@pytest.mark.parametrize("words", [(), ("--json",), WAIT], ids=str)
def test_the_exit_code_and_junit_do_not_need_a_reader(job, file, tmp_path, words):
    """Of a pipe like ``| true``."""
    file.write_text(NOT_MET)
    report = tmp_path / "report.xml"
    assert code_without_reader("verify", str(file), "--url", job, "--junit", str(report), *words) == 1
    assert report.read_bytes().startswith(b"<?xml")


def test_junit_has_a_failure_for_what_is_not_met_and_an_error_for_what_is_unknown(job, file, tmp_path):
    file.write_text(NOT_MET + UNKNOWN.replace("billing", "g").replace("members = 1", "max_share = 1.0"))
    report = tmp_path / "report.xml"
    ask(str(file), "--url", job, "--junit", str(report))
    root = ElementTree.parse(report).getroot()
    assert root.attrib == {"name": "groupwatch verify", "tests": "4", "failures": "2", "errors": "0"}
    assert [suite.get("name") for suite in root] == ["c/billing", "c/g"]
    assert [case.get("message") for case in root.iter("failure")] == [
        "c has no such group.",
        "It has 2 members; expected: 3.",
    ]


def test_a_job_that_does_not_answer_is_unknown(file):
    file.write_text(MET)
    answer = ask(str(file), "--url", "127.0.0.1:9", "--cluster", "c")
    assert answer.exit_code == 2
    assert "Could not connect to http://127.0.0.1:9" in answer.output


def test_mistakes_in_the_file_end_with_2(job, file):
    file.write_text("[[expect]]\nmember = 2\n")
    answer = ask(str(file), "--url", job)
    assert answer.exit_code == 2
    assert answer.output == (
        f"groupwatch: {file}: expect#1.groups is required.\n"
        f"{file}: expect#1.member is not a known key (did you mean members?).\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--replaced",),
        ("--max-pause", "3s"),
        ("--since", "-1m"),
        ("--max-redelivered", "0"),
        ("--rollout", "surge=1"),
        ("--wait", "20s"),
        ("--wait", "2m", "--bootstrap-server", "127.0.0.1:9"),
        ("--wait", "2m", "--at", "-1m"),
        ("--bootstrap-server", "127.0.0.1:9", "--at", "-1m"),
    ],
    ids=" ".join,
)
def test_options_that_would_have_no_effect_are_refused(job, file, words):
    """A gate without its limit would pass."""
    file.write_text(MET)
    assert ask(str(file), "--url", job, *words).exit_code == 2


def test_a_report_is_written_also_where_nothing_can_be_verified(file, tmp_path):
    report = tmp_path / "report.xml"
    file.write_text("expect = []\n")
    assert ask(str(file), "--junit", str(report)).exit_code == 2
    (error,) = ElementTree.parse(report).getroot().iter("error")
    assert "should have an entry [[expect]]" in error.get("message")
    file.write_text(MET)
    answer = ask(str(file), "--url", "127.0.0.1:9", "--cluster", "c", "--junit", str(tmp_path / "none" / "x.xml"))
    assert answer.exit_code == 2
    assert f"{tmp_path / 'none' / 'x.xml'} cannot be written (No such file or directory)." in answer.output


def test_an_entry_that_no_group_matches_is_unknown(job, file):
    """It may be misspelt."""
    file.write_text(MET + '[[expect]]\ngroups = "paymnets"\nmembers = 99\n')
    assert ask(str(file), "--url", job).exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [(NOT_MET, ("--group", "billing")), (MET.replace('"g"', '"g.*"'), ()), (MET.replace('"g"', '"g|h"'), WAIT)],
)
def test_while_partitions_are_not_read_groups_may_be_missing(file, text, words):
    file.write_text(text)
    shown = replace(ready_cluster(offsets_only("g", "c"), cluster="c"), unread="Partition 3 is not read.")
    with HttpServer(create_app(Served(snapshot(shown), {"c": SAVED}), lambda: NOW + 1_000), port=0) as server:
        answer = ask(str(file), "--url", server.url, *words)
    assert answer.exit_code == 2
    assert "Partition 3 is not read." in answer.stdout


def test_a_saved_file_may_lack_groups(file, tmp_path):
    saved = tmp_path / "saved.jsonl"
    saved.write_bytes(b"".join(pieces(SAVED)))
    file.write_text(MET)
    assert ask(str(file), "--snapshot", str(saved)).exit_code == 0
    file.write_text(NOT_MET)
    answer = json.loads(ask(str(file), "--snapshot", str(saved), "--group", "billing", "--json").stdout)
    assert answer["met"] == "unknown"


def test_a_gate_ends_with_what_the_rollout_cost(job, file):
    file.write_text(MET)
    answer = ask(str(file), "--url", job, "--wait", "5s", "--stable", "0s")
    assert answer.exit_code == 0
    assert "Costs of the rollout: 0 rebalances;" in answer.stdout
    assert "succeeded" in answer.stdout.splitlines()[-1]


def test_where_nothing_was_rolled_out_there_is_nothing_to_compare(job, file):
    file.write_text(MET)
    answer = ask(str(file), "--url", job, *ROLLOUT)
    assert answer.exit_code == 0
    assert "  No rebalance since the start, so there is nothing to compare with the forecast." in answer.stdout
    (found,) = json.loads(ask(str(file), "--url", job, *ROLLOUT, "--json").stdout)["groups"]
    assert found["forecast"]["ways"][0]["rebalances"]["least"] >= 2, "one pod joins, and one leaves"
    assert found["forecast"]["members"] == 2


def test_a_gate_says_why_there_is_no_forecast(file):
    file.write_text(MET)
    half = group(PAIR[0], replace(PAIR[1], instance_id="pod-1"), offsets=HEALTHY.offsets)
    with HttpServer(job_with(half), port=0) as server:
        answer = ask(str(file), "--url", server.url, *ROLLOUT)
    assert "  There is no forecast. Some members of group g have a group.instance.id" in answer.stdout
    assert ask(str(file), "--url", "http://127.0.0.1:9", *WAIT, "--rollout", "sideways").exit_code == 2


@pytest.mark.parametrize(("text", "code"), [(NOT_MET, 1), (UNKNOWN.replace("billing", ".*"), 1), (MET, 1)])
def test_a_gate_does_not_pass_before_its_time(job, file, text, code):
    """Also where all is met: the clock of the job stands still here, so no time passes."""
    file.write_text(text)
    answer = ask(str(file), "--url", job, "--wait", "1s", "--stable", "1s", "--json")
    assert answer.exit_code == code
    assert json.loads(answer.stdout)["met"] == "no"


def test_a_gate_says_that_only_time_is_missing(job, file):
    file.write_text(MET)
    answer = ask(str(file), "--url", job, "--wait", "1s", "--stable", "1s")
    assert answer.stdout.splitlines()[-1].endswith(": all is met, but not yet for --stable.")


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("1.5m", 90), ("2h", 7_200), ("250ms", 0.25)])
def test_a_duration(text, seconds):
    assert duration_s(text) == seconds


def test_what_is_no_duration_is_refused(job, file):
    file.write_text(MET)
    assert ask(str(file), "--url", job, "--wait", "soon").exit_code == 2


class Script:
    """A cluster that is something else at each look: an error, no group, or a group."""

    def __init__(self, *looks: SourceError | UnknownGroup | GroupInputs | None) -> None:
        self._looks = list(looks)
        self.now_s = 0.0

    def known_groups(self) -> KnownGroups:
        look = self._looks[0]
        if isinstance(look, SourceError):
            self._looks.pop(0)
            raise look
        return KnownGroups(frozenset() if look is None else frozenset({"g"}))

    def read(self, group: str) -> UnknownGroup | GroupInputs | None:
        assert group == "g"
        return self._looks.pop(0)

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


def inputs(at_ms: int, *members) -> GroupInputs:
    found = group(*(members or PAIR), offsets=[commit("a", number) for number in range(4)])
    return GroupInputs(found, TOPICS, at_ms)


def gate(script: Script, wait_s: float, stable_ms: int = 2_000):
    expected = Expectations((Expectation("g", members=MemberRange(2, 2)),))
    options = GateOptions("c", "g", RolloutLimits(since_ms=ASSIGNED, stable_ms=stable_ms), wait_s)
    return Gate(expected, script, options).wait(Clock(lambda: script.now_s, script.wait), lambda _: None)


def test_a_gate_waits_until_the_members_are_there():
    """One member, then two for two seconds."""
    looks = [inputs(NOW, PAIR[0]), *(inputs(NOW + 1_000 * number) for number in (1, 2, 3))]
    result = gate(Script(*looks), wait_s=60)
    assert (result.met, result.waited_ms) == (Met.YES, 3_000)


def test_what_is_unknown_in_between_breaks_the_time():
    looks = [inputs(NOW), SourceError("No answer."), *(inputs(NOW + 1_000 * number) for number in (2, 3, 4))]
    assert gate(Script(*looks), wait_s=60).waited_ms == 4_000
    unknown = [inputs(NOW), UnknownGroup("Damaged."), *(inputs(NOW + 1_000 * number) for number in (2, 3, 4))]
    assert gate(Script(*unknown), wait_s=60).waited_ms == 4_000


@pytest.mark.parametrize(
    ("last", "met"),
    [
        (SourceError("No answer."), Met.UNKNOWN),
        (UnknownGroup("Damaged."), Met.UNKNOWN),
        (None, Met.NO),
        (inputs(NOW, PAIR[0]), Met.NO),
    ],
)
def test_when_the_time_is_up_the_last_look_counts(last, met):
    assert gate(Script(inputs(NOW - 1_000), last), wait_s=1).met is met


@pytest.mark.parametrize(
    ("wait_s", "ends"),
    [(60, ", measured 3 (less than forecast)."), (1, ", measured at least 3.")],
)
def test_what_a_rollout_cost_is_compared_with_the_forecast_of_its_first_look(wait_s, ends):
    """Two pods of four partitions: each moves once at least. Before the rollout is over, more may move."""
    first = inputs(NOW)
    ended = Rebalance(4, NOW, NOW + 500, (RebalanceCause.JOIN,), moved=3, joined=1)
    later = [replace(inputs(NOW + 1_000 * n), group=replace(first.group, history=(ended,))) for n in (1, 2, 3, 4)]
    script, expected = Script(first, *later), Expectations((Expectation("g", members=MemberRange(2, 2)),))
    limits = RolloutLimits(since_ms=NOW, stable_ms=2_000)
    options = GateOptions("c", "g", limits, wait_s, plan=rollout_typed("surge=1,start=20s"))
    result = Gate(expected, script, options).wait(Clock(lambda: script.now_s, script.wait), lambda _: None)
    printed = io.StringIO()
    Console(file=printed, width=200).print(result_shown(result))
    (line,) = [line for line in printed.getvalue().splitlines() if "Forecast" in line]
    assert line.startswith("  Forecast for range: rebalances ")
    assert "; moves 4 / " in line
    assert line.rstrip().endswith(ends)
