"""Alerts about rebalances: too many of them, or one that does not end."""

from __future__ import annotations

from monitor.alert_rules.rule import (
    AGE,
    CLUSTER,
    GROUP,
    WHICH,
    AlertRule,
    Pace,
    duration,
    looked_up,
    row_rule,
    series,
)
from monitor.findings import alerts
from monitor.metrics import specs


def rebalance_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """The settings of groupwatch define a storm: 20 in ten minutes, twice a rolling restart of five members."""
    window = duration(pace.seconds(600))
    storm = series(specs.GROUP_FINDINGS, kind="rebalance", reason="storm")
    return (
        row_rule(
            alerts.REBALANCE_STORM,
            pace,
            expr=f"{storm} > 0",
            summary=(
                f"{WHICH} rebalances repeatedly"
                f"{looked_up(f': # times in {window}', specs.GROUP_REBALANCES_TOTAL, window=window)}"
            ),
            description=(
                f"Members of group {GROUP} of cluster {CLUSTER} join and leave repeatedly. Each rebalance pauses "
                "consumption, and some records are redelivered."
            ),
        ),
        row_rule(
            alerts.REBALANCE_LONG,
            pace,
            summary=f"{WHICH} has exceeded the time limit of a rebalance for {AGE}",
            description=(
                f"Members of group {GROUP} of cluster {CLUSTER} wait for one that does not join. Most of them consume "
                "nothing meanwhile. Classic groups allow it max.poll.interval.ms, 5 minutes by default."
            ),
        ),
        row_rule(
            alerts.STATIC_MEMBER_REPLACED,
            pace,
            summary=f"Static members of {WHICH} have been replaced repeatedly for {AGE}",
            description=(
                f"A group.instance.id of group {GROUP} of cluster {CLUSTER} passes from one member to the next without "
                "end. Two processes use it, or its process restarts repeatedly."
            ),
        ),
        row_rule(
            alerts.DIFFERENT_SUBSCRIPTIONS,
            pace,
            summary=f"Members of {WHICH} have rebalanced for those of other topics for {AGE}",
            description=(
                f"Members of group {GROUP} of cluster {CLUSTER} subscribe to different topics. When those of one "
                "subscription restart, all others have to rejoin. Mostly, two applications use one group.id."
            ),
        ),
    )
