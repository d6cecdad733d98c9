"""The groups of the clusters of which they are known, in the two orders that the page and the API begin with. Pure.

Also the client libraries of their members.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain, groupby
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from monitor.detection.client_libraries.census import take_census
from monitor.findings.alerts import LAST_PLACE, place_of
from monitor.model import ClusterSnapshot, GroupSummary, LibraryUse

_UNJUDGED: Final = LAST_PLACE
"""The place of a group of which it is not known whether anything is wrong."""
_RIGHT: Final = _UNJUDGED + 1
"""The place of a group in which nothing is wrong."""


class KnownGroups:
    """The groups of all clusters of which they are known. What takes long is done once, when it is first needed."""

    def __init__(self, clusters: Iterable[ClusterSnapshot]) -> None:
        known = sorted((each for each in clusters if each.is_known), key=attrgetter("cluster"))
        self._evaluated_ms = {each.cluster: each.evaluated_ms or 0 for each in known}
        self.by_name = [summary for each in known for summary in each.groups]
        """By cluster, then by group, as in each snapshot."""

    @cached_property
    def troubled(self) -> list[GroupSummary]:
        """Those with findings, the worst first."""
        return sorted((each for each in self.by_name if each.findings), key=self.worst_first)

    @cached_property
    def by_worst(self) -> list[GroupSummary]:
        """All, the worst first. Most have no finding, and need not be sorted."""
        others = [each for each in self.by_name if not each.findings]
        unjudged = [each for each in others if each.unjudged is not None]
        return self.troubled + unjudged + [each for each in others if each.unjudged is None]

    @cached_property
    def libraries(self) -> tuple[LibraryUse, ...]:
        """The client libraries of their members, by cluster; most members first."""
        clusters = groupby(self.by_name, key=attrgetter("cluster"))
        found = (
            take_census(cluster, [(group.group, group.libraries) for group in groups]) for cluster, groups in clusters
        )
        return tuple(chain.from_iterable(found))

    def evaluated_ms(self, summary: GroupSummary) -> int:
        """When the group was judged."""
        return self._evaluated_ms[summary.cluster]

    def dated(self, summary: GroupSummary) -> GroupSummary:
        """The group with when it was judged: few of thousands are shown, so only those are dated."""
        return replace(summary, evaluated_ms=self.evaluated_ms(summary))

    def worst_first(self, summary: GroupSummary) -> tuple[int, int, str, str]:
        """Its place: the worst finding first (monitor.findings.alerts), the longest first, then by name.

        Those without findings come last, and of them first those that could not be judged.
        """
        at_ms, none = self.evaluated_ms(summary), (_RIGHT if summary.unjudged is None else _UNJUDGED, 0)
        worst = min([(place_of(each, at_ms), each.since_ms) for each in summary.findings], default=none)
        return *worst, summary.cluster, summary.group
