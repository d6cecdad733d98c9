"""A share group is told of by two logs, which have no common order: that of groups and that of share state."""

from itertools import permutations

import pytest

from monitor.model import (
    EpochStored,
    GroupDeleted,
    GroupKind,
    Phase,
    ReadablePartitionsStored,
    SharedTopic,
    ShareSnapshotStored,
    ShareStateDeleted,
)
from monitor.tracking.group import fold_group

SNAPSHOT = ShareSnapshotStored(
    group="g",
    topic_id="t",
    partition=0,
    stored_ms=1_000,
    snapshot_epoch=0,
    state_epoch=1,
    leader_epoch=0,
    start_offset=5,
)
STATE_DELETED = ShareStateDeleted(group="g", topic_id="t", partition=0, deleted_ms=9_000)
READABLE = ReadablePartitionsStored(group="g", stored_ms=1_000, initialized=(SharedTopic("t", "orders", (0,)),))
EPOCH = EpochStored(group="g", kind=GroupKind.SHARE, epoch=1, stored_ms=1_000)
GROUP_DELETED = GroupDeleted(group="g", deleted_ms=9_000, kind=GroupKind.SHARE)


def folded(events, state=None):
    """One event at a time."""
    for event in events:
        state = fold_group("c", "g", state, [event])
    return state


@pytest.mark.parametrize("events", list(permutations([SNAPSHOT, EPOCH, READABLE])))
def test_what_is_known_does_not_depend_on_the_order_of_the_logs(events):
    state = folded(events)
    assert state.generation == 1
    assert state.share.partitions[0].start_offset == 5
    assert state.share.initialized == READABLE.initialized
    assert state == fold_group("c", "g", None, events)


def test_a_group_of_which_only_share_state_is_known_was_not_seen_yet():
    state = folded([SNAPSHOT])
    assert state.phase is Phase.UNSEEN
    assert folded([STATE_DELETED], state) is None


@pytest.mark.parametrize(
    "deletions",
    [(GROUP_DELETED, STATE_DELETED), (STATE_DELETED, GROUP_DELETED)],
    ids=["the group first", "its share state first"],
)
def test_a_group_is_gone_with_the_later_of_its_deletions(deletions):
    state = folded([SNAPSHOT, EPOCH])
    first, second = deletions
    state = folded([first], state)
    assert state is not None
    assert folded([second], state) is None


def test_share_state_survives_the_deletion_of_its_group_alone():
    """The log of groups may be ahead: what comes next may be a new group of that name."""
    state = folded([SNAPSHOT, EPOCH, GROUP_DELETED])
    assert state.phase is Phase.UNSEEN
    assert state.share.partitions == folded([SNAPSHOT]).share.partitions


def test_share_state_changes_no_phase_and_counts_no_rebalance():
    before = folded([EPOCH])
    after = folded([SNAPSHOT, STATE_DELETED], before)
    assert after == before
