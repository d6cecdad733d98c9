"""What is remembered of a deleted offset, until the partition is committed again. Times are in milliseconds."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.model import (
    CommitPoint,
    CommitRun,
    CommitUnread,
    GroupDeleted,
    GroupEvent,
    GroupKind,
    GroupState,
    InvalidCommit,
    InvalidOffsetCommitted,
    MembershipStored,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    Phase,
    RecordUnread,
    Rewind,
    RewindCause,
)
from monitor.model.expiry import DeletedOffset
from monitor.model.jumps import Jump
from monitor.tracking.group import fold_group
from tests.support.builders import member

DAY_MS = 86_400_000
DELETED = OffsetDeleted("g", "t", 0)


def generation(number: int, at_ms: int, *names: str) -> MembershipStored:
    who = tuple(member(name, ("t",), {"t": [0]}) for name in names)
    protocol, leader = ("range", names[0]) if names else (None, None)
    return MembershipStored("g", number, "consumer", protocol, leader, stored_ms=at_ms, members=who)


def commit(offset: int, at_ms: int, key: int | None = 7, topic: str = "t") -> OffsetCommitted:
    return OffsetCommitted("g", topic, 0, offset, at_ms, topic_key=key)


BEFORE = (generation(1, 10_000, "a"), commit(600, 60_000), generation(2, 65_000), DELETED)
AGAIN = (*BEFORE, generation(3, 70_000, "b"))


def fold(*events: GroupEvent) -> GroupState:
    state = fold_group("c", "g", None, events)
    assert state is not None
    one_by_one = None
    for event in events:
        one_by_one = fold_group("c", "g", one_by_one, [event])
    assert one_by_one is not None
    assert replace(one_by_one, committed_topics=()) == replace(state, committed_topics=())
    return state


def test_where_a_deleted_offset_was_is_remembered_until_the_next_commit():
    assert fold(*BEFORE).deleted_offsets == (
        DeletedOffset("t", 0, 600, 60_000, kept_since_ms=None, deleted_ms=0, topic_key=7, emptied_ms=65_000),
    )
    assert fold(*AGAIN, commit(5, 71_000)).deleted_offsets == ()


@pytest.mark.parametrize("key", [7, None])
def test_a_commit_further_on_jumps_from_there(key: int | None):
    jump = Jump(600, 60_000, 900, 71_000, 70_000, is_first=True, recent_since_ms=None, was_deleted=True)
    assert fold(*AGAIN, commit(900, 71_000, key)).offsets[0].jump == jump
    points = (CommitPoint(71_000, 900), CommitPoint(72_000, 901))
    run = CommitRun("g", "t", 0, points[0], points, commits=2, topic_key=key)
    assert fold(*AGAIN, run).offsets[0].jump == jump


def test_a_commit_further_back_is_a_rewind_and_delivers_records_again():
    state = fold(*AGAIN, commit(500, 71_000))
    assert (state.offsets[0].rewinds, state.redelivered_records) == (1, 100)
    assert state.offsets[0].last_rewind == Rewind(71_000, 600, 500, cause=RewindCause.DELETED)


def test_an_administrator_who_sets_it_again_resets_it():
    state = fold(*BEFORE, commit(500, 66_000))
    assert state.offsets[0].last_rewind == Rewind(66_000, 600, 500, cause=RewindCause.RESET)
    assert fold(*BEFORE, commit(900, 66_000)).offsets[0].jump is None


@pytest.mark.parametrize("offset", [500, 900])
def test_a_topic_that_was_recreated_has_nothing_to_do_with_it(offset: int):
    [known] = fold(*AGAIN, commit(offset, 71_000, key=8)).offsets
    assert (known.jump, known.rewinds, known.last_rewind) == (None, 0, None)


@pytest.mark.parametrize("key", [8, None])
def test_where_the_topic_may_be_another_one_nothing_is_delivered_again(key: int | None):
    state = fold(*AGAIN, commit(500, 71_000, key))
    assert (state.offsets[0].rewinds, state.redelivered_records) == (0, 0)


def test_a_group_that_is_deleted_as_a_whole_is_a_new_one():
    gone = (*BEFORE, GroupDeleted("g", 66_000))
    assert fold_group("c", "g", None, gone) is None


def test_the_next_commit_of_a_group_that_may_have_expired_as_a_whole_jumps():
    """Its offsets were deleted while it was empty, as brokers do when they expire."""
    expired = (*BEFORE[:-1], replace(DELETED, deleted_ms=66_000), GroupDeleted("g", 66_000))
    [kept] = fold(*expired).deleted_offsets
    assert (kept.offset, kept.kept_since_ms) == (600, 60_000)
    jump = fold(*expired, generation(1, 70_000, "b"), commit(900, 71_000)).offsets[0].jump
    assert jump is not None
    assert (jump.before, jump.was_deleted) == (600, True)


def test_an_offset_that_cannot_be_read_is_no_longer_the_deleted_one():
    unread = CommitUnread("g", "t", 0, version=9, newest=4, stored_ms=68_000)
    assert fold(*BEFORE, unread).deleted_offsets == ()


def test_the_oldest_ones_give_way():
    """A group whose topics come and go keeps those of a week."""
    events: list[GroupEvent] = [generation(1, 10, "a")]
    for day in range(10):
        topic = f"t-{day}"
        events += [commit(600, day * DAY_MS + 60_000, topic=topic), OffsetDeleted("g", topic, 0)]
    assert [each.topic for each in fold(*events).deleted_offsets] == [f"t-{day}" for day in range(2, 10)]


def below(at_ms: int, offset: int = -1) -> InvalidOffsetCommitted:
    return InvalidOffsetCommitted("g", "t", 0, offset, at_ms)


def test_a_commit_below_0_leaves_no_committed_offset_and_names_the_last_one():
    state = fold(commit(600, 60_000), below(70_000), below(90_000, -1001))
    assert state.offsets == ()
    assert state.phase is Phase.OFFSETS_ONLY
    last = CommitPoint(60_000, 600)
    assert state.invalid_commits == (InvalidCommit("t", 0, -1001, 90_000, since_ms=70_000, last=last),)
    ended = fold(commit(600, 60_000), below(70_000), commit(600, 80_000))
    assert (ended.invalid_commits, ended.deleted_offsets, ended.offsets[0].offset) == ((), (), 600)


def test_a_group_that_has_only_committed_below_0_is_there_until_that_is_deleted():
    state = fold(below(70_000))
    assert state.phase is Phase.OFFSETS_ONLY
    assert state.invalid_commits == (InvalidCommit("t", 0, -1, 70_000, since_ms=70_000),)
    others = fold(below(70_000), commit(1, 71_000, topic="u"), OffsetDeleted("g", "u", 0, 80_000))
    assert (others.phase, others.invalid_commits) == (Phase.OFFSETS_ONLY, state.invalid_commits)
    assert fold_group("c", "g", state, [OffsetDeleted("g", "t", 0, 80_000)]) is None


def test_the_first_commit_after_one_below_0_is_judged_by_the_last_one_before_it():
    """As after a deletion: owners that began at 5 read 595 records again, and at 800 they may have skipped 200."""
    begun = (*BEFORE[:2], generation(2, 65_000, "b"), below(70_000))
    back = fold(*begun, commit(5, 71_000))
    assert back.offsets[0].last_rewind == Rewind(71_000, 600, 5, cause=RewindCause.DELETED)
    assert back.redelivered_records == 595
    jump = fold(*begun, commit(800, 71_000)).offsets[0].jump
    assert jump is not None
    assert (jump.before, jump.offset, jump.was_deleted) == (600, 800, True)


def test_what_expires_while_it_is_below_0_is_the_last_offset_before():
    """Its retention counts from the newest commit, as the broker counts it."""
    state = fold(commit(600, 60_000), below(70_000), OffsetDeleted("g", "t", 0, 130_500))
    assert state.phase is Phase.UNSEEN
    assert state.deleted_offsets == (
        DeletedOffset("t", 0, 600, 60_000, kept_since_ms=70_000, deleted_ms=130_500, topic_key=7),
    )


def test_a_commit_below_0_ends_what_was_told_of_an_expired_offset():
    state = fold(commit(600, 60_000), OffsetDeleted("g", "t", 0, 130_500), below(140_000))
    assert [each.kept_since_ms for each in state.deleted_offsets] == [None]
    assert state.invalid_commits[0].last == CommitPoint(60_000, 600)


def test_a_listing_of_the_broker_changes_nothing_of_it():
    """It leaves out what is below 0, and is made only if other groups beside it use transactions."""
    events = (commit(600, 60_000), below(70_000))
    assert fold(*events, OffsetsListed("c", "g", 80_000, ())) == fold(*events)


def test_what_was_deleted_is_known_while_the_members_cannot_be_read():
    unread = RecordUnread("g", GroupKind.CLASSIC, 2, "GroupMetadata", 9, 4, 65_000)
    state = fold(*BEFORE[:2], unread, below(70_000), commit(1, 71_000, topic="u"), DELETED)
    assert [(each.topic, each.offset) for each in state.deleted_offsets] == [("t", 600)]
    assert fold(*BEFORE[:2], unread, below(70_000), commit(1, 71_000, topic="u")).invalid_commits
