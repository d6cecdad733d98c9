"""How many members a group needed through a span of time, where an entry ``[[scale]]`` is for it."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.catalog_view import Topics
from monitor.history.chronicle.judging import Seen
from monitor.history.chronicle.values import NeededThen
from monitor.model.scaling import ScaleMemory, Scaling
from monitor.scaling.shares import ShareTable
from monitor.scaling.signal import KNOWN_MS, ScaleCase, judge_scaling


class NeededFollower:
    """Follows the number from instant to instant: what members read is measured from the beginning of the span on.

    A job looks more often than a long span has steps, so its number may have been another one between two of them.
    """

    def __init__(self) -> None:
        self._memory = ScaleMemory(since_ms=KNOWN_MS)
        self._was_there = True
        """Before the span, so that it counts as known until there is a number."""
        self._table: tuple[AssignmentView, ShareTable] | None = None
        self.changes: list[NeededThen] = []

    def take(self, seen: Seen) -> None:
        """The group at the next instant."""
        target, view = seen.inputs.settings.scale, seen.view
        if target is None:
            return
        owners = view.ownership.owners
        if self._table is None or self._table[0] is not view:
            self._table = view, ShareTable(seen.inputs, owners)
        group, topics = view.named(seen.inputs.group), Topics(seen.catalog)
        found = judge_scaling(ScaleCase(group, seen.verdict, topics, owners, self._table[1], target), self._memory)
        self._was_there = self._was_there and found.memory.latest is None
        self._memory = replace(found.memory, since_ms=KNOWN_MS) if self._was_there else found.memory
        if not self.changes or _is_news(self.changes[-1].scaling, found.scaling):
            self.changes.append(NeededThen(seen.verdict.evaluated_ms, found.scaling))

    def take_absence(self) -> None:
        """There is no such group at the next instant."""
        self._was_there = False
        self._memory = ScaleMemory()


def _is_news(before: Scaling, now: Scaling) -> bool:
    """Whether the number is another one, is held or unknown for another reason, or the group has other members."""
    if before.wanted_members is None and now.wanted_members is None:
        return before.sentence != now.sentence
    return (before.wanted_members, before.hold, before.members) != (now.wanted_members, now.hold, now.members)
