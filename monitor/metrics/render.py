"""Verdicts, the catalog and groupwatch's own condition as Prometheus text. Pure.

Groups are rendered on the executors as blocks, one for each family; the driver joins the blocks of all executors. Ages
are those at the moment of the evaluation, so the text never changes between two evaluations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from monitor.detection.rules.retention import lost_records
from monitor.metrics.cluster_samples import STATES
from monitor.metrics.collector_samples import add_collectors
from monitor.metrics.exposition_format import (
    OPENMETRICS_END,
    Samples,
    escaped,
    header,
    labels,
    openmetrics_header,
    seconds,
)
from monitor.metrics.gzip_join import Run, deflated, gzip_of, run_of
from monitor.metrics.kafka_exporter import add_as_kafka_exporter, add_topic_as_kafka_exporter
from monitor.metrics.member_samples import add_members, add_owners
from monitor.metrics.series_cap import CUT, fitted, render_left_out
from monitor.metrics.series_filter import ALL_SERIES, Detail, SeriesRules
from monitor.metrics.specs import FAMILIES, MetricSpec
from monitor.metrics.version import installed_version
from monitor.model import (
    ALL_GROUPS,
    KINDS,
    STREAM,
    Catalog,
    ClusterSnapshot,
    Deflated,
    DriftKind,
    FamilyBlock,
    Finding,
    FindingKind,
    GroupKind,
    GroupVerdict,
    LagStatus,
    OrphanReason,
    PackedBlock,
    PartitionId,
    PartitionVerdict,
    Phase,
    Shard,
    Sharing,
    Source,
    TopicLag,
    Value,
    WarmUpProgress,
)

STATUSES: Final = (LagStatus.OK, LagStatus.WARN, LagStatus.ERR)
"""Burrow's statuses of a group; the others are those of a partition."""

FAILING: Final = frozenset({LagStatus.STOP, LagStatus.STALL, LagStatus.REWIND})
"""Burrow's statuses of a partition that make its group ERR."""

_OF_ROCKETMQ: Final = (OrphanReason.MIXED_STRATEGY, OrphanReason.MIXED_SUBSCRIPTION)
_OF_CLASSIC: Final = (OrphanReason.LEADER_UNSUBSCRIBED,)
_OF_STREAMS: Final = (OrphanReason.NO_TASK,)
_OF_SOME: Final = (*_OF_ROCKETMQ, *_OF_CLASSIC, *_OF_STREAMS)
_OF_ANY: Final = tuple([reason.value for reason in OrphanReason if reason not in _OF_SOME])
"""What a partition can be orphaned by in any system; the others are of one kind of group."""

# What of these is 1 and what is 0, made once: the members of an enumeration are slow to look up.
_NO_ORPHANS: Final = dict.fromkeys(_OF_ANY, 0)
_NONE_OF_ROCKETMQ: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_ROCKETMQ], 0)
_NONE_OF_CLASSIC: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_CLASSIC], 0)
_NONE_OF_STREAMS: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_STREAMS], 0)
_ONE_STATE: Final = {state.value: {other.value: int(other is state) for other in STATES} for state in Phase}
_ONE_STATUS: Final = {status.value: {other.value: int(other is status) for other in STATUSES} for status in STATUSES}


class Exposition(Value):
    """The whole text of the metrics endpoint in both formats, each in gzip."""

    text_gzip: bytes
    openmetrics_gzip: bytes


def exposition(clusters: Sequence[ClusterSnapshot], version: str | None = None, shard: Shard = ALL_GROUPS) -> bytes:
    """The whole text of the metrics endpoint, in gzip. See ``prepared``."""
    return prepared(clusters, version, shard).text_gzip


def prepared(
    clusters: Sequence[ClusterSnapshot],
    version: str | None = None,
    shard: Shard = ALL_GROUPS,
    max_series: int | None = None,
) -> Exposition:
    """What the metrics endpoint sends. Of a cluster that is not ready, only groupwatch's own metrics.

    ``version`` is the installed one unless given; ``shard`` is the share of the groups that is watched. ``max_series``
    is how many series there may be; None: any number.
    """
    own = packed(render_self(clusters, version or installed_version(), shard))
    ready = [cluster for cluster in clusters if cluster.ready]
    if max_series is None:
        return _joined((*(block for cluster in ready for block in cluster.blocks), *own))
    room = max_series - sum(block.samples.lines for block in own) - len(CUT) * len(ready)
    fit = fitted(ready, room)
    return _joined((*fit.blocks, *own, *packed(render_left_out(fit.left_out))))


def packed(blocks: Iterable[FamilyBlock]) -> tuple[PackedBlock, ...]:
    """The blocks, each compressed by itself."""
    return tuple(PackedBlock(family=b.family, samples=deflated(b.samples.encode()), group=b.group) for b in blocks)


def join(blocks: Iterable[PackedBlock]) -> bytes:
    """The blocks as one text in gzip: families in the order of METRICS, each with its HELP and TYPE once.

    Raises:
        KeyError: a block of a family that is not in METRICS.
    """
    return _joined(blocks).text_gzip


def _joined(blocks: Iterable[PackedBlock]) -> Exposition:
    """In both formats; the samples are the same, and stand in memory three times: here twice, and in their blocks."""
    of_family: dict[str, list[Deflated]] = {name: [] for name in FAMILIES}
    for block in blocks:
        of_family[block.family].append(block.samples)
    runs = [(FAMILIES[name], run_of(pieces)) for name, pieces in of_family.items() if pieces]
    return Exposition(
        text_gzip=gzip_of(run for spec, samples in runs for run in (_packed_header(spec), samples)),
        openmetrics_gzip=gzip_of(
            [*(run for spec, samples in runs for run in (_packed_openmetrics_header(spec), samples)), _packed_end()]
        ),
    )


@cache
def _packed_header(spec: MetricSpec) -> Run:
    return run_of([deflated(header(spec).encode())])


@cache
def _packed_openmetrics_header(spec: MetricSpec) -> Run:
    return run_of([deflated(openmetrics_header(spec).encode())])


@cache
def _packed_end() -> Run:
    return run_of([deflated(OPENMETRICS_END.encode())])


def render_groups(verdicts: Sequence[GroupVerdict], rules: SeriesRules = ALL_SERIES) -> tuple[FamilyBlock, ...]:
    """The samples of these groups that there are to be: a block for each family that has any.

    Raises:
        PatternError: an expression of the rules cannot be read.
    """
    samples = Samples()
    is_whole = rules.is_whole
    for verdict in verdicts:
        if is_whole or rules.of_group(verdict.cluster, verdict.group) is not Detail.CLUSTER:
            pairs = labels(cluster=verdict.cluster, group=verdict.group)
            rows = verdict.partitions if is_whole else rules.shown_partitions(verdict)
            _add_all(samples, pairs, verdict, rows)
            if not is_whole or rules.asks_for_more:
                _add_chosen(samples, pairs, verdict, rules, rows)
    return samples.blocks()


def _add_all(samples: Samples, pairs: str, verdict: GroupVerdict, rows: Sequence[PartitionVerdict]) -> None:
    _add_partitions(samples, pairs, verdict, rows)
    _add_group(samples, pairs, verdict)
    _add_ownership(samples, pairs, verdict)
    _add_drift(samples, pairs, verdict)
    _add_progress(samples, pairs, verdict, rows)
    _add_rebalances(samples, pairs, verdict)
    if verdict.findings:
        _add_findings(samples, pairs, verdict)


def _add_chosen(
    samples: Samples, pairs: str, verdict: GroupVerdict, rules: SeriesRules, rows: Sequence[PartitionVerdict]
) -> None:
    """What is given only where the rules ask for it."""
    _add_topics(samples, pairs, verdict, rules.summed_topics(verdict))
    if rules.member_info:
        add_members(samples, pairs, verdict)
    if rules.owner_info:
        add_owners(samples, pairs, verdict, rows)
    if rules.kafka_exporter:
        add_as_kafka_exporter(samples, verdict, rules)


def render_catalog(catalog: Catalog, rules: SeriesRules = ALL_SERIES) -> tuple[FamilyBlock, ...]:
    """The end offset of every partition of the cluster, once for each partition and not for each group."""
    samples = Samples()
    for topic in catalog.topics.values():
        pairs = labels(cluster=catalog.cluster, topic=topic.topic)
        are_named = bool(topic.partitions) and isinstance(topic.partitions[0].partition, str)
        if rules.kafka_exporter and not are_named:
            add_topic_as_kafka_exporter(samples, topic, rules)
        if rules.of_topic(catalog.cluster, None, topic.topic) is not Detail.PARTITION:
            continue
        for state in topic.partitions:
            name = _escaped(state.partition) if are_named else state.partition
            samples.add("groupwatch_partition_end_offset", f'{pairs},partition="{name}"', state.end)
    return samples.blocks()


def render_self(
    clusters: Iterable[ClusterSnapshot], version: str, shard: Shard = ALL_GROUPS
) -> tuple[FamilyBlock, ...]:
    """What groupwatch says of itself, cluster by cluster."""
    samples, share = Samples(), labels(shard=str(shard.number), of=str(shard.of))
    for cluster in clusters:
        pairs = labels(cluster=cluster.cluster)
        samples.add("groupwatch_up", pairs, int(cluster.problem is None))
        samples.add("groupwatch_ready", pairs, int(cluster.ready))
        _add_warm_up(samples, pairs, cluster.warm_up)
        samples.add_ms(
            "groupwatch_last_evaluation_timestamp_seconds", pairs, _by_the_machine(cluster, cluster.evaluated_ms)
        )
        samples.add_ms("groupwatch_batch_duration_seconds", pairs, cluster.batch_duration_ms)
        samples.add("groupwatch_input_lag_records", pairs, cluster.input_lag)
        samples.add("groupwatch_evaluation_errors_total", pairs, cluster.evaluation_errors)
        samples.add_ms("groupwatch_catalog_timestamp_seconds", pairs, _by_the_machine(cluster, cluster.catalog_ms))
        _add_decode_errors(samples, cluster)
        samples.add("groupwatch_shards", f"{pairs},{share}", shard.of)
        told = int(cluster.findings_problem is None) if cluster.tells_findings else None
        samples.add("groupwatch_findings_up", pairs, told)
        add_collectors(samples, cluster.collectors)
    samples.add("groupwatch_build_info", labels(version=version), 1)
    samples.add("groupwatch_shard_info", share, 1)
    return samples.blocks()


def _by_the_machine(cluster: ClusterSnapshot, at_ms: int | None) -> int | None:
    """A time as others compare it with their clocks."""
    return None if at_ms is None else at_ms + cluster.clock_behind_ms


def _add_warm_up(samples: Samples, pairs: str, warm_up: WarmUpProgress | None) -> None:
    if warm_up is None:
        return
    samples.add("groupwatch_warm_up_total_records", pairs, warm_up.total)
    samples.add("groupwatch_warm_up_remaining_records", pairs, warm_up.remaining)
    samples.add_ms("groupwatch_warm_up_remaining_seconds", pairs, warm_up.left_ms)


def _add_decode_errors(samples: Samples, cluster: ClusterSnapshot) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for source in cluster.decode_errors:
        for error in source.errors:
            counts[source.source, error.reason] += error.count
    for (name, reason), count in counts.items():
        pairs = labels(cluster=cluster.cluster, source=name, reason=reason)
        samples.add("groupwatch_decode_errors_total", pairs, count)


def _escaped(partition: PartitionId) -> PartitionId:
    """A partition as it can stand in a label; a number is one."""
    return partition if isinstance(partition, int) else escaped(partition)


def _add_partitions(samples: Samples, pairs: str, verdict: GroupVerdict, shown: Sequence[PartitionVerdict]) -> None:
    """The bulk of the text, so its lines are made at once, with the labels of each partition written once."""
    names = {topic: f'{{{pairs},topic="{escaped(topic)}",partition="' for topic in {p.topic for p in shown}}
    if verdict.kind in _NAMED_PARTITIONS:
        rows = [(f'{names[row.topic]}{_escaped(row.partition)}"}} ', row) for row in shown]
    else:
        rows = [(f'{names[row.topic]}{row.partition}"}} ', row) for row in shown]
    lag = "groupwatch_partition_lag_bytes" if verdict.kind == GroupKind.METAQ else "groupwatch_partition_lag"
    samples.extend(lag, [f"{lag}{head}{row.lag}\n" for head, row in rows if row.lag is not None])
    samples.extend(
        "groupwatch_partition_lag_seconds",
        [
            f"groupwatch_partition_lag_seconds{head}{seconds(row.lag_ms)}\n"
            for head, row in rows
            if row.lag_ms is not None
        ],
    )
    samples.extend(
        "groupwatch_partition_committed_offset",
        [
            f"groupwatch_partition_committed_offset{head}{row.committed}\n"
            for head, row in rows
            if row.committed is not None
        ],
    )


def _add_topics(samples: Samples, pairs: str, verdict: GroupVerdict, shown: Sequence[TopicLag]) -> None:
    family = "groupwatch_topic_lag_bytes" if verdict.kind == GroupKind.METAQ else "groupwatch_topic_lag"
    for topic in shown:
        own = f'{pairs},topic="{escaped(topic.topic)}"'
        samples.add(family, own, topic.lag)
        samples.add_ms("groupwatch_topic_lag_seconds", own, topic.lag_ms)


def _add_group(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    in_bytes = verdict.kind == GroupKind.METAQ
    samples.add("groupwatch_group_lag_bytes" if in_bytes else "groupwatch_group_lag", pairs, verdict.lag)
    samples.add("groupwatch_group_info", f'{pairs},kind="{verdict.kind}",source="{verdict.source.value}"', 1)
    samples.add_ms("groupwatch_group_lag_seconds", pairs, verdict.lag_ms)
    samples.add_ms("groupwatch_group_lag_at_least_seconds", pairs, verdict.lag_at_least_ms)
    if verdict.stable_lag != verdict.lag:  # else it would be the same number again, for each of many thousand groups
        samples.add("groupwatch_group_stable_lag", pairs, verdict.stable_lag)
    samples.add_each("groupwatch_group_state", pairs, "state", _ONE_STATE[verdict.state])
    if verdict.state is Phase.OFFSETS_ONLY:
        return  # it commits without having joined: who its consumers are is not known
    samples.add("groupwatch_group_members", pairs, len(verdict.members))
    samples.add("groupwatch_group_idle_members", pairs, _idle(verdict))
    unreadable = sum([member.unreadable is not None for member in verdict.members])
    samples.add("groupwatch_group_unreadable_members", pairs, unreadable or None)
    samples.add("groupwatch_group_imbalance_ratio", pairs, verdict.imbalance_ratio)


def _idle(verdict: GroupVerdict) -> int | None:
    """How many members own nothing; None: partitions are not what members are to have."""
    idle = [member.idle for member in verdict.members]
    return None if None in idle else idle.count(True)


def _add_ownership(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """Every reason, also with 0, so that a return to 0 is seen; but what is found only, if a member cannot be read."""
    if not _owns_partitions(verdict):
        return
    is_known = verdict.state is Phase.EMPTY or verdict.expectation != "none"
    orphans: list[str] = [row.orphan for row in verdict.partitions if row.orphan is not None]
    none = _no_orphans(verdict) if is_known else dict.fromkeys(orphans, 0)
    counts = {reason: orphans.count(reason) for reason in none} if orphans else none
    samples.add_each("groupwatch_group_orphaned_partitions", pairs, "reason", counts)
    orphaned = _of(verdict, FindingKind.ORPHANED)
    samples.add_ms("groupwatch_group_orphaned_oldest_seconds", pairs, _oldest_ms(verdict, orphaned))
    unattended = _of(verdict, FindingKind.UNATTENDED)
    samples.add_ms("groupwatch_group_unattended_seconds", pairs, _oldest_ms(verdict, unattended))
    dead = {member for finding in _of(verdict, FindingKind.DEAD_MEMBER) for member in finding.members}
    samples.add("groupwatch_group_dead_members", pairs, len(dead) if is_known else len(dead) or None)
    double = {place for finding in _of(verdict, FindingKind.DOUBLE_OWNED) for place in finding.partitions}
    samples.add("groupwatch_group_double_owned_partitions", pairs, len(double) if is_known else len(double) or None)


def _owns_partitions(verdict: GroupVerdict) -> bool:
    """Whether members of the group own partitions, each for itself."""
    return verdict.kind not in (GroupKind.SHARE, GroupKind.STREAMS) and verdict.state is not Phase.OFFSETS_ONLY


def _no_orphans(verdict: GroupVerdict) -> dict[str, int]:
    """0 for each reason why a partition of the group may lack an owner."""
    if verdict.kind == GroupKind.CLASSIC:
        return _NONE_OF_STREAMS if verdict.assignor == STREAM else _NONE_OF_CLASSIC
    return _NONE_OF_ROCKETMQ if verdict.kind == GroupKind.ROCKETMQ else _NO_ORPHANS


def _add_findings(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """Every kind of finding as the findings topic tells it, so that an alert about any of them needs no page."""
    alike: dict[str, list[Finding]] = {}
    for finding in verdict.findings:
        alike.setdefault(f'{pairs},kind="{finding.kind.value}",reason="{finding.reason}"', []).append(finding)
    for own, findings in alike.items():
        samples.add("groupwatch_group_findings", own, len(findings))
        samples.add_ms("groupwatch_group_finding_oldest_seconds", own, _oldest_ms(verdict, findings))


_NAMED_PARTITIONS: Final = frozenset({GroupKind.ROCKETMQ, GroupKind.METAQ})
_WITHOUT_MOVES: Final = frozenset({GroupKind.SHARE, GroupKind.STREAMS})
_WITHOUT_REDELIVERED: Final = frozenset({GroupKind.SHARE, GroupKind.METAQ})  # MetaQ's would be bytes

DRIFT_KINDS: Final = {
    "exact": (DriftKind.REPLAYED, DriftKind.CURRENT, DriftKind.TIE),
    "target": (DriftKind.TARGET, DriftKind.PENDING),
}
"""Which drift a verdict can tell of, by what it expects."""


def _add_drift(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    for kind in DRIFT_KINDS.get(verdict.expectation, ()):
        drifts = [finding for finding in _of(verdict, FindingKind.DRIFT) if finding.reason == kind]
        own = f'{pairs},kind="{kind}"'
        count = len({place for finding in drifts for place in finding.partitions})
        samples.add("groupwatch_group_drifted_partitions", own, count)
        samples.add_ms("groupwatch_group_drift_oldest_seconds", own, _oldest_ms(verdict, drifts))


def _add_progress(samples: Samples, pairs: str, verdict: GroupVerdict, rows: Sequence[PartitionVerdict]) -> None:
    """How the lag develops, and what retention took. Partitions that lost nothing are not looked at one by one."""
    if verdict.status is not None:
        samples.add_each("groupwatch_group_status", pairs, "status", _ONE_STATUS[verdict.status])
        if verdict.status is LagStatus.ERR:
            counts = Counter(row.status.value for row in verdict.partitions if row.status in FAILING)
            samples.add_each("groupwatch_group_failing_partitions", pairs, "status", counts)
    in_bytes = verdict.kind == GroupKind.METAQ
    if verdict.pace is not None:
        unit = "bytes" if in_bytes else "records"
        samples.add(f"groupwatch_group_consumed_{unit}_per_second", pairs, verdict.pace.consumed_per_s)
        samples.add(f"groupwatch_group_produced_{unit}_per_second", pairs, verdict.pace.produced_per_s)
    samples.add_ms("groupwatch_group_catch_up_seconds", pairs, verdict.catch_up_ms)
    samples.add("groupwatch_group_retention_ratio", pairs, verdict.kept_waiting or None)
    if verdict.lost and not in_bytes:
        samples.add("groupwatch_group_lost_records", pairs, verdict.lost)
        _add_losses(samples, pairs, rows)


def _add_losses(samples: Samples, pairs: str, rows: Sequence[PartitionVerdict]) -> None:
    for row in rows:
        place = f'{pairs},topic="{escaped(row.topic)}",partition="{_escaped(row.partition)}"'
        samples.add("groupwatch_partition_lost_records", place, lost_records(row) or None)


def _add_rebalances(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """What rebalances cost. Who commits without having joined may go back too; share groups do not commit offsets.

    Moves are known where members own partitions for themselves. How long members that share by themselves take is not,
    nor, from readings, how long what stood still.
    """
    if verdict.kind not in _WITHOUT_REDELIVERED:
        samples.add("groupwatch_group_redelivered_records_total", pairs, verdict.redelivered_records)
    if verdict.state is Phase.OFFSETS_ONLY:
        return
    samples.add("groupwatch_group_rebalances_total", pairs, verdict.rebalances)
    if not KINDS[verdict.kind].is_self_assigned:
        samples.add("groupwatch_group_rebalancing", pairs, int(verdict.rebalancing_since_ms is not None))
        samples.add_ms("groupwatch_group_rebalance_seconds_total", pairs, verdict.rebalance_ms)
    if verdict.kind in _WITHOUT_MOVES or verdict.sharing is not Sharing.EXCLUSIVE:
        return
    samples.add("groupwatch_group_moved_partitions_total", pairs, verdict.moved_partitions)
    samples.add("groupwatch_group_avoidable_moves_total", pairs, verdict.avoidable_moves)
    if verdict.source is Source.LOG:
        samples.add_ms("groupwatch_group_rebalance_pause_seconds_total", pairs, verdict.pause_ms)
        samples.add("groupwatch_group_rebalance_burst_records_total", pairs, verdict.burst_records)


def _of(verdict: GroupVerdict, kind: FindingKind) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.kind is kind]


def _oldest_ms(verdict: GroupVerdict, findings: Iterable[Finding]) -> int | None:
    """The age of the oldest finding; None if there is none. A clock that runs ahead elsewhere gives 0, never less."""
    ages = [max(0, verdict.evaluated_ms - finding.since_ms) for finding in findings]
    return max(ages, default=None)
