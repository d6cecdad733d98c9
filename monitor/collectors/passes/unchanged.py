"""Where an events topic holds polls that found nothing new, so that its reader may let them wait.

A poll dates the ends of all partitions again, even without new records. Reading it costs a micro-batch, and brings
nothing (docs/decisions/0035-no-batch-without-a-reason.md).
"""

from __future__ import annotations

import threading


class UnchangedPolls:
    """Polls of one collector that found what its poll before did. Its thread notes them; any thread may read."""

    def __init__(self) -> None:
        """None so far."""
        self._lock = threading.Lock()
        self._first = self._end = 0

    def note(self, first: int, end: int) -> None:
        """Remember that the offsets from ``first`` to before ``end`` are such a poll; it may follow on the one before.

        The caller knows that there was no other write in between.
        """
        with self._lock:
            if first != self._end:
                self._first = first
            self._end = end

    def end_beyond(self, offset: int) -> int:
        """Up to where a reader who has read up to an offset would find nothing new; else that offset.

        >>> polls = UnchangedPolls()
        >>> polls.note(10, 14); polls.note(14, 18)
        >>> [polls.end_beyond(offset) for offset in (9, 10, 14, 30)]
        [9, 18, 18, 30]
        >>> polls.note(20, 24)  # others have written two events before it
        >>> [polls.end_beyond(offset) for offset in (18, 20)]
        [18, 24]
        """
        with self._lock:
            return self._end if self._first <= offset <= self._end else offset
