"""The shipped alerts about groups: what each of them looks at, and how long it waits.

The rules for Prometheus are built from these rows (``monitor.alert_rules``), and a backtest evaluates them on a
recording (``monitor.history.backtest``). Times are in seconds, as Prometheus has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, Protocol, TypeVar

from monitor.findings.table import FINDINGS, rank, spec_of
from monitor.model.alert_ages import AlertAges, chosen_age_s
from monitor.model.findings import Severity
from monitor.model.values import Value
from monitor.model.verdicts import LagStatus

KEPT_S: Final = 300
"""How long an alert stays after its condition has ended, unless its row says otherwise. An alert that comes and goes,
or a restart of the job in between, then notifies once."""


def is_matched(matcher: str, value: str) -> bool:
    """Whether a value is one that a matcher chooses: a regular expression, or after ``!`` what it must not be.

    >>> is_matched("long|storm", "storm"), is_matched("!tie", "tie"), is_matched("!tie", "current")
    (True, False, True)
    """
    return bool(re.fullmatch(matcher.removeprefix("!"), value)) != matcher.startswith("!")


def severity_of(kind: str, reason: str) -> Severity:
    """How bad the findings are whose kinds and reasons these matchers choose.

    >>> severity_of("retention", ".+").value, severity_of("drift", "!tie").value
    ('critical', 'warning')

    Raises:
        ValueError: there is no such finding, or some are worse than others: those need alerts of their own.
    """
    found = {spec.severity for spec in FINDINGS if is_matched(kind, spec.kind) and is_matched(reason, spec.reason)}
    if len(found) != 1:
        raise ValueError(f"The findings {kind}, {reason} are {', '.join(sorted(found)) or 'none'}.")
    return found.pop()


class FindingAlert(Value):
    """Fires when findings are older than ``age_s``; None: when there are any.

    ``kinds`` and ``reasons`` are matchers (:func:`is_matched`). The condition must hold for ``hold_s``; after it has
    ended, the alert stays for ``keep_s``.
    """

    name: str
    kinds: str
    reasons: str
    age_s: int | None = None
    hold_s: int = 60
    keep_s: int = KEPT_S

    @property
    def severity(self) -> Severity:
        """That of its findings."""
        return severity_of(self.kinds, self.reasons)


class LagAlert(Value):
    """Fires when the oldest record of a group's lag is older than ``age_s``, or there are ``records`` of unknown age.

    Not for groups that are away: GroupwatchGroupWithoutMembers is about those.
    """

    name: str
    severity: Severity
    age_s: int | None = None
    records: int | None = None
    hold_s: int = 300
    keep_s: int = KEPT_S


class StatusAlert(Value):
    """Fires when partitions of a group have a status of Burrow's."""

    name: str
    severity: Severity
    status: LagStatus
    hold_s: int
    keep_s: int = KEPT_S


class GivenUpAlert(Value):
    """Fires when a share group has given records up within ``window_s``, and a finding confirms it."""

    name: str
    window_s: int
    hold_s: int = 0
    keep_s: int = KEPT_S

    kinds: str = "poison"
    reasons: str = "given_up"

    @property
    def severity(self) -> Severity:
        """That of the finding."""
        return severity_of(self.kinds, self.reasons)


GroupAlert = FindingAlert | LagAlert | StatusAlert | GivenUpAlert

PARTITION_ORPHANED: Final = FindingAlert(
    "GroupwatchPartitionOrphaned",
    "orphaned",
    "!mixed_strategy|mixed_subscription|not_ready|delay|revoked|not_assigned|config_mismatch|no_workers",
    age_s=600,
)
"""Of the reasons that have no alert of their own; the last ones that it leaves out are of Connect's tasks."""

TOPOLOGY_NOT_READY: Final = FindingAlert("GroupwatchTopologyNotReady", "orphaned", "not_ready", age_s=60)
DOUBLE_OWNED: Final = FindingAlert("GroupwatchPartitionDoubleOwned", "double_owned", "same_generation", age_s=300)
DRIFTED: Final = FindingAlert("GroupwatchAssignmentDrifted", "drift", "!tie", age_s=900)
UNEVEN: Final = FindingAlert(
    "GroupwatchAssignmentUneven",
    "imbalance|idle_members",
    "partitions|lag|no_partitions|tasks|no_tasks",
    age_s=3600,
    hold_s=300,
)
TOO_MUCH_FOR_ONE: Final = FindingAlert("GroupwatchPartitionTooBusy", "capacity", "one_partition", age_s=600)
MEMBER_DEAD: Final = FindingAlert("GroupwatchMemberDead", "dead_member", ".+", hold_s=300)
WITHOUT_MEMBERS: Final = FindingAlert("GroupwatchGroupWithoutMembers", "unattended", "no_members", age_s=900)
TOPIC_ABANDONED: Final = FindingAlert("GroupwatchTopicAbandoned", "abandoned", "unsubscribed", age_s=3600)
MEMBERS_UNREADABLE: Final = FindingAlert(
    "GroupwatchMembersUnreadable", "unreadable_members", "assignment|subscription", age_s=900
)
DUPLICATE_CLIENT_ID: Final = FindingAlert(
    "GroupwatchDuplicateClientId", "double_owned", "duplicate_client_id", age_s=300
)
MIXED_STRATEGY: Final = FindingAlert("GroupwatchMixedStrategy", "double_owned|orphaned", "mixed_strategy", age_s=300)
MIXED_SUBSCRIPTION: Final = FindingAlert("GroupwatchMixedSubscription", "orphaned", "mixed_subscription", age_s=300)
MIXED_EXPRESSIONS: Final = FindingAlert("GroupwatchMixedExpressions", "subscription", "mixed_expressions")
"""Records are lost from the first second on."""

QUEUES_UNREADABLE: Final = FindingAlert("GroupwatchQueuesUnreadable", "lag", "unreadable", age_s=300)
LAG_OLD: Final = LagAlert("GroupwatchLagOld", Severity.WARNING, age_s=600)
LAG_VERY_OLD: Final = LagAlert("GroupwatchLagVeryOld", Severity.CRITICAL, age_s=3600)
LAG_WITHOUT_AGE: Final = LagAlert("GroupwatchLagWithoutAge", Severity.WARNING, records=10_000, hold_s=1800)
LAG_OVER_LIMIT: Final = FindingAlert("GroupwatchLagOverLimit", "lag", "behind", age_s=300)
PARTITION_STOPPED: Final = FindingAlert(
    "GroupwatchPartitionStopped", "lag|unattended", "not_committing|not_synced", age_s=300
)
RECORD_STUCK: Final = FindingAlert("GroupwatchRecordStopsConsumers", "lag", "stuck_record")
"""Two consumers have gone by the time that it is found."""

NEVER_COMMITTED: Final = FindingAlert("GroupwatchPartitionNeverCommitted", "uncommitted", "never", age_s=300)
LEFT_UNCOMMITTED: Final = FindingAlert("GroupwatchUncommittedUnattended", "uncommitted", "unattended", age_s=900)
OFFSETS_EXPIRE: Final = FindingAlert("GroupwatchOffsetsExpire", "offsets", "expire")
OFFSETS_EXPIRED: Final = FindingAlert("GroupwatchOffsetsExpired", "offsets", "expired")
OFFSETS_INVALID: Final = FindingAlert("GroupwatchOffsetsInvalid", "offsets", "invalid")
PARTITION_STALLED: Final = StatusAlert("GroupwatchPartitionStalled", Severity.WARNING, LagStatus.STALL, hold_s=600)
PARTITION_SILENT: Final = StatusAlert("GroupwatchPartitionSilent", Severity.INFO, LagStatus.STOP, hold_s=1800)
OFFSETS_REWOUND: Final = StatusAlert(
    "GroupwatchOffsetsRewound", Severity.WARNING, LagStatus.REWIND, hold_s=0, keep_s=900
)
"""It lasts for ten commits, less than a minute of most clients: nothing to wait for."""

TRANSACTION_OPEN: Final = FindingAlert("GroupwatchTransactionOpen", "lag", "open_transaction", age_s=600)
TRANSACTIONS_UNCOMMITTED: Final = FindingAlert(
    "GroupwatchTransactionsUncommitted", "transactions", "uncommitted", age_s=300
)
OFFSETS_PENDING: Final = FindingAlert("GroupwatchOffsetsPending", "transactions", "pending_offsets", age_s=120)
OFFSETS_OF_FORMER_TOPIC: Final = FindingAlert("GroupwatchOffsetsOfFormerTopic", "lag", "former_log", age_s=600)
OFFSETS_BEYOND_END: Final = FindingAlert("GroupwatchOffsetsBeyondEnd", "lag", "beyond_end", age_s=120)
"""A consumer that reads there is reset within seconds."""

RETENTION_CLOSE: Final = FindingAlert("GroupwatchRetentionClose", "retention", "close_to_loss", hold_s=120)
RECORDS_LOST: Final = FindingAlert("GroupwatchRecordsLost", "retention", "records_lost")
RECORDS_OVERTAKEN: Final = FindingAlert("GroupwatchRecordsOvertaken", "skipped", "retention")
RECORDS_PERHAPS_SKIPPED: Final = FindingAlert("GroupwatchRecordsPerhapsSkipped", "skipped", "new_partition|perhaps")
RECORDS_GIVEN_UP: Final = GivenUpAlert("GroupwatchRecordsGivenUp", window_s=600)
RECORDS_ON_LAST_DELIVERY: Final = FindingAlert("GroupwatchRecordsOnLastDelivery", "poison", "last_try", age_s=300)
DEAD_LETTERS: Final = FindingAlert("GroupwatchDeadLetters", "poison", "dead_letters")
RECORDS_SENT_BACK: Final = FindingAlert("GroupwatchRecordsSentBack", "poison", "sent_back", age_s=300)
SHARE_GROUP_STALLED: Final = FindingAlert("GroupwatchShareGroupStalled", "lag", "stalled", age_s=600)
REBALANCE_STORM: Final = FindingAlert("GroupwatchRebalanceStorm", "rebalance", "storm")
REBALANCE_LONG: Final = FindingAlert("GroupwatchRebalanceLong", "rebalance", "long", age_s=240)
"""The finding begins when the rebalance is a minute old."""

NOTHING_TO_READ: Final = FindingAlert("GroupwatchNothingToRead", "subscription", "nothing_to_read", age_s=300)
STATIC_MEMBER_REPLACED: Final = FindingAlert("GroupwatchStaticMemberReplaced", "rebalance", "static_replacements")
"""It has lasted for a minute by the time that it is found."""

DIFFERENT_SUBSCRIPTIONS: Final = FindingAlert(
    "GroupwatchDifferentSubscriptions", "rebalance", "different_subscriptions"
)
"""It is found after several restarts, and stays for a day."""

CONNECT_TASKS_NOT_RUNNING: Final = FindingAlert(
    "GroupwatchConnectTasksNotRunning", "orphaned", "config_mismatch|no_workers|not_assigned|revoked", age_s=60
)
CONNECT_TASKS_RUN_TWICE: Final = FindingAlert("GroupwatchConnectTasksRunTwice", "double_owned", "run_twice", hold_s=0)
CONNECT_CONFIGS_BEHIND: Final = FindingAlert(
    "GroupwatchConnectConfigsBehind", "config_behind", "config_offset", age_s=60
)
CONNECT_WORKERS_UNEVEN: Final = FindingAlert(
    "GroupwatchConnectWorkersUneven", "imbalance", "workers", age_s=3600, hold_s=300
)

EXPECTED_CRITICAL: Final = FindingAlert("GroupwatchExpectationCritical", "expectation", "critical", age_s=300)
EXPECTED: Final = FindingAlert("GroupwatchExpectation", "expectation", "warning", age_s=300)
EXPECTED_INFO: Final = FindingAlert("GroupwatchExpectationInfo", "expectation", "info", age_s=300)
"""An alert has one severity, and the file of expectations chooses among three."""

GROUP_ALERTS: Final[tuple[GroupAlert, ...]] = (
    PARTITION_ORPHANED,
    TOPOLOGY_NOT_READY,
    DOUBLE_OWNED,
    DRIFTED,
    UNEVEN,
    TOO_MUCH_FOR_ONE,
    MEMBER_DEAD,
    WITHOUT_MEMBERS,
    TOPIC_ABANDONED,
    MEMBERS_UNREADABLE,
    NOTHING_TO_READ,
    DUPLICATE_CLIENT_ID,
    MIXED_STRATEGY,
    MIXED_SUBSCRIPTION,
    MIXED_EXPRESSIONS,
    QUEUES_UNREADABLE,
    LAG_OLD,
    LAG_VERY_OLD,
    LAG_WITHOUT_AGE,
    LAG_OVER_LIMIT,
    PARTITION_STOPPED,
    RECORD_STUCK,
    NEVER_COMMITTED,
    LEFT_UNCOMMITTED,
    OFFSETS_EXPIRE,
    OFFSETS_EXPIRED,
    OFFSETS_INVALID,
    PARTITION_STALLED,
    PARTITION_SILENT,
    OFFSETS_REWOUND,
    TRANSACTION_OPEN,
    TRANSACTIONS_UNCOMMITTED,
    OFFSETS_PENDING,
    OFFSETS_OF_FORMER_TOPIC,
    OFFSETS_BEYOND_END,
    RETENTION_CLOSE,
    RECORDS_LOST,
    RECORDS_OVERTAKEN,
    RECORDS_PERHAPS_SKIPPED,
    RECORDS_GIVEN_UP,
    RECORDS_ON_LAST_DELIVERY,
    DEAD_LETTERS,
    RECORDS_SENT_BACK,
    SHARE_GROUP_STALLED,
    REBALANCE_STORM,
    REBALANCE_LONG,
    STATIC_MEMBER_REPLACED,
    DIFFERENT_SUBSCRIPTIONS,
    CONNECT_TASKS_NOT_RUNNING,
    CONNECT_TASKS_RUN_TWICE,
    CONNECT_CONFIGS_BEHIND,
    CONNECT_WORKERS_UNEVEN,
    EXPECTED_CRITICAL,
    EXPECTED,
    EXPECTED_INFO,
)
"""All of them, in the order of the rule file."""


@cache
def finding_alerts(kind: str, reason: str) -> tuple[FindingAlert, ...]:
    """The alerts about a finding."""
    alerts = [row for row in GROUP_ALERTS if isinstance(row, FindingAlert)]
    return tuple([row for row in alerts if is_matched(row.kinds, kind) and is_matched(row.reasons, reason)])


def alert_age_ms(kind: str, reason: str, changed_s: int | None = None) -> int:
    """The age from which the alert about a finding fires, in ms; 0: it waits for no age, or there is no alert.

    ``changed_s`` is the age that a deployment has chosen; None: the shipped one.

    >>> alert_age_ms("drift", "current"), alert_age_ms("lag", "stuck_record"), alert_age_ms("drift", "current", 60)
    (900000, 0, 60000)
    """
    if changed_s is not None:
        return 1000 * changed_s
    return 1000 * min([row.age_s or 0 for row in finding_alerts(kind, reason)], default=0)


def changed_age_s(kind: str, reason: str, ages: AlertAges) -> int | None:
    """The age from which the alert about a finding fires, in s; None: as shipped."""
    if not ages:  # as in nearly all deployments, and asked for each finding
        return None
    alerts = finding_alerts(kind, reason)
    if not {row.name for row in alerts} & {each.alert for each in ages}:
        return None
    return min([chosen_age_s(row.name, row.age_s, ages) or 0 for row in alerts])


_CLUSTER_ALERTS: Final = {
    ("offsets_topic", "no_leader"): "GroupwatchOffsetsTopicNotWritable",
    ("offsets_topic", "not_enough_replicas"): "GroupwatchOffsetsTopicNotWritable",
    ("offsets_topic", "grew"): "GroupwatchOffsetsTopicGrew",
    ("topics", "no_leader"): "GroupwatchTopicsWithoutLeader",
    ("topics", "not_visible"): "GroupwatchTopicsNotVisible",
    ("brokers", "away"): "GroupwatchBrokerAway",
    ("records", "unknown_version"): "GroupwatchGroupsUnreadable",
    ("expected_groups", "critical"): "GroupwatchExpectedGroupsCritical",
    ("expected_groups", "warning"): "GroupwatchExpectedGroups",
    ("expected_groups", "info"): "GroupwatchExpectedGroupsInfo",
}
"""The alerts about findings of a cluster itself, by kind and reason."""


def alert_name(kind: str, reason: str) -> str | None:
    """The name of the first alert about a finding of a group or of a cluster; None: there is none.

    >>> alert_name("orphaned", "grew"), alert_name("brokers", "away"), alert_name("drift", "tie")
    ('GroupwatchPartitionOrphaned', 'GroupwatchBrokerAway', None)
    """
    if (kind, reason) in _CLUSTER_ALERTS:
        return _CLUSTER_ALERTS[kind, reason]
    rows = [row for row in GROUP_ALERTS if isinstance(row, FindingAlert | GivenUpAlert)]
    return next((row.name for row in rows if is_matched(row.kinds, kind) and is_matched(row.reasons, reason)), None)


@cache
def alert_kept_ms(kind: str, reason: str) -> int:
    """For how long the alert about a finding of a group fires after its end, in ms; 0: there is no alert.

    >>> alert_kept_ms("orphaned", "grew"), alert_kept_ms("poison", "given_up"), alert_kept_ms("drift", "tie")
    (300000, 300000, 0)
    """
    rows = [row for row in GROUP_ALERTS if isinstance(row, FindingAlert | GivenUpAlert)]
    about = [row for row in rows if is_matched(row.kinds, kind) and is_matched(row.reasons, reason)]
    return 1000 * max([row.keep_s for row in about], default=0)


class Lasting(Protocol):
    """Something that was found, and since when it has been true, in ms since the epoch."""

    @property
    def kind(self) -> str: ...  # noqa: D102

    @property
    def reason(self) -> str: ...  # noqa: D102

    @property
    def since_ms(self) -> int: ...  # noqa: D102

    @property
    def alert_age_s(self) -> int | None: ...  # noqa: D102


Found = TypeVar("Found", bound=Lasting)


def settling_until_ms(finding: Lasting, at_ms: int) -> int | None:
    """Until when a finding is too young for its alert, in ms since the epoch; None: it is old enough at ``at_ms``.

    Many findings end by themselves within seconds, such as those of a rebalance. Information never settles.
    """
    if spec_of(finding.kind, finding.reason).severity is Severity.INFO:
        return None
    until_ms = finding.since_ms + alert_age_ms(finding.kind, finding.reason, finding.alert_age_s)
    return until_ms if at_ms < until_ms else None


LAST_PLACE: Final = 3 * len(FINDINGS)
"""More than the place of any finding."""


def place_of(finding: Lasting, at_ms: int) -> int:
    """The place of a finding among all, the worst first: those that settle come before information only."""
    own, among = rank(finding.kind, finding.reason), len(FINDINGS)
    if settling_until_ms(finding, at_ms) is not None:
        return among + own
    return own if spec_of(finding.kind, finding.reason).severity is not Severity.INFO else 2 * among + own


def worst_first(findings: Iterable[Found], at_ms: int) -> list[Found]:
    """The findings in the order of their places at an instant."""
    return sorted(findings, key=lambda each: place_of(each, at_ms))
