"""Classic groups of Kafka Streams: what is told of captured ones at each instant, and of assignments made by hand.

The captures had nothing wrong but for the seconds after an instance was killed, which the log does not show.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.group import explain_group
from monitor.model import (
    Catalog,
    CommittedOffset,
    EndOffsetAt,
    Finding,
    FindingKind,
    GroupState,
    GroupVerdict,
    Member,
    MembershipStored,
    PartitionState,
    Phase,
    StreamsNotice,
    TopicPartition,
    TopicPartitions,
    TopicState,
)
from monitor.tracking.group import fold_group
from tests.support.builders import ASSIGNED, NOW, catalog, group, member, places, topic
from tests.support.streams_captures import GROUPS, event_of, marks, records

OF_OWNERS = {FindingKind.ORPHANED, FindingKind.IDLE_MEMBERS, FindingKind.IMBALANCE}
GAPS = {"stc893-classic": {3: 5, 5: 6, 7: 2, 9: 7}, "sta786-classic": {3: 6, 5: 7, 7: 3, 9: 9}}
"""By generation, how many partitions nobody has, counted in the captured assignments."""


# --- captured ---------------------------------------------------------------------------------------------------------


def folded(name: str, *, before: int | None = None, until: int | None = None) -> GroupState:
    """The group as the records before an offset of the log tell it, or up to that of a generation."""
    state: GroupState | None = None
    for line in records(name):
        if before is not None and line["o"] >= before:
            break
        event = event_of(line)
        state = fold_group("c", name, state, [event])
        if until is not None and isinstance(event, MembershipStored) and event.generation == until and event.members:
            break
    assert state is not None
    return state


def topics_at(mark: dict[str, Any], at_ms: int) -> Catalog:
    """The topics of a mark, which were there before the group."""
    seen_ms = mark["t"] - 3_600_000

    def partitions(own: dict[str, Any]) -> tuple[PartitionState, ...]:
        return tuple(
            PartitionState(
                partition=number,
                first_seen_ms=seen_ms,
                earliest=own["start"].get(str(number)),
                end=own["end"].get(str(number)),
                ends=(EndOffsetAt(at_ms, own["end"].get(str(number), 0)),),
            )
            for number in range(own["partitions"])
        )

    known = {
        name: TopicState(cluster="c", topic=name, pass_ms=at_ms, partitions=partitions(own))
        for name, own in mark["topics"].items()
    }
    return Catalog(cluster="c", pass_ms=at_ms, topics=known, watched_ms=seen_ms)


@pytest.mark.parametrize("name", GROUPS)
def test_of_a_settled_group_nothing_is_told_of_owners(name: str):
    """11 marks: standby-only threads, 8 threads for 8 tasks, a probing rebalance announced, closed instances."""
    for mark in marks(name):
        (end,) = mark["log"].values()
        verdict = evaluate(folded(name, before=end), topics_at(mark, mark["t"]), mark["t"], DetectionSettings())
        assert [f for f in verdict.findings if f.kind in OF_OWNERS] == [], mark["label"]
        assert verdict.imbalance_ratio is None
        assert {row.idle for row in verdict.members} == {None}
        assert verdict.expectation == "invariants"
        assert_owners_are_the_described(verdict, mark)


def assert_owners_are_the_described(verdict: GroupVerdict, mark: dict[str, Any]) -> None:
    """The admin client describes a group only while it is stable."""
    if mark["describe"]["state"] == "Stable":
        described = {place: m["member_id"] for m in mark["describe"]["members"] for place in m["assignment"]}
        owned = {f"{row.topic}-{row.partition}": row.owners[0] for row in verdict.partitions if row.owners}
        assert owned == described, mark["label"]


def test_there_are_marks_of_every_kind():
    for name in GROUPS:
        assert len(marks(name)) == 11
        assert max(len(mark["describe"]["members"]) for mark in marks(name)) >= 8
        standby_only = [
            thread
            for mark in marks(name)
            for threads in mark["threads"].values()
            for thread in threads
            if thread["standby"] and not thread["active"]
        ]
        assert standby_only


@pytest.mark.parametrize("name", GROUPS)
def test_what_nobody_has_in_a_half_done_generation_is_on_its_way(name: str):
    gaps: dict[int, int] = {}
    for generation in range(1, 11):
        state = folded(name, until=generation)
        assert state.generation == generation
        at_ms = state.generation_ms + 500
        verdict = evaluate(replace(state, offsets=()), topics_at(marks(name)[-1], at_ms), at_ms, DetectionSettings())
        found = [(f.kind, f.reason) for f in verdict.findings if f.kind in OF_OWNERS]
        orphans = sum(row.orphan is not None for row in verdict.partitions)
        if orphans:
            gaps[generation] = orphans
        assert found == [(FindingKind.ORPHANED, "pending")] * bool(orphans), generation
    assert gaps == GAPS[name]


# --- made by hand -----------------------------------------------------------------------------------------------------

FINAL = StreamsNotice(version=11)
HALF = StreamsNotice(version=11, next_rebalance_ms=0)
PROBING = StreamsNotice(version=11, next_rebalance_ms=NOW + 60_000)
OLD = StreamsNotice(version=6)


def thread(name: str, *has: int, told: StreamsNotice | None = FINAL, had: tuple[int, ...] = ()) -> Member:
    owned = (TopicPartitions("orders", had),) if had else ()
    return member(name, ["orders"], {"orders": has} if has else {}, streams=told, owned=owned)


def streams(*threads: Member, **more: Any) -> GroupState:
    return group(*threads, protocol="stream", **more)


def orphaned(state: GroupState, topics: Catalog) -> list[Finding]:
    return [f for f in evaluate(state, topics, NOW, DetectionSettings()).findings if f.kind is FindingKind.ORPHANED]


FOUR = catalog(topic("orders", 4))


@pytest.mark.parametrize(
    ("threads", "reason"),
    [
        pytest.param([thread("a", 0, 1), thread("b")], "no_task", id="final"),
        pytest.param([thread("a", 0, 1), thread("b", told=PROBING)], "no_task", id="final until standbys are probed"),
        pytest.param([thread("a", 0, 1, had=(0, 1, 2, 3)), thread("b")], "no_task", id="final, and let go before"),
        pytest.param(
            [thread("a", 0, 1), thread("b", told=HALF)], "pending", id="one member expects another generation"
        ),
        pytest.param([thread("a", 0, 1, told=OLD, had=(0, 1, 2, 3)), thread("b", told=OLD)], "pending", id="version 6"),
        pytest.param([thread("a", 0, 1, told=OLD), thread("b", told=OLD)], "no_task", id="version 6, nobody had it"),
        pytest.param(
            [thread("a", 0, 1, told=None), thread("b", told=None)], "no_task", id="what is told is unreadable"
        ),
        pytest.param(
            [thread("a", 0, 1, told=StreamsNotice(version=11, error=2)), thread("b")], "pending", id="version probing"
        ),
        pytest.param(
            [thread(name, told=StreamsNotice(version=11, error=1)) for name in "ab"],
            "no_task",
            id="an error of its leader",
        ),
    ],
)
def test_why_nobody_has_a_partition(threads: list[Member], reason: str):
    (finding,) = orphaned(streams(*threads), FOUR)
    assert (finding.reason, finding.since_ms) == (reason, ASSIGNED)
    lacking = (0, 1, 2, 3) if not threads[0].assigned else (2, 3)
    assert finding.partitions == places("orders", *lacking)


def test_a_topic_that_grew_after_the_generation_grew():
    (finding,) = orphaned(streams(thread("a", 0, 1), thread("b", 2)), catalog(topic("orders", 4, grown=1)))
    assert (finding.reason, finding.partitions) == ("grew", places("orders", 3))


def test_a_leader_that_does_not_subscribe_is_no_explanation_for_streams():
    state = streams(thread("a", 0, 1), member("b", ["orders", "more"], {"orders": [2, 3]}, streams=FINAL), leader="a")
    (finding,) = orphaned(state, catalog(topic("orders", 4), topic("more", 1)))
    assert (finding.reason, finding.partitions) == ("no_task", places("more", 0))


def test_uneven_threads_and_threads_without_partitions_are_no_finding():
    """Balance is by tasks and processes; the same owners with another assignor are an imbalance and an idle member."""
    threads = [thread("a", 0, 1, 2, 3), thread("b")]
    verdict = evaluate(streams(*threads), FOUR, NOW, DetectionSettings())
    assert (verdict.findings, verdict.imbalance_ratio) == ((), None)
    other = evaluate(group(*threads, protocol="ours"), FOUR, NOW, DetectionSettings())
    assert [finding.kind for finding in other.findings] == [FindingKind.IMBALANCE, FindingKind.IDLE_MEMBERS]


def test_records_that_wait_for_busy_partitions_of_one_thread_are_not_blamed_on_the_assignor():
    """Partitions of a task stay together, and no other assignor can be chosen; of another group it is told."""
    offsets = [CommittedOffset(topic="orders", partition=n, offset=0, committed_ms=NOW) for n in range(4)]
    ends = [9_000, 9_000, 500, 500]
    states = [
        replace(state, end=end, ends=(EndOffsetAt(NOW - 600_000, 0), EndOffsetAt(NOW, end)))
        for state, end in zip(FOUR.topics["orders"].partitions, ends, strict=True)
    ]
    busy = catalog(replace(FOUR.topics["orders"], partitions=tuple(states)))
    threads = [thread("a", 0, 1), thread("b", 2, 3)]

    def told(state: GroupState) -> list[str]:
        findings = evaluate(replace(state, offsets=tuple(offsets)), busy, NOW, DetectionSettings()).findings
        return [finding.reason for finding in findings if finding.kind is FindingKind.IMBALANCE]

    assert told(group(*threads, protocol="ours")) == ["lag"]
    assert told(streams(*threads)) == []


def test_explain_says_what_is_judged():
    state = streams(thread("a", 0, 1), thread("b", 2, 3))
    told = [s.sentence for s in explain_group(GroupInputs(group=state, catalog=FOUR, now_ms=NOW)).statements]
    assert (
        "Its assignor stream assigns tasks and balances them over processes, so groupwatch evaluates only owners, "
        "orphaned partitions, and the balance of processes." in (told)
    )
    assert "The group has no findings." in told


def test_a_group_of_streams_without_members_is_none_whose_tasks_are_missing():
    state = streams(phase=Phase.EMPTY, offsets=[CommittedOffset("orders", 0, 100, NOW)])
    verdict = evaluate(state, FOUR, NOW, DetectionSettings())
    assert verdict.findings == ()
    assert TopicPartition("orders", 0) in {TopicPartition(row.topic, row.partition) for row in verdict.partitions}
