"""What of a portion was known at an instant, where it has more than one log: in what order, and since when."""

from __future__ import annotations

import pytest

from monitor.history.portion_fold import PortionFold
from monitor.history.recorded import RecordedEvent, RecordedRow, encode_events
from monitor.history.replay import fold_group_rows, inputs_at
from monitor.model import (
    AnyEvent,
    Entity,
    GroupKind,
    GroupObserved,
    GroupsListed,
    ListedOffset,
    Member,
    MembershipStored,
    OffsetCommitted,
    OffsetsListed,
    PartitionObserved,
    PassCompleted,
    Source,
    TopicObserved,
    TopicPartitions,
)
from tests.history.memory import MemoryRecording

RECORDED_MS = 60_000


def row(position: int, *told: tuple[int, AnyEvent], entity: Entity = Entity.GROUP) -> RecordedRow:
    events = encode_events([RecordedEvent(at_ms, event) for at_ms, event in told])
    return RecordedRow(RECORDED_MS, entity, "g" if entity is Entity.GROUP else "", position, events)


@pytest.mark.parametrize("position", [0, 10**6])
def test_an_answer_to_the_first_commit_counts_wherever_its_own_log_stands(position: int):
    """The first commit of a transaction, at 1 s, was aborted; the broker was asked at 20 s."""
    commit = row(500, (1_000, OffsetCommitted("g", "t", 0, 300, 1_000)))
    answer = row(position, (20_000, OffsetsListed("c", "g", 20_000, (ListedOffset("t", 0, 10),))))
    for state in (
        fold_group_rows("c", "g", None, [commit, answer], 30_000),
        PortionFold("c", "g", None, [commit, answer]).state(30_000),
    ):
        assert state is not None
        assert [each.offset for each in state.offsets] == [10]


def reading(at_ms: int, *members: str) -> tuple[int, GroupObserved]:
    seen = tuple([Member(member_id=name) for name in members])
    return at_ms, GroupObserved(
        "c", "g", GroupKind.CLASSIC, Source.ADMIN, at_ms, at_ms, seen, protocol="range", state="Stable"
    )


def listing(at_ms: int, *groups: str) -> tuple[int, GroupsListed]:
    return at_ms, GroupsListed("c", Source.ADMIN, at_ms, at_ms, groups)


def test_a_group_that_was_gone_for_one_listing_begins_anew_within_a_minute():
    """Its three readings are three rebalances, of which the third is the first of the new group."""
    rows = [
        row(1, reading(1_000, "a"), reading(10_000, "a", "b"), reading(30_000, "a")),
        row(0, listing(1_001, "g"), listing(20_000), listing(30_001, "g"), entity=Entity.LISTING),
    ]
    known = {at_ms: fold_group_rows("c", "g", None, rows, at_ms) for at_ms in (15_000, 25_000, 40_000)}
    assert {at_ms: state and state.rebalances for at_ms, state in known.items()} == {15_000: 2, 25_000: None, 40_000: 1}


def test_what_the_first_pass_saw_need_not_have_come_after_it_began():
    """The group was there before; the pass began at 100 and asked at 101, as one that takes its time does."""
    seen = TopicObserved("c", "t", 100, 101, (PartitionObserved(0, 0, 5),), "T")
    ended = PassCompleted(cluster="c", pass_ms=100, completed_ms=180, topics=1)
    member = Member(member_id="a", topics=("t",), assigned=(TopicPartitions("u", (0,)),))
    observed = GroupObserved("c", "g", GroupKind.CLASSIC, Source.ADMIN, 90, 90, (member,), state="Stable")
    topic = RecordedRow(RECORDED_MS, Entity.TOPIC, "t", 0, encode_events([RecordedEvent(101, seen)]))
    past = MemoryRecording([topic, row(1, (180, ended), entity=Entity.PASS), row(2, (90, observed))])
    inputs = inputs_at(past, "c", "g", 200)
    assert inputs is not None
    assert inputs.catalog.watched_ms == 180


def test_the_past_of_a_group_without_members_has_the_topics_that_they_had_left():
    """Nothing was ever committed in one of them, so only the subscription names it."""
    seen = TopicObserved("c", "u", 100, 101, (PartitionObserved(0, 0, 5),), "U")
    ended = PassCompleted(cluster="c", pass_ms=100, completed_ms=180, topics=1)
    member = Member(member_id="a", topics=("t", "u"))
    stored = MembershipStored("g", 1, "consumer", "range", None, 50, (member,))
    emptied = MembershipStored("g", 2, "consumer", None, None, 90, ())
    topic = RecordedRow(RECORDED_MS, Entity.TOPIC, "u", 0, encode_events([RecordedEvent(101, seen)]))
    commit = OffsetCommitted("g", "t", 0, 300, 60)
    own = row(2, (50, stored), (60, commit), (90, emptied))
    past = MemoryRecording([topic, row(1, (180, ended), entity=Entity.PASS), own])
    inputs = inputs_at(past, "c", "g", 200)
    assert inputs is not None
    assert inputs.group.left_topics == ("t", "u")
    assert list(inputs.catalog.topics) == ["u"]
