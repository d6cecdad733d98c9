"""A group at one instant of a portion after the other: each event is folded once, and not again for every instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from monitor.history.recorded import RecordedRow, in_order, until
from monitor.model import AnyEvent, GroupState
from monitor.tracking.group import fold_group

MOST_KEPT: Final = 16
"""So many states are kept, so that somebody who goes back a few instants need not begin with the portion."""


class _Known(NamedTuple):
    """The group after the first so many events of the portion, all of which had happened by an instant."""

    at_ms: int
    events: int
    state: GroupState | None


class PortionFold:
    """The events of a group in one portion, folded as far as it has been asked for."""

    def __init__(self, cluster: str, group: str, before: GroupState | None, rows: Sequence[RecordedRow]) -> None:
        """Decode the rows, which are all of the group.

        Raises:
            RecordingError: the recording is damaged.
        """
        self._cluster, self._group = cluster, group
        self._events = in_order(rows)
        self._known = [_Known(-1, 0, before)]

    def state(self, at_ms: int) -> GroupState | None:
        """The group at an instant; None: there was none.

        A run of commits that has only begun is folded in part. What comes behind it in the log is folded again with it.
        """
        while len(self._known) > 1 and self._known[-1].at_ms > at_ms:
            self._known.pop()
        known = self._forward(at_ms)
        rest = self._events[known.events :]
        return self._after(known.state, until(rest, at_ms)) if rest else known.state

    def _forward(self, at_ms: int) -> _Known:
        """Fold what had happened by an instant without a gap."""
        last = self._known[-1]
        end = last.events
        while end < len(self._events) and self._events[end].at_ms <= at_ms:
            end += 1
        if end == last.events:
            return last
        whole = (event.event for event in self._events[last.events : end])
        self._known.append(_Known(at_ms, end, self._after(last.state, whole)))
        if len(self._known) > MOST_KEPT:
            del self._known[1]
        return self._known[-1]

    def _after(self, state: GroupState | None, events: Iterable[AnyEvent]) -> GroupState | None:
        return fold_group(self._cluster, self._group, state, events)  # type: ignore[arg-type] # they are the group's
