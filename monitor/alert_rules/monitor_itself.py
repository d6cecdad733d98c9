"""Alerts about groupwatch itself: it cannot report what it does not see."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from monitor.alert_rules.rule import AGE, BY_CLUSTER, CLUSTER, COUNT, ROUNDED, AlertRule, Scope, series
from monitor.metrics import specs
from monitor.metrics.staleness import CATALOG_OLD_S, COLLECTOR_OLD_S, EVALUATION_OLD_S, OLD_FOR_S, RECORDING_OLD_S
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.findings import Severity

MISSING: Final = "GroupwatchClusterMissing"

NAME = "{{ $labels.collector }} {{ $labels.name }}"

SHARDS = f"last_over_time({series(specs.SHARDS)}[5m])"
"""The shards of which there was a sample in 5 minutes: in a rolling restart one or other is away, but none so long."""

DESCRIPTORS_SHARE = 0.8
"""The share of a JVM's limit of file descriptors. A leak then leaves a quarter of the time that it has taken."""

ON_ITSELF = f"on ({BY_CLUSTER}, instance, job)"
"""Matches what one groupwatch says of a cluster with what the same says: a cluster may have several, its shards."""

_UNEVALUATED: Final = series(specs.CLUSTER_UNEVALUATED_GROUPS)
_WITHOUT_LEADER: Final = series(specs.CLUSTER_OWN_FINDING_GROUPS, kind="offsets_topic", reason="no_leader")
"""The groups of partitions of the offsets topic that have no leader to read from: a finding of the cluster has them."""


def rules_about_the_monitor() -> tuple[AlertRule, ...]:
    """They keep their pace in the demo, too, as its batches do."""
    return (*_blind(), *_late(), *_errors(), *_collectors())


def _blind() -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchDown",
            severity=Severity.CRITICAL,
            expr=f"absent({series(specs.UP)})",
            hold_s=300,
            keep_s=60,
            scope=Scope.EVERYTHING,
            summary="Prometheus scrapes no groupwatch",
            description=(
                "Prometheus has had no sample of any groupwatch for 5 minutes, so no alert about any group can fire. "
                "groupwatch does not run, or Prometheus cannot reach it, or it refuses the scrape."
            ),
        ),
        AlertRule(
            name="GroupwatchShardAway",
            severity=Severity.CRITICAL,
            # Shards belong together by what they share, the cluster, and into how many: other deployments, replicas of
            # a shard, and its former address do not count. Neither does a number that is being changed.
            expr=(
                f"max by ({BY_CLUSTER}, of) ({SHARDS}) "
                f"- count by ({BY_CLUSTER}, of) (count by ({BY_CLUSTER}, of, shard) ({SHARDS})) > 0 "
                f"unless on ({BY_CLUSTER}) ({_other_number_of_shards()})"
            ),
            hold_s=300,
            summary=f"{COUNT} of {{{{ $labels.of }}}} shards of {CLUSTER} are missing",
            description=(
                "Prometheus has had no sample of them for 10 minutes. Their groups of cluster "
                f"{CLUSTER} have no series, so no alert about them can fire."
            ),
        ),
        AlertRule(
            name="GroupwatchClusterUnread",
            severity=Severity.CRITICAL,
            expr=f"{series(specs.UP)} == 0",
            hold_s=300,
            summary=f"groupwatch cannot read {CLUSTER}",
            description=f"The data of cluster {CLUSTER} becomes stale. /readyz and the page show the reason.",
        ),
        AlertRule(
            name="GroupwatchNotReady",
            severity=Severity.CRITICAL,
            expr=f"{series(specs.READY)} == 0",
            hold_s=900,
            summary=f"groupwatch does not evaluate the groups of {CLUSTER} yet",
            description=(
                f"groupwatch has not read the backlog of cluster {CLUSTER} from its start within 15 minutes. Until "
                "then, it shows no groups, or the groups as evaluated before a restart. No new alert about them can "
                "fire."
            ),
        ),
    )


def rules_about_clusters(names: Iterable[str]) -> tuple[AlertRule, ...]:
    """A rule for each cluster: of several deployments, one that is missing takes the series of its clusters away.

    No rule can know the names of clusters that have no series: they come from the configuration.
    """
    return tuple(
        AlertRule(
            name=MISSING,
            severity=Severity.CRITICAL,
            expr=_absent(json.dumps(name, ensure_ascii=False)),
            hold_s=300,
            keep_s=60,
            scope=Scope.EVERYTHING,  # its expression has the name
            # What absent() gives the alert, too. Several of these rules differ by it: promtool warns of duplicates.
            labels={CLUSTER_LABEL: name.replace("{{", '{{ "{{" }}')},
            summary=f"Prometheus scrapes no groupwatch of {CLUSTER}",
            description=(
                f"Prometheus has had no sample of cluster {CLUSTER} for 5 minutes, so no alert about its groups can "
                "fire. groupwatch does not run, or Prometheus cannot reach it, or its configuration lacks the cluster."
            ),
        )
        for name in sorted(set(names))
    )


def _absent(quoted: str) -> str:
    """One series with the label of the cluster, if there is no sample of it under either label."""
    up = series(specs.UP)
    return f"absent({up}{{cluster={quoted}}}) unless on () {up}{{exported_cluster={quoted}}}"


def _other_number_of_shards() -> str:
    """The clusters for which no shard had this number half an hour ago: that long each of them may be started."""
    return f"{series(specs.SHARDS)} unless on ({BY_CLUSTER}, of) last_over_time({series(specs.SHARDS)}[30m] offset 30m)"


def _late() -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchEvaluationOld",
            severity=Severity.CRITICAL,
            # What was evaluated before a restart is as old as it is: NotReady reports whether the restart gets on.
            expr=(
                f"time() - {series(specs.LAST_EVALUATION_TIMESTAMP_SECONDS)} > {EVALUATION_OLD_S} "
                f"and {ON_ITSELF} {series(specs.READY)} == 1"
            ),
            hold_s=OLD_FOR_S,
            summary=f"The groups of {CLUSTER} have not been evaluated for {AGE}",
            description=(
                "The job hangs, or a micro-batch takes very long. The other alerts of this cluster are equally old, "
                "and no new one can fire."
            ),
        ),
        AlertRule(
            name="GroupwatchCatalogOld",
            severity=Severity.WARNING,
            expr=f"time() - {series(specs.CATALOG_TIMESTAMP_SECONDS)} > {CATALOG_OLD_S}",
            hold_s=OLD_FOR_S,
            summary=f"The topics of {CLUSTER} were last read {AGE} ago",
            description=(
                f"Lag and partitions without an owner of cluster {CLUSTER} are based on the topics and end offsets of "
                "that time."
            ),
        ),
        AlertRule(
            name="GroupwatchInputLag",
            severity=Severity.WARNING,
            expr=f"{series(specs.INPUT_LAG_RECORDS)} > 100000 and {ON_ITSELF} {series(specs.READY)} == 1",
            hold_s=900,
            summary=f"groupwatch has {COUNT} records of {CLUSTER} to read",
            description=(
                f"It reads records about the groups of cluster {CLUSTER} more slowly than brokers write them. Its data "
                "is from before those records."
            ),
        ),
    )


def _more_decode_errors() -> str:
    """More records that cannot be read than a quarter of an hour ago, however long groupwatch was away in between.

    The count is kept in the checkpoint: what a job reads after it was away counts, what it brings to another instance
    does not. What it counts while it reads its backlog from the beginning was counted before, and a lower count than
    before is that of a new checkpoint. What a job counted elsewhere is reported again if it goes back to an instance
    where it was within a day.
    """
    counted, ready = series(specs.DECODE_ERRORS_TOTAL), series(specs.READY)
    before = f"last_over_time({counted}[1d] offset 15m)"
    grown = f"{counted} - {before} > 0 unless {ON_ITSELF} last_over_time({ready}[1d] offset 15m) == 0"
    # There is no series before the first error. It is one of now if the job would have shown an older one.
    first = f"{counted} unless {before} and {ON_ITSELF} last_over_time({ready}[1d] offset 16m) == 1"
    return f"({grown}) or ({first})"


def _errors() -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchDecodeErrors",
            severity=Severity.WARNING,
            expr=_more_decode_errors(),
            hold_s=0,
            keep_s=900,
            summary=(
                f"{COUNT} records of {CLUSTER} cannot be decoded ({{{{ $labels.source }}}}: {{{{ $labels.reason }}}})"
            ),
            description=(
                "groupwatch lacks the content of these records; its log has the position of the newest. Records of a "
                "newer Kafka version are recognized by their number and counted, too."
            ),
        ),
        AlertRule(
            name="GroupwatchEvaluationErrors",
            severity=Severity.WARNING,
            expr=f"increase({series(specs.EVALUATION_ERRORS_TOTAL)}[15m]) > 0",
            hold_s=0,
            keep_s=900,
            summary=f"Groups of {CLUSTER} could not be evaluated, {ROUNDED} times in 15 minutes",
            description="This is an error of groupwatch. The page names the groups; the others are evaluated as usual.",
        ),
        AlertRule(
            name="GroupwatchGroupsNotEvaluated",
            severity=Severity.CRITICAL,
            expr=f"{_UNEVALUATED} > 0 unless {ON_ITSELF} ({_UNEVALUATED} <= {ON_ITSELF} {_WITHOUT_LEADER})",
            hold_s=300,
            summary=f"{COUNT} groups of {CLUSTER} are not evaluated",
            description=(
                "A broker that leads a partition of __consumer_offsets does not answer, or the evaluation fails. The "
                "series of these groups are old, and no new alert about them can fire. The page has the reason. "
                "Partitions without a leader have an alert of their own (GroupwatchOffsetsTopicNotWritable)."
            ),
        ),
        AlertRule(
            name="GroupwatchGroupsUnreadable",
            severity=Severity.WARNING,
            expr=f"{series(specs.CLUSTER_UNREADABLE_GROUPS)} > 0",
            hold_s=900,
            summary=f"groupwatch cannot read the members or offsets of {COUNT} groups of {CLUSTER}",
            description=(
                "The brokers write records in a version that this groupwatch does not read. It does not evaluate the "
                "owners of these groups, or their lag is unknown."
            ),
        ),
        AlertRule(
            name="GroupwatchFindingsNotWritten",
            severity=Severity.WARNING,
            expr=f"{series(specs.FINDINGS_UP)} == 0",
            hold_s=600,
            summary=f"groupwatch cannot write findings of {CLUSTER} to the findings topic",
            description=(
                "Consumers of the findings topic get no news. groupwatch keeps the findings in memory and writes them "
                "when it can; the page names the problem."
            ),
        ),
        AlertRule(
            name="GroupwatchExpectationsNotRead",
            severity=Severity.WARNING,
            expr=f"{series(specs.EXPECTATIONS_UP)} == 0",
            hold_s=600,
            summary=f"groupwatch cannot read the expectations of {CLUSTER} any more",
            description=(
                "The file has a mistake, or cannot be read. Groups are compared with the expectations that were read "
                "before; the page names the problem."
            ),
        ),
        AlertRule(
            name="GroupwatchNotRecording",
            severity=Severity.WARNING,
            expr=f"{series(specs.RECORDING_UP)} == 0",
            hold_s=600,
            summary=f"groupwatch cannot write the recording of {CLUSTER}",
            description=(
                "Groups are watched as before. The recording continues where it stopped once it can be written, unless "
                "compaction removes records first; the page names the problem."
            ),
        ),
        AlertRule(
            name="GroupwatchRecordingOld",
            severity=Severity.WARNING,
            expr=f"time() - {series(specs.RECORDED_TIMESTAMP_SECONDS)} > {RECORDING_OLD_S}",
            hold_s=600,
            summary=f"The recording of {CLUSTER} ends {{{{ $value | humanizeDuration }}}} ago",
            description=(
                "Groups are watched as before, but questions about later instants are refused. The recorder hangs, or "
                "reads a backlog; or the clock of this machine is wrong."
            ),
        ),
        AlertRule(
            name="GroupwatchFileDescriptors",
            severity=Severity.WARNING,
            expr=f"{series(specs.JVM_OPEN_FDS)} / {series(specs.JVM_MAX_FDS)} > {DESCRIPTORS_SHARE}",
            hold_s=300,
            scope=Scope.PROCESS,
            summary="groupwatch has {{ $value | humanizePercentage }} of its file descriptors open",
            description=(
                "The JVM of {{ $labels.instance }} may soon be able to open neither a file nor a connection. The job "
                "then ends, and no alert about its groups can fire until it is started again."
            ),
        ),
        AlertRule(
            name="GroupwatchGroupsLeftOut",
            severity=Severity.WARNING,
            # Partitions and topics that are left out take nothing from these rules, which look at groups.
            expr=f"{series(specs.SERIES_LEFT_OUT, detail='group')} > 0",
            hold_s=900,
            summary=f"{COUNT} series of groups of {CLUSTER} exceed the cap",
            description=(
                "groupwatch exposes no series of some groups, because of metrics.max_series in its settings. No alert "
                "about these groups can fire."
            ),
        ),
    )


def _collectors() -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchCollectorFailing",
            severity=Severity.WARNING,
            expr=f"{series(specs.COLLECTOR_UP)} == 0",
            hold_s=600,
            scope=Scope.COLLECTOR,
            summary=f"The collector {NAME} of {CLUSTER} fails or is incomplete",
            description=(
                "Each of its passes has failed or been incomplete for 10 minutes: a server does not respond, or it "
                "refuses the request."
            ),
        ),
        AlertRule(
            name="GroupwatchCollectorOld",
            severity=Severity.WARNING,
            expr=f"time() - {series(specs.COLLECTOR_LAST_SUCCESS_TIMESTAMP_SECONDS)} > {COLLECTOR_OLD_S}",
            hold_s=OLD_FOR_S,
            scope=Scope.COLLECTOR,
            summary=f"The last complete pass of the collector {NAME} of {CLUSTER} was {AGE} ago",
            description="groupwatch shows its lag, members and topics as they were then, or not at all.",
        ),
    )
