"""Since when brokers are away and partitions have no leader, as passes saw it."""

from msgspec.structs import replace

from monitor.model import PassCompleted, TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersHealth, BrokersSeen, LeaderlessPartitions, MissedBroker
from monitor.tracking.cluster_fold import PASS_HISTORY, ClusterFold
from monitor.tracking.serialization import decode_pass_history, encode_state

LED = BrokerAway(2, (1, 3), (TopicPartitions("t", (0, 4)),))
BOTH = BrokersSeen((1, 2))
LOST = BrokersSeen((1,), (LED,))
"""The pass that misses it first."""
STILL = BrokersSeen((1,), (BrokerAway(2),))
"""One after that, or one of a collector that has started meanwhile."""
SINCE_THIRD = MissedBroker(LED, since_ms=31_000, before_ms=20_000)


def fold_passes(*passes: BrokersSeen | None) -> ClusterFold:
    """After passes, 10 s apart, that began at 10 s and took 1 s each."""
    fold = ClusterFold("c")
    for number, seen in enumerate(passes, 1):
        fold.take_pass(PassCompleted("c", number * 10_000, number * 10_000 + 1_000, 0, brokers=seen))
    return fold


def health(*passes: BrokersSeen | None) -> BrokersHealth:
    found = fold_passes(*passes).catalog().brokers
    assert found is not None
    return found


def away(*passes: BrokersSeen | None) -> tuple[MissedBroker, ...]:
    return health(*passes).away


def leaderless(*passes: tuple[int, ...]) -> tuple[LeaderlessPartitions, ...]:
    """Of topic "t", by passes that saw these partitions without a leader."""
    seen = [BrokersSeen((1,), (), (TopicPartitions("t", each),) if each else ()) for each in passes]
    return health(*seen).leaderless.get("t", ())


def test_a_broker_is_away_from_the_first_pass_that_misses_it_until_it_is_back():
    assert away(BOTH, BOTH) == ()
    assert away(BOTH, BOTH, LOST) == (SINCE_THIRD,)
    assert away(BOTH, BOTH, LOST, STILL, STILL) == (SINCE_THIRD,)
    assert away(BOTH, BOTH, LOST, BOTH) == ()


def test_a_broker_that_no_pass_has_seen_is_not_away():
    """It may have no listener for the collector, or the cluster is read for the first time."""
    assert away(STILL, STILL) == ()
    assert away(None, STILL) == ()
    assert away(BrokersSeen((1,)), STILL) == ()


def test_a_broker_that_has_no_replicas_any_more_was_removed():
    assert away(BOTH, BOTH, LOST, BrokersSeen((1,))) == ()
    assert away(BOTH, BOTH, LOST, BrokersSeen((1,)), STILL) == ()


def test_a_collector_that_starts_meanwhile_or_does_not_look_changes_nothing():
    assert away(BOTH, BOTH, LOST, None) == (SINCE_THIRD,)
    assert away(BOTH, BOTH, LOST, None, STILL) == (SINCE_THIRD,)
    assert away(BOTH, BOTH, STILL, LOST) == (SINCE_THIRD,), "the one that knew what it led came later"
    assert away(BOTH, BOTH, STILL) == (MissedBroker(BrokerAway(2), 31_000, 20_000),)


def test_it_is_known_when_a_pass_last_saw_the_brokers_and_how_often_passes_are_made():
    assert (health(BOTH).seen_ms, health(BOTH).interval_ms) == (11_000, 0)
    assert (health(BOTH, LOST).seen_ms, health(BOTH, LOST).interval_ms) == (21_000, 11_000)
    assert (health(BOTH, LOST, None, None).seen_ms, health(BOTH, LOST, None).interval_ms) == (21_000, 11_000)


def test_partitions_have_no_leader_from_the_first_pass_that_sees_it_to_the_first_that_does_not():
    assert leaderless((), (1, 2)) == (LeaderlessPartitions((1, 2), 21_000, 10_000),)
    assert leaderless((1, 2)) == (LeaderlessPartitions((1, 2), 11_000, None),)
    assert leaderless((), (1, 2), (1, 2)) == (LeaderlessPartitions((1, 2), 21_000, 10_000),)
    assert leaderless((), (1, 2), ()) == (LeaderlessPartitions((1, 2), 21_000, 10_000, 31_000),)


def test_each_partition_counts_by_itself_and_once_more_if_it_is_lost_again():
    assert leaderless((), (1, 2), (2, 3), (1, 2, 3)) == (
        LeaderlessPartitions((2,), 21_000, 10_000),
        LeaderlessPartitions((1,), 21_000, 10_000, 31_000),
        LeaderlessPartitions((3,), 31_000, 20_000),
        LeaderlessPartitions((1,), 41_000, 30_000),
    )


def test_what_ended_is_remembered_for_an_hour():
    fold = fold_passes(BrokersSeen((1,), (), (TopicPartitions("t", (1,)),)), BrokersSeen((1,)))
    for at_ms, left in ((3_621_000, 1), (3_621_001, 0)):
        fold.take_pass(PassCompleted("c", at_ms - 1_000, at_ms, 0, brokers=BrokersSeen((1,))))
        found = fold.catalog().brokers
        assert found is not None
        assert len(found.leaderless) == left


def test_it_survives_a_restart_and_an_older_state_knows_nothing():
    lost = replace(LOST, without_leader=(TopicPartitions("t", (1,)),))
    history = fold_passes(BOTH, BOTH, lost).states[PASS_HISTORY]
    assert decode_pass_history(encode_state(history)) == history
    assert fold_passes(None).catalog().brokers is None
