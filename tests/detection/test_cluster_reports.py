"""Public reports of clusters in which no group, or some, could commit: what is said of the cluster, and of its groups.

The reports are others than those for which the findings were made. Times are in seconds.
"""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.cluster_findings import cluster_findings
from monitor.detection.group_summary import summary_of
from monitor.model import Catalog, GroupState, GroupSummary, PassCompleted
from monitor.model.offsets_topic import OffsetsTopicSeen, ReplicasSeen
from monitor.protocol.offsets_topic import decode_record, unread_event
from monitor.tracking.cluster_fold import ClusterFold
from monitor.tracking.group import fold_group
from tests.detection.rules.test_stalled_commits import ALL_BUSY, NOW_MS, committed, pair
from tests.support import captures
from tests.support.builders import catalog

SETTINGS = DetectionSettings()
SILENT = pair(*(committed(number, 10, 500) for number in range(4)))
"""Two members, four partitions, lag since 700 s, no commit since 500 s. It is 1000 s."""


def after_poll(seen: OffsetsTopicSeen, known: Catalog = ALL_BUSY) -> Catalog:
    """What is known after polls at 690 s and 990 s, both of which saw the offsets topic like this."""
    fold = ClusterFold("c")
    for at_s in (690, 990):
        fold.take_pass(PassCompleted("c", at_s * 1000, at_s * 1000 + 100, 0, offsets_topic=seen))
    return replace(known, offsets_topic=fold.catalog().offsets_topic)


def told(known: Catalog, *groups: GroupState) -> list[tuple[str, str]]:
    summaries: list[GroupSummary] = [summary_of(evaluate(each, known, NOW_MS, SETTINGS)) for each in groups]
    return [(found.name, found.sentence) for found in cluster_findings(known, summaries, None, NOW_MS)]


def accused(known: Catalog, state: GroupState) -> list[str]:
    return [str(found.reason) for found in evaluate(state, known, NOW_MS, SETTINGS).findings]


ONE_REPLICA = tuple(ReplicasSeen(number, leader=1, in_sync=(1,), replicas=(1,)) for number in range(4))


@pytest.mark.parametrize("groups", [(), (replace(SILENT, group="g"), replace(SILENT, group="h"))])
def test_one_replica_where_two_have_to_be_in_sync(groups: tuple[GroupState, ...]):
    """Yolean/kubernetes-kafka #139 (2018): "Marking the coordinator dead", whatever the group.

    offsets.topic.replication.factor was 1 and min.insync.replicas 2. All brokers and replicas were well, and no group
    was known, as none could be stored. The fix was either number.
    """
    where = f"the {len(groups)} groups there" if groups else "groups there"
    assert told(after_poll(OffsetsTopicSeen(4, ONE_REPLICA, 2, needs_all_of_them=True)), *groups) == [
        (
            "offsets_topic/not_enough_replicas",
            "All partitions of __consumer_offsets have 1 of 2 in-sync replicas that a commit needs: "
            f"{where} can neither commit nor rebalance.",
        )
    ]


def test_one_replica_is_enough_for_brokers_since_kafka_3_7():
    """KAFKA-15583 (2023): they need no more than the partition has. The same groups are to blame themselves."""
    known = after_poll(OffsetsTopicSeen(4, ONE_REPLICA, 2))
    assert told(known, SILENT) == []
    assert accused(known, SILENT) == ["not_committing"]


def test_a_broker_that_is_down_with_the_only_replica_of_some_groups():
    """confluentinc/librdkafka #2136 (2018): one of three brokers is down, "Broker: Group coordinator not available".

    The topic of the records had two replicas and a leader; a part of __consumer_offsets had one, there. Only consumers
    of some groups fail. "g" (its hash is 103) is in partition 3 of 4, and "h" (104) in partition 0.
    """
    known = after_poll(OffsetsTopicSeen(4, (ReplicasSeen(3, leader=-1, in_sync=(103,), replicas=(103,)),), 1))
    g, h = replace(SILENT, group="g"), replace(SILENT, group="h")
    assert told(known, g, h) == [
        (
            "offsets_topic/no_leader",
            "Partition 3 of __consumer_offsets has no leader: the 1 group there can neither commit nor rebalance.",
        )
    ]
    assert accused(known, g) == []
    assert accused(known, h) == ["not_committing"]


def upgraded(name: str, record_type: int) -> GroupState:
    """A captured group whose last record of this type its coordinator wrote in version 9."""
    own = [each for each in captures.records("4.3.1") if each.group == name]
    (*_, last) = [each for each in own if each.record_type == record_type and each.value]
    unread = unread_event(last.key, (9).to_bytes(2, "big") + (last.value or b"")[2:], last.timestamp_ms)
    before = [decode_record(each.key, each.value, each.timestamp_ms) for each in own if each is not last]
    state = fold_group("c", name, None, [*before, unread])
    assert state is not None
    return state


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (
            [upgraded("birch-inlet76-group", 2)],
            "The brokers write version 9 of GroupMetadata; this groupwatch reads 0 to 4. The members of 1 group have "
            "been unknown since",
        ),
        (
            [upgraded("ember-tulip79-group", 1)],
            "The brokers write version 9 of OffsetCommit; this groupwatch reads 0 to 4. The committed offsets of 1 "
            "partition in 1 group have been unknown since",
        ),
    ],
)
def test_upgraded_brokers_write_versions_that_are_not_known(groups: list[GroupState], sentence: str):
    """linkedin/Burrow #505 and #470 (2019, 2018): from Kafka 2.1 on, GroupMetadata and OffsetCommit had newer versions.

    Burrow logged a warning for each record, and listed groups as if they had neither owners nor commits. In a rolling
    upgrade, only the coordinators that are upgraded write them. Of the other groups, everything is known.
    """
    ((name, found),) = told(catalog(), *groups, SILENT)
    assert name == "records/unknown_version"
    assert found.startswith(sentence)
    assert accused(catalog(), groups[0]) == []
