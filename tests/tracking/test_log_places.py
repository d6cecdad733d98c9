"""A group's records count where the brokers place the group: by the newest number of partitions, in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    CommittedOffset,
    GroupPlaced,
    GroupState,
    GrownLog,
    ListedOffset,
    Member,
    MembershipStored,
    OffsetCommitted,
    OffsetsListed,
    Phase,
    ShareGroupState,
    Source,
)
from monitor.protocol.kafka.group_metadata import group_partition
from monitor.protocol.offsets_topic import key_group
from monitor.tracking.group import fold_group
from monitor.tracking.log_places import (
    grown_together,
    is_left_behind,
    note_growth,
    without_log,
)
from tests.support import captures, kind_captures

# By Java's String.hashCode, the code of one letter is its number: "d" is 100, "l" is 108.
MOVED, STAYING = "d", "l"  # 100 % 3 = 1, 100 % 7 = 2; 108 % 3 = 0, 108 % 7 = 3
AT_HOME = "i"  # 105 is 0 by 3 and by 7

FORMER = GroupPlaced(group="g", partitions=3)
NEW = GroupPlaced(group="g", partitions=7, before=3)


def stored(generation, *members, at_ms=1_000):
    return MembershipStored(
        group="g",
        generation=generation,
        protocol_type="consumer",
        protocol="range",
        leader=None,
        stored_ms=at_ms,
        members=tuple(Member(member_id=name) for name in members),
    )


def committed(offset, at_ms=1_000):
    return OffsetCommitted(group="g", topic="t", partition=0, offset=offset, committed_ms=at_ms)


def known(group, *, offsets=1, **more):
    own = tuple(CommittedOffset("t", number, 7, 1_000) for number in range(offsets))
    return GroupState(cluster="c", group=group, phase=Phase.EMPTY, offsets=own, **more)


def folded(*events):
    return fold_group("c", "g", None, events)


@pytest.mark.parametrize("broker", captures.BROKERS)
def test_every_captured_record_is_where_its_group_is_placed(broker):
    """These brokers had eight partitions of the offsets topic."""
    records = captures.records(broker)
    assert {group_partition(record.group, 8) - record.partition for record in records} == {0}
    assert len({record.group for record in records}) > 20


def test_so_is_every_record_of_the_other_kinds_of_groups():
    records = [r for r in kind_captures.records() if r["topic"] == "__consumer_offsets" and r["key"] is not None]
    assert {group_partition(key_group(kind_captures.key_of(r)), 3) - r["p"] for r in records} == {0}


def test_what_is_from_the_new_place_makes_a_new_group():
    state = folded(stored(8, "a", "b"), committed(900), NEW, stored(1, "a", at_ms=9_000), committed(5, 9_000))
    assert (state.generation, [offset.offset for offset in state.offsets]) == (1, [5])
    assert [member.member_id for member in state.members] == ["a"]
    assert (state.log_partitions, state.has_lost_offsets, state.rebalances) == (7, True, 1)


def test_a_group_that_the_former_number_still_places_stays_as_it_is():
    """The log has grown, and no broker has been restarted."""
    before = [stored(8, "a"), committed(900)]
    state = folded(*before, FORMER, committed(905, 2_000))
    assert (state.generation, [offset.offset for offset in state.offsets]) == (8, [905])
    assert not state.has_lost_offsets


NEW_ONES = [NEW, stored(1, "c", at_ms=9_000), committed(5, 9_000)]
LISTED = OffsetsListed(cluster="c", group="g", asked_ms=99_000, offsets=(ListedOffset("t", 0, 6),))


@given(st.lists(st.sampled_from(["old", "new", "cut"]), min_size=1))
def test_once_anything_is_at_the_new_place_the_former_one_says_nothing(course):
    """Two brokers, of which one was not restarted, write both for a while; and no order of partitions is kept."""
    state, alone = None, None
    for step in course:
        if step == "old":
            state = fold_group("c", "g", state, [FORMER, stored(9, "z"), committed(700, 5_000)])
        elif step == "new":
            state, alone = fold_group("c", "g", state, NEW_ONES), fold_group("c", "g", alone, NEW_ONES)
        else:
            state, alone = fold_group("c", "g", state, []), fold_group("c", "g", alone, [])
    if alone is None:
        assert state is None or state.log_partitions == 3
    else:
        assert (state.generation, state.members, state.offsets) == (alone.generation, alone.members, alone.offsets)
        assert (state.history, state.rebalances) == (alone.history, alone.rebalances)


def test_what_the_broker_answered_counts_wherever_the_log_was_read():
    state = folded(*NEW_ONES, FORMER, LISTED)
    assert [offset.offset for offset in state.offsets] == [6]


def test_only_groups_of_the_log_whose_place_moved_are_left_behind():
    assert is_left_behind(known(MOVED), 3, 7)
    assert is_left_behind(known(STAYING), 3, 7), "0 by three, 3 by seven"
    assert not is_left_behind(known(AT_HOME), 3, 7)
    assert not is_left_behind(known(MOVED, log_partitions=7), 3, 7), "it is there already"
    assert not is_left_behind(known(MOVED, source=Source.CHECKPOINT), 3, 7)


def test_a_growth_names_the_groups_that_lost_their_offsets():
    grown = note_growth(
        GrownLog(3),
        7,
        now_ms=5_000,
        groups=[
            known(MOVED),
            known(AT_HOME),
            known("p", offsets=0),
            known("v", log_partitions=7, has_lost_offsets=True),
            known("w", log_partitions=7),
            known("s", source=Source.CHECKPOINT),
        ],
    )
    assert (grown.partitions, grown.before, grown.grown_ms) == (7, 3, 5_000)
    assert grown.lost == (MOVED, "v"), "p (112 is 1 by 3, 0 by 7) had none"
    assert grown.groups == 5


def test_growths_of_buckets_are_one():
    parts = [GrownLog(7, 3, 5_000, 4, ("b",)), GrownLog(7, 3, 4_000, 2, ("a",)), GrownLog(3), GrownLog(7, 3, 6_000, 1)]
    assert grown_together(parts) == GrownLog(7, 3, 4_000, 7, ("a", "b"))
    assert grown_together([GrownLog(3), GrownLog(3)]) is None


def test_share_state_has_a_log_of_its_own_and_stays():
    share = ShareGroupState()
    left = without_log(known("s", share=share))
    assert left == GroupState(cluster="c", group="s", share=share)
    assert without_log(known("g")) is None
