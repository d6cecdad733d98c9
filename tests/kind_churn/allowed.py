"""What may be found in healthy groups for a moment, as it is true then: which, how long, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from typing import Final

from monitor.model import FindingKind, OrphanReason, Value
from tests.kind_churn.connect import CLUSTER
from tests.scenarios.churn_groups import SLOWEST_S
from tests.scenarios.settings import SESSION_S
from tests.systems.watching import Found

ORPHANED: Final = FindingKind.ORPHANED
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
    Allowed("streams-kip1071", ORPHANED, OrphanReason.REBALANCING, SLOWEST_S, "the broker has yet to assign"),
    Allowed("streams-kip1071", ORPHANED, OrphanReason.PENDING, SLOWEST_S, "a task is handed over, with two heartbeats"),
    Allowed("streams-classic", ORPHANED, OrphanReason.PENDING, SESSION_S + SLOWEST_S, UNNOTICED),
    Allowed("streams-classic", FindingKind.LAG, "not_committing", SESSION_S + SLOWEST_S, UNNOTICED),
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
)
"""Whatever is not here must never be found. ``groups`` is a pattern of fnmatch."""


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
