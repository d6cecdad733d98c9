"""Groups of a cluster that are alike in a finding, with no action for each of them: one line for all.

Groups of one process each leave a group for every start, and MirrorMaker 2 keeps a group for each of the source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from monitor.findings.table import spec_of
from monitor.messages.formatting import counted
from monitor.messages.names import listed, shown
from monitor.messages.notification import utc
from monitor.model import MOST, FindingKind, GroupSummary, Value
from monitor.model.findings import Severity

FEWEST_ALIKE: Final = 4
"""So many groups are shown as one line; fewer each have their own."""

FEWEST_LEFT: Final = 2
"""So many groups keep a record that they have together: one group that comes and goes is no news of the others."""


class AlikeGroups(Value):
    """Groups that have the same finding and no other."""

    kind: FindingKind
    """The kind of finding."""
    reason: str
    severity: Severity
    pattern: str
    """The names of the groups, with * for each part that differs; empty: any names."""
    groups: int
    """Number of these groups."""
    since_ms: int
    """When the first of these findings started (ms since the epoch)."""
    lag: int
    """The lag of these groups in total, as far as it is known (records)."""
    sentence: str
    advice: str


AlikeBy = tuple[str, str]
"""What groups have in common: the reason of their finding, and the pattern of their names."""


def alike_by(group: GroupSummary) -> AlikeBy | None:
    """What a group may have in common with others; None: it is shown by itself."""
    is_alone = len(group.findings) == 1 and not group.subordinate and group.unjudged is None
    if not is_alone or group.findings[0].kind is not FindingKind.UNATTENDED:
        return None
    reason = group.findings[0].reason
    if reason == "one_off" and group.short_life is not None:
        return reason, group.short_life.pattern
    return (reason, "") if reason in _KEPT else None


def alike_groups(groups: Iterable[GroupSummary], known: Collection[AlikeBy] = ()) -> dict[AlikeBy, AlikeGroups]:
    """The groups of a cluster of one line, by what they have in common, most groups first.

    Groups of the lines ``known`` stay one while :data:`FEWEST_LEFT` of them are left.
    """
    found: dict[AlikeBy, list[GroupSummary]] = defaultdict(list)
    for group in groups:
        common = alike_by(group) if group.findings else None
        if common is not None:
            found[common].append(group)
    alike = {
        common: _alike(common, own)
        for common, own in found.items()
        if len(own) >= (FEWEST_LEFT if common in known else FEWEST_ALIKE)
    }
    return dict(sorted(alike.items(), key=lambda each: (-each[1].groups, each[0])))


def alike_text(cluster: str, found: AlikeGroups) -> str:
    """The finding of alike groups in full: whose it is, what, since when, and what to do."""
    return f"Cluster {shown(cluster)}: {found.sentence} The first began at {utc(found.since_ms)}. {found.advice}"


def _alike(common: AlikeBy, groups: list[GroupSummary]) -> AlikeGroups:
    reason, pattern = common
    spec = spec_of(FindingKind.UNATTENDED, reason)
    lag = min(MOST, sum(group.known_lag or 0 for group in groups))
    many, waiting = counted(len(groups), "group"), counted(lag, "record")
    if reason == "one_off":
        sentence = (
            f"{many} named {shown(pattern)} were each used by one process, which has left. "
            f"Their lag is {waiting} in total."
        )
        advice = _ONE_OFF_ADVICE
    else:
        names = listed(sorted(group.group for group in groups))
        sentence = f"{many} ({names}) have {_KEPT[reason]}. Their lag is {waiting} in total."
        advice = spec.advice_for(groups[0].kind) or ""
    return AlikeGroups(
        kind=spec.kind,
        reason=reason,
        severity=spec.severity,
        pattern=pattern,
        groups=len(groups),
        since_ms=min(group.findings[0].since_ms for group in groups),
        lag=lag,
        sentence=sentence,
        advice=advice,
    )


_ONE_OFF_ADVICE: Final = (
    "Nothing is to be done: their offsets expire. To leave no such groups, let these processes not commit "
    "(enable.auto.commit=false) or assign their partitions, or delete the group at the end. [metrics] deny_groups "
    "leaves out their series."
)

_KEPT: Final[Mapping[str, str]] = {
    "kept": "offsets that MirrorMaker 2 seems to copy, which it does only when they move",
    "not_synced": "offsets that MirrorMaker 2 seems to have copied, and records go on without it",
}

ALIKE_REASONS: Final = frozenset({"one_off", *_KEPT})
"""The reasons that groups may have in common."""
