"""What became of expectations: a check for each, with a sentence; unknown is never met."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.model import Value
from monitor.model.expectations import Met


class Check(Value):
    """One expectation and what there is."""

    key: str
    """The key of the file; or findings, owned, committed, replaced; or cluster: nothing is known."""
    met: Met
    """yes, no, or unknown."""
    sentence: str
    """What there is, and what was expected if it is something else."""


class GroupOutcome(Value):
    """The checks of one group, or of a pattern that no group matches."""

    cluster: str
    group: str
    """The name of the group, or the expression that no group matches."""
    met: Met
    """yes: all checks are met; no: one is not; unknown: one is unknown, and the others are met."""
    checks: tuple[Check, ...]
    """The checks."""
    team: str | None = None
    """Whose group it is; absent: the file does not say it."""


class Outcome(Value):
    """The checks of all groups. ``met`` is that of the whole: not met goes before unknown, which goes before met."""

    met: Met
    groups: tuple[GroupOutcome, ...]
    evaluated_ms: int
    """As of when (ms since the epoch)."""


def combine(found: Iterable[Met]) -> Met:
    """What several are together. Nothing at all is unknown: an empty file must not pass.

    >>> combine([Met.YES, Met.UNKNOWN]), combine([Met.UNKNOWN, Met.NO]), combine([Met.YES]), combine([])
    (<Met.UNKNOWN: 'unknown'>, <Met.NO: 'no'>, <Met.YES: 'yes'>, <Met.UNKNOWN: 'unknown'>)
    """
    seen = set(found)
    if Met.NO in seen:
        return Met.NO
    return Met.YES if seen == {Met.YES} else Met.UNKNOWN


def group_outcome(cluster: str, group: str, checks: Iterable[Check], team: str | None = None) -> GroupOutcome:
    """The checks of a group, with what they are together."""
    kept = tuple(checks)
    return GroupOutcome(cluster=cluster, group=group, met=combine([each.met for each in kept]), checks=kept, team=team)


def outcome_of(groups: Iterable[GroupOutcome], evaluated_ms: int) -> Outcome:
    """The checks of all, those that are not met first, then those that are unknown, each by name."""
    order = (Met.NO, Met.UNKNOWN, Met.YES)
    kept = tuple(sorted(groups, key=lambda each: (order.index(each.met), each.cluster, each.group)))
    return Outcome(met=combine([each.met for each in kept]), groups=kept, evaluated_ms=evaluated_ms)
