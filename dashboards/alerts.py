"""Alert rules: by age, never by presence, because rebalances and metadata refreshes are normal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import msgspec

from dashboards.queries import everywhere, in_state


class AlertRule(msgspec.Struct, frozen=True):
    """One rule.

    ``hold`` is how long the expression must hold, in Prometheus' notation; ``runbook`` is what a person does first.
    """

    name: str
    expr: str
    hold: str
    severity: str
    summary: str
    description: str
    runbook: str


RULES: Final = (
    AlertRule(
        name="GroupwatchPartitionOrphaned",
        expr=(
            f"{everywhere('group_orphaned_oldest_seconds')} > 600 "
            f"and on (cluster, group) {everywhere('group_members')} > 0"
        ),
        hold="5m",
        severity="critical",
        summary="{{ $labels.group }} has a partition that nobody reads",
        description=(
            "A partition of group {{ $labels.group }} ({{ $labels.cluster }}) has had no owner for "
            "{{ $value | humanizeDuration }}. New partitions wait for a metadata refresh, which comes within 5 minutes."
        ),
        runbook="The group's page names the partition and the reason; if it is `grew`, restart the group's members.",
    ),
    AlertRule(
        name="GroupwatchGroupWithoutMembers",
        # A group that only commits (Spark, Flink) has no members that could be missing.
        expr=(
            f"{everywhere('group_members')} == 0 and on (cluster, group) {everywhere('group_lag')} > 0 "
            f"unless on (cluster, group) {in_state('offsets_only')}"
        ),
        hold="15m",
        severity="warning",
        summary="{{ $labels.group }} has no members while records wait",
        description=(
            "Nobody has read for group {{ $labels.group }} ({{ $labels.cluster }}) for 15 minutes, and records wait. "
            "If the group is given up, delete it."
        ),
        runbook="Start the group's consumers, or look into their logs for why they left.",
    ),
    AlertRule(
        name="GroupwatchMemberDead",
        expr=f"{everywhere('group_dead_members')} > 0",
        hold="5m",
        severity="critical",
        summary="{{ $labels.group }} has a member that does nothing",
        description=(
            "{{ $value }} members of group {{ $labels.group }} ({{ $labels.cluster }}) own partitions and have "
            "committed nothing, while records wait for them and other members go on."
        ),
        runbook="The group's page names the member and its host: look at what it hangs in, and restart it.",
    ),
    AlertRule(
        name="GroupwatchPartitionDoubleOwned",
        expr=f"{everywhere('group_double_owned_partitions')} > 0",
        hold="5m",
        severity="critical",
        summary="{{ $labels.group }} has a partition with two owners",
        description=(
            "{{ $value }} partitions of group {{ $labels.group }} ({{ $labels.cluster }}) have more than one owner: "
            "their records are processed twice."
        ),
        runbook="The group's page names both owners; stop one, then let all members use the same strategies.",
    ),
    AlertRule(
        name="GroupwatchAssignmentDrifted",
        expr=f"{everywhere('group_drift_oldest_seconds')} > 900",
        hold="1m",
        severity="warning",
        summary="{{ $labels.group }} is not assigned as its assignor gives it",
        description=(
            "For {{ $value | humanizeDuration }} owners in group {{ $labels.group }} ({{ $labels.cluster }}) have "
            "differed from those that its assignor gives ({{ $labels.kind }})."
        ),
        runbook=(
            "Compare owners on the group's page; if current, start a rebalance; if replayed, compare client versions; "
            "if target, compare broker versions; if pending, see whether the member that has to give back hangs."
        ),
    ),
    # A group that is switched off has an alert of its own.
    AlertRule(
        name="GroupwatchLagOld",
        expr=f"{everywhere('group_lag_seconds')} > 600 unless on (cluster, group) {in_state('empty')}",
        hold="10m",
        severity="warning",
        summary="{{ $labels.group }} is behind",
        description=(
            "The oldest record that waits for group {{ $labels.group }} ({{ $labels.cluster }}) is "
            "{{ $value | humanizeDuration }} old."
        ),
        runbook="The group's page shows which partitions wait: if all, add members; if one, look at its owner.",
    ),
    AlertRule(
        name="GroupwatchNotReady",
        expr=f"{everywhere('ready')} == 0",
        hold="15m",
        severity="warning",
        summary="groupwatch does not judge the groups of {{ $labels.cluster }} yet",
        description=(
            "The backlog of cluster {{ $labels.cluster }} that was seen at start has not been read in 15 minutes: "
            "until then none of its groups is shown, and no alert about them can come."
        ),
        runbook="Read /readyz; if the records still to read do not fall, look into groupwatch's log.",
    ),
    AlertRule(
        name="GroupwatchClusterUnread",
        expr=f"{everywhere('up')} == 0",
        hold="5m",
        severity="warning",
        summary="groupwatch cannot read {{ $labels.cluster }}",
        description="What is shown of cluster {{ $labels.cluster }} grows old; /readyz and the page say why.",
        runbook="Read /readyz, then check address, credentials and grants; it reconnects by itself.",
    ),
    AlertRule(
        name="GroupwatchEvaluationOld",
        expr=f"time() - {everywhere('last_evaluation_timestamp_seconds')} > 120",
        hold="1m",
        severity="warning",
        summary="The groups of {{ $labels.cluster }} have not been judged for a while",
        description=(
            "The newest evaluation of cluster {{ $labels.cluster }} is {{ $value | humanizeDuration }} old: "
            "the other alerts of this cluster are as old."
        ),
        runbook="Look at the batch duration, then into groupwatch's log; restart it if it hangs.",
    ),
)


def rules_file() -> str:
    """The rules as a rule file of Prometheus. A text in JSON's quotes is a text in YAML too."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "groups:"
    yield "  - name: groupwatch"
    yield "    rules:"
    for rule in RULES:
        yield f"      - alert: {rule.name}"
        yield f"        expr: {json.dumps(rule.expr)}"
        yield f"        for: {rule.hold}"
        yield "        labels:"
        yield f"          severity: {rule.severity}"
        yield "        annotations:"
        yield f"          summary: {json.dumps(rule.summary)}"
        yield f"          description: {json.dumps(rule.description)}"
        yield f"          runbook: {json.dumps(rule.runbook)}"
