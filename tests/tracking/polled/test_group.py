"""Groups that a collector reads as a whole: what two readings tell, and that a cluster's own log tells more."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import (
    GroupKind,
    GroupObserved,
    GroupsListed,
    GroupState,
    Member,
    MembershipStored,
    ObservedOffset,
    OffsetCommitted,
    Phase,
    RebalanceCause,
    Source,
    TopicPartitions,
)
from monitor.tracking.group import fold_group
from monitor.tracking.polled.group import is_deleted
from tests.support.builders import rocketmq_poll

TWO = (
    Member(member_id="a", topics=("T",), assigned=(TopicPartitions("T", ("broker-a-0", "broker-a-1")),)),
    Member(member_id="b", topics=("T",), assigned=(TopicPartitions("T", ("broker-a-2",)),)),
)
ONE = (
    Member(member_id="a", topics=("T",), assigned=(TopicPartitions("T", ("broker-a-0", "broker-a-1", "broker-a-2")),)),
)


def reading(at_ms: int, members: tuple[Member, ...] = TWO, *offsets: ObservedOffset) -> GroupObserved:
    return rocketmq_poll(at_ms, members, offsets=offsets)


def folded(*events: GroupObserved | OffsetCommitted | MembershipStored, state: GroupState | None = None) -> GroupState:
    after = fold_group("mq", "g", state, events)
    assert after is not None
    return after


def test_the_first_reading_is_a_stable_group_of_its_kind():
    state = folded(reading(1000))
    assert (state.kind, state.source, state.phase) == (GroupKind.ROCKETMQ, Source.SYSTEM, Phase.STABLE)
    assert (state.generation, state.generation_ms, state.observed_ms) == (1, 1000, 1000)
    assert state.members == TWO


def test_a_reading_like_the_one_before_moves_only_its_date():
    before = folded(reading(1000))
    assert folded(reading(2000), state=before) == replace(before, observed_ms=2000)


def test_a_member_that_went_is_a_rebalance_with_what_it_moved():
    state = folded(reading(1000), reading(2000, ONE))
    assert (state.generation, state.generation_ms, state.rebalances, state.moved_partitions) == (2, 2000, 2, 1)
    assert state.history[-1].causes == (RebalanceCause.LEAVE,)


def test_a_first_reading_without_members_and_protocol_type_is_an_empty_group():
    state = folded(replace(reading(1000, ()), protocol_type=""))
    assert (state.phase, state.generation, state.rebalances, state.members) == (Phase.EMPTY, 1, 1, ())


def test_an_offset_that_moved_is_a_commit_of_the_time_of_the_reading():
    state = folded(
        reading(1000, TWO, ObservedOffset("T", "broker-a-0", 5), ObservedOffset("T", "broker-a-1", 7)),
        reading(2000, TWO, ObservedOffset("T", "broker-a-0", 6), ObservedOffset("T", "broker-a-1", 7)),
    )
    told = [(each.partition, each.offset, each.committed_ms) for each in state.offsets]
    assert told == [("broker-a-0", 6, 2000), ("broker-a-1", 7, 1000)]


def test_what_a_partial_reading_does_not_name_stays_as_it_was():
    """The broker of broker-b-0 does not answer for two readings; nothing was committed there meanwhile."""
    both = (ObservedOffset("T", "broker-a-0", 5), ObservedOffset("T", "broker-b-0", 7))
    partial = [replace(reading(ms, TWO, ObservedOffset("T", "broker-a-0", 6)), partial=True) for ms in (2000, 3000)]
    state = folded(reading(1000, TWO, *both), *partial)
    told = [(each.partition, each.offset, each.committed_ms) for each in state.offsets]
    assert told == [("broker-a-0", 6, 2000), ("broker-b-0", 7, 1000)]
    again = folded(reading(4000, TWO, ObservedOffset("T", "broker-a-0", 6), both[1]), state=state)
    assert [each.committed_ms for each in again.offsets] == [2000, 1000]
    assert [each.partition for each in folded(reading(5000, TWO, both[0]), state=again).offsets] == ["broker-a-0"]


def test_an_offset_that_is_no_longer_read_is_forgotten():
    state = folded(reading(1000, TWO, ObservedOffset("T", "broker-a-0", 5)), reading(2000))
    assert state.offsets == ()


def test_a_group_without_members_is_empty_and_keeps_its_offsets():
    state = folded(reading(1000), reading(2000, (), ObservedOffset("T", "broker-a-0", 5)))
    assert (state.phase, len(state.offsets)) == (Phase.EMPTY, 1)


def test_a_reading_older_than_the_newest_does_not_count():
    before = folded(reading(2000))
    assert folded(reading(1000, ONE), state=before) == before


def test_once_the_log_tells_of_a_group_readings_of_it_do_not_count():
    stored = MembershipStored(
        group="g", generation=9, protocol_type="consumer", protocol="range", leader="x", stored_ms=500, members=ONE
    )
    state = folded(reading(1000), stored)
    assert (state.source, state.generation, state.kind) == (Source.LOG, 9, GroupKind.CLASSIC)
    assert folded(reading(2000), state=state) == state


def test_a_commit_in_the_log_is_enough_for_the_log_to_be_believed():
    committed = OffsetCommitted(group="g", topic="T", partition=0, offset=3, committed_ms=700)
    state = folded(reading(1000, TWO, ObservedOffset("T", 1, 5)), committed)
    assert state.source is Source.LOG
    assert [(each.partition, each.offset) for each in state.offsets] == [(0, 3)]


def test_a_group_has_gone_that_a_later_listing_of_its_source_does_not_name():
    state = folded(reading(1000))
    listed = GroupsListed(cluster="mq", source=Source.SYSTEM, pass_ms=2000, completed_ms=2100, groups=("other",))
    assert is_deleted(state, listed, frozenset(listed.groups))
    assert not is_deleted(state, listed, frozenset({"g"}))
    assert not is_deleted(state, replace(listed, source=Source.CHECKPOINT), frozenset())
    assert not is_deleted(state, replace(listed, pass_ms=1000), frozenset())


def hung(member: Member) -> Member:
    return Member(member_id=member.member_id, answers=False)


def test_a_member_that_does_not_answer_keeps_what_it_had_and_that_is_no_rebalance():
    before = folded(reading(1000))
    after = folded(reading(2000, (TWO[0], hung(TWO[1]))), state=before)
    assert (after.generation, after.generation_ms, after.rebalances) == (1, 1000, 1)
    (silent,) = [member for member in after.members if not member.answers]
    assert (silent.topics, silent.assigned) == (TWO[1].topics, TWO[1].assigned)
    again = folded(reading(3000, (TWO[0], hung(TWO[1]))), state=after)
    assert again.members == after.members


def test_a_member_that_does_not_answer_has_lost_what_another_says_it_has():
    took = replace(TWO[0], assigned=ONE[0].assigned)
    after = folded(reading(1000), reading(2000, (took, hung(TWO[1]))))
    assert [member.assigned for member in after.members] == [ONE[0].assigned, ()]
    assert after.generation == 2


def test_of_a_member_that_never_answered_nothing_is_known():
    after = folded(reading(1000, (TWO[0], hung(TWO[1]))))
    assert after.members[1] == hung(TWO[1])


def test_what_members_take_one_after_the_other_is_one_rebalance_and_what_comes_from_nowhere_another():
    """b leaves at 2 s; a takes broker-a-2 by the reading at 12 s. At 60 s it gives it up, which nothing explains."""
    first, late = replace(TWO[0], topics=("T",)), ONE
    state = folded(reading(1000), reading(2000, (first,)), reading(12_000, late), reading(60_000, (first,)))
    assert [each.causes for each in state.history] == [
        (RebalanceCause.JOIN,),
        (RebalanceCause.LEAVE,),
        (RebalanceCause.HANDOVER,),
        (RebalanceCause.UNKNOWN,),
    ]


def test_a_second_connection_with_a_members_id_is_a_change_of_which_nothing_tells_why():
    twice = (replace(TWO[0], connections=2), TWO[1])
    state = folded(reading(1000), reading(100_000, twice))
    assert (state.generation, state.history[-1].causes) == (2, (RebalanceCause.UNKNOWN,))


def test_members_and_topics_in_another_order_are_no_rebalance():
    turned = tuple(reversed(TWO))
    before = folded(reading(1000))
    assert folded(reading(2000, turned), state=before).generation == before.generation


def test_of_two_sources_of_a_group_the_better_one_counts_whichever_came_first():
    asked = replace(reading(1000), kind=GroupKind.CLASSIC, source=Source.ADMIN, state="Stable")
    from_files = replace(reading(2000, ()), kind=GroupKind.SPARK, source=Source.CHECKPOINT)
    known = folded(asked)
    assert folded(from_files, state=known) == known
    other_way_round = folded(from_files, replace(asked, observed_ms=3000))
    assert (other_way_round.source, other_way_round.members) == (Source.ADMIN, TWO)
