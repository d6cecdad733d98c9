"""What decides whether records were skipped: the consumers' own logs, held beside what is told."""

from __future__ import annotations

from typing import Any

from monitor.model import FindingKind
from tests.clients.judging import ALLOWED as OF_CLIENTS
from tests.kind_churn.allowed import ALLOWED as OF_KINDS
from tests.scenarios.churn_groups import GRACE
from tests.skips.oracle import ROW, Event, Passage, Row, Told, out_of_bounds, passages, told_after_ms
from tests.skips.outcome import Outcome, violations
from tests.skips.scenarios import Demand


def read(start: int, end: int, partition: int = 0) -> Event:
    return {"event": "read", "partition": partition, "from": start, "to": end}


def committed(offset: int, ms: int = 0, partition: int = 0) -> Event:
    return {"event": "committed", "offsets": {str(partition): offset}, "ms": ms}


def missed(events: list[Event], *new: int) -> list[tuple[int, int, int]]:
    return [(each.partition, each.start, each.end) for each in passages(events, new)]


def test_a_group_begins_where_it_wants_to_and_in_a_new_partition_at_its_beginning():
    assert missed([committed(500), read(500, 510), committed(510)]) == []
    assert missed([committed(500, partition=1)], 1) == [(1, 0, 500)]


def test_what_a_commit_passed_and_nobody_read_is_missed():
    events = [read(0, 10), committed(10), read(90, 95), committed(95)]
    assert missed(events) == [(0, 10, 90)]
    assert missed([*events, committed(10), read(10, 60), committed(60)]) == [(0, 60, 90)], "read later"


def test_what_an_administrator_passed_is_not_missed():
    events = [committed(10), {"event": "reset", "offsets": {"0": 400}}, read(400, 410), committed(410)]
    assert missed(events) == []


def test_a_passage_is_told_by_a_finding_about_its_partition_after_its_commit():
    passage = Passage(1, 0, 100, 50_000)
    assert told_after_ms(passage, [Told("perhaps", (0, 1), 53_000)]) == 3_000
    assert told_after_ms(passage, [Told("perhaps", (0,), 53_000)]) is None
    assert told_after_ms(passage, [Told("perhaps", (1,), 40_000)]) is None, "that was another one"


def test_the_truth_is_that_of_the_commit_that_is_spoken_of():
    found = [Passage(0, 10, 30, 0), Passage(0, 500, 900, 0), Passage(1, 20, 30, 0)]
    assert out_of_bounds(found, [Row(0, "retention", 5, 40, 20, 35), Row(1, "rebalance", 0, 90, 0, 90)]) == []
    assert len(out_of_bounds(found, [Row(0, "retention", 5, 40, 21, 35)])) == 1
    assert len(out_of_bounds(found, [Row(0, "retention", 5, 40, 0, 19)])) == 1


def outcome(demand: Demand = Demand.TOLD, client: str = "java", **more: Any) -> Outcome:
    known = {
        "read": 500,
        "passages": (Passage(0, 0, 2_000, 10_000),),
        "told": (Told("perhaps", (0,), 12_000),),
        "rows": (),
    }
    return Outcome("g", "overtaken", demand, client, 2_000, **(known | more))


def test_each_demand_can_be_violated():
    assert violations([outcome()]) == []
    assert violations([outcome(Demand.NO_ACCUSATION)]) == []
    assert len(violations([outcome(Demand.NO_ACCUSATION, told=(Told("retention", (0,), 1),))])) == 1
    assert len(violations([outcome(told=(Told("perhaps", (0,), 19_000),))])) == 1, "too late"
    assert len(violations([outcome(told=())])) == 2, "not told, and less than 95 % are"
    assert len(violations([outcome(rows=(Row(0, "retention", 0, 2_000, 0, 1_999),))])) == 1
    assert len(violations([outcome(error="no broker")])) == 1


def test_one_in_twenty_of_the_smaller_ones_may_be_missed():
    small = outcome(passages=(Passage(0, 0, 200, 10_000),), told=())
    assert violations([outcome()] * 19 + [small]) == []
    assert len(violations([outcome()] * 18 + [small])) == 1


def test_a_row_of_the_partition_tells_of_the_commit_that_it_names_and_accuses_nobody():
    passage = Passage(1, 100, 400, 50_000)
    assert told_after_ms(passage, [Told(ROW, (1,), 51_000, (60, 400))]) == 1_000
    assert told_after_ms(passage, [Told(ROW, (1,), 51_000, (0, 100))]) is None
    assert told_after_ms(passage, [Told(ROW, (0,), 51_000, (60, 400))]) is None
    assert violations([outcome(Demand.NO_ACCUSATION, told=(Told(ROW, (0,), 51_000, (60, 400)),))]) == []


def test_the_gravest_that_was_told_is_named():
    row, information, lost = (Told(reason, (0,), 12_000) for reason in (ROW, "perhaps", "retention"))
    known = [outcome(told=told).most for told in ((), (row,), (row, information), (row, information, lost))]
    assert known == ["", "row", "information", "above"]


def test_a_run_in_which_nothing_was_seen_proves_nothing():
    assert len(violations([outcome(passages=(), told=())])) == 1, "nothing was skipped"
    assert len(violations([outcome(), outcome(client="librdkafka", passages=(), told=())])) == 1, "of one client"
    assert len(violations([outcome(Demand.NO_ACCUSATION, read=0)])) == 1, "no record was noted"


def test_no_churn_of_healthy_groups_may_tell_of_skipped_records():
    """Whatever a churn does not allow fails it. Partitions without an offset are allowed where nobody reads them.

    In ``tail-*``, members read and commit nothing.
    """
    allowed = [*GRACE, *OF_KINDS, *OF_CLIENTS]
    assert FindingKind.SKIPPED not in {each.kind for each in allowed}
    uncommitted = [each for each in allowed if each.kind == FindingKind.UNCOMMITTED]
    assert {each.groups for each in uncommitted} == {"not assigned", "failing", "lost", "tail-*"}
