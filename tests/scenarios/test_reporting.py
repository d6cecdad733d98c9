"""What is held against reports on scenarios: it finds what is missing, too late, of others, or not so."""

from __future__ import annotations

import msgspec
import pytest

from monitor.history.chronicle.values import MemberThen
from monitor.history.report.facts import Departure, FindingThen, IncidentReport, MemberHung, MemberLeft
from monitor.model import GroupKind, TopicPartition
from monitor.model.findings import Severity
from tests.scenarios.reporting import WANTED, errors, faults
from tests.scenarios.scenario import Stall, Story
from tests.scenarios.table import SCENARIOS

[HANG] = [each for each in SCENARIOS if each.name == "hang-range"]
STORY = Story("hang-range", 0, 90_000, {"hang": 10_000, "resume": 30_000})
PLACES = tuple(TopicPartition("hang-range.t", number) for number in (2, 3))
B = MemberThen("hang-range.b-1", client_id="hang-range.b")
HUNG = MemberHung(B, "silent", 9_500, 30_200, is_over=True, partitions=PLACES)
REPORT = IncidentReport("scenarios", "hang-range", GroupKind.CLASSIC, 0, 90_000, 90_000, 1_000, hung=(HUNG,))


def changed(**fields: object) -> IncidentReport:
    return msgspec.structs.replace(REPORT, hung=(msgspec.structs.replace(HUNG, **fields),))


def test_a_report_as_the_script_wants_it_has_no_faults():
    assert faults(HANG, STORY, REPORT) == []
    assert [each.line() for each in errors(HANG, STORY, REPORT)] == ["hung b (hang) -0.5 s, its end +0.2 s"]


@pytest.mark.parametrize(
    ("report", "fault"),
    [
        (msgspec.structs.replace(REPORT, hung=()), "missing: "),
        (changed(from_ms=5_000), "not within 3.0 s: hung b"),
        (changed(until_ms=34_000), "not within 3.0 s: hung b"),
        (changed(partitions=PLACES[:1]), "missing: "),
        (changed(member=MemberThen("hang-range.a-1", client_id="hang-range.a")), "missing: "),
        (
            msgspec.structs.replace(REPORT, left=(MemberLeft(20_000, B, Departure.LEFT),)),
            "not so: Told(what='left', member='b'",
        ),
        (
            msgspec.structs.replace(
                REPORT,
                findings=(FindingThen("lag", "behind", Severity.WARNING, 0, 0, 1, is_over=True, sentence="Late."),),
            ),
            "not so: finding lag/behind",
        ),
    ],
)
def test_what_is_wrong_is_found(report: IncidentReport, fault: str):
    assert any(each.startswith(fault) for each in faults(HANG, STORY, report))


STALL = Stall("a", 40_000, 56_000)
"""A consumer of which the script tells nothing stood still, because this machine did."""

HUNG_TOO = MemberHung(
    MemberThen("hang-range.a-1", client_id="hang-range.a"), "silent", 38_000, 57_000, is_over=True, partitions=PLACES
)


@pytest.mark.parametrize(
    ("hung", "faulty"),
    [
        (HUNG_TOO, False),
        (msgspec.structs.replace(HUNG_TOO, from_ms=34_000), True),
        (msgspec.structs.replace(HUNG_TOO, until_ms=62_000), True),
        (msgspec.structs.replace(HUNG_TOO, member=B), True),
    ],
)
def test_what_a_stall_of_the_machine_did_to_its_member_is_so(hung: MemberHung, faulty: bool):
    story = msgspec.structs.replace(STORY, stalls=(STALL,))
    found = faults(HANG, story, msgspec.structs.replace(REPORT, hung=(HUNG, hung)))
    assert [each.startswith("not so: Told(what='hung'") for each in found] == [True] * faulty


@pytest.mark.parametrize(
    ("kind", "reason", "faulty"),
    [("lag", "not_committing", False), ("lag", "behind", True), ("rebalance", "long", True)],
)
def test_a_finding_of_a_stall_is_so(kind: str, reason: str, faulty: bool):
    story = msgspec.structs.replace(STORY, stalls=(STALL,))
    finding = FindingThen(kind, reason, Severity.WARNING, 38_000, 52_000, 58_000, is_over=True, sentence="Late.")
    assert bool(faults(HANG, story, msgspec.structs.replace(REPORT, findings=(finding,)))) == faulty


def test_every_step_that_is_wanted_is_one_of_the_scenario():
    steps = {each.name: {step.name for step in each.steps} for each in SCENARIOS}
    for name, wanted in WANTED.items():
        assert {step for each in wanted for step in (each.step, each.until) if step} <= steps[name]
