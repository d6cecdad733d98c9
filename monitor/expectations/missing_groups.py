"""Which groups that should exist do not, and since when that is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from monitor.detection.cluster_findings import AbsentGroups
from monitor.expectations.checks import NOT_THERE
from monitor.expectations.entries import EntriesOfCluster
from monitor.model import GroupSummary


@dataclass(slots=True)
class MissingGroups:
    """The entries of one cluster that say that a group exists, and that no group matches, each with since when."""

    _since_ms: dict[tuple[str, str | None], int] = field(default_factory=dict)

    def update(
        self, entries: EntriesOfCluster, groups: Iterable[GroupSummary] | None, now_ms: int
    ) -> AbsentGroups | None:
        """Take a listing of the cluster; None: none of these groups is missing.

        Args:
            entries: what should be.
            groups: all of its groups. None: not all of them are known, so those that were missing still are, and no
                other.
            now_ms: when they were listed (ms since the epoch).
        """
        if groups is None:
            expected = {(each.groups, each.team) for each in entries.entries.values() if each.exists}
            self._since_ms = {entry: ms for entry, ms in self._since_ms.items() if entry in expected}
        else:
            known = frozenset([each.group for each in groups if each.state not in NOT_THERE])
            missing = [(each.groups, each.team) for each in entries.missing(known).values() if each.exists]
            self._since_ms = {entry: self._since_ms.get(entry, now_ms) for entry in missing}
        if not self._since_ms:
            return None
        return AbsentGroups(tuple(self._since_ms), min(self._since_ms.values()), entries.severity)
