"""Reports from a recording that can hold many groups at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from monitor.history.chronicle.writer import COSTS_KNOWN_MS
from monitor.history.replay import Recording, beyond_reach
from monitor.history.report.assemble import group_report
from monitor.history.report.cluster import ClusterReport, cluster_report
from monitor.history.report.facts import IncidentReport

GROUPS_AT_ONCE: Final = 500
"""So many groups are held in memory."""


class GroupsRecording(Protocol):
    """A recording that can hold a part of itself in memory."""

    def reach_ms(self, cluster: str) -> int:
        """When the newest portion of the cluster was recorded."""

    def groups(self, cluster: str, since_ms: int, until_ms: int) -> Sequence[str]:
        """The names of the groups that were known between two instants, sorted."""

    def hold(self, cluster: str, since_ms: int, until_ms: int, groups: Sequence[str] | None = None) -> Recording:
        """All that verdicts on these groups between two instants are made of."""


def recorded_cluster_report(
    recording: GroupsRecording,
    cluster: str,
    since_ms: int,
    until_ms: int,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> ClusterReport:
    """The report on all groups of a cluster. ``tell`` gets how many of how many groups are done.

    Raises:
        RecordingError: the recording cannot be read, or ends before that time.
    """
    reach_ms = recording.reach_ms(cluster)
    if reach_ms <= since_ms:
        raise beyond_reach(cluster, reach_ms)
    return cluster_report(cluster, since_ms, until_ms, _reports(recording, cluster, since_ms, until_ms, tell))


def _reports(
    recording: GroupsRecording, cluster: str, since_ms: int, until_ms: int, tell: Callable[[int, int], None]
) -> Iterator[IncidentReport]:
    names = recording.groups(cluster, since_ms, until_ms)
    for place in range(0, len(names), GROUPS_AT_ONCE):
        batch = names[place : place + GROUPS_AT_ONCE]
        held = recording.hold(cluster, since_ms, until_ms + COSTS_KNOWN_MS, batch)
        for number, name in enumerate(batch, place):
            tell(number, len(names))
            found = group_report(held, cluster, name, since_ms, until_ms)
            if found is not None:
                yield found
    tell(len(names), len(names))
