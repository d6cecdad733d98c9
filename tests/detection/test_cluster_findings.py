"""What is found of a cluster, and which findings of its groups follow from that."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.cluster_findings import cluster_findings
from monitor.findings.cluster import ROWS
from monitor.model import (
    CommitPoint,
    FindingKind,
    GroupKind,
    GroupSummary,
    GrownLog,
    LagStatus,
    Phase,
    RebalanceInProgress,
    Standstill,
    UnknownVersion,
)
from monitor.model.cluster_findings import ClusterFindingKind
from monitor.model.commit_history import extend
from monitor.model.findings import Severity
from monitor.model.offsets_topic import FaultReason, OffsetsTopicHealth, PartitionFault
from tests.detection.lag.test_lag import partition
from tests.detection.rules.test_stalled_commits import ALL_BUSY, NOW_MS, committed, pair, topics_of
from tests.support.builders import commit, group, member

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"

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


NOT_ENOUGH = "offsets_topic/not_enough_replicas"
LOST = ("records_lost", 740)


@pytest.mark.parametrize(
    ("cut_s", "own", "told", "follow"),
    [
        pytest.param(740, fault(), [LOST], FOLLOWS, id="the log was cut before, and the group was silent by then"),
        pytest.param(751, fault(), [], [("records_lost", 751, NOT_ENOUGH), *FOLLOWS], id="it may have read them"),
        pytest.param(740, fault(before_s=739), [], [(*LOST, NOT_ENOUGH), *FOLLOWS], id="a poll saw the fault late"),
        pytest.param(740, fault(before_s=None), [], [(*LOST, NOT_ENOUGH), *FOLLOWS], id="it is not known since when"),
        pytest.param(740, fault(ended_s=945), [LOST], [], id="over for 55 s: lost before it"),
        pytest.param(751, fault(ended_s=945), [], [], id="over for 55 s: it may commit again"),
        pytest.param(740, fault(ended_s=940), [LOST, ("not_committing", 940)], [], id="over for 60 s"),
        pytest.param(740, fault(partition=2), [LOST, ("not_committing", 700)], [], id="the partition of other groups"),
    ],
)
def test_records_are_lost_only_if_it_is_known_that_nobody_read_them(cut_s, own, told, follow):
    """Retention has removed the records 10 to 14 of partition 0, which the group had not committed."""
    first, *others = ALL_BUSY.topics["t"].partitions
    cut = replace(ALL_BUSY.topics["t"], partitions=(replace(first, earliest=15, earliest_ms=cut_s * 1000), *others))
    assert found(replace(topics_with(own), topics={"t": cut})) == (told, follow)


def test_repeated_commits_of_a_lost_offset_are_known_as_well():
    """Offset 10 was committed until 745 s, and the first record came at 600 s: since 660 s that is no progress."""
    log = replace(partition((0, 10), (580, 10), (600, 11), (990, 20)), earliest=15, earliest_ms=700_000)
    repeats = replace(commit("t", 0, 10, 745_000), standstill=Standstill(500_000, 3))
    state = replace(pair(repeats), group="g")
    topics = replace(topics_with(fault()), topics=topics_of(log).topics)
    assert found(topics, state)[0] == [("records_lost", 700)]
    assert found(topics, replace(state, offsets=(commit("t", 0, 10, 745_000),)))[0] == []


@pytest.mark.parametrize(
    ("own", "told", "follow"),
    [
        pytest.param(fault(since_s=860, before_s=850), [("close_to_loss", 50)], [], id="so it was before"),
        pytest.param(fault(), [], [("close_to_loss", 50)], id="it may have read on"),
        pytest.param(fault(before_s=None), [], [("close_to_loss", 50)], id="it is not known since when"),
        pytest.param(fault(ended_s=945), [], [], id="over for 55 s: it may commit again"),
        pytest.param(fault(ended_s=940), [("close_to_loss", 50)], [], id="over for 60 s"),
        pytest.param(fault(partition=2), [("close_to_loss", 50)], [], id="the partition of other groups"),
    ],
)
def test_a_group_is_close_to_loss_only_if_it_was_before(own, told, follow):
    """Of 9,200 records, nine tenths of four fifths wait from 800 s on: 7,100. At 700 s there were 6,100."""
    log = partition(*[(100 * n, 1000 * n) for n in range(11)])
    log = replace(log, earliest=800, earliest_ms=50_000, earliest_end=800)
    state = replace(group(member("C0", ["t"], {"t": (0,)}), offsets=[committed(0, 900, 90)]), group="g")
    verdict = evaluate(state, replace(topics_with(own), topics=topics_of(log).topics), NOW_MS, DetectionSettings())
    kinds = [
        [(each.reason, each.since_ms // 1000) for each in of if each.kind is FindingKind.RETENTION]
        for of in (verdict.findings, verdict.subordinate)
    ]
    assert kinds == [told, follow]


def statuses(topics, state=SILENT):
    """Burrow's, of the group and of its partitions."""
    verdict = evaluate(state, topics, NOW_MS, DetectionSettings())
    return verdict.status, [row.status for row in verdict.partitions]


STALLED = replace(pair(*(committed(n, 12, 950, 970, 990) for n in range(4))), group="g")
"""Three commits of one offset, with lag at each."""

HALF_READ = replace(pair(*(committed(n, 20 - 10 * (n % 2), 980) for n in range(4))), group="g")
"""Partitions 1 and 3 have lag."""


def went_back(number):
    """The newest commit is lower than the one before it."""
    history = extend(b"", [CommitPoint(980_000, 18), CommitPoint(990_000, 12)])
    return replace(commit("t", number, 12, 990_000), history=history)


BACK = replace(pair(committed(0, 10, 500), *(went_back(number) for number in (1, 2, 3))), group="g")

OK, ERR, STOP, STALL, REWIND = LagStatus.OK, LagStatus.ERR, LagStatus.STOP, LagStatus.STALL, LagStatus.REWIND


@pytest.mark.parametrize(
    ("state", "known", "blocked"),
    [
        pytest.param(SILENT, (ERR, [STOP] * 4), (None, [None] * 4), id="no commits"),
        pytest.param(STALLED, (ERR, [STALL] * 4), (None, [None] * 4), id="commits of one offset"),
        pytest.param(
            HALF_READ, (ERR, [OK, STOP] * 2), (None, [OK, None] * 2), id="without lag there is nothing to commit"
        ),
        pytest.param(BACK, (ERR, [STOP, *[REWIND] * 3]), (ERR, [None, *[REWIND] * 3]), id="lower commits were made"),
    ],
)
def test_burrows_rules_know_nothing_while_commits_are_refused(state, known, blocked):
    assert statuses(ALL_BUSY, state) == known
    assert statuses(topics_with(fault()), state) == blocked
    assert statuses(topics_with(fault(before_s=None)), state) == blocked
    assert statuses(topics_with(fault(ended_s=941)), state) == blocked, "members need a while to commit again"
    assert statuses(topics_with(fault(ended_s=940)), state) == known
    assert statuses(topics_with(fault(partition=2)), state) == known


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


@pytest.mark.parametrize(
    ("own", "since_s"),
    [
        pytest.param(fault(since_s=755, before_s=750), 750, id="since the last poll that saw it in order"),
        pytest.param(fault(before_s=None), 680, id="none did: since its lag, which a poll did not see at 680 s"),
        pytest.param(fault(since_s=650, before_s=None), 650, id="none did, and it is older than the lag"),
        pytest.param(fault(ended_s=999), None, id="over"),
        pytest.param(fault(partition=2), None, id="the partition of other groups"),
    ],
)
def test_since_when_the_brokers_take_no_commits_of_a_group(own, since_s):
    verdict = evaluate(SILENT, topics_with(own), NOW_MS, DetectionSettings())
    assert verdict.blocked_since_ms == (None if since_s is None else since_s * 1000)


def behind(topics):
    """Since when the lag of "g" is over 10 records, as a finding of its own, and as one that follows."""
    verdict = evaluate(SILENT, topics, NOW_MS, DetectionSettings(lag_records=10))
    return [
        [each.since_ms // 1000 for each in found if each.reason == "behind"]
        for found in (verdict.findings, verdict.subordinate)
    ]


def test_a_lag_over_its_limit_follows_unless_it_was_so_before():
    """Polls saw 4 records at 700 s and 20 at 900 s. Its members may read on, as the brokers take no commits."""
    early = {"since_s": 895, "before_s": 890}
    assert behind(ALL_BUSY) == [[900], []]
    assert behind(topics_with(fault(**early))) == [[], [900]]
    assert behind(topics_with(fault(before_s=None))) == [[], [900]]
    assert behind(topics_with(fault(since_s=905, before_s=901))) == [[900], []]
    assert behind(topics_with(fault(**early, ended_s=945))) == [[], []]
    assert behind(topics_with(fault(**early, ended_s=939))) == [[939], []]


def summary(name, kind=GroupKind.CLASSIC):
    return GroupSummary("c", name, kind, Phase.STABLE, "range", 1, 0, ())


GROUPS = (summary("g"), summary("h"), summary("share", GroupKind.SHARE))
"""The hashes are 103 and 104: partitions 3 and 0 of 4. A share group commits nothing there."""


def found_in(topics, groups=GROUPS, grown=None):
    return cluster_findings(topics, groups, grown, NOW_MS)


def test_a_cluster_without_faults_has_no_findings():
    assert found_in(ALL_BUSY) == ()
    assert found_in(topics_with()) == ()
    assert found_in(topics_with(fault(ended_s=900))) == ()


def test_partitions_that_take_no_records_are_one_finding_with_its_groups():
    (finding,) = found_in(topics_with(fault(since_s=755), fault(1, since_s=750), fault(0)))
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
    assert [each.sentence for each in found_in(topics_with(*faults, partitions=partitions))] == [sentence]


def test_a_missing_leader_is_worse_than_too_few_replicas():
    told = found_in(topics_with(fault(0), fault(3, NO_LEADER)))
    assert [each.reason for each in told] == ["no_leader", "not_enough_replicas"]


GROWN = GrownLog(partitions=7, before=3, grown_ms=900_000, groups=10, lost=("a", "b"))
DAY_MS = 86_400_000


def test_groups_that_lost_their_offsets_as_the_topic_grew_are_one_finding_for_a_day():
    (finding,) = found_in(ALL_BUSY, grown=GROWN)
    assert finding.sentence == (
        "__consumer_offsets grew from 3 to 7 partitions, so 2 of 10 groups lost their committed offsets: a, b. "
        "The brokers have looked for them in other partitions since 1970-01-01 00:15:00 UTC."
    )
    assert (finding.reason, finding.since_ms, finding.groups) == ("grew", 900_000, 2)
    assert len(cluster_findings(ALL_BUSY, GROUPS, GROWN, 900_000 + DAY_MS)) == 1
    assert cluster_findings(ALL_BUSY, GROUPS, GROWN, 900_001 + DAY_MS) == ()
    assert found_in(ALL_BUSY, grown=replace(GROWN, lost=())) == (), "nothing was lost"


def test_versions_that_cannot_be_read_are_one_finding_of_all_groups():
    versions = (UnknownVersion("GroupMetadata", version=5, newest=4, since_ms=600_000),)
    groups = [replace(summary(f"g{number}"), unknown_versions=versions) for number in range(12)]
    (finding,) = found_in(ALL_BUSY, (*GROUPS, *groups))
    assert finding.sentence == (
        "The brokers write version 5 of GroupMetadata; this groupwatch reads 0 to 4. The members of 12 groups have "
        "been unknown since 1970-01-01 00:10:00 UTC."
    )
    assert (finding.name, finding.severity, finding.since_ms, finding.groups) == (
        "records/unknown_version",
        Severity.WARNING,
        600_000,
        12,
    )


def test_findings_of_clusters_come_worst_first():
    versions = (UnknownVersion("GroupMetadata", version=5, newest=4, since_ms=600_000),)
    told = found_in(topics_with(fault()), [replace(summary("g"), unknown_versions=versions)], GROWN)
    assert [each.reason for each in told] == ["not_enough_replicas", "grew", "unknown_version"]


def test_the_page_of_findings_lists_them_in_their_order():
    table = PAGE.read_text(encoding="utf-8").split("## Findings of a cluster")[1]
    rows = re.findall(r"^\| `(\w+/\w+)` \| (\w+) \|", table, re.MULTILINE)
    assert rows == [(f"{spec.kind.value}/{spec.reason}", spec.severity.value) for spec in ROWS]


def test_the_kinds_of_findings_of_clusters_are_no_kinds_of_findings_of_groups():
    """So that the two never have the same id."""
    assert not {kind.value for kind in ClusterFindingKind} & {kind.value for kind in FindingKind}
