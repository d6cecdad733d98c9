"""Alerts about a group's lag, its progress, and the records that it loses to retention."""

from __future__ import annotations

from typing import Final

from monitor.alert_rules.rule import (
    AGE,
    CLUSTER,
    COUNT,
    GROUP,
    OF_GROUP,
    WAITING,
    WHICH,
    AlertRule,
    Pace,
    finding_age,
    looked_up,
    row_rule,
    series,
)
from monitor.findings import alerts
from monitor.metrics import specs
from monitor.metrics.promql import in_state

_CONSUMED: Final = series(specs.GROUP_CONSUMED_RECORDS_PER_SECOND)

_AGE: Final = series(specs.GROUP_LAG_AT_LEAST_SECONDS)

_UNATTENDED: Final = series(specs.GROUP_UNATTENDED_SECONDS)

_SINCE_A_COMMIT: Final = f"({_UNATTENDED} < 600 and {OF_GROUP} last_over_time({_UNATTENDED}[5m] offset 10m))"
"""Unattended for less than ten minutes, and so it was before: there was a commit in between."""

NOT_UNATTENDED: Final = f"unless {OF_GROUP} ({_UNATTENDED} unless {OF_GROUP} {_SINCE_A_COMMIT})"
"""Leaves out the groups that have a GroupwatchGroupWithoutMembers alert, or will: from a minute after the last sign of
life on (``commit_silence_s``). Groups with a commit every few minutes stay: that alert never comes for them."""

_READ_NO_MORE: Final = f"max_over_time({_CONSUMED}[5m]) == 0"
"""A group that commits every ten minutes has a pace for the first five of them, as the pace is that of five minutes."""

NOT_AWAY: Final = (
    f"{NOT_UNATTENDED} unless {OF_GROUP} "
    f"({series(specs.GROUP_ORPHANED_PARTITIONS, reason='no_members')} > 0 and {OF_GROUP} {_READ_NO_MORE})"
)
"""Leaves out these, and groups that would have that alert if they had unread records. Their members have just left, or
only markers of transactions wait. A group is in neither set if it has no members but is read all the same (with
partitions that are assigned manually). Nor is it in one if the members of its kind do not own partitions (streams;
RocketMQ's broadcasting and POP). Then no other alert reports that it is behind, so the lag does."""

_BLOCKED: Final = series(specs.GROUP_COMMITS_BLOCKED_SECONDS)

NOT_BLOCKED: Final = f"unless {OF_GROUP} {_BLOCKED}"
"""Leaves out the groups whose commits the brokers do not take: a finding of the cluster has an alert about that."""

NOT_RESET: Final = (
    f"unless {OF_GROUP} ({in_state('empty')} unless {OF_GROUP} ({_CONSUMED} > 0 "
    f"and {OF_GROUP} min_over_time({series(specs.GROUP_STATE, state='empty')}[6m]) == 1))"
)
"""Leaves out the groups without members and consumption: setting their offsets back is intended. A pace of the members
which were there 6 minutes ago does not count."""


def lag_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """By age where it is known. A group that is away has an alert of its own, where that can be detected."""
    return (*_time(pace), *_records(pace), *_progress(pace), *_retention(pace), *_deliveries(pace))


def _time(pace: Pace) -> tuple[AlertRule, ...]:
    return tuple(
        row_rule(
            row,
            pace,
            # A measured age where there is one; else a lower bound, or the longest hang would have no alert.
            expr=f"{_AGE} > {limit_s} {NOT_AWAY} {_outage_growth(limit_s)}",
            summary=f"{WHICH} is {AGE} behind{WAITING}",
            description=(
                f"The oldest record of the lag of group {GROUP} of cluster {CLUSTER} is at least that old. The "
                "group's page shows the partitions, and whether the group catches up."
            ),
        )
        for row in (alerts.LAG_OLD, alerts.LAG_VERY_OLD)
        for limit_s in (pace.age_s(row),)
    )


def _outage_growth(limit_s: int) -> str:
    """Leaves out the groups whose lag was not that old when the brokers ceased to take their commits."""
    return f"unless {OF_GROUP} ({_AGE} - {OF_GROUP} {_BLOCKED} <= {limit_s})"


def _records(pace: Pace) -> tuple[AlertRule, ...]:
    return (
        row_rule(
            alerts.LAG_WITHOUT_AGE,
            pace,
            expr=(
                f"({series(specs.GROUP_LAG)} or {series(specs.GROUP_LAG_AT_LEAST)}) > {alerts.LAG_WITHOUT_AGE.records} "
                f"unless {OF_GROUP} {_AGE} {NOT_AWAY} {NOT_BLOCKED}"
            ),
            summary=f"{WHICH} has a lag of {COUNT} records of unknown age",
            description=(
                f"The age of the lag of group {GROUP} of cluster {CLUSTER} is unknown, because retention has removed "
                "its oldest records or the end offsets of its partitions are unknown."
            ),
        ),
        row_rule(
            alerts.LAG_OVER_LIMIT,
            pace,
            summary=f"{WHICH} has exceeded its lag limit for {AGE}{WAITING}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has more lag than its limit in groupwatch's settings "
                "(lag_records) allows."
            ),
        ),
    )


def _progress(pace: Pace) -> tuple[AlertRule, ...]:
    failing = specs.GROUP_FAILING_PARTITIONS
    return (
        row_rule(
            alerts.PARTITION_STOPPED,
            pace,
            summary=f"{WHICH} has not committed partitions with lag for {AGE}{WAITING}",
            description=(
                f"Partitions of group {GROUP} of cluster {CLUSTER} have lag and no commits for longer than usual. "
                "Their owner is not known to be dead."
            ),
        ),
        row_rule(
            alerts.RECORD_STUCK,
            pace,
            summary=f"Consumers of {WHICH} have left at the same record for {AGE}",
            description=(
                f"Owner after owner of these partitions has left group {GROUP} of cluster {CLUSTER} at the offset at "
                "which it began. The group commits elsewhere."
            ),
        ),
        row_rule(
            alerts.NEVER_COMMITTED,
            pace,
            summary=f"{WHICH} has never committed partitions with new records for {AGE}",
            description=(
                f"Partitions of group {GROUP} of cluster {CLUSTER} have owners and new records, and no committed "
                "offset. The group commits elsewhere."
            ),
        ),
        row_rule(
            alerts.LEFT_UNCOMMITTED,
            pace,
            summary=f"{WHICH} has had new records in uncommitted partitions and no members for {AGE}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has no members and no committed offset in partitions that have "
                "got records since. A start with auto.offset.reset=latest skips these records."
            ),
        ),
        row_rule(
            alerts.OFFSETS_EXPIRE,
            pace,
            summary=f"{WHICH} is about to lose committed offsets with lag: they expire",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has lag and commits nothing. Its brokers delete its committed "
                "offsets within a day, or the last quarter of offsets.retention.minutes."
            ),
        ),
        row_rule(
            alerts.OFFSETS_EXPIRED,
            pace,
            summary=f"{WHICH} has lost committed offsets with lag: they expired {AGE} ago",
            description=(
                f"The brokers of cluster {CLUSTER} have deleted committed offsets of group {GROUP}, which had lag "
                "there. A start with auto.offset.reset=latest skips these records."
            ),
        ),
        row_rule(
            alerts.OFFSETS_INVALID,
            pace,
            summary=f"{WHICH} committed offsets below 0 {AGE} ago: to Kafka, nothing is committed there",
            description=(
                f"A client of group {GROUP} of cluster {CLUSTER} committed offsets below 0 in partitions with records. "
                "A consumer that starts begins where its auto.offset.reset says."
            ),
        ),
        row_rule(
            alerts.PARTITION_STALLED,
            pace,
            # Also of a group without members that has commits: there it is the only sign of a hang.
            expr=f"{series(failing, status='stall')} > 0 {NOT_UNATTENDED} {NOT_BLOCKED}",
            summary=f"{WHICH} commits without progress in {COUNT} partitions",
            description=(
                f"Consumers of group {GROUP} of cluster {CLUSTER} commit the same offset repeatedly although there is "
                "lag (Burrow's STALL)."
            ),
        ),
        row_rule(
            alerts.PARTITION_SILENT,
            pace,
            # Burrow looks at the rhythm of ten commits alone, so it reports groups that commit rarely by design, too.
            expr=f"{series(failing, status='stop')} > 0 {NOT_AWAY} {NOT_BLOCKED}",
            summary=f"{WHICH} is stopped in {COUNT} partitions according to Burrow's rules",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has lag there and has not committed for longer than its newest "
                "ten commits span (Burrow's STOP)."
            ),
        ),
        row_rule(
            alerts.OFFSETS_REWOUND,
            pace,
            expr=f"{series(failing, status='rewind')} > 0 {NOT_RESET}",
            summary=f"{WHICH} moved back to earlier offsets in {COUNT} partitions",
            description=(
                f"A commit of group {GROUP} of cluster {CLUSTER} was lower than the one before it (Burrow's REWIND). "
                "Records are redelivered."
            ),
        ),
        row_rule(
            alerts.TRANSACTION_OPEN,
            pace,
            summary=f"{WHICH} has been blocked by an open transaction for {AGE}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has consumed all records before a transaction that a producer has "
                "started and not ended. It cannot consume later records."
            ),
        ),
        row_rule(
            alerts.TRANSACTIONS_UNCOMMITTED,
            pace,
            summary=f"{WHICH} has tried to commit in transactions for {AGE}, and none was committed",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} makes no progress: its application aborts each transaction, or "
                "leaves it open."
            ),
        ),
        row_rule(
            alerts.OFFSETS_PENDING,
            pace,
            summary=f"{WHICH} has had offsets in an open transaction for {AGE}",
            description=(
                f"A member of group {GROUP} of cluster {CLUSTER} that takes over these partitions cannot start before "
                "the transaction ends."
            ),
        ),
        row_rule(
            alerts.OFFSETS_OF_FORMER_TOPIC,
            pace,
            summary=f"{WHICH} has offsets from before its topic was deleted and recreated {AGE} ago",
            description=(
                f"The offsets of group {GROUP} of cluster {CLUSTER} are from the deleted topic, so its position in the "
                "new topic is arbitrary."
            ),
        ),
        row_rule(
            alerts.OFFSETS_BEYOND_END,
            pace,
            summary=f"{WHICH} has committed offsets beyond the end of the log for {AGE}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} is reset or skips new records where it continues. The log was "
                "truncated, or the committed offsets are those of another log."
            ),
        ),
    )


def _retention(pace: Pace) -> tuple[AlertRule, ...]:
    close = series(specs.GROUP_FINDINGS, kind="retention", reason="close_to_loss")
    return (
        row_rule(
            alerts.RETENTION_CLOSE,
            pace,
            expr=f"{series(specs.GROUP_RETENTION_RATIO)} and {OF_GROUP} {close}",
            summary=f"{WHICH} is about to lose records: its lag is {{{{ $value | humanizePercentage }}}} of a log",
            description=(
                f"Retention removes the oldest records of a log, and group {GROUP} of cluster {CLUSTER} has not "
                "consumed them yet. It catches up slowly or not at all."
            ),
        ),
        row_rule(
            alerts.RECORDS_LOST,
            pace,
            summary=(
                f"{WHICH} has lost records, the first {AGE} ago{looked_up(', # at most', specs.GROUP_LOST_RECORDS)}"
            ),
            description=(
                f"Retention removed records that group {GROUP} of cluster {CLUSTER} had not committed. The number is "
                "an upper bound: compaction and transaction markers leave offsets without a record."
            ),
        ),
        row_rule(
            alerts.RECORDS_OVERTAKEN,
            pace,
            summary=(
                f"Retention overtook {WHICH} {AGE} ago"
                f"{looked_up(': at least # records were not read', specs.GROUP_SKIPPED_AT_LEAST)}"
            ),
            description=(
                f"Retention removed records before group {GROUP} of cluster {CLUSTER} read them, and the group has "
                "continued behind them. Its lag does not show the loss."
            ),
        ),
        row_rule(
            alerts.RECORDS_PERHAPS_SKIPPED,
            pace,
            summary=(
                f"{WHICH} read many records at once {AGE} ago, or skipped them"
                f"{looked_up(': # at most', specs.GROUP_SKIPPED_AT_MOST)}"
            ),
            description=(
                f"The first commits of group {GROUP} of cluster {CLUSTER} passed many records, after a rebalance or in "
                "a new partition. Commits do not tell whether the group read them."
            ),
        ),
    )


def _deliveries(pace: Pace) -> tuple[AlertRule, ...]:
    """The rules of share groups. A record that was delivered once and is available again is normal, and no alert.

    A counter may begin again with what the log still has, after a start without a checkpoint: so the finding, which
    goes by the times of the records, has to confirm that some were given up within the last hour.
    """
    window_s = pace.seconds(alerts.RECORDS_GIVEN_UP.window_s)
    return (
        row_rule(
            alerts.RECORDS_GIVEN_UP,
            pace,
            expr=(
                f"increase({series(specs.GROUP_SHARE_GIVEN_UP_TOTAL)}[{window_s}s]) > 0"
                f" and {OF_GROUP} {finding_age('poison', 'given_up')}"
            ),
            summary=f"{WHICH} has given up records after too many failed deliveries",
            description=(
                f"Share group {GROUP} of cluster {CLUSTER} has archived records that reached the delivery limit. Its "
                "members do not get these records again. The page of the group names the newest offset."
            ),
        ),
        row_rule(
            alerts.RECORDS_ON_LAST_DELIVERY,
            pace,
            summary=f"{WHICH} has had records before their last delivery for {AGE}",
            description=(
                f"Members of share group {GROUP} of cluster {CLUSTER} have received these records again and again, and "
                "have not accepted them."
            ),
        ),
        row_rule(
            alerts.DEAD_LETTERS,
            pace,
            summary=f"{WHICH} gave up records within the last hour: they are in its dead-letter topic",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} (RocketMQ) does not get these records again, and its lag does not "
                "show them. They are in the topic %DLQ% with the name of the group."
            ),
        ),
        row_rule(
            alerts.RECORDS_SENT_BACK,
            pace,
            summary=f"{WHICH} has sent back most of what it consumes for {AGE}",
            description=(
                f"Members of group {GROUP} of cluster {CLUSTER} (RocketMQ) fail to process records. Brokers deliver "
                "them again later, and give them up after the last retry. The lag of the topic does not show them."
            ),
        ),
        row_rule(
            alerts.SHARE_GROUP_STALLED,
            pace,
            summary=f"{WHICH} has had lag without an acknowledgment for {AGE}{WAITING}",
            description=(
                f"Share group {GROUP} of cluster {CLUSTER} has members and lag, and no member accepts, releases or "
                "rejects records."
            ),
        ),
    )
