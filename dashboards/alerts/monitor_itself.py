"""Alerts about groupwatch itself: what it does not see, it cannot tell."""

from __future__ import annotations

from dashboards.alerts.rule import AGE, CLUSTER, COUNT, AlertRule, series
from monitor.metrics import specs
from monitor.metrics.staleness import CATALOG_OLD_S, COLLECTOR_OLD_S, EVALUATION_OLD_S, OLD_FOR_S
from monitor.model.findings import Severity

NAME = "{{ $labels.collector }} {{ $labels.name }}"

SHARDS = f"last_over_time({series(specs.SHARDS)}[5m])"
"""The shards of which there was a sample in 5 minutes: in a rolling restart one or other is away, but none so long."""

ON_ITSELF = "on (cluster, instance, job)"
"""Matches what one groupwatch says of a cluster with what the same says: a cluster may have several, its shards."""


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
            summary="No groupwatch is scraped",
            description=(
                "For 5 minutes Prometheus has had no sample of any groupwatch: no alert about any group can come. It "
                "does not run, or Prometheus cannot reach it or is refused."
            ),
        ),
        AlertRule(
            name="GroupwatchShardAway",
            severity=Severity.CRITICAL,
            # Shards belong together by what they share, the cluster, and into how many: other deployments, replicas of
            # a shard, and its former address do not count. Neither does a number that is being changed.
            expr=(
                f"max by (cluster, of) ({SHARDS}) "
                f"- count by (cluster, of) (count by (cluster, of, shard) ({SHARDS})) > 0 "
                f"unless on (cluster) ({_other_number_of_shards()})"
            ),
            hold_s=300,
            summary=f"Shards of {CLUSTER} that are away: {COUNT} of {{{{ $labels.of }}}}",
            description=(
                "Prometheus has had no sample of them for 10 minutes. The groups of cluster "
                f"{CLUSTER} that are theirs have no series: no alert about them can come."
            ),
        ),
        AlertRule(
            name="GroupwatchClusterUnread",
            severity=Severity.CRITICAL,
            expr=f"{series(specs.UP)} == 0",
            hold_s=300,
            summary=f"groupwatch cannot read {CLUSTER}",
            description=f"What is shown of cluster {CLUSTER} grows old; /readyz and the page say why.",
        ),
        AlertRule(
            name="GroupwatchNotReady",
            severity=Severity.CRITICAL,
            expr=f"{series(specs.READY)} == 0",
            hold_s=900,
            summary=f"groupwatch does not judge the groups of {CLUSTER} yet",
            description=(
                f"The backlog of cluster {CLUSTER} that was seen at start has not been read in 15 minutes: until then "
                "none of its groups is shown, and no alert about them can come."
            ),
        ),
    )


def _other_number_of_shards() -> str:
    """The clusters of which no shard told this number half an hour ago: that long each of them may be started."""
    return f"{series(specs.SHARDS)} unless on (cluster, of) last_over_time({series(specs.SHARDS)}[30m] offset 30m)"


def _late() -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchEvaluationOld",
            severity=Severity.CRITICAL,
            expr=f"time() - {series(specs.LAST_EVALUATION_TIMESTAMP_SECONDS)} > {EVALUATION_OLD_S}",
            hold_s=OLD_FOR_S,
            summary=f"The groups of {CLUSTER} have not been judged for {AGE}",
            description=(
                "The job hangs, or a batch takes very long: the other alerts of this cluster are as old as that, and "
                "no new one can come."
            ),
        ),
        AlertRule(
            name="GroupwatchCatalogOld",
            severity=Severity.WARNING,
            expr=f"time() - {series(specs.CATALOG_TIMESTAMP_SECONDS)} > {CATALOG_OLD_S}",
            hold_s=OLD_FOR_S,
            summary=f"The topics of {CLUSTER} were last read {AGE} ago",
            description=(
                f"Lag and orphans of cluster {CLUSTER} are counted by where its partitions ended then, and by the "
                "topics that there were."
            ),
        ),
        AlertRule(
            name="GroupwatchInputLag",
            severity=Severity.WARNING,
            expr=f"{series(specs.INPUT_LAG_RECORDS)} > 100000 and {ON_ITSELF} {series(specs.READY)} == 1",
            hold_s=900,
            summary=f"groupwatch has {COUNT} records of {CLUSTER} to read",
            description=(
                f"It reads less of what tells about the groups of cluster {CLUSTER} than is written: what it shows is "
                "from before those records."
            ),
        ),
    )


def _more_decode_errors() -> str:
    """More records that cannot be read than a quarter of an hour ago, however long groupwatch was away in between.

    The count is kept in the checkpoint: what a job reads after it was away counts, what it brings to another instance
    does not. What it counts while it reads its backlog from the beginning was counted before, and a lower count than
    before is that of a new checkpoint. What a job counted elsewhere is told again if it goes back to an instance where
    it was within a day.
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
                f"{COUNT} records of {CLUSTER} could not be read ({{{{ $labels.source }}}}: {{{{ $labels.reason }}}})"
            ),
            description=(
                "What they say is missing in what groupwatch knows; the place of the newest is in its log. Records of "
                "a newer version of Kafka are known by their number, and counted."
            ),
        ),
        AlertRule(
            name="GroupwatchEvaluationErrors",
            severity=Severity.WARNING,
            expr=f"increase({series(specs.EVALUATION_ERRORS_TOTAL)}[15m]) > 0",
            hold_s=0,
            keep_s=900,
            summary=f"Groups of {CLUSTER} could not be judged, {COUNT} times in 15 minutes",
            description="An error of groupwatch. The page names the groups; the others are judged as ever.",
        ),
        AlertRule(
            name="GroupwatchFindingsNotWritten",
            severity=Severity.WARNING,
            expr=f"{series(specs.FINDINGS_UP)} == 0",
            hold_s=600,
            summary=f"What groupwatch finds in {CLUSTER} is not written to its topic",
            description=(
                "Who reads the findings topic learns nothing. They wait in memory and are written once that works; "
                "the page says what is missing."
            ),
        ),
        AlertRule(
            name="GroupwatchGroupsLeftOut",
            severity=Severity.WARNING,
            # Partitions and topics that are left out take nothing from these rules, which look at groups.
            expr=f"{series(specs.SERIES_LEFT_OUT, detail='group')} > 0",
            hold_s=900,
            summary=f"{COUNT} series of groups of {CLUSTER} do not fit below the cap",
            description=(
                "metrics.max_series of groupwatch's settings has left out all that is exposed of some groups: no alert "
                "about these can come."
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
            summary=f"The collector {NAME} of {CLUSTER} does not get everything",
            description=(
                "For 10 minutes each of its passes has failed or was incomplete: something that it asks does not "
                "answer, or refuses."
            ),
        ),
        AlertRule(
            name="GroupwatchCollectorOld",
            severity=Severity.WARNING,
            expr=f"time() - {series(specs.COLLECTOR_LAST_SUCCESS_TIMESTAMP_SECONDS)} > {COLLECTOR_OLD_S}",
            hold_s=OLD_FOR_S,
            summary=f"The collector {NAME} of {CLUSTER} last got everything {AGE} ago",
            description="Lag, members and topics that it reads are shown as they were then, or not at all.",
        ),
    )
