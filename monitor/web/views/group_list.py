"""The groups of a snapshot, found and in order. Sorting thousands is done once for a snapshot, not for each reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final

from monitor.findings.alike import AlikeBy, AlikeGroups, alike_groups
from monitor.findings.table import FINDING_KINDS
from monitor.messages.formatting import searchable
from monitor.model import FindingKind, GroupSummary, LibraryUse, Snapshot, Value
from monitor.web.views.known_groups import KnownGroups


class Column(StrEnum):
    """What the list of groups can be sorted by."""

    FINDINGS = "findings"
    """Worst first: the default order of the list."""
    GROUP = "group"
    CLUSTER = "cluster"
    STATE = "state"
    ASSIGNOR = "assignor"
    MEMBERS = "members"
    LAG = "lag"


class Wish(Value):
    """Which groups to list: with ``search`` in the name in any case, of that cluster and team, with that finding."""

    search: str = ""
    cluster: str = ""
    kind: FindingKind | None = None
    team: str = ""
    problems: bool = False
    column: Column = Column.FINDINGS
    turned: bool = False


class KindCount(Value):
    """How many groups have findings of a kind."""

    kind: FindingKind
    groups: int


class TeamCount(Value):
    """How many groups are a team's, by the file of expectations."""

    team: str
    groups: int


class Found(Value):
    """The groups that match, in order. The counts are those of all that match name and cluster."""

    groups: tuple[GroupSummary, ...]
    total: int
    troubled: int
    kinds: tuple[KindCount, ...]
    teams: tuple[TeamCount, ...] = ()
    """By name, whatever team is chosen."""


class Listing:
    """The groups of one snapshot. Each order is computed when it is first needed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._known = KnownGroups(snapshot.clusters)
        self._ordered: dict[tuple[Column, bool], list[GroupSummary]] = {}
        self._folded = {id(each): searchable(each.group) for each in self._known.by_name}

    def found(self, wish: Wish) -> Found:
        """The groups that match."""
        of_all = self._matching(wish)
        matching = [each for each in of_all if each.team == wish.team] if wish.team else of_all
        troubled = [each for each in matching if each.findings]
        if wish.kind is not None:
            groups = [each for each in troubled if any(own.kind is wish.kind for own in each.findings)]
        else:
            groups = troubled if wish.problems else matching
        return Found(
            groups=tuple(groups),
            total=len(matching),
            troubled=len(troubled),
            kinds=_kinds(troubled),
            teams=_teams(of_all),
        )

    @property
    def libraries(self) -> tuple[LibraryUse, ...]:
        """The client libraries of the members, by cluster; most members first."""
        return self._known.libraries

    @cached_property
    def alike(self) -> Mapping[str, Mapping[AlikeBy, AlikeGroups]]:
        """By cluster, the groups of one line."""
        return {each.cluster: alike_groups(each.groups) for each in self.snapshot.clusters if each.is_known}

    def dated(self, summary: GroupSummary) -> GroupSummary:
        """A group of the list, with when it was judged."""
        return self._known.dated(summary)

    def _matching(self, wish: Wish) -> list[GroupSummary]:
        groups, wanted, folded = self._in_order(wish.column, wish.turned), searchable(wish.search), self._folded
        if wish.cluster:
            groups = [each for each in groups if each.cluster == wish.cluster]
        return [each for each in groups if wanted in folded[id(each)]] if wanted else groups

    def _in_order(self, column: Column, turned: bool) -> list[GroupSummary]:
        found = self._ordered.get((column, turned))
        if found is None:
            found = self._ordered[column, turned] = _sorted(self._known.by_worst, column, turned=turned)
        return found


class Listings:
    """Keeps the listing of the newest snapshot that was requested."""

    def __init__(self) -> None:
        self._kept: Listing | None = None

    def of(self, snapshot: Snapshot) -> Listing:
        """The listing of that snapshot. Threads may ask at once; one of two equal answers is kept."""
        kept = self._kept
        if kept is None or kept.snapshot is not snapshot:
            kept = self._kept = Listing(snapshot)
        return kept


_BY_TEXT: Final[Mapping[Column, Callable[[GroupSummary], str | None]]] = {
    Column.GROUP: lambda each: each.group.casefold(),
    Column.CLUSTER: lambda each: each.cluster,
    Column.STATE: lambda each: each.state.value,
    Column.ASSIGNOR: lambda each: each.assignor,
}
_BY_SIZE: Final[Mapping[Column, Callable[[GroupSummary], int | None]]] = {
    Column.MEMBERS: lambda each: each.members,
    Column.LAG: lambda each: each.known_lag,
}
"""Largest first: who sorts by lag looks for the most."""


def _sorted(worst: list[GroupSummary], column: Column, *, turned: bool) -> list[GroupSummary]:
    """Equal groups stand worst first. What is not known comes last in both orders: it is never what one looks for."""
    if column is Column.FINDINGS:
        return worst[::-1] if turned else worst
    text = _BY_TEXT.get(column)
    if text is not None:
        known = sorted([each for each in worst if text(each) is not None], key=lambda e: text(e) or "", reverse=turned)
        return known + [each for each in worst if text(each) is None]
    size = _BY_SIZE[column]
    known = sorted([each for each in worst if size(each) is not None], key=lambda e: size(e) or 0, reverse=not turned)
    return known + [each for each in worst if size(each) is None]


def _kinds(troubled: Iterable[GroupSummary]) -> tuple[KindCount, ...]:
    """The kinds that are found, worst first, each group counted once for a kind."""
    counts = Counter(kind for each in troubled for kind in {finding.kind for finding in each.findings})
    return tuple(KindCount(kind=kind, groups=counts[kind]) for kind in FINDING_KINDS if counts[kind])


def _teams(groups: Iterable[GroupSummary]) -> tuple[TeamCount, ...]:
    counts = Counter(team for each in groups if (team := each.team) is not None)
    return tuple([TeamCount(team=team, groups=counts[team]) for team in sorted(counts)])
