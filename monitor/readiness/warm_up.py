"""Warm-up: nothing is judged before the log has been read up to where it ended when the job started."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from monitor.messages.formatting import counted
from monitor.model import Value, WarmUpProgress
from monitor.readiness.time_left import ProgressPoint, remaining_text, time_left_ms

STALLED_BATCHES: Final = 5

RATE_BATCHES: Final = 4
"""From how many micro-batches the pace of the reading is taken. The first of all is none of them: it starts Python."""

LOG_INTERVAL_MS: Final = 10_000
"""How often the log says what remains; with longer micro-batches, after each."""

LATE_PLAN_MS: Final = 5_000
"""A micro-batch begins within some 100 ms after it was planned, or something has stopped the process."""

LONGEST_PLAN_MS: Final = 600_000
"""See :func:`plan_age_ms`."""

NOT_REPORTED: Final = frozenset({"", "None", "null", "-"})
"""What PySpark shows for an offset that a progress does not have, and what the offset log has in its place."""


class SourceReport(Protocol):
    """What Spark reports of one source after a micro-batch (its SourceProgress)."""

    @property
    def description(self) -> str: ...  # noqa: D102 -- Spark's names

    @property
    def latestOffset(self) -> str: ...  # noqa: D102, N802

    @property
    def numInputRows(self) -> int: ...  # noqa: D102, N802


class ReportedOffsets(Value):
    """What Spark reported of a topic after a micro-batch: how far it reached (next offsets) and the records read."""

    end: dict[int, int]
    records: int


class LogPosition(Value):
    """How far a topic is read by a micro-batch, and what is known of the batch before (None: nothing).

    ``read`` is the next offset of each partition, ``events_read`` the same of the collector's events, ``share_read`` of
    the log of share state. ``late_ms`` is for how long nothing was read since it was planned, if that was unusual: what
    it has is as old.
    """

    read: dict[int, int]
    before: ReportedOffsets | None = None
    events_read: dict[int, int] = msgspec.field(default_factory=dict)
    share_read: dict[int, int] = msgspec.field(default_factory=dict)
    late_ms: int = 0

    @property
    def behind(self) -> int | None:
        """Records (control records and compacted gaps counted as such) still to read, of those that are known of."""
        if self.before is None:
            return None
        return sum(max(0, end - self.read.get(partition, 0)) for partition, end in self.before.end.items())


def planned_end(topic: str, offset_log: str) -> dict[int, int]:
    """The next offset of each partition of a topic after a micro-batch, from the file of Spark's offset log.

    The file (OffsetSeqLog of Spark 4.0.0) has a line with its version, one of JSON about the batch, and one for each
    source: "-" or JSON. Empty if no source has an offset of the topic: so it is for a moment after a restart, and for
    good when Spark passes over the topic.
    """
    for line in offset_log.splitlines()[2:]:
        offsets = _offsets(line, topic)
        if offsets is not None:
            return offsets
    return {}


def plan_age_ms(offset_log: str, machine_ms: int) -> int:
    """How long ago a micro-batch was planned (ms), by the file of Spark's offset log; 0: just now, or it is not known.

    A process that was stopped meanwhile would else take what it read before for what there is now. A step of the
    machine's clock in this moment looks the same, so an age of more than LONGEST_PLAN_MS counts as none.
    """
    lines = offset_log.splitlines()
    try:
        planned_ms = json.loads(lines[1])["batchTimestampMs"]
    except (IndexError, ValueError, KeyError, TypeError):
        return 0
    age_ms = machine_ms - planned_ms if isinstance(planned_ms, int) else 0
    return age_ms if LATE_PLAN_MS <= age_ms <= LONGEST_PLAN_MS else 0


def reported_offsets(topic: str, sources: Sequence[SourceReport]) -> ReportedOffsets | None:
    """What Spark reported of a topic; None if no source was assigned it."""
    for source in sources:
        if any(f"{before}{topic}-" in source.description for before in "[ "):
            return ReportedOffsets(end=_offsets(source.latestOffset, topic) or {}, records=source.numInputRows)
    return None


@dataclass(slots=True)
class WarmUp:
    """The backlog seen at start: from ``begin`` to ``target``, the next offset of each partition.

    ``told_ms`` is when the log last said how much there is to read; ``records`` are those that Spark reported as read,
    which it does of a micro-batch when it has ended.
    """

    begin: Mapping[int, int]
    target: Mapping[int, int]
    told_ms: int = 0
    records: int = 0
    done: bool = False
    _over: bool = False
    _read: Mapping[int, int] | None = None
    _standing: int = 0
    _readings: deque[ProgressPoint] = field(default_factory=lambda: deque(maxlen=RATE_BATCHES + 1))

    @property
    def total(self) -> int:
        """Length of the backlog in offsets."""
        return sum(max(0, end - self.begin.get(partition, 0)) for partition, end in self.target.items())

    @property
    def remaining(self) -> int:
        """How much of it is still to be read, in offsets."""
        begin, read = self.begin, self._read or {}
        return sum(max(0, end - max(begin.get(p, 0), read.get(p, 0))) for p, end in self.target.items())

    @property
    def progress(self) -> WarmUpProgress:
        """How far it is, with an estimate of the rest from the batches that have ended."""
        left_ms = time_left_ms(self._readings)
        return WarmUpProgress(total=self.total, remaining=self.remaining, left_ms=left_ms)

    def advance(self, read: Mapping[int, int]) -> None:
        """Take note of how far the micro-batch reads that begins now. Its states are those of all up to there."""
        if self.done:
            return
        self._standing = self._standing + 1 if read == self._read else 0
        self._read = read
        self.done = self.remaining == 0

    def end_batch(self, now_ms: int) -> str | None:
        """Take the time at which the micro-batch has been read; what the log should say, if anything is due."""
        if self._over:
            return None
        self._readings.append(ProgressPoint(at_ms=now_ms, remaining=self.remaining))
        if self.done:
            self._over = True
            return f"the backlog of {counted(self.total, 'offset')} has been read"
        if now_ms - self.told_ms < LOG_INTERVAL_MS:
            return None
        self.told_ms = now_ms
        return remaining_text(self.progress)

    def read_nothing(self, resumed: bool) -> bool:
        """Whether a log that is not empty gave no record at all: Spark's silence about internal topics.

        To be asked when the ``records`` of all micro-batches that have begun are counted. Either the log was passed, or
        the reading stands at its beginning for STALLED_BATCHES micro-batches. A job that resumes from a checkpoint may
        have nothing left to read, so it is not asked.
        """
        passed = self.done or self._standing >= STALLED_BATCHES
        return passed and not resumed and self.total > 0 and self.records == 0

    def is_believable(self, groups: int, resumed: bool) -> bool:
        """Whether the micro-batch that passed the end really read something, as far as is known at its end.

        Its own records are counted by Spark after it only; that it found groups is enough.
        """
        return groups > 0 or resumed or self.total == 0 or self.records > 0


def _offsets(offset_json: str | None, topic: str) -> dict[int, int] | None:
    offsets = None if offset_json is None or offset_json in NOT_REPORTED else json.loads(offset_json)
    if not isinstance(offsets, dict) or topic not in offsets:
        return None
    return {int(partition): offset for partition, offset in offsets[topic].items()}
