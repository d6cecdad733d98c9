"""How many members a group needed through a span of time, where an entry ``[[scale]]`` is for it."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluate import Judged as Verdict
from monitor.detection.ownership.catalog_view import Topics
from monitor.history.chronicle.judging import Seen
from monitor.history.chronicle.values import NeededThen
from monitor.model.scaling import ScaleMemory, Scaling
from monitor.scaling.verdicts import Scaler

KNOWN: Final = ScaleMemory(since_ms=1)
"""The group was there before the span: a number is not held back until ten minutes of it have passed."""


class NeededFollower:
    """Follows the number as a job does: what members read is measured from the beginning of the span on."""

    def __init__(self, group: str) -> None:
        self._scaler = Scaler({group: KNOWN})
        self.changes: list[NeededThen] = []

    def take(self, seen: Seen) -> None:
        """The group at the next instant."""
        target = seen.inputs.settings.scale
        if target is None:
            return
        judged = Verdict(seen.verdict, None, None)
        found = self._scaler.with_scaling(judged, seen.inputs.group, Topics(seen.catalog), seen.view, target)
        scaling = found.verdict.scaling
        if scaling is not None and (not self.changes or _is_news(self.changes[-1].scaling, scaling)):
            self.changes.append(NeededThen(seen.verdict.evaluated_ms, scaling))


def _is_news(before: Scaling, now: Scaling) -> bool:
    """Whether the number is another one, is held for another reason, or has become known or unknown."""
    return (before.wanted_members, before.hold) != (now.wanted_members, now.hold)
