"""All rules, and which of them may find something of a group: the others are left out."""

from __future__ import annotations

from itertools import product
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules import (
    behind,
    connect_work,
    deliveries,
    different_subscriptions,
    double_owned,
    drift,
    expiry,
    expressions,
    imbalance,
    invalid_commits,
    kept_groups,
    lag_imbalance,
    not_ready,
    open_transaction,
    orphaned,
    rebalance,
    redelivery,
    repeated_beside,
    retention,
    skipped,
    stalled_commits,
    static_ids,
    stuck_records,
    subscriptions,
    task_balance,
    transactions,
    unattended,
    uncommitted,
    unreadable_members,
    unreadable_queues,
)
from monitor.detection.rules.rule import Rule
from monitor.model import GroupKind

RULES: Final[tuple[Rule, ...]] = (
    *retention.RULES,
    *skipped.RULES,
    *double_owned.RULES,
    *not_ready.RULES,
    *connect_work.RULES,
    *orphaned.RULES,
    *unattended.RULES,
    *stuck_records.RULES,
    *stalled_commits.RULES,
    *kept_groups.RULES,
    *repeated_beside.RULES,
    *transactions.RULES,
    *uncommitted.RULES,
    *expiry.RULES,
    *invalid_commits.RULES,
    *deliveries.RULES,
    *redelivery.RULES,
    *unreadable_queues.RULES,
    *open_transaction.RULES,
    *behind.RULES,
    *rebalance.RULES,
    *static_ids.RULES,
    *different_subscriptions.RULES,
    *subscriptions.RULES,
    *expressions.RULES,
    *unreadable_members.RULES,
    *drift.RULES,
    *imbalance.RULES,
    *task_balance.RULES,
    *lag_imbalance.RULES,
)
"""All rules. Which of their findings is worse is monitor.findings.order's to say, not this order."""

_EITHER: Final = (False, True)

_APPLICABLE: Final = {
    (kind, is_settling, has_lag, has_tasks): tuple(
        [rule for rule in RULES if rule.may_find(kind, is_settling=is_settling, has_lag=has_lag, has_tasks=has_tasks)]
    )
    for kind, is_settling, has_lag, has_tasks in product(GroupKind, _EITHER, _EITHER, _EITHER)
}
"""The rules that may find something, by the kind of the group, and whether it settles, has lag, and runs tasks."""


def applicable_rules(facts: Facts) -> tuple[Rule, ...]:
    """The rules that may find something of a group with these facts, in the order of ``RULES``."""
    return _APPLICABLE[facts.group.kind, facts.is_settling, bool(facts.waiting), facts.traits.runs_tasks]
