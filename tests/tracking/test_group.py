"""What a group's log makes of the group, case by case; then promises that hold for any log."""

from itertools import accumulate

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    CommitPoint,
    CurrentRemoved,
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupKind,
    IdPartitions,
    Member,
    MemberRemoved,
    MembershipStored,
    MemberState,
    MemberStored,
    OffsetCommitted,
    OffsetDeleted,
    Phase,
    Reconciliation,
    RegexResolved,
    Rewind,
    Standstill,
    SubscribedTopic,
    SubscribedTopicsStored,
    TargetEpochStored,
    TargetStored,
)
from monitor.model.commit_history import points_of
from monitor.model.expiry import DeletedOffset
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state
from tests.support.commit_runs import run_of


def commit(topic="t", partition=0, offset=1, at_ms=1):
    return OffsetCommitted(group="g", topic=topic, partition=partition, offset=offset, committed_ms=at_ms)


def deleted(topic="t", partition=0):
    return OffsetDeleted(group="g", topic=topic, partition=partition)


def stored(generation, *member_ids, at_ms=1, protocol_type="consumer"):
    return MembershipStored(
        group="g",
        generation=generation,
        protocol_type=protocol_type,
        protocol="range" if member_ids else None,
        leader=member_ids[0] if member_ids else None,
        stored_ms=at_ms,
        members=tuple(Member(member_id=member_id) for member_id in member_ids),
    )


CREATED = stored(0, protocol_type="", at_ms=5)
GROUP_DELETED = GroupDeleted(group="g", deleted_ms=9)


def fold(*events, state=None):
    return fold_group("c", "g", state, events)


# --- what the last members subscribed to ------------------------------------------------------------------------------


def test_the_topics_of_the_last_members_are_known_while_there_are_none():
    both = MembershipStored("g", 1, "consumer", "range", "a", 1, (Member("a", ("u", "t")), Member("b", ("t", "v"))))
    assert fold(both).left_topics == ()
    left = fold(both, stored(2))
    assert left.left_topics == ("t", "u", "v")
    assert fold(stored(2), stored(2), state=left).left_topics == ("t", "u", "v")
    assert fold(stored(3, "c"), state=left).left_topics == ()
    assert decode_group_state(encode_state(left)) == left


def test_the_topics_of_the_last_member_of_a_kip_848_group_include_those_of_its_expression():
    def joined(member_id, *topics, regex=None):
        return MemberStored("g", GroupKind.CONSUMER, Member(member_id, topics, regex=regex), stored_ms=1)

    def removed(member_id):
        return MemberRemoved(group="g", kind=GroupKind.CONSUMER, member_id=member_id, removed_ms=2)

    found = RegexResolved("g", "o.*", ("orders",), 1)
    lived_in = fold(joined("a", "t"), joined("b", "u", regex="o.*"), found)
    assert fold(removed("b"), state=lived_in).left_topics == ()
    empty = fold(removed("a"), removed("b"), state=lived_in)
    assert empty.left_topics == ("orders", "u")
    assert fold(joined("c", "t"), state=empty).left_topics == ()


# --- rebalances -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([stored(1, "a")], 1, id="the first generation seen is a rebalance"),
        pytest.param([CREATED, stored(1, "a")], 1, id="the record of the creation is none"),
        pytest.param([CREATED, CREATED], 0, id="nor when it comes twice"),
        pytest.param([stored(1, "a"), stored(2, "a", "b")], 2, id="a member joined"),
        pytest.param([stored(1, "a"), stored(2)], 2, id="the last member left"),
        pytest.param([stored(7)], 1, id="compaction kept only the record that emptied it"),
        pytest.param([stored(1, "a"), stored(4, "a")], 2, id="generations that nobody completed are not in the log"),
        pytest.param([stored(3, "a"), stored(3, "a2")], 1, id="a static member came back: the same generation"),
        pytest.param([stored(5, "a"), stored(1, "a")], 2, id="a generation that goes back is another one"),
        pytest.param([commit(), stored(5, "a"), GROUP_DELETED, stored(5, "a")], 2, id="deleted and created anew"),
        pytest.param(
            [stored(5, "a"), stored(6), GROUP_DELETED, stored(1, "a")],
            1,
            id="deleted when it was empty and had no offset left: forgotten",
        ),
        pytest.param([stored(5, "a"), GROUP_DELETED, stored(6, "a")], 2, id="converted and back, without an offset"),
    ],
)
def test_rebalances(events, expected):
    assert fold(*events).rebalances == expected


def test_a_static_member_takes_its_place_without_a_new_generation():
    """The new member id is the leader now; the generation is as old as it was."""
    state = fold(stored(3, "old", at_ms=10), stored(3, "new", at_ms=50))
    assert [member.member_id for member in state.members] == ["new"]
    assert (state.leader, state.generation, state.generation_ms, state.phase_ms) == ("new", 3, 10, 10)


def test_a_new_generation_does_not_begin_a_new_phase():
    state = fold(stored(3, "a", at_ms=10), stored(4, "a", at_ms=50))
    assert (state.generation_ms, state.phase_ms) == (50, 10)


def test_the_last_member_leaves():
    state = fold(stored(3, "a", at_ms=10), stored(4, at_ms=50))
    assert (state.phase, state.phase_ms, state.protocol_type, state.protocol) == (Phase.EMPTY, 50, "consumer", None)
    assert (state.members, state.leader, state.generation) == ((), None, 4)


def test_a_group_without_assignment_yet_is_created_only():
    state = fold(CREATED)
    assert (state.phase, state.phase_ms, state.generation, state.generation_ms) == (Phase.OFFSETS_ONLY, 5, 0, 5)


# --- offsets ----------------------------------------------------------------------------------------------------------


def test_the_newest_commit_is_the_last_in_the_log_whatever_its_time():
    state = fold(commit(offset=9, at_ms=100), commit(offset=4, at_ms=50))
    (newest,) = state.offsets
    assert (newest.topic, newest.partition, newest.offset, newest.committed_ms) == ("t", 0, 4, 50)


def test_a_commit_of_a_lower_offset_is_a_rewind():
    (known,) = fold(commit(offset=9, at_ms=1), commit(offset=4, at_ms=2), commit(offset=4, at_ms=3)).offsets
    assert (known.rewinds, known.last_rewind) == (1, Rewind(at_ms=2, before=9, after=4))
    later = fold(commit(offset=3, at_ms=4), commit(offset=5, at_ms=5), state=fold(commit(offset=4), commit(offset=3)))
    assert (later.offsets[0].rewinds, later.offsets[0].last_rewind.before) == (1, 4)


def test_commits_are_counted_until_the_offset_is_deleted():
    (known,) = fold(*(commit(offset=n, at_ms=n) for n in (7, 7, 3))).offsets
    assert known.commits == 3
    (run,) = combined([commit(offset=9, at_ms=8), commit(offset=9, at_ms=9)])
    (known,) = fold(run, state=fold(commit(offset=7))).offsets
    assert known.commits == 3
    (known,) = fold(commit(), commit(), deleted(), commit()).offsets
    assert known.commits == 1


def test_the_history_is_bounded():
    state = fold(*(commit(offset=n, at_ms=n * 61_000) for n in range(1000)))
    (known,) = state.offsets
    assert [point.offset for point in points_of(known.history)] == list(range(980, 1000))
    assert len(known.history) == 320


def test_a_deleted_offset_loses_its_history_and_its_rewinds():
    (known,) = fold(commit(offset=9), commit(offset=4), deleted(), commit(offset=2)).offsets
    assert ([point.offset for point in points_of(known.history)], known.rewinds) == ([2], 0)


def test_offsets_are_sorted_by_topic_and_number():
    state = fold(commit("b", 2), commit("a", 10), commit("b", 1), commit("a", 9))
    assert [(o.topic, o.partition) for o in state.offsets] == [("a", 9), ("a", 10), ("b", 1), ("b", 2)]


def test_a_deleted_offset_is_removed_and_may_come_back():
    state = fold(commit(partition=0), commit(partition=1), deleted(partition=0))
    assert [o.partition for o in state.offsets] == [1]
    assert [o.partition for o in fold(commit(partition=0), state=state).offsets] == [0, 1]


def test_a_deletion_of_what_was_never_seen_says_nothing():
    assert fold(deleted()) is None
    assert fold(GROUP_DELETED) is None


# --- the end of a group -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([commit(), deleted()], id="its last offset expired"),
        pytest.param([commit(), deleted(), GROUP_DELETED], id="its last offset expired: the new coordinator"),
        pytest.param([stored(1, "a"), commit(), stored(2), deleted(), GROUP_DELETED], id="deleted by an administrator"),
        pytest.param([commit(), GROUP_DELETED, deleted()], id="the offset's tombstone behind the group's"),
        pytest.param([CREATED, GROUP_DELETED], id="created and deleted"),
    ],
)
def test_nothing_is_left(events):
    assert fold(*events) is None


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        pytest.param([stored(1), commit(), deleted()], Phase.EMPTY, id="an empty group without offsets is still there"),
        pytest.param([CREATED, commit(), deleted()], Phase.OFFSETS_ONLY, id="created, its first member is joining"),
        pytest.param([stored(1, "a"), commit(), GROUP_DELETED], Phase.GONE, id="converted to KIP-848, offsets stay"),
    ],
)
def test_something_is_left(events, phase):
    assert fold(*events).phase is phase


def test_a_deleted_group_keeps_its_offsets_and_nothing_else():
    state = fold(commit(), stored(3, "a"), GROUP_DELETED)
    assert (state.members, state.leader, state.protocol, state.protocol_type) == ((), None, None, "")
    assert (state.generation, state.generation_ms, state.phase_ms) == (0, 0, 9)
    assert [o.partition for o in state.offsets] == [0]


def test_a_commit_after_the_deletion_begins_a_group_of_offsets():
    state = fold(commit(), stored(3, "a"), GROUP_DELETED, commit(at_ms=20))
    assert (state.phase, state.phase_ms, state.rebalances) == (Phase.OFFSETS_ONLY, 20, 1)


# --- promises ---------------------------------------------------------------------------------------------------------

TIMES = st.integers(0, 5)
KINDS = st.sampled_from([GroupKind.CONSUMER, GroupKind.SHARE, GroupKind.STREAMS])
IDS = st.sampled_from(["x", "y", "z"])
OWNED = st.lists(st.builds(IdPartitions, st.sampled_from("pq"), st.just((0,))), max_size=2).map(tuple)


def member_stored(kind, member_id, instance_id, topic, at_ms):
    member = Member(member_id=member_id, instance_id=instance_id, topics=(topic,), rebalance_timeout_ms=2)
    return MemberStored(group="g", kind=kind, member=member, stored_ms=at_ms)


CLASSIC_EVENTS = st.one_of(
    st.builds(
        lambda generation, members, at: stored(generation, *members, at_ms=at), TIMES, st.text("xy", max_size=2), TIMES
    ),
    st.builds(lambda at: stored(0, protocol_type="", at_ms=at), TIMES),
)
MODERN_EVENTS = st.one_of(
    st.builds(EpochStored, group=st.just("g"), kind=KINDS, epoch=TIMES, stored_ms=TIMES, metadata_hash=TIMES),
    st.builds(member_stored, KINDS, IDS, st.sampled_from([None, "i"]), st.sampled_from("ab"), TIMES),
    st.builds(MemberRemoved, group=st.just("g"), kind=KINDS, member_id=IDS, removed_ms=TIMES),
    st.builds(TargetEpochStored, group=st.just("g"), kind=KINDS, epoch=st.none() | TIMES, stored_ms=TIMES),
    st.builds(TargetStored, group=st.just("g"), kind=KINDS, member_id=IDS, target=st.none() | OWNED),
    st.builds(
        CurrentStored,
        group=st.just("g"),
        kind=KINDS,
        member_id=IDS,
        current=st.builds(
            Reconciliation,
            epoch=st.integers(-2, 5),
            state=st.sampled_from(MemberState),
            assigned=OWNED,
            revoking=OWNED,
            since_ms=TIMES,
        ),
    ),
    st.builds(CurrentRemoved, group=st.just("g"), kind=KINDS, member_id=IDS),
    st.builds(
        RegexResolved,
        group=st.just("g"),
        regex=st.sampled_from([".*", "a"]),
        topics=st.none() | st.just(("t",)) | st.just(("t", "u")),
        stored_ms=TIMES,
    ),
    st.builds(
        SubscribedTopicsStored,
        group=st.just("g"),
        stored_ms=TIMES,
        topics=st.just(()) | st.builds(lambda n: (SubscribedTopic(topic_id="p", topic="t", partitions=n),), TIMES),
    ),
)
EVENTS = st.one_of(
    st.builds(commit, st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 3), TIMES),
    st.builds(deleted, st.sampled_from("ab"), st.integers(0, 2)),
    st.builds(GroupDeleted, group=st.just("g"), deleted_ms=TIMES, kind=st.sampled_from(GroupKind)),
    CLASSIC_EVENTS,
    MODERN_EVENTS,
)
LOGS = st.lists(EVENTS, max_size=12) | st.lists(MODERN_EVENTS, max_size=12)


@given(LOGS, st.data())
def test_folding_in_pieces_is_folding_in_one_go(log, data):
    cut = data.draw(st.integers(0, len(log)))
    assert fold(*log[cut:], state=fold(*log[:cut])) == fold(*log)


@given(LOGS, st.data())
def test_a_stored_state_goes_on_as_if_it_had_never_been_stored(log, data):
    cut = data.draw(st.integers(0, len(log)))
    first = fold(*log[:cut])
    loaded = decode_group_state(encode_state(first)) if first else None
    assert loaded == first
    assert fold(*log[cut:], state=loaded) == fold(*log)


@given(LOGS, LOGS)
def test_a_batch_without_effect_gives_the_same_object(log, batch):
    before = fold(*log)
    after = fold(*batch, state=before)
    assert after is before or after != before


def test_what_gives_the_same_object():
    before = fold(commit(), stored(1, "a"))
    assert fold(stored(1, "a"), deleted("never seen"), state=before) is before
    assert fold(deleted(partition=1), deleted(partition=1), state=before) is before


def test_of_a_deleted_offset_where_it_was_committed_stays():
    before = fold(commit(), stored(1, "a"))
    after = fold(commit(partition=1, offset=7, at_ms=9), deleted(partition=1), state=before)
    assert after == msgspec.structs.replace(
        before, deleted_offsets=(DeletedOffset("t", 1, 7, 9, kept_since_ms=None, deleted_ms=0),)
    )


@given(LOGS)
def test_a_state_that_is_kept_knows_something(log):
    state = fold(*log)
    if state is not None:
        assert state.phase is not Phase.UNSEEN
        with_members = (Phase.NOT_READY, Phase.ASSIGNING, Phase.RECONCILING, Phase.STABLE)
        assert state.offsets or state.phase in (Phase.EMPTY, *with_members) or state.generation_ms or state.pending
        assert bool(state.members) == (state.phase in with_members)
        places = [(o.topic, o.partition) for o in state.offsets]
        assert places == sorted(set(places))


def combined(commits):
    """The runs that the decoder makes of commits of one partition of one topic."""
    return list(run_of([(event.committed_ms, event.offset) for event in commits], commits[-1].topic_key))


def standstill_of(points):
    """That of the newest commits, counted one by one."""
    same = 1
    while same < len(points) and points[-same - 1].offset == points[-1].offset:
        same += 1
    return Standstill(points[-same].committed_ms, same) if same > 1 else None


OFFSETS = st.integers(0, 9) | st.integers(0, 400) | st.integers(0, 10**6)
COMMITS = st.lists(st.builds(commit, offset=OFFSETS, at_ms=st.integers(0, 900_000)), min_size=1, max_size=60)
RISING = st.lists(st.tuples(OFFSETS, st.integers(0, 70_000)), min_size=1, max_size=60).map(
    lambda steps: [
        commit(offset=offset, at_ms=at_ms)
        for offset, at_ms in zip(*(accumulate(column) for column in zip(*steps, strict=True)), strict=True)
    ]
)


REPEATED = st.lists(st.builds(commit, offset=st.integers(0, 1), at_ms=st.integers(0, 900_000)), min_size=1, max_size=60)


@given(REPEATED)
def test_how_long_the_committed_offset_has_stood_is_known_however_many_commits_repeat_it(commits):
    (known,) = fold(*commits).offsets
    assert known.standstill == standstill_of([CommitPoint(event.committed_ms, event.offset) for event in commits])


@given(st.lists(COMMITS | RISING | REPEATED, max_size=3), COMMITS | RISING | REPEATED)
def test_a_run_of_commits_leaves_what_the_commits_leave(before, commits):
    state = fold(*(event for run in before for event in run))
    assert fold(*(run for events in before for run in combined(events))) == state
    assert fold(*combined(commits), state=state) == fold(*commits, state=state)


def test_records_that_are_delivered_again_end_at_the_largest_number():
    """Three falls of 2^62 records are more than 2^63 - 1."""
    state = fold(*(commit(offset=offset, at_ms=1 + at) for at, offset in enumerate([2**62, 0] * 3)))
    assert state.redelivered_records == 2**63 - 1
    assert decode_group_state(encode_state(state)) == state
    assert fold(commit(offset=2**62, at_ms=9), commit(offset=0, at_ms=10), state=state).redelivered_records == 2**63 - 1
