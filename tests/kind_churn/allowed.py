"""What may be found in healthy groups, as it is true then: which, how long, and why.

A finding that may stay for ever is one that is meant for such groups: information, or what somebody should know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from math import inf
from typing import Final

from monitor.model import FindingKind, OrphanReason, Value
from tests.kind_churn.connect import CLUSTER
from tests.scenarios.churn_groups import SLOWEST_S
from tests.scenarios.settings import SESSION_S
from tests.systems.watching import Found

ORPHANED: Final = FindingKind.ORPHANED
REBALANCE: Final = FindingKind.REBALANCE
SUBSCRIPTION: Final = FindingKind.SUBSCRIPTION
UNATTENDED: Final = FindingKind.UNATTENDED

LONGEST_WITHOUT_TOPIC_S: Final = 120
"""Of up to four groups that wait, the churn gives one its topic with its next action after a minute."""
REFRESH_S: Final = 10
"""A broker resolves the regular expressions of a group again after so long at the earliest, if there are new topics."""

STANDSTILL: Final = "only where the machine stands still, and for that time: consumers stand still, too"
HANDED_OVER: Final = "a partition is handed over, with two heartbeats"
UNDECIDED: Final = "the broker has yet to assign"
UNSEEN_BY_LEADER: Final = (
    "a new leader asks for the topics that only others read, and may assign by the answer to its question before"
)
UNNOTICED: Final = "an instance of the classic protocol does not leave when it is closed: its session has to end"


class Allowed(Value):
    """A finding that groups of some names may have, the most seconds that it may be there, and why."""

    groups: str
    kind: FindingKind
    reason: str
    most_s: float
    why: str


ALLOWED: Final = (
    Allowed("pool", ORPHANED, OrphanReason.NOT_INITIALIZED, SLOWEST_S, "the group is new, and its partitions with it"),
    Allowed("streams-kip1071", ORPHANED, OrphanReason.REBALANCING, SLOWEST_S, UNDECIDED),
    Allowed("streams-kip1071", ORPHANED, OrphanReason.PENDING, SLOWEST_S, "a task is handed over, with two heartbeats"),
    Allowed("streams-classic", ORPHANED, OrphanReason.PENDING, SESSION_S + SLOWEST_S, UNNOTICED),
    Allowed("streams-classic", FindingKind.LAG, "not_committing", SESSION_S + SLOWEST_S, UNNOTICED),
    Allowed("streams-classic", FindingKind.DEAD_MEMBER, "silent", SESSION_S + SLOWEST_S, f"{UNNOTICED}; it is dead"),
    Allowed(
        CLUSTER.group,
        FindingKind.CONFIG_BEHIND,
        "config_offset",
        SLOWEST_S,
        "connectors change in every generation, and a worker that starts has yet to read them all",
    ),
    Allowed("connect-sink-*", FindingKind.UNATTENDED, "no_members", SLOWEST_S, "a sink restarts all its tasks at once"),
    Allowed(
        CLUSTER.group,
        ORPHANED,
        OrphanReason.DELAY,
        CLUSTER.delay_ms / 1000 + SLOWEST_S,
        "information: Connect waits for a worker",
    ),
    *(
        Allowed(groups, ORPHANED, reason, SLOWEST_S, why)
        for groups in ("*-cooperative", "*-kip848", "late-*")
        for reason, why in ((OrphanReason.PENDING, HANDED_OVER), (OrphanReason.REBALANCING, UNDECIDED))
    ),
    Allowed("shared-classic", REBALANCE, "different_subscriptions", inf, "two applications stop each other"),
    Allowed("tail-*", FindingKind.UNCOMMITTED, "at_risk", inf, "information: the group commits nothing"),
    Allowed("late-*", SUBSCRIPTION, "nothing_to_read", LONGEST_WITHOUT_TOPIC_S, "its topic is created later"),
    Allowed("late-*", SUBSCRIPTION, "missing_topics", LONGEST_WITHOUT_TOPIC_S, "information: the same of one of two"),
    Allowed("late-*", ORPHANED, OrphanReason.GREW, SLOWEST_S, "the topic is new: members have yet to see it"),
    Allowed("regex-*", ORPHANED, OrphanReason.GREW, REFRESH_S + SLOWEST_S, "the same of one that fits"),
    Allowed("shared-classic", ORPHANED, OrphanReason.GREW, SLOWEST_S, UNSEEN_BY_LEADER),
    *(
        Allowed(groups, kind, reason, SLOWEST_S, "its members, or its leader, have yet to see a topic")
        for groups in ("late-*", "regex-*", "shared-classic")
        for kind, reason in (
            (FindingKind.DRIFT, "current"),
            (FindingKind.IDLE_MEMBERS, "no_partitions"),
            (ORPHANED, OrphanReason.ASSIGNOR_GAP),
        )
    ),
    Allowed("faust-*", FindingKind.IDLE_MEMBERS, "no_partitions", inf, "information: of three workers, two have all"),
    Allowed("copied-*", UNATTENDED, "kept", inf, "information: the consumers are in another cluster"),
    Allowed("console-consumer-*", UNATTENDED, "one_off", inf, "information: it has left, as others of its name have"),
    Allowed("*", FindingKind.LAG, "not_committing", 0.0, STANDSTILL),
    Allowed("*", FindingKind.DEAD_MEMBER, "silent", 0.0, STANDSTILL),
    Allowed("*", FindingKind.DEAD_MEMBER, "unnoticed", 0.0, STANDSTILL),
)
"""Whatever is not here must never be found. ``groups`` is a pattern of fnmatch; of two that fit, the first counts."""


def false_findings(found: Iterable[Found], end_ms: int, late_s: float) -> Iterator[str]:
    """The findings that must not be, or not for so long.

    Args:
        found: the findings of all groups.
        end_ms: when the watch ended, in ms since the epoch.
        late_s: how much longer they may last as the machine was busy.
    """
    for each in found:
        lasted_s = ((each.closed_ms or end_ms) - each.opened_ms) / 1000
        limits = [
            allowed.most_s
            for allowed in ALLOWED
            if (allowed.kind, allowed.reason) == (each.kind, each.reason) and fnmatch(each.group, allowed.groups)
        ]
        if not limits or lasted_s > limits[0] + late_s:
            yield f"{each.group}: {each.kind}/{each.reason} at {each.opened_ms} for {lasted_s:.1f} s: {each.sentence}"
