"""Since when and until when partitions of the offsets topic take no records, as passes saw them."""

import pytest

from monitor.model import PassCompleted
from monitor.model.offsets_topic import (
    FaultReason,
    OffsetsTopicHealth,
    OffsetsTopicSeen,
    PartitionFault,
    ReplicasSeen,
)
from monitor.tracking.cluster_fold import PASS_HISTORY, ClusterFold
from monitor.tracking.serialization import decode_pass_history, encode_state

NO_LEADER, TOO_FEW = FaultReason.NO_LEADER, FaultReason.NOT_ENOUGH_REPLICAS

WELL = OffsetsTopicSeen(4)
ALONE = ReplicasSeen(2, leader=1, in_sync=(1,), replicas=(1, 2))
LEADERLESS = ReplicasSeen(2, leader=-1, in_sync=(2,), replicas=(1, 2))


def after(*passes: OffsetsTopicSeen | None) -> OffsetsTopicHealth | None:
    """What the catalog says after passes, 10 s apart, that began at 10 s and took 1 s each."""
    return folded(*passes).catalog().offsets_topic


def folded(*passes: OffsetsTopicSeen | None) -> ClusterFold:
    fold = ClusterFold("c")
    for number, seen in enumerate(passes, 1):
        fold.take_pass(PassCompleted("c", number * 10_000, number * 10_000 + 1_000, 0, offsets_topic=seen))
    return fold


def seen(*degraded: ReplicasSeen, needs: int | None = 2) -> OffsetsTopicSeen:
    return OffsetsTopicSeen(4, degraded, needs)


def test_a_partition_below_its_minimum_takes_no_records_from_the_first_pass_that_sees_it():
    """It may have been so since the pass at 10 s began, which saw it in order."""
    fault = PartitionFault(2, TOO_FEW, in_sync=1, needed=2, since_ms=21_000, before_ms=10_000)
    assert after(WELL, seen(ALONE), seen(ALONE)) == OffsetsTopicHealth(4, {2: fault})


def test_it_has_ended_at_the_first_pass_that_sees_it_in_order():
    fault = PartitionFault(2, TOO_FEW, 1, 2, since_ms=21_000, before_ms=10_000, ended_ms=31_000)
    assert after(WELL, seen(ALONE), WELL, WELL) == OffsetsTopicHealth(4, {2: fault})


def test_the_first_pass_does_not_know_since_when():
    assert after(seen(ALONE)) == OffsetsTopicHealth(4, {2: PartitionFault(2, TOO_FEW, 1, 2, since_ms=11_000)})


def test_one_fault_that_changes_its_reason_is_one():
    found = after(WELL, seen(LEADERLESS), seen(ALONE))
    assert found == OffsetsTopicHealth(4, {2: PartitionFault(2, TOO_FEW, 1, 2, since_ms=21_000, before_ms=10_000)})
    found = after(WELL, seen(ALONE), seen(LEADERLESS))
    assert found == OffsetsTopicHealth(4, {2: PartitionFault(2, NO_LEADER, 1, 2, since_ms=21_000, before_ms=10_000)})


def test_a_fault_that_comes_back_within_a_minute_is_the_same_one():
    """Nobody had the time to commit in between: who could not before is not to be accused of the time since then."""
    found = after(WELL, seen(ALONE), WELL, seen(ALONE))
    assert found == OffsetsTopicHealth(4, {2: PartitionFault(2, TOO_FEW, 1, 2, since_ms=21_000, before_ms=10_000)})


def test_a_fault_long_after_another_is_a_new_one():
    found = after(WELL, seen(ALONE), *[WELL] * 8, seen(ALONE))
    assert found == OffsetsTopicHealth(4, {2: PartitionFault(2, TOO_FEW, 1, 2, since_ms=111_000, before_ms=100_000)})


@pytest.mark.parametrize(
    ("degraded", "needs"),
    [
        pytest.param(ALONE, 1, id="as many as are needed"),
        pytest.param(ALONE, None, id="it is not known how many are needed"),
        pytest.param(ReplicasSeen(2, 1, (1, 3), (1, 2, 3)), 2, id="two of three"),
        pytest.param(ReplicasSeen(2, 1, (1,), (1,)), 2, id="no more than the partition has"),
    ],
)
def test_a_partition_that_takes_records_has_no_fault(degraded, needs):
    assert after(WELL, seen(degraded, needs=needs)) == OffsetsTopicHealth(4)


def test_without_a_leader_nothing_else_needs_to_be_known():
    found = after(seen(LEADERLESS, needs=None))
    assert found == OffsetsTopicHealth(4, {2: PartitionFault(2, NO_LEADER, 1, 1, since_ms=11_000)})


def test_a_pass_that_did_not_see_the_topic_changes_nothing():
    assert after(None) is None
    assert after(WELL, seen(ALONE), None) == after(WELL, seen(ALONE))


def test_a_fault_that_ended_an_hour_ago_is_forgotten():
    """It ended at 31 s. The pass that begins at 3630 s ends at 3631 s, an hour later; the next one is a second more."""
    fold = folded(WELL, seen(ALONE), WELL)
    fold.take_pass(PassCompleted("c", 3_630_000, 3_631_000, 0, offsets_topic=WELL))
    assert fold.catalog().offsets_topic.faults.keys() == {2}
    fold.take_pass(PassCompleted("c", 3_631_000, 3_632_000, 0, offsets_topic=WELL))
    assert fold.catalog().offsets_topic == OffsetsTopicHealth(4)


def test_faults_are_kept_over_a_restart():
    state = folded(WELL, seen(ALONE)).states[PASS_HISTORY]
    assert decode_pass_history(encode_state(state)) == state
    assert state.offsets_topic is not None
