"""Warm-up: nothing is judged before the log has been read up to where it ended when the job started."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from monitor.model import Value

STANDING_BATCHES: Final = 5

NOT_REPORTED: Final = frozenset({"", "None", "null"})
"""What PySpark shows for an offset that a progress does not have."""


class SourceReport(Protocol):
    """What Spark reports of one source after a micro-batch (its SourceProgress)."""

    @property
    def description(self) -> str: ...  # noqa: D102 -- Spark's names

    @property
    def endOffset(self) -> str: ...  # noqa: D102, N802

    @property
    def latestOffset(self) -> str: ...  # noqa: D102, N802

    @property
    def numInputRows(self) -> int: ...  # noqa: D102, N802


class LogPosition(Value):
    """How far a topic has been read, and how far it reached then: the next offset of each partition."""

    read: dict[int, int]
    end: dict[int, int]
    records: int

    @property
    def behind(self) -> int:
        """Records (control records and compacted gaps counted as such) between the two."""
        return sum(max(0, end - self.read.get(partition, 0)) for partition, end in self.end.items())


def position_of(topic: str, sources: Sequence[SourceReport]) -> LogPosition | None:
    """The position in a topic after a micro-batch; None if Spark has not reported one yet.

    A source that was assigned the topic and reports no offset of it gives a position with nothing read: so it is for a
    moment after a restart, and for good when Spark passes over the topic.
    """
    for source in sources:
        assigned = f"[{topic}-" in source.description
        read = _offsets(source.endOffset, topic, assigned=assigned)
        if read is not None:
            end = _offsets(source.latestOffset, topic, assigned=assigned)
            return LogPosition(read=read, end=end or read, records=source.numInputRows)
    return None


@dataclass(slots=True)
class WarmUp:
    """The backlog seen at start: from ``begin`` to ``target``, the next offset of each partition."""

    begin: Mapping[int, int]
    target: Mapping[int, int]
    records: int = 0
    done: bool = False
    _read: Mapping[int, int] | None = None
    _standing: int = 0

    @property
    def total(self) -> int:
        """Length of the backlog in offsets."""
        return sum(max(0, end - self.begin.get(partition, 0)) for partition, end in self.target.items())

    @property
    def remaining(self) -> int:
        """How much of it is still to be read, in offsets."""
        read = {**self.begin, **(self._read or {})}
        return sum(max(0, end - read.get(partition, 0)) for partition, end in self.target.items())

    def advance(self, position: LogPosition) -> None:
        """Take note of a micro-batch that has been read."""
        if self.done:
            return
        self.records += position.records
        self._standing = self._standing + 1 if position.read == self._read else 0
        self._read = position.read
        self.done = self.remaining == 0

    def read_nothing(self, resumed: bool) -> bool:
        """Whether a log that is not empty gave no record at all: Spark's silence about internal topics.

        Either it was passed, or the reading stands at its beginning for STANDING_BATCHES micro-batches. A job that
        resumes from a checkpoint may have nothing left to read, so it is not asked.
        """
        passed = self.done or self._standing >= STANDING_BATCHES
        return passed and not resumed and self.total > 0 and self.records == 0


def _offsets(offset_json: str | None, topic: str, *, assigned: bool) -> dict[int, int] | None:
    offsets = None if offset_json is None or offset_json in NOT_REPORTED else json.loads(offset_json)
    if not isinstance(offsets, dict) or topic not in offsets:
        return {} if assigned else None
    return {int(partition): offset for partition, offset in offsets[topic].items()}
