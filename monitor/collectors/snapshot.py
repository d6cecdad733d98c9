"""What the collectors of systems without a log of their groups have in common: one reading of everything, and a reader.

Who writes a collector for another system writes a reader; rhythm, writing and failures are those of
:mod:`monitor.collectors.polling`.
"""

from __future__ import annotations

from typing import Protocol

from monitor.model import GroupObserved, Source, TopicObserved, Value


class SourceSnapshot(Value):
    """All groups of a system, and the topics that they read, as they were within one pass.

    ``complete`` False: something did not answer, so that what is missing here may still exist. ``problems`` says what,
    each a sentence for a person; of a complete reading they are warnings. A system whose topics are another cluster's,
    as a Spark query's are, has none here.
    ``listed`` are the names of all groups that there are, where those that have not changed are not in ``groups``;
    None: all are. ``source_id``: see ``monitor.model.PassCompleted``.
    """

    source: Source
    topics: tuple[TopicObserved, ...] = ()
    groups: tuple[GroupObserved, ...] = ()
    complete: bool = True
    problems: tuple[str, ...] = ()
    listed: tuple[str, ...] | None = None
    source_id: str | None = None


class SnapshotReader(Protocol):
    """Reads a system. For one thread; what it holds open, it closes and opens again by itself."""

    def read(self, pass_ms: int) -> SourceSnapshot:
        """Everything, now; ``pass_ms`` is when this pass began.

        Raises:
            CollectorError: the system cannot be read at all; the text names what and where.
        """

    def close(self) -> None:
        """Close what is open. The next reading opens it again."""
