"""The exposition text: exact for a small group, readable by the official parser for any."""

import ast
import gzip
from collections import Counter
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from monitor.detection import evaluate
from monitor.detection.group_summary import summary_of
from monitor.metrics.cluster_samples import render_cluster
from monitor.metrics.exposition_format import number, seconds
from monitor.metrics.render import (
    exposition,
    join,
    packed,
    prepared,
    render_catalog,
    render_commits,
    render_groups,
    render_self,
)
from monitor.metrics.series_filter import Detail, SeriesRules
from monitor.metrics.spec_types import (
    ClusterMetric,
    CollectorMetric,
    GroupMetric,
    LogMetric,
    MetricKind,
    PartitionMetric,
    TopicMetric,
    ValueMetric,
)
from monitor.metrics.specs import FAMILIES, METRICS
from monitor.model import (
    Catalog,
    Certainty,
    ClientLibrary,
    ClusterSnapshot,
    CollectorHealth,
    CommitPoint,
    CommittedOffset,
    EndFall,
    EndOffsetAt,
    ErrorCount,
    FamilyBlock,
    Finding,
    FindingKind,
    GroupKind,
    GroupState,
    GroupSummary,
    GroupVerdict,
    LagStatus,
    Library,
    MemberVerdict,
    OrphanReason,
    PartitionState,
    PartitionVerdict,
    Phase,
    RecordingHealth,
    Shard,
    Source,
    SourceState,
    TopicLag,
    TopicState,
    Truncations,
    WarmUpProgress,
)
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.commit_history import extend
from monitor.model.expectations import ExpectationsHealth, GroupExpectations, Met
from monitor.model.findings import Severity
from monitor.model.scaling import ScaleHold, Scaling
from monitor.web.views.overview import cluster_line
from tests.detection.told_examples import NOW, at, examples
from tests.web.examples import (
    HOSTILE_NAMES,
    NOW_MS,
    expired,
    falling_behind,
    newer_broker,
    offsets_only,
    orders,
    ready_cluster,
    sent_back,
    shared,
    streams,
    unattended,
    uncommitted,
    unreadable,
)

ROOT = Path(__file__).parents[2]
PRODUCT = ("monitor", "streaming_jobs", "dashboards")

GOLDEN_GROUP = """\
# HELP groupwatch_partition_lag Records between the committed offset and the end of the partition.
# TYPE groupwatch_partition_lag gauge
groupwatch_partition_lag{cluster="main",group="orders",topic="t",partition="0"} 10
groupwatch_partition_lag{cluster="main",group="orders",topic="t",partition="1"} 0
groupwatch_partition_lag{cluster="main",group="orders",topic="t",partition="3"} 2
# HELP groupwatch_partition_lag_seconds Age of the oldest record after the committed offset.
# TYPE groupwatch_partition_lag_seconds gauge
groupwatch_partition_lag_seconds{cluster="main",group="orders",topic="t",partition="0"} 1.5
groupwatch_partition_lag_seconds{cluster="main",group="orders",topic="t",partition="1"} 0
# HELP groupwatch_partition_committed_offset Committed offset: the next record that the group will consume.
# TYPE groupwatch_partition_committed_offset gauge
groupwatch_partition_committed_offset{cluster="main",group="orders",topic="t",partition="0"} 90
groupwatch_partition_committed_offset{cluster="main",group="orders",topic="t",partition="1"} 50
groupwatch_partition_committed_offset{cluster="main",group="orders",topic="t",partition="3"} 7
# HELP groupwatch_group_lag Lag of the group in records, summed over partitions.
# TYPE groupwatch_group_lag gauge
groupwatch_group_lag{cluster="main",group="orders"} 12
# HELP groupwatch_group_lag_seconds Age of the oldest record that the group has not committed, over all partitions.
# TYPE groupwatch_group_lag_seconds gauge
groupwatch_group_lag_seconds{cluster="main",group="orders"} 1.5
# HELP groupwatch_group_members Members of the group.
# TYPE groupwatch_group_members gauge
groupwatch_group_members{cluster="main",group="orders"} 2
# HELP groupwatch_group_idle_members Members that own no partition.
# TYPE groupwatch_group_idle_members gauge
groupwatch_group_idle_members{cluster="main",group="orders"} 0
# HELP groupwatch_group_state 1 for the current state of the group, 0 for the others.
# TYPE groupwatch_group_state gauge
groupwatch_group_state{cluster="main",group="orders",state="offsets_only"} 0
groupwatch_group_state{cluster="main",group="orders",state="empty"} 0
groupwatch_group_state{cluster="main",group="orders",state="assigning"} 0
groupwatch_group_state{cluster="main",group="orders",state="reconciling"} 0
groupwatch_group_state{cluster="main",group="orders",state="stable"} 1
# HELP groupwatch_group_orphaned_partitions Partitions that the group should consume but no member owns.
# TYPE groupwatch_group_orphaned_partitions gauge
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="no_members"} 0
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="grew"} 1
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="unsubscribed"} 0
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="assignor_gap"} 0
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="pending"} 0
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="rebalancing"} 0
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="leader_unsubscribed"} 0
groupwatch_group_orphaned_partitions{cluster="main",group="orders",reason="owner_unsubscribed"} 0
# HELP groupwatch_group_orphaned_oldest_seconds Longest time for which a partition has had no owner.
# TYPE groupwatch_group_orphaned_oldest_seconds gauge
groupwatch_group_orphaned_oldest_seconds{cluster="main",group="orders"} 40
# HELP groupwatch_group_dead_members Members that do not commit although their partitions have lag and other members \
commit.
# TYPE groupwatch_group_dead_members gauge
groupwatch_group_dead_members{cluster="main",group="orders"} 0
# HELP groupwatch_group_double_owned_partitions Partitions that more than one member owns.
# TYPE groupwatch_group_double_owned_partitions gauge
groupwatch_group_double_owned_partitions{cluster="main",group="orders"} 1
# HELP groupwatch_group_drifted_partitions Partitions whose owner differs from the assignor's result for the replayed \
or the current inputs.
# TYPE groupwatch_group_drifted_partitions gauge
groupwatch_group_drifted_partitions{cluster="main",group="orders",kind="replayed"} 1
groupwatch_group_drifted_partitions{cluster="main",group="orders",kind="current"} 0
groupwatch_group_drifted_partitions{cluster="main",group="orders",kind="tie"} 0
# HELP groupwatch_group_drift_oldest_seconds Time since owners began to differ from the assignor's result.
# TYPE groupwatch_group_drift_oldest_seconds gauge
groupwatch_group_drift_oldest_seconds{cluster="main",group="orders",kind="replayed"} 90
# HELP groupwatch_group_imbalance_ratio Partitions of the largest member divided by its partitions in the most even \
assignment.
# TYPE groupwatch_group_imbalance_ratio gauge
groupwatch_group_imbalance_ratio{cluster="main",group="orders"} 1.5
# HELP groupwatch_group_rebalances_total Completed generations (KIP-848: epochs) since the group was first seen.
# TYPE groupwatch_group_rebalances_total counter
groupwatch_group_rebalances_total{cluster="main",group="orders"} 7
# HELP groupwatch_group_rebalancing 1 while a rebalance is known to be in progress, else 0. Classic groups: as \
sampled by the collector.
# TYPE groupwatch_group_rebalancing gauge
groupwatch_group_rebalancing{cluster="main",group="orders"} 1
# HELP groupwatch_group_rebalance_seconds_total Lower bound of the duration of all rebalances since the group was \
first seen.
# TYPE groupwatch_group_rebalance_seconds_total counter
groupwatch_group_rebalance_seconds_total{cluster="main",group="orders"} 12.5
# HELP groupwatch_group_moved_partitions_total Partitions that changed owner in a rebalance.
# TYPE groupwatch_group_moved_partitions_total counter
groupwatch_group_moved_partitions_total{cluster="main",group="orders"} 9
# HELP groupwatch_group_avoidable_moves_total Moved partitions that the stickiest balanced assignment would not have \
moved.
# TYPE groupwatch_group_avoidable_moves_total counter
groupwatch_group_avoidable_moves_total{cluster="main",group="orders"} 4
# HELP groupwatch_group_redelivered_records_total Records delivered again because committed offsets moved back.
# TYPE groupwatch_group_redelivered_records_total counter
groupwatch_group_redelivered_records_total{cluster="main",group="orders"} 150
# HELP groupwatch_group_rebalance_pause_seconds_total Lower bound of partition-seconds during which a rebalance \
stopped consumption of partitions with lag.
# TYPE groupwatch_group_rebalance_pause_seconds_total counter
groupwatch_group_rebalance_pause_seconds_total{cluster="main",group="orders"} 12.5
# HELP groupwatch_group_rebalance_burst_records_total Records covered by the first commits after those pauses.
# TYPE groupwatch_group_rebalance_burst_records_total counter
groupwatch_group_rebalance_burst_records_total{cluster="main",group="orders"} 70
# HELP groupwatch_group_info 1, with the kind of the group and its source: log, admin, system or checkpoint.
# TYPE groupwatch_group_info gauge
groupwatch_group_info{cluster="main",group="orders",kind="kafka-classic",source="log"} 1
# HELP groupwatch_group_findings Open findings by kind and reason (docs/findings.md). Absent if there are none.
# TYPE groupwatch_group_findings gauge
groupwatch_group_findings{cluster="main",group="orders",kind="double_owned",reason="same_generation"} 1
groupwatch_group_findings{cluster="main",group="orders",kind="orphaned",reason="grew"} 1
groupwatch_group_findings{cluster="main",group="orders",kind="drift",reason="replayed"} 1
# HELP groupwatch_group_finding_oldest_seconds Time since the oldest of these findings became true.
# TYPE groupwatch_group_finding_oldest_seconds gauge
groupwatch_group_finding_oldest_seconds{cluster="main",group="orders",kind="double_owned",reason="same_generation"} 90
groupwatch_group_finding_oldest_seconds{cluster="main",group="orders",kind="orphaned",reason="grew"} 40
groupwatch_group_finding_oldest_seconds{cluster="main",group="orders",kind="drift",reason="replayed"} 90
# HELP groupwatch_group_finding_since_timestamp_seconds When the oldest of these findings became true.
# TYPE groupwatch_group_finding_since_timestamp_seconds gauge
"""
for kind, reason, since_s in (
    ("double_owned", "same_generation", 1_700_000_010),
    ("orphaned", "grew", 1_700_000_060),
    ("drift", "replayed", 1_700_000_010),
):
    labels_of = f'{{cluster="main",group="orders",kind="{kind}",reason="{reason}"}}'
    GOLDEN_GROUP += f"groupwatch_group_finding_since_timestamp_seconds{labels_of} {since_s}\n"

GOLDEN_SELF = """\
# HELP groupwatch_up 1 while the cluster can be read, else 0. It is 0 from a start until something has been read.
# TYPE groupwatch_up gauge
groupwatch_up{cluster="main"} 0
# HELP groupwatch_ready 1 once the backlog at start has been read, else 0. Before that, groups may be of the last run.
# TYPE groupwatch_ready gauge
groupwatch_ready{cluster="main"} 0
# HELP groupwatch_warm_up_total_records Records (offsets) of the backlog at start. Absent once the cluster is ready.
# TYPE groupwatch_warm_up_total_records gauge
groupwatch_warm_up_total_records{cluster="main"} 1000
# HELP groupwatch_warm_up_remaining_records Records (offsets) of the backlog that are not read yet. Absent once the \
cluster is ready.
# TYPE groupwatch_warm_up_remaining_records gauge
groupwatch_warm_up_remaining_records{cluster="main"} 400
# HELP groupwatch_warm_up_remaining_seconds Estimated time until the backlog has been read, at the rate of the last \
batches. Absent once ready.
# TYPE groupwatch_warm_up_remaining_seconds gauge
groupwatch_warm_up_remaining_seconds{cluster="main"} 11.5
# HELP groupwatch_batch_duration_seconds Deprecated: see groupwatch_micro_batch_seconds. Duration of the newest batch.
# TYPE groupwatch_batch_duration_seconds gauge
groupwatch_batch_duration_seconds{cluster="main"} 0.25
# HELP groupwatch_input_lag_records Records of the offsets topic or events topic that groupwatch has not read yet.
# TYPE groupwatch_input_lag_records gauge
groupwatch_input_lag_records{cluster="main"} 400
# HELP groupwatch_decode_errors_total Records that could not be decoded.
# TYPE groupwatch_decode_errors_total counter
groupwatch_decode_errors_total{cluster="main",source="offsets",reason="underflow"} 3
# HELP groupwatch_evaluation_errors_total Group evaluations that failed.
# TYPE groupwatch_evaluation_errors_total counter
groupwatch_evaluation_errors_total{cluster="main"} 2
# HELP groupwatch_build_info 1, with the version of groupwatch.
# TYPE groupwatch_build_info gauge
groupwatch_build_info{version="1.2.3"} 1
# HELP groupwatch_shard_info 1, with the job's shard number and the number of shards.
# TYPE groupwatch_shard_info gauge
groupwatch_shard_info{shard="1",of="1"} 1
# HELP groupwatch_shards Configured number of shards for the groups of the cluster, 1 without shards. The label has \
the job's own shard.
# TYPE groupwatch_shards gauge
groupwatch_shards{cluster="main",shard="1",of="1"} 1
"""


def warming_up() -> ClusterSnapshot:
    broken = ErrorCount(reason="underflow", count=3, log_partition=0, log_offset=9)
    return ClusterSnapshot(
        cluster="main",
        batch_duration_ms=250,
        input_lag=400,
        warm_up=WarmUpProgress(total=1000, remaining=400, left_ms=11_500),
        evaluation_errors=2,
        decode_errors=(SourceState(cluster="main", source="offsets", errors=(broken,)),),
        problem="No broker answers.",
        blocks=render_groups([orders()]),
    )


def catalog() -> Catalog:
    partitions = (PartitionState(partition=0, first_seen_ms=1, end=100), PartitionState(partition=1, first_seen_ms=1))
    return Catalog(
        cluster="main",
        pass_ms=1,
        topics={"t": TopicState(cluster="main", topic="t", pass_ms=1, partitions=partitions)},
    )


def busy_catalog() -> Catalog:
    """A topic with 30 and 10 records a second in its partitions over a minute: 30 over the mean of 20 is 1.5."""
    partitions = tuple(
        PartitionState(number, 1, end=60 * rate, ends=(EndOffsetAt(0, 0), EndOffsetAt(60_000, 60 * rate)))
        for number, rate in enumerate((30, 10))
    )
    state = TopicState(cluster="main", topic="busy", pass_ms=1, topic_id="B", partitions=partitions)
    return Catalog(cluster="main", pass_ms=1, topics={"busy": state})


def text_of(blocks) -> bytes:
    """The blocks as a scrape gets them."""
    return gzip.decompress(join(packed(blocks)))


def parsed(text: bytes) -> list[Metric]:
    return list(text_string_to_metric_families(text.decode()))


def values(verdict: GroupVerdict, family: str) -> dict[tuple[str, ...], float]:
    """The samples of one family of one group by its own labels, as the official parser reads them."""
    return {
        tuple(value for label, value in sample.labels.items() if label not in {"cluster", "group"}): sample.value
        for metric in parsed(text_of(render_groups([verdict])))
        for sample in metric.samples
        if sample.name == family
    }


def test_the_whole_text_of_a_small_group():
    assert text_of(render_groups([orders()])).decode() == GOLDEN_GROUP


def test_a_cluster_that_is_not_ready_exposes_only_itself():
    """Its blocks are left out: half a backlog gives wrong lags. What is not known yet is absent."""
    assert gzip.decompress(exposition([warming_up()], version="1.2.3")).decode() == GOLDEN_SELF


def test_an_end_offset_is_given_once_for_each_partition_where_it_is_known():
    (block,) = render_catalog(catalog())
    assert block.samples == 'groupwatch_partition_end_offset{cluster="main",topic="t",partition="0"} 100\n'


def test_head_lines_stand_once_though_blocks_come_from_many_executors():
    text = text_of((*render_groups([offsets_only("a")]), *render_groups([offsets_only("b")]))).decode()
    heads = Counter(line for line in text.splitlines() if line.startswith("#"))
    assert set(heads.values()) == {1}
    assert len(parsed(text.encode())) == len(heads) / 2


def metaq() -> GroupVerdict:
    """As falling_behind, of MetaQ: partitions have names, and what waits is counted in bytes."""
    verdict = falling_behind()
    named = tuple(msgspec.structs.replace(row, partition=f"0-{row.partition}") for row in verdict.partitions)
    return msgspec.structs.replace(
        verdict,
        group="m",
        kind=GroupKind.METAQ,
        state=Phase.STABLE,
        source=Source.SYSTEM,
        partitions=named,
        findings=(),
        stable_lag=verdict.lag,
    )


def test_bytes_of_metaq_are_not_called_records():
    families = {block.family: block.samples for block in render_groups([metaq()])}
    assert not [name for name in families if "records" in name or name.endswith(("_lag", "stable_lag"))]
    lag = falling_behind().lag
    assert families["groupwatch_group_lag_bytes"] == f'groupwatch_group_lag_bytes{{cluster="main",group="m"}} {lag}\n'
    assert 'partition="0-' in families["groupwatch_partition_lag_bytes"]
    assert "groupwatch_group_consumed_bytes_per_second" in families
    assert 'kind="metaq",source="system"' in families["groupwatch_group_info"]


def test_what_readings_cannot_tell_of_a_rebalance_is_absent():
    """How long it took, and what stood still meanwhile; that there were some, and what moved, is seen."""
    families = {block.family for block in render_groups([metaq()])}
    told = {name.removeprefix("groupwatch_group_") for name in families if "rebalanc" in name or "move" in name}
    assert told == {"rebalances_total", "moved_partitions_total", "avoidable_moves_total"}


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_of_partitions_are_escaped(name: str):
    """The name of a RocketMQ broker is part of it."""
    partition = f"{name}-0"
    row = msgspec.structs.replace(falling_behind().partitions[0], partition=partition)
    verdict = msgspec.structs.replace(falling_behind(), kind=GroupKind.ROCKETMQ, partitions=(row,), findings=())
    of_group = [sample for metric in parsed(text_of(render_groups([verdict]))) for sample in metric.samples]
    assert {s.labels["partition"] for s in of_group if "partition" in s.labels} == {partition}
    state = PartitionState(partition=partition, first_seen_ms=0, end=5)
    topic = TopicState(cluster="main", topic="t", pass_ms=0, partitions=(state,))
    of_catalog = [
        sample
        for metric in parsed(text_of(render_catalog(Catalog(cluster="main", pass_ms=0, topics={"t": topic}))))
        for sample in metric.samples
    ]
    assert [sample.labels["partition"] for sample in of_catalog] == [partition]


def test_a_block_of_an_unknown_family_is_refused():
    with pytest.raises(KeyError, match="elsewhere"):
        join(packed([FamilyBlock(family="elsewhere", samples="elsewhere 1\n")]))


def connect_cluster() -> GroupVerdict:
    """A Connect cluster of one worker, which waits for another."""
    (example,) = [each for each in examples() if each.title == "Connect waits for a worker"]
    return evaluate(example.group, example.catalog, NOW, example.settings)


def test_what_workers_run_and_what_they_do_not_is_counted():
    own = values(connect_cluster(), "groupwatch_group_connect_idle_tasks")
    assert own == {
        ("delay",): 3,
        **dict.fromkeys([("config_mismatch",), ("no_workers",), ("not_assigned",), ("revoked",)], 0),
    }
    assert values(connect_cluster(), "groupwatch_group_connect_tasks") == {(): 1}
    until_s = at("03:03:00") / 1000
    assert values(connect_cluster(), "groupwatch_group_connect_delay_until_timestamp_seconds") == {(): until_s}
    assert values(connect_cluster(), "groupwatch_group_orphaned_partitions") == {}


def test_what_became_of_the_records_of_a_share_group_is_counted():
    names = ("waiting_redelivery_records", "max_deliveries", "last_try_records", "accepted_records_total")
    names += ("rejected_records_total", "given_up_records_total", "last_acknowledgment_timestamp_seconds")
    found = [values(shared(), f"groupwatch_group_share_{name}") for name in names]
    assert found == [{(): value} for value in (2, 4, 2, 10, 1, 1, (NOW_MS - 9_000) / 1000)]
    assert values(orders(), "groupwatch_group_share_accepted_records_total") == {}


def test_what_a_group_of_rocketmq_sent_back_and_gave_up_is_counted():
    names = ("sent_back_records_total", "retry_waiting_records", "retry_waiting_since_timestamp_seconds")
    names += ("dead_letter_records_total", "kept_dead_letter_records", "in_flight_records")
    found = [values(sent_back(), f"groupwatch_group_{name}") for name in names]
    assert found == [{(): value} for value in (44, 7, (NOW_MS - 50_000) / 1000, 20, 18, 3)]
    assert values(orders(), "groupwatch_group_sent_back_records_total") == {}
    assert values(sent_back(), "groupwatch_group_unreadable_records") == {(): 30}
    assert values(orders(), "groupwatch_group_unreadable_records") == {}


def test_every_metric_of_the_table_is_rendered_and_no_other():
    everything = msgspec.structs.replace(
        warming_up(),
        ready=True,
        evaluated_ms=NOW_MS,
        catalog_ms=NOW_MS,
        tells_findings=True,
        expectations=ExpectationsHealth(),
        recording=RecordingHealth(recorded_ms=NOW_MS, evaluated_ms=NOW_MS),
        collectors=(CollectorHealth("main", "kafka", "main", complete=1, last_success_ms=NOW_MS, pass_ms=20),),
        blocks=packed(
            (
                *render_groups([expected("o"), offsets_only("x"), falling_behind(), unattended("y"), metaq()]),
                *render_groups([falling_behind("sums"), named(metaq(), "sums-m")], SeriesRules(detail=Detail.TOPIC)),
                *render_groups([orders("who"), streams()], SeriesRules(member_info=True, owner_info=True)),
                *render_groups([unreadable("z"), uncommitted(), expired("e"), blocked()]),
                *render_groups([connect_cluster()], SeriesRules(member_info=True)),
                *render_groups([shared(), sent_back()]),
                *render_catalog(catalog()),
                *render_catalog(busy_catalog()),
                *render_commits(committed_group(), SeriesRules(commit_times=True)),
                *render_cluster(
                    "main",
                    [summary_of(orders()), summary_of(newer_broker("n")), unevaluated("u")],
                    [NOT_WRITABLE],
                    NOW_MS,
                ),
            )
        ),
    )
    found = parsed(gzip.decompress(prepared([everything], "1", max_series=10_000).text_gzip))
    samples = [sample for metric in found for sample in metric.samples]
    labels = {spec.name: set(spec.labels) for spec in METRICS}
    kinds = {spec.name.removesuffix("_total"): spec.kind for spec in METRICS}
    assert {sample.name for sample in samples} == set(labels)
    assert all(set(sample.labels) == labels[sample.name] for sample in samples)
    assert {metric.name: metric.type for metric in found} == kinds
    assert Counter((s.name, *sorted(s.labels.items())) for s in samples).most_common(1)[0][1] == 1


def expected(group: str) -> GroupVerdict:
    """A group of a team, as a file of expectations wants it, with a number of members that it needs."""
    scaling = Scaling(60_000, "It is enough.", 6, 3, ScaleHold.SETTLING, drain_ms=1_500)
    return msgspec.structs.replace(
        orders(group), expectations=GroupExpectations(Met.YES, team="checkout"), scaling=scaling
    )


NOT_WRITABLE = ClusterFinding(
    ClusterFindingKind.OFFSETS_TOPIC, "no_leader", Severity.CRITICAL, NOW_MS - 90_500, "Sentence.", "Advice.", groups=12
)


def test_a_finding_of_the_cluster_has_its_age_and_the_number_of_its_groups():
    blocks = render_cluster("main", [], [NOT_WRITABLE], NOW_MS)
    pairs = 'cluster="main",kind="offsets_topic",reason="no_leader"'
    assert [block.samples for block in blocks if "own_finding" in block.family] == [
        f"groupwatch_cluster_own_finding_oldest_seconds{{{pairs}}} 90.5\n",
        f"groupwatch_cluster_own_finding_groups{{{pairs}}} 12\n",
    ]


def unevaluated(group: str) -> GroupSummary:
    return msgspec.structs.replace(summary_of(offsets_only(group)), unjudged="broker 2 does not answer")


def test_groups_that_show_an_earlier_evaluation_are_counted_and_none_are_absent():
    name = "groupwatch_cluster_unevaluated_groups"
    told = [render_cluster("main", groups) for groups in ([unevaluated("u"), unevaluated("v")], [summary_of(orders())])]
    assert [[block.samples for block in blocks if block.family == name] for blocks in told] == [
        [f'{name}{{cluster="main"}} 2\n'],
        [],
    ]


def committed_group(**fields) -> GroupState:
    """A group that committed t-0 for the third time at 9.5 s, and u-1 for the first time at 7 s."""
    offsets = (
        CommittedOffset("t", 0, 5, committed_ms=9_500, commits=3),
        CommittedOffset("u", 1, 5, committed_ms=7_000, commits=1),
    )
    return GroupState(cluster="main", group="g", offsets=offsets, **fields)


def test_the_newest_commits_are_exposed_where_they_are_wanted_and_in_the_log():
    name = 'groupwatch_partition_last_commit_timestamp_seconds{cluster="main",group="g",topic='
    count = 'groupwatch_partition_commits_total{cluster="main",group="g",topic='
    times, counts = render_commits(committed_group(), SeriesRules(commit_times=True))
    assert times.samples == f'{name}"t",partition="0"}} 9.5\n{name}"u",partition="1"}} 7\n'
    assert counts.samples == f'{count}"t",partition="0"}} 3\n{count}"u",partition="1"}} 1\n'
    times, counts = render_commits(committed_group(), SeriesRules(commit_times=True, deny_topics=("t",)))
    assert times.samples == f'{name}"u",partition="1"}} 7\n'
    assert counts.samples == f'{count}"u",partition="1"}} 1\n'
    assert render_commits(committed_group(), SeriesRules()) == ()
    assert render_commits(committed_group(source=Source.ADMIN), SeriesRules(commit_times=True)) == ()


def test_an_attempt_in_a_transaction_is_no_newest_commit():
    name = 'groupwatch_partition_last_commit_timestamp_seconds{cluster="main",group="g",topic="t",partition="0"}'
    history = extend(b"", [CommitPoint(2_000, 5), CommitPoint(9_500, 8)])
    loop = {"listed": 5, "listed_ms": 60_000, "listed_since_ms": 3_000, "attempts": 2, "attempts_since_ms": 9_000}
    for history_known, samples in ((history, f"{name} 2\n"), (b"", "")):
        offset = CommittedOffset("t", 0, 5, committed_ms=9_500, commits=3, history=history_known, **loop)
        group = GroupState(cluster="main", group="g", offsets=(offset,))
        blocks = render_commits(group, SeriesRules(commit_times=True))
        assert "".join(block.samples for block in blocks if block.family in name) == samples


def test_the_skew_of_a_topic_is_exposed_down_to_the_detail_of_topics():
    name = "groupwatch_topic_incoming_skew_ratio"
    for detail in (Detail.PARTITION, Detail.TOPIC):
        blocks = {each.family: each.samples for each in render_catalog(busy_catalog(), SeriesRules(detail=detail))}
        assert blocks[name] == f'{name}{{cluster="main",topic="busy"}} 1.5\n'
    assert render_catalog(busy_catalog(), SeriesRules(detail=Detail.GROUP)) == ()


def test_the_truncated_records_of_a_topic_are_a_counter_from_0_on_where_topics_have_ids():
    name = "groupwatch_topic_truncated_records_total"
    fall = EndFall(from_ms=1, at_ms=2, before=90, after=50)
    cut = PartitionState(partition=0, first_seen_ms=0, truncations=Truncations(None, fall, 47))
    again = PartitionState(partition=1, first_seen_ms=0, truncations=Truncations(fall, None, 3))
    whole = PartitionState(partition=2, first_seen_ms=0)

    def exposed(*partitions, topic_id="id"):
        topic = TopicState(cluster="main", topic="t", pass_ms=1, topic_id=topic_id, partitions=partitions)
        blocks = render_catalog(Catalog(cluster="main", pass_ms=1, topics={"t": topic}))
        return [each.samples for each in blocks if each.family == name]

    assert exposed(cut, again, whole) == [f'{name}{{cluster="main",topic="t"}} 50\n']
    assert exposed(whole) == [f'{name}{{cluster="main",topic="t"}} 0\n']
    assert exposed(whole, topic_id=None) == []


def test_the_lag_of_members_is_that_of_what_they_own():
    """C0 has a lag of 7; C1 owns a partition without a commit, so its lag is unknown; C2 owns nothing."""
    group = GroupVerdict(
        cluster="main",
        group="g",
        kind="kafka-classic",
        state=Phase.STABLE,
        evaluated_ms=1,
        members=(
            MemberVerdict("C0", client_id="a", host="/h", partitions=1, lag=7),
            MemberVerdict("C1", partitions=1),
            MemberVerdict("C2"),
        ),
        partitions=(
            PartitionVerdict("t", 0, owners=("C0",), committed=3, end=10, lag=7),
            PartitionVerdict("t", 1, owners=("C1",), end=10),
        ),
    )
    blocks = {each.family: each.samples for each in render_groups([group], SeriesRules(member_info=True))}
    begin = 'groupwatch_member_lag{cluster="main",group="g",member_id='
    assert blocks["groupwatch_member_lag"].splitlines() == [
        f'{begin}"C0",client_id="a",host="/h"}} 7',
        f'{begin}"C2",client_id="",host=""}} 0',
    ]
    for other in (msgspec.structs.replace(group, kind="kafka-share"), msgspec.structs.replace(group, kind="metaq")):
        families = {each.family for each in render_groups([other], SeriesRules(member_info=True))}
        assert "groupwatch_member_lag" not in families


def test_members_are_counted_by_library_over_groups_whatever_its_certainty_and_release():
    """The members of RocketMQ are no clients of Kafka, and are not counted as unknown."""
    newer, older, likely = (
        MemberVerdict(member_id="m", library=ClientLibrary((Library.SARAMA,), certainty, versions))
        for certainty, versions in (
            (Certainty.CERTAIN, "2.12"),
            (Certainty.CERTAIN, "before 2.12"),
            (Certainty.LIKELY, None),
        )
    )
    either = ClientLibrary((Library.AIOKAFKA, Library.KAFKA_PYTHON), Certainty.POSSIBLE)
    members = {
        "a": (newer, older, likely),
        "b": (newer, MemberVerdict(member_id="n", library=either), MemberVerdict(member_id="o")),
    }
    groups = [msgspec.structs.replace(orders(), group=name, members=own) for name, own in members.items()]
    of_rocketmq = msgspec.structs.replace(orders(), kind=GroupKind.ROCKETMQ, members=(MemberVerdict(member_id="m"),))
    assert library_samples(*groups, of_rocketmq) == [
        'groupwatch_client_library_members{cluster="main",library="aiokafka or kafka-python"} 1',
        'groupwatch_client_library_members{cluster="main",library="sarama"} 4',
        'groupwatch_client_library_members{cluster="main",library="unknown"} 1',
    ]
    assert library_samples(of_rocketmq, unattended("empty"), offsets_only("simple")) == []


def library_samples(*verdicts: GroupVerdict) -> list[str]:
    blocks = render_cluster("main", [summary_of(verdict) for verdict in verdicts])
    return [
        line
        for block in blocks
        if block.family == "groupwatch_client_library_members"
        for line in block.samples.splitlines()
    ]


def named(verdict: GroupVerdict, group: str) -> GroupVerdict:
    return msgspec.structs.replace(verdict, group=group)


@pytest.mark.parametrize(
    ("kind", "described"),
    [
        (GroupMetric, GroupVerdict),
        (TopicMetric, TopicLag),
        (PartitionMetric, PartitionVerdict),
        (LogMetric, PartitionState),
        (ClusterMetric, ClusterSnapshot),
        (CollectorMetric, CollectorHealth),
    ],
)
def test_a_row_that_names_a_field_names_one_that_there_is(kind: type[ValueMetric], described: type[msgspec.Struct]):
    """An attrgetter is not seen by the type checker."""
    getters = [spec.value for spec in FAMILIES.values() if isinstance(spec, kind)]
    fields = {getter.__reduce__()[1][0] for getter in getters if isinstance(getter, attrgetter)}
    assert fields
    assert fields <= set(described.__struct_fields__)


def test_a_name_is_written_once_in_the_product():
    """Whoever else speaks of a family has its name from its row, so that it can be renamed there."""
    begins = {f"{name.partition('_')[0]}_" for name in FAMILIES}  # no other module need be parsed
    sources = [path.read_text("utf-8") for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")]
    trees = (ast.parse(source) for source in sources if any(begin in source for begin in begins))
    texts = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert {name: count for name, count in Counter(texts).items() if name in FAMILIES and count > 1} == {}


def test_names_follow_the_rules_of_the_table():
    assert len({spec.name for spec in METRICS}) == len(METRICS)
    for spec in METRICS:
        assert spec.name.startswith("groupwatch_")
        assert spec.name.endswith("_total") == (spec.kind is MetricKind.COUNTER)
        assert spec.help.isprintable()
        assert spec.help.endswith(".") or spec.name == "groupwatch_build_info"


def test_unknown_is_absent():
    """A group of which nothing is known has no lag, age or ratio: no NaN, no -1 and no 0 in their place."""
    nothing = GroupVerdict(cluster="c", group="g", kind="kafka-classic", state=Phase.EMPTY, evaluated_ms=NOW_MS)
    names = {block.family for block in render_groups([nothing])}
    assert names == {
        "groupwatch_group_info",
        "groupwatch_group_members",
        "groupwatch_group_idle_members",
        "groupwatch_group_state",
        "groupwatch_group_orphaned_partitions",
        "groupwatch_group_dead_members",
        "groupwatch_group_double_owned_partitions",
        "groupwatch_group_rebalances_total",
        "groupwatch_group_rebalancing",
        "groupwatch_group_rebalance_seconds_total",
        "groupwatch_group_moved_partitions_total",
        "groupwatch_group_avoidable_moves_total",
        "groupwatch_group_redelivered_records_total",
        "groupwatch_group_rebalance_pause_seconds_total",
        "groupwatch_group_rebalance_burst_records_total",
    }


def test_how_the_lag_develops_and_what_retention_took():
    late = falling_behind()
    assert values(late, "groupwatch_group_status") == {("ok",): 0, ("warn",): 0, ("err",): 1}
    assert values(late, "groupwatch_group_consumed_records_per_second") == {(): 12.5}
    assert values(late, "groupwatch_group_produced_records_per_second") == {(): 20}
    assert values(late, "groupwatch_group_catch_up_seconds") == {(): 90.5}
    assert values(late, "groupwatch_group_lost_records") == {(): 30}
    assert values(late, "groupwatch_group_retention_ratio") == {(): 1}
    assert values(late, "groupwatch_partition_lost_records") == {("t", "0"): 30}


def test_a_group_that_never_catches_up_has_no_time_for_it_and_nothing_lost_is_not_told():
    never = msgspec.structs.replace(falling_behind(), catch_up_ms=None, lost=0)
    assert values(never, "groupwatch_group_catch_up_seconds") == {}
    assert values(never, "groupwatch_group_lost_records") == {}
    assert values(never, "groupwatch_partition_lost_records") == {}


def test_skipped_records_are_summed_over_partitions():
    late = falling_behind()
    assert values(late, "groupwatch_group_skipped_records_at_least") == {(): 90}
    assert values(late, "groupwatch_group_skipped_records_at_most") == {(): 495}
    none = msgspec.structs.replace(late, skips=())
    assert values(none, "groupwatch_group_skipped_records_at_most") == {}


def test_a_lag_that_uncommitted_partitions_hide_has_a_lower_bound_and_no_series_of_its_own():
    hidden = uncommitted()
    names = ("group_lag", "group_lag_at_least", "group_uncommitted_partitions", "group_uncommitted_records")
    assert [values(hidden, f"groupwatch_{name}") for name in names] == [{}, {(): 12}, {(): 9}, {(): 5_400}]
    assert [values(orders(), f"groupwatch_{name}") for name in names] == [{(): 12}, {}, {}, {}]
    in_bytes = msgspec.structs.replace(hidden, kind=GroupKind.METAQ)
    assert [values(in_bytes, f"groupwatch_{name}") for name in names] == [{}, {}, {(): 9}, {}]


def blocked() -> GroupVerdict:
    """The brokers have taken none of its commits for 45 s at most."""
    return msgspec.structs.replace(orders("b"), blocked_since_ms=orders().evaluated_ms - 45_000)


def test_for_how_long_the_brokers_may_have_taken_no_commits():
    assert values(blocked(), "groupwatch_group_commits_blocked_seconds") == {(): 45}
    assert values(orders(), "groupwatch_group_commits_blocked_seconds") == {}


def test_when_offsets_expire_and_in_how_many_partitions_they_have():
    verdict = expired()
    assert values(verdict, "groupwatch_group_offsets_expire_timestamp_seconds") == {(): 1_795_315_215.5}
    assert values(verdict, "groupwatch_group_expired_partitions") == {(): 2}
    assert values(orders(), "groupwatch_group_offsets_expire_timestamp_seconds") == {}
    assert values(orders(), "groupwatch_group_expired_partitions") == {}


def test_dead_members_and_the_age_of_what_is_unattended():
    dead = Finding(FindingKind.DEAD_MEMBER, "silent", NOW_MS - 9_000, "Two are dead.", members=("C0", "C1"))
    verdict = msgspec.structs.replace(orders(), findings=(dead,))
    assert values(verdict, "groupwatch_group_dead_members") == {(): 2}
    assert values(verdict, "groupwatch_group_unattended_seconds") == {}
    assert values(unattended("g"), "groupwatch_group_unattended_seconds") == {(): 70}
    assert values(unattended("g"), "groupwatch_group_dead_members") == {(): 0}


def test_every_kind_of_finding_is_counted_with_the_age_of_the_oldest():
    """Two of one kind and reason, 40 s and 10 s old, are one series; of a group without findings there is none."""
    found = tuple(
        Finding(kind=kind, reason=kind.value, since_ms=NOW_MS - age_ms, sentence="")
        for kind in FindingKind
        for age_ms in (10_000, 40_000)
    )
    group = msgspec.structs.replace(orders(), findings=found)
    assert values(group, "groupwatch_group_findings") == {(kind.value, kind.value): 2 for kind in FindingKind}
    ages = values(group, "groupwatch_group_finding_oldest_seconds")
    assert ages == {(kind.value, kind.value): 40 for kind in FindingKind}
    assert values(msgspec.structs.replace(orders(), findings=()), "groupwatch_group_findings") == {}


def test_partitions_that_burrow_would_alert_of_are_counted_by_status():
    late = falling_behind()  # one partition has stopped, two are in order
    assert values(late, "groupwatch_group_failing_partitions") == {("stop",): 1}
    assert values(msgspec.structs.replace(late, status=LagStatus.WARN), "groupwatch_group_failing_partitions") == {}


@pytest.mark.parametrize("kind", [GroupKind.SHARE, GroupKind.STREAMS])
def test_where_nobody_owns_a_partition_for_himself_none_has_moved_nor_not(kind):
    """The members of a streams group commit offsets, those of a share group do not."""
    families = {block.family for block in render_groups([msgspec.structs.replace(orders(), kind=kind)])}
    assert not {name for name in families if "moves" in name or "moved" in name or "pause" in name or "burst" in name}
    assert ("groupwatch_group_redelivered_records_total" in families) == (kind is GroupKind.STREAMS)
    assert "groupwatch_group_rebalance_seconds_total" in families


def test_a_group_that_is_not_known_to_rebalance_is_told_as_such():
    calm = msgspec.structs.replace(orders(), rebalancing_since_ms=None)
    assert values(calm, "groupwatch_group_rebalancing") == {(): 0}


def test_nothing_is_said_of_members_where_only_offsets_are_known():
    """It may be a KIP-848 group with a hundred members: 0 members, orphans or rebalances would be a false statement."""
    families = {block.family for block in render_groups([offsets_only("g")])}
    about_groups = {family for family in families if family.startswith("groupwatch_group_")}
    of_offsets = {
        "groupwatch_group_lag",
        "groupwatch_group_lag_seconds",
        "groupwatch_group_lag_at_least_seconds",
        "groupwatch_group_redelivered_records_total",
    }
    assert about_groups - of_offsets == {"groupwatch_group_state", "groupwatch_group_info"}


def warm_up_samples(cluster: ClusterSnapshot) -> dict[str, float]:
    found = [sample for metric in parsed(gzip.decompress(exposition([cluster], "1"))) for sample in metric.samples]
    return {sample.name: sample.value for sample in found if "warm_up" in sample.name}


def test_a_warm_up_without_a_pace_has_no_time_left():
    no_pace = ClusterSnapshot(cluster="c", warm_up=WarmUpProgress(total=9, remaining=9))
    assert warm_up_samples(no_pace) == {
        "groupwatch_warm_up_total_records": 9,
        "groupwatch_warm_up_remaining_records": 9,
    }
    read = ClusterSnapshot(cluster="c", warm_up=WarmUpProgress(total=9, remaining=0, left_ms=0))
    assert warm_up_samples(read)["groupwatch_warm_up_remaining_seconds"] == 0


def test_a_warm_up_is_absent_before_the_first_batch_and_once_ready():
    assert warm_up_samples(ClusterSnapshot(cluster="c")) == {}
    assert warm_up_samples(ready_cluster(orders())) == {}


def test_every_reason_is_there_at_zero_so_that_its_end_is_seen():
    calm = msgspec.structs.replace(orders(), findings=(), partitions=())
    counts = values(calm, "groupwatch_group_orphaned_partitions")
    of_any = {"no_members", "grew", "unsubscribed", "assignor_gap", "pending", "rebalancing"}
    assert {reason for (reason,) in counts} == of_any | {"leader_unsubscribed", "owner_unsubscribed"}
    assert set(counts.values()) == {0}
    more = {
        GroupKind.ROCKETMQ: {"mixed_strategy", "mixed_subscription"},
        GroupKind.CONSUMER: set(),
        GroupKind.METAQ: set(),
        GroupKind.ZOOKEEPER: set(),
        GroupKind.STREAMS: {"not_ready"},
    }
    for kind, own in more.items():
        counts = values(msgspec.structs.replace(calm, kind=kind), "groupwatch_group_orphaned_partitions")
        assert {reason for (reason,) in counts} == of_any | own
    streams = values(msgspec.structs.replace(calm, assignor="stream"), "groupwatch_group_orphaned_partitions")
    assert {reason for (reason,) in streams} == of_any | {"no_task"}
    all_of_them = of_any | {
        "leader_unsubscribed",
        "owner_unsubscribed",
        "no_task",
        "not_ready",
        *more[GroupKind.ROCKETMQ],
    }
    of_connect = {"delay", "revoked", "not_assigned", "config_mismatch", "no_workers"}
    of_share = {"not_initialized"}
    assert all_of_them | of_connect | of_share == {each.value for each in OrphanReason}
    assert values(shared(), "groupwatch_group_orphaned_partitions") == {}


def test_of_members_that_cannot_be_read_only_what_is_found_is_counted():
    """0 would say that there is none, which is not known."""
    not_all = msgspec.structs.replace(orders(), expectation="none")
    assert values(not_all, "groupwatch_group_orphaned_partitions") == {("grew",): 1}
    assert values(not_all, "groupwatch_group_double_owned_partitions") == {(): 1}
    assert values(not_all, "groupwatch_group_drifted_partitions") == {}
    nothing = msgspec.structs.replace(not_all, findings=(), partitions=())
    for family in ("orphaned_partitions", "double_owned_partitions", "dead_members", "drifted_partitions"):
        assert values(nothing, f"groupwatch_group_{family}") == {}


def test_members_that_cannot_be_read_are_counted_where_there_are_some():
    one = msgspec.structs.replace(orders().members[0], unreadable="underflow at byte 2 of the subscription")
    some = msgspec.structs.replace(orders(), members=(one, orders().members[1]))
    assert values(some, "groupwatch_group_unreadable_members") == {(): 1}
    assert values(orders(), "groupwatch_group_unreadable_members") == {}


def test_idle_members_are_absent_where_partitions_are_not_what_members_are_to_have():
    """A classic group of Kafka Streams."""
    threads = tuple(msgspec.structs.replace(member, idle=None) for member in orders().members)
    assert values(msgspec.structs.replace(orders(), members=threads), "groupwatch_group_idle_members") == {}


def test_drift_is_absent_where_the_assignor_is_not_known():
    unknown = msgspec.structs.replace(orders(), expectation="invariants", findings=())
    assert values(unknown, "groupwatch_group_drifted_partitions") == {}
    in_order = msgspec.structs.replace(orders(), findings=())
    assert values(in_order, "groupwatch_group_drifted_partitions") == {("replayed",): 0, ("current",): 0, ("tie",): 0}
    assert values(in_order, "groupwatch_group_drift_oldest_seconds") == {}
    of_a_library = msgspec.structs.replace(in_order, expectation="checked")
    assert values(of_a_library, "groupwatch_group_drifted_partitions") == {("replayed",): 0}
    by_the_broker = msgspec.structs.replace(in_order, expectation="target")
    assert values(by_the_broker, "groupwatch_group_drifted_partitions") == {("target",): 0, ("pending",): 0}


def test_an_age_is_never_negative():
    """The broker's clock may run ahead of ours."""
    behind = msgspec.structs.replace(orders(), evaluated_ms=NOW_MS - 1_000_000)
    assert values(behind, "groupwatch_group_orphaned_oldest_seconds") == {(): 0}


def test_times_are_told_by_the_machines_clock_which_others_compare_with_theirs():
    """The machine's clock was set forward; the job's own is still an hour behind it, and judges by that."""
    cluster = msgspec.structs.replace(ready_cluster(), catalog_ms=NOW_MS - 5_000, clock_behind_ms=3_600_000)
    told = {
        sample.name: sample.value
        for metric in parsed(text_of(render_self([cluster], "1")))
        for sample in metric.samples
        if sample.name.endswith("_timestamp_seconds")
    }
    assert told == {
        "groupwatch_last_evaluation_timestamp_seconds": NOW_MS / 1000 + 3600,
        "groupwatch_catalog_timestamp_seconds": NOW_MS / 1000 + 3595,
    }


def test_a_recording_that_cannot_be_written_is_no_failure_to_read():
    health = RecordingHealth(problem="Nothing is recorded.", recorded_ms=5_000, evaluated_ms=4_000)
    cluster = msgspec.structs.replace(ready_cluster(), recording=health)
    samples = [sample for metric in parsed(text_of(render_self([cluster], "1"))) for sample in metric.samples]
    values = {sample.name: sample.value for sample in samples}
    assert (values["groupwatch_recording_up"], values["groupwatch_up"]) == (0, 1)
    line = cluster_line(cluster, NOW_MS)
    assert (line.failing, line.warning) == (False, "Nothing is recorded.")
    assert values["groupwatch_recorded_timestamp_seconds"] == 5
    assert values["groupwatch_recording_evaluated_timestamp_seconds"] == 4


def test_what_a_recording_lacks_is_counted_and_on_the_page():
    cluster = msgspec.structs.replace(ready_cluster(), recording=RecordingHealth(failed_groups=1, unread_rows=2))
    samples = [sample for metric in parsed(text_of(render_self([cluster], "1"))) for sample in metric.samples]
    values = {sample.name: sample.value for sample in samples}
    assert (values["groupwatch_recording_failed_groups"], values["groupwatch_recording_unread_rows"]) == (1, 2)
    assert cluster_line(cluster, NOW_MS).warning == (
        "The newest ten minutes of the recording lack 1 group. "
        "The newest states of the recording lack 2 damaged rows of events."
    )


@pytest.mark.parametrize(("tells", "problem", "shown"), [(False, None, []), (True, None, [1]), (True, "No way.", [0])])
def test_findings_that_cannot_be_told_are_no_failure_to_read(tells: bool, problem: str | None, shown: list[int]):
    cluster = msgspec.structs.replace(ready_cluster(), tells_findings=tells, findings_problem=problem)
    samples = [sample for metric in parsed(text_of(render_self([cluster], "1"))) for sample in metric.samples]
    assert [s.value for s in samples if s.name == "groupwatch_findings_up"] == shown
    assert [s.value for s in samples if s.name == "groupwatch_up"] == [1]
    assert not cluster_line(cluster, NOW_MS).failing


def test_idle_members_are_counted():
    idle = (MemberVerdict(member_id="C2", idle=True),)
    group = msgspec.structs.replace(orders(), members=orders().members + idle)
    assert values(group, "groupwatch_group_members") == {(): 3}
    assert values(group, "groupwatch_group_idle_members") == {(): 1}


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_come_back_as_they_were(name):
    assert_names_round_trip([name])


@given(st.lists(st.text(max_size=20), unique=True, max_size=4))
def test_any_names_come_back_as_they_were(names):
    assert_names_round_trip(names)


def assert_names_round_trip(names: list[str]) -> None:
    metrics = parsed(text_of(render_groups([offsets_only(name, cluster=name) for name in names])))
    samples = [s for metric in metrics for s in metric.samples if s.name == "groupwatch_partition_lag"]
    assert [sample.labels for sample in samples] == [
        {"cluster": name, "group": name, "topic": name, "partition": "0"} for name in names
    ]


def test_half_a_surrogate_pair_does_not_break_the_text():
    text = text_of((*render_groups([offsets_only("a\ud800b")]), *render_self([ClusterSnapshot(cluster="\udfff")], "1")))
    assert b'groupwatch_group_state{cluster="main",group="a?b",state="offsets_only"} 1\n' in text
    assert b'groupwatch_up{cluster="?"} 0\n' in text


@given(st.integers(min_value=0, max_value=10**15))
def test_seconds_are_exact(duration_ms):
    whole, _, fraction = seconds(duration_ms).partition(".")
    assert int(whole) * 1000 + int(fraction.ljust(3, "0") or 0) == duration_ms
    assert not fraction.endswith("0")


@given(st.floats(min_value=0, allow_infinity=False) | st.integers())
def test_numbers_read_back_exactly(value):
    assert type(value)(number(value)) == value
    assert not number(value).endswith(".0")


def test_the_order_of_clusters_does_not_mix_families():
    clusters = [ready_cluster(orders()), ready_cluster(offsets_only("x", cluster="other"), cluster="other")]
    families = [metric.name for metric in parsed(gzip.decompress(exposition(clusters, version="1")))]
    assert len(families) == len(set(families))


def test_a_shard_is_told_with_the_number_of_shards():
    clusters = [ready_cluster(orders()), ready_cluster(offsets_only("x", cluster="other"), cluster="other")]
    text = gzip.decompress(exposition(clusters, version="1", shard=Shard(number=2, of=3))).decode()
    assert 'groupwatch_shard_info{shard="2",of="3"} 1' in text.splitlines()
    assert [line for line in text.splitlines() if line.startswith("groupwatch_shards{")] == [
        'groupwatch_shards{cluster="main",shard="2",of="3"} 3',
        'groupwatch_shards{cluster="other",shard="2",of="3"} 3',
    ]
