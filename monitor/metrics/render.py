"""Verdicts, the catalog and groupwatch's own condition as Prometheus text. Pure.

Groups are rendered on the executors as blocks, one for each family; the driver joins the blocks of all executors. Ages
are those at the moment of the evaluation; where they are shown, they grow (monitor.metrics.age_instants).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from monitor.detection.lag.inflow import topic_inflow
from monitor.detection.rules.connect_work import REASONS as CONNECT_REASONS
from monitor.metrics import specs
from monitor.metrics.cluster_samples import STATES
from monitor.metrics.collector_samples import add_collectors
from monitor.metrics.compiled_rows import add_values
from monitor.metrics.exposition_format import (
    OPENMETRICS_END,
    Samples,
    escaped,
    header,
    labels,
    openmetrics_header,
)
from monitor.metrics.gzip_join import Run, deflated, gzip_of, run_of
from monitor.metrics.kafka_exporter import add_as_kafka_exporter, add_topic_as_kafka_exporter
from monitor.metrics.member_samples import add_members, add_owners
from monitor.metrics.row_values import truncated_records
from monitor.metrics.series_cap import CUT, fitted, render_left_out
from monitor.metrics.series_filter import ALL_SERIES, Detail, SeriesRules
from monitor.metrics.spec_types import ClusterMetric, MetricSpec
from monitor.metrics.specs import FAMILIES, METRICS
from monitor.metrics.value_samples import OWN
from monitor.metrics.version import installed_version
from monitor.model import (
    ALL_GROUPS,
    KINDS,
    Assigner,
    Catalog,
    ClusterSnapshot,
    Deflated,
    DriftKind,
    FamilyBlock,
    Finding,
    FindingKind,
    GroupState,
    GroupVerdict,
    LagStatus,
    OrphanReason,
    PackedBlock,
    PartitionVerdict,
    Phase,
    Shard,
    Source,
    Value,
)
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.commit_attempts import last_committed_ms
from monitor.model.scaling import Scaling

STATUSES: Final = (LagStatus.OK, LagStatus.WARN, LagStatus.ERR)
"""Burrow's statuses of a group; the others are those of a partition."""

FAILING: Final = frozenset({LagStatus.STOP, LagStatus.STALL, LagStatus.REWIND})
"""Burrow's statuses of a partition that make its group ERR."""

_OF_ROCKETMQ: Final = (OrphanReason.MIXED_STRATEGY, OrphanReason.MIXED_SUBSCRIPTION)
_OF_CLASSIC: Final = (OrphanReason.LEADER_UNSUBSCRIBED, OrphanReason.OWNER_UNSUBSCRIBED)
_OF_STREAMS: Final = (OrphanReason.NO_TASK,)
_OF_STREAMS_GROUPS: Final = (OrphanReason.NOT_READY,)
_OF_CONNECT: Final = CONNECT_REASONS  # of tasks, not of partitions
_OF_SHARE: Final = (OrphanReason.NOT_INITIALIZED,)  # whose partitions have no single owner, so none is counted
_OF_SOME: Final = (*_OF_ROCKETMQ, *_OF_CLASSIC, *_OF_STREAMS, *_OF_STREAMS_GROUPS, *_OF_CONNECT, *_OF_SHARE)
_OF_ANY: Final = tuple([reason.value for reason in OrphanReason if reason not in _OF_SOME])
"""What a partition can be orphaned by in any system; the others are of one kind of group."""

# What of these is 1 and what is 0, made once: the members of an enumeration are slow to look up.
_NO_ORPHANS: Final = dict.fromkeys(_OF_ANY, 0)
_NONE_OF_ROCKETMQ: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_ROCKETMQ], 0)
_NONE_OF_CLASSIC: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_CLASSIC], 0)
_NONE_OF_STREAMS: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_STREAMS], 0)
_NONE_OF_STREAMS_GROUPS: Final = _NO_ORPHANS | dict.fromkeys([reason.value for reason in _OF_STREAMS_GROUPS], 0)
_ONE_STATE_OF_STREAMS: Final = {state.value: {other.value: int(other is state) for other in STATES} for state in Phase}
_ONE_STATE: Final = {
    state: {other: one for other, one in states.items() if other != Phase.NOT_READY.value}
    for state, states in _ONE_STATE_OF_STREAMS.items()
}
_ONE_STATUS: Final = {status.value: {other.value: int(other is status) for other in STATUSES} for status in STATUSES}


_add_condition: Final = add_values([spec for spec in METRICS if isinstance(spec, ClusterMetric)])


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
    label: str = CLUSTER_LABEL,
) -> Exposition:
    """What the metrics endpoint sends. Of a cluster whose groups are not known, only groupwatch's own.

    ``version`` is the installed one unless given; ``shard`` is the share of the groups that is watched. ``max_series``
    is how many series there may be; None: any number. ``label`` names the cluster.
    """
    own = packed(render_self(clusters, version or installed_version(), shard, label))
    known = [cluster for cluster in clusters if cluster.is_known]
    if max_series is None:
        return _joined((*(block for cluster in known for block in cluster.blocks), *own))
    room = max_series - sum(block.samples.lines for block in own) - len(CUT) * len(known)
    fit = fitted(known, room)
    return _joined((*fit.blocks, *own, *packed(render_left_out(fit.left_out, label))))


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
            pairs = labels(**{rules.cluster_label: verdict.cluster}, group=verdict.group)
            rows = verdict.partitions if is_whole else rules.shown_partitions(verdict)
            _add_all(samples, pairs, verdict, rows)
            if not is_whole or rules.asks_for_more:
                _add_chosen(samples, pairs, verdict, rules, rows)
    return samples.blocks()


def _add_all(samples: Samples, pairs: str, verdict: GroupVerdict, rows: Sequence[PartitionVerdict]) -> None:
    OWN.add_partitions(samples, pairs, verdict, rows)
    OWN.add_group(samples, pairs, verdict)
    _add_states(samples, pairs, verdict)
    _add_ownership(samples, pairs, verdict)
    if verdict.connect is not None:
        _add_idle_work(samples, pairs, verdict)
    _add_drift(samples, pairs, verdict)
    if verdict.findings:
        _add_findings(samples, pairs, verdict)
    if verdict.expectations is not None:
        own = labels(team=verdict.expectations.team or "", met=verdict.expectations.met.value)
        samples.add(specs.GROUP_EXPECTATION_INFO, f"{pairs},{own}", 1)
    if verdict.scaling is not None:
        _add_scaling(samples, pairs, verdict.scaling)


def _add_scaling(samples: Samples, pairs: str, scaling: Scaling) -> None:
    samples.add(specs.GROUP_WANTED_MEMBERS, pairs, scaling.wanted_members)
    samples.add(specs.GROUP_WANTED_REPLICAS, pairs, scaling.wanted_replicas)
    if scaling.drain_ms is not None:
        samples.add(specs.GROUP_DRAIN_SECONDS, pairs, scaling.drain_ms / 1000)
    if scaling.hold is not None:
        samples.add(specs.GROUP_SCALE_HOLD, f'{pairs},reason="{scaling.hold.value}"', 1)


def _add_chosen(
    samples: Samples, pairs: str, verdict: GroupVerdict, rules: SeriesRules, rows: Sequence[PartitionVerdict]
) -> None:
    """What is given only where the rules ask for it."""
    OWN.add_topics(samples, pairs, verdict, rules.summed_topics(verdict))
    if rules.member_info:
        add_members(samples, pairs, verdict)
    if rules.owner_info:
        add_owners(samples, pairs, verdict, rows)
    if rules.kafka_exporter:
        add_as_kafka_exporter(samples, verdict, rules)


def render_commits(group: GroupState, rules: SeriesRules) -> tuple[FamilyBlock, ...]:
    """When and how often each partition of a group was committed, if that is wanted: only a log tells it."""
    if not rules.commit_times or group.source is not Source.LOG:
        return ()
    samples = Samples()
    pairs = labels(**{rules.cluster_label: group.cluster}, group=group.group)
    begins: dict[str, str] = {}
    for offset in rules.shown_commits(group):
        begin = begins.get(offset.topic) or begins.setdefault(offset.topic, f"{pairs},{labels(topic=offset.topic)}")
        own = f'{begin},partition="{escaped(str(offset.partition))}"'
        if (committed_ms := last_committed_ms(offset)) is not None:
            samples.add_ms(specs.PARTITION_LAST_COMMIT, own, committed_ms)
        samples.add(specs.PARTITION_COMMITS, own, offset.commits)
    return samples.blocks()


def render_catalog(catalog: Catalog, rules: SeriesRules = ALL_SERIES) -> tuple[FamilyBlock, ...]:
    """The ends of all partitions of the cluster, and the skew and truncations of its topics: not for each group."""
    samples = Samples()
    for topic in catalog.topics.values():
        pairs = labels(**{rules.cluster_label: catalog.cluster}, topic=topic.topic)
        are_named = bool(topic.partitions) and isinstance(topic.partitions[0].partition, str)
        if rules.kafka_exporter and not are_named:
            add_topic_as_kafka_exporter(samples, topic, rules)
        detail = rules.of_topic(catalog.cluster, None, topic.topic)
        if detail is Detail.PARTITION:
            OWN.add_log(samples, pairs, topic.partitions)
        if detail in (Detail.PARTITION, Detail.TOPIC):
            samples.add(specs.TOPIC_INCOMING_SKEW_RATIO, pairs, topic_inflow(topic.partitions).skew)
            samples.add(specs.TOPIC_TRUNCATED_RECORDS, pairs, truncated_records(topic))
    return samples.blocks()


def render_self(
    clusters: Iterable[ClusterSnapshot], version: str, shard: Shard = ALL_GROUPS, label: str = CLUSTER_LABEL
) -> tuple[FamilyBlock, ...]:
    """What groupwatch says of itself, cluster by cluster; ``label`` names the cluster."""
    samples, share = Samples(), labels(shard=str(shard.number), of=str(shard.of))
    for cluster in clusters:
        pairs = labels(**{label: cluster.cluster})
        _add_condition(samples, pairs, cluster)
        _add_decode_errors(samples, pairs, cluster)
        samples.add(specs.SHARDS, f"{pairs},{share}", shard.of)
        add_collectors(samples, cluster.collectors, label)
    samples.add(specs.BUILD_INFO, labels(version=version), 1)
    samples.add(specs.SHARD_INFO, share, 1)
    return samples.blocks()


def _add_decode_errors(samples: Samples, pairs: str, cluster: ClusterSnapshot) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for source in cluster.decode_errors:
        for error in source.errors:
            counts[source.source, error.reason] += error.count
    for (name, reason), count in counts.items():
        samples.add(specs.DECODE_ERRORS_TOTAL, f"{pairs},{labels(source=name, reason=reason)}", count)


def _add_states(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """What the group is: its kind, its state, and Burrow's status with the partitions that made it ERR."""
    samples.add(specs.GROUP_INFO, f'{pairs},kind="{verdict.kind}",source="{verdict.source.value}"', 1)
    states = _ONE_STATE_OF_STREAMS if KINDS[verdict.kind].broker_assigns_tasks else _ONE_STATE
    samples.add_each(specs.GROUP_STATE, pairs, "state", states[verdict.state])
    if verdict.status is not None:
        samples.add_each(specs.GROUP_STATUS, pairs, "status", _ONE_STATUS[verdict.status])
        if verdict.status is LagStatus.ERR:
            counts = Counter(row.status.value for row in verdict.partitions if row.status in FAILING)
            samples.add_each(specs.GROUP_FAILING_PARTITIONS, pairs, "status", counts)


def _add_ownership(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """Every reason, also with 0, so that a return to 0 is seen; but what is found only, if a member cannot be read."""
    if not _owns_partitions(verdict):
        return
    is_known = verdict.state is Phase.EMPTY or verdict.expectation != "none"
    orphans: list[str] = [row.orphan for row in verdict.partitions if row.orphan is not None]
    none = _no_orphans(verdict) if is_known else dict.fromkeys(orphans, 0)
    counts = {reason: orphans.count(reason) for reason in none} if orphans else none
    samples.add_each(specs.GROUP_ORPHANED_PARTITIONS, pairs, "reason", counts)
    if verdict.findings:
        _add_owners_found(samples, pairs, verdict, is_known)
    elif is_known:
        samples.add(specs.GROUP_DEAD_MEMBERS, pairs, 0)
        samples.add(specs.GROUP_DOUBLE_OWNED_PARTITIONS, pairs, 0)


def _add_owners_found(samples: Samples, pairs: str, verdict: GroupVerdict, is_known: bool) -> None:
    orphaned = [finding for finding in _of(verdict, FindingKind.ORPHANED) if finding.partitions]  # not of tasks
    samples.add_ms(specs.GROUP_ORPHANED_OLDEST_SECONDS, pairs, _oldest_ms(verdict, orphaned))
    unattended = _of(verdict, FindingKind.UNATTENDED)
    samples.add_ms(specs.GROUP_UNATTENDED_SECONDS, pairs, _oldest_ms(verdict, unattended))
    dead = {member for finding in _of(verdict, FindingKind.DEAD_MEMBER) for member in finding.members}
    samples.add(specs.GROUP_DEAD_MEMBERS, pairs, len(dead) if is_known else len(dead) or None)
    double = {place for finding in _of(verdict, FindingKind.DOUBLE_OWNED) for place in finding.partitions}
    samples.add(specs.GROUP_DOUBLE_OWNED_PARTITIONS, pairs, len(double) if is_known else len(double) or None)


def _add_idle_work(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """Every reason, also with 0, so that a return to 0 is seen; nothing, if what a worker runs is not known."""
    if any(member.unreadable is not None for member in verdict.members):
        return
    idle = Counter(task.orphan for task in verdict.tasks if task.orphan is not None)
    counts = {reason.value: idle[reason] for reason in CONNECT_REASONS}
    samples.add_each(specs.GROUP_CONNECT_IDLE_TASKS, pairs, "reason", counts)


def _owns_partitions(verdict: GroupVerdict) -> bool:
    """Whether members of the group own partitions, each for itself."""
    return KINDS[verdict.kind].has_owners and verdict.state is not Phase.OFFSETS_ONLY


def _no_orphans(verdict: GroupVerdict) -> dict[str, int]:
    """0 for each reason why a partition of the group may lack an owner."""
    traits = verdict.traits
    if traits.assigns is Assigner.LEADER:
        return _NONE_OF_STREAMS if traits.reads_by_task else _NONE_OF_CLASSIC
    if traits.broker_assigns_tasks:
        return _NONE_OF_STREAMS_GROUPS
    return _NONE_OF_ROCKETMQ if traits.reports_strategies else _NO_ORPHANS


def _add_findings(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """Every kind of finding as the findings topic tells it, so that an alert about any of them needs no page."""
    alike: dict[str, list[Finding]] = {}
    for finding in verdict.findings:
        alike.setdefault(f'{pairs},kind="{finding.kind.value}",reason="{finding.reason}"', []).append(finding)
    for own, findings in alike.items():
        samples.add(specs.GROUP_FINDINGS, own, len(findings))
        samples.add_ms(specs.GROUP_FINDING_OLDEST_SECONDS, own, _oldest_ms(verdict, findings))
        samples.add_ms(specs.GROUP_FINDING_SINCE, own, min(finding.since_ms for finding in findings))


DRIFT_KINDS: Final = {
    "exact": (DriftKind.REPLAYED, DriftKind.CURRENT, DriftKind.TIE),
    "checked": (DriftKind.REPLAYED,),
    "target": (DriftKind.TARGET, DriftKind.PENDING),
}
"""Which drift a verdict can tell of, by what it expects."""

_NO_DRIFT: Final = {
    expected: dict.fromkeys([kind.value for kind in kinds], 0) for expected, kinds in DRIFT_KINDS.items()
}


def _add_drift(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    if not verdict.findings:
        samples.add_each(specs.GROUP_DRIFTED_PARTITIONS, pairs, "kind", _NO_DRIFT.get(verdict.expectation, {}))
        return
    for kind in DRIFT_KINDS.get(verdict.expectation, ()):
        drifts = [finding for finding in _of(verdict, FindingKind.DRIFT) if finding.reason == kind]
        own = f'{pairs},kind="{kind}"'
        count = len({place for finding in drifts for place in finding.partitions})
        samples.add(specs.GROUP_DRIFTED_PARTITIONS, own, count)
        samples.add_ms(specs.GROUP_DRIFT_OLDEST_SECONDS, own, _oldest_ms(verdict, drifts))


def _of(verdict: GroupVerdict, kind: FindingKind) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.kind is kind]


def _oldest_ms(verdict: GroupVerdict, findings: Iterable[Finding]) -> int | None:
    """The age of the oldest finding; None if there is none. A clock that runs ahead elsewhere gives 0, never less."""
    ages = [max(0, verdict.evaluated_ms - finding.since_ms) for finding in findings]
    return max(ages, default=None)
