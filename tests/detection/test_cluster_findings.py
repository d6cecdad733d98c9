"""What is found of a cluster, and which findings of its groups follow from that."""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.cluster_findings import cluster_findings
from monitor.model import FindingKind, GroupKind, GroupSummary, Phase, RebalanceInProgress
from monitor.model.cluster_findings import ClusterFindingKind
from monitor.model.findings import Severity
from monitor.model.offsets_topic import FaultReason, OffsetsTopicHealth, PartitionFault
from tests.detection.rules.test_stalled_commits import ALL_BUSY, NOW_MS, committed, pair

TOO_FEW, NO_LEADER = FaultReason.NOT_ENOUGH_REPLICAS, FaultReason.NO_LEADER

SILENT = replace(pair(*(committed(number, 10, 500) for number in range(4))), group="g")
"""Nobody commits: records have waited since 700 s, and it is 1000 s. Its hash is 103: partition 3 of 4."""

FOLLOWS = [("not_committing", 700, "offsets_topic/not_enough_replicas")]


def topics_with(*faults, partitions=4):
    return replace(ALL_BUSY, offsets_topic=OffsetsTopicHealth(partitions, {fault.partition: fault for fault in faults}))


def fault(partition=3, reason=TOO_FEW, *, since_s=755, before_s=750, ended_s=None):
    ended_ms = None if ended_s is None else ended_s * 1000
    before_ms = None if before_s is None else before_s * 1000
    return PartitionFault(partition, reason, 1, 2, since_s * 1000, before_ms, ended_ms)


def found(topics, state=SILENT):
    """The group's own findings, and those that follow."""
    verdict = evaluate(state, topics, NOW_MS, DetectionSettings())
    own = [(each.reason, each.since_ms // 1000) for each in verdict.findings]
    follow = [(each.reason, each.since_ms // 1000, each.follows) for each in verdict.subordinate]
    return own, follow


def test_without_a_fault_its_owners_are_accused():
    assert found(ALL_BUSY) == ([("not_committing", 700)], [])
    assert found(topics_with()) == ([("not_committing", 700)], [])


@pytest.mark.parametrize(
    ("own", "told", "follow"),
    [
        pytest.param(fault(), [], FOLLOWS, id="its partition takes no records since before it was silent for 60 s"),
        pytest.param(fault(before_s=None), [], FOLLOWS, id="it is not known since when"),
        pytest.param(fault(since_s=765, before_s=761), [("not_committing", 700)], [], id="it was silent before"),
        pytest.param(
            fault(since_s=770, before_s=750), [], FOLLOWS, id="a pass saw it late: it may have been so before"
        ),
        pytest.param(fault(partition=2), [("not_committing", 700)], [], id="the partition of other groups"),
        pytest.param(fault(ended_s=945), [], [], id="over for 55 s: it may commit again"),
        pytest.param(fault(ended_s=930), [("not_committing", 930)], [], id="over for 70 s: a cause of its own"),
    ],
)
def test_a_finding_follows_the_cluster_and_comes_back_if_its_own_cause_stays(own, told, follow):
    assert found(topics_with(own)) == (told, follow)


def test_the_reason_is_that_of_its_partition():
    assert found(topics_with(fault(reason=NO_LEADER))) == ([], [("not_committing", 700, "offsets_topic/no_leader")])


def test_the_brokers_place_groups_by_the_number_of_partitions_that_they_started_with():
    """The topic has grown from 2 to 4 partitions; by 2, the group is in partition 1."""
    grown = replace(topics_with(fault(partition=1)), log_partitions=2)
    assert found(grown) == ([], FOLLOWS)
    assert found(replace(topics_with(fault()), log_partitions=2)) == ([("not_committing", 700)], [])


def test_what_does_not_come_from_it_stays_a_finding_of_the_group():
    """Retention has removed the records 10 to 14 of partition 0, which the group had not read."""
    first, *others = ALL_BUSY.topics["t"].partitions
    cut = replace(ALL_BUSY.topics["t"], partitions=(replace(first, earliest=15, earliest_ms=900_000), *others))
    assert found(replace(topics_with(fault()), topics={"t": cut})) == ([("records_lost", 900)], FOLLOWS)


REBALANCING = replace(
    pair(*(committed(number, 20, 999) for number in range(4))), sampled=RebalanceInProgress(800_000, NOW_MS)
)


def test_a_rebalance_that_cannot_be_stored_follows_too():
    """It is too long from 860 s on. What began before the fault, and was too long by then, has its own cause."""
    long = ("long", 860, "offsets_topic/not_enough_replicas")
    assert found(ALL_BUSY, REBALANCING) == ([("long", 860)], [])
    assert found(topics_with(fault()), REBALANCING) == ([], [long])
    assert found(topics_with(fault(since_s=860, before_s=859)), REBALANCING) == ([], [long])
    assert found(topics_with(fault(since_s=862, before_s=861)), REBALANCING) == ([("long", 860)], [])
    assert found(topics_with(fault(ended_s=941)), REBALANCING) == ([], [])
    assert found(topics_with(fault(ended_s=939)), REBALANCING) == ([("long", 999)], [])


def summary(name, kind=GroupKind.CLASSIC):
    return GroupSummary("c", name, kind, Phase.STABLE, "range", 1, 0, ())


GROUPS = (summary("g"), summary("h"), summary("share", GroupKind.SHARE))
"""The hashes are 103 and 104: partitions 3 and 0 of 4. A share group commits nothing there."""


def test_a_cluster_without_faults_has_no_findings():
    assert cluster_findings(ALL_BUSY, GROUPS) == ()
    assert cluster_findings(topics_with(), GROUPS) == ()
    assert cluster_findings(topics_with(fault(ended_s=900)), GROUPS) == ()


def test_partitions_that_take_no_records_are_one_finding_with_its_groups():
    (finding,) = cluster_findings(topics_with(fault(since_s=755), fault(1, since_s=750), fault(0)), GROUPS)
    assert finding.sentence == (
        "Partitions 0-1, 3 of __consumer_offsets have 1 of 2 in-sync replicas that a commit needs: the 2 groups there "
        "can neither commit nor rebalance."
    )
    assert (finding.kind, finding.reason) == (ClusterFindingKind.OFFSETS_TOPIC, "not_enough_replicas")
    assert (finding.severity, finding.since_ms) == (Severity.CRITICAL, 750_000)
    assert (finding.groups, finding.partitions) == (2, (0, 1, 3))
    assert finding.name == FOLLOWS[0][2]


@pytest.mark.parametrize(
    ("faults", "partitions", "sentence"),
    [
        (
            [fault(reason=NO_LEADER)],
            4,
            "Partition 3 of __consumer_offsets has no leader: the 1 group there can neither commit nor rebalance.",
        ),
        (
            [fault(0)],
            1,
            "The only partition of __consumer_offsets has 1 of 2 in-sync replicas that a commit needs: the 2 groups "
            "there can neither commit nor rebalance.",
        ),
        (
            [fault(2)],
            4,
            "Partition 2 of __consumer_offsets has 1 of 2 in-sync replicas that a commit needs: groups there can "
            "neither commit nor rebalance.",
        ),
    ],
)
def test_the_sentence_names_the_partitions_and_what_they_lack(faults, partitions, sentence):
    assert [each.sentence for each in cluster_findings(topics_with(*faults, partitions=partitions), GROUPS)] == [
        sentence
    ]


def test_a_missing_leader_is_worse_than_too_few_replicas():
    told = cluster_findings(topics_with(fault(0), fault(3, NO_LEADER)), GROUPS)
    assert [each.reason for each in told] == ["no_leader", "not_enough_replicas"]


def test_the_kinds_of_findings_of_clusters_are_no_kinds_of_findings_of_groups():
    """So that the two never have the same id."""
    assert not {kind.value for kind in ClusterFindingKind} & {kind.value for kind in FindingKind}
