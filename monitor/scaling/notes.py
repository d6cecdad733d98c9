"""What one evaluator of a group leaves to the next: in a job, workers take turns."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, Self

import msgspec

from monitor.detection.ownership.catalog_view import Topics
from monitor.model import GroupState, GroupVerdict, TopicPartition, Value
from monitor.model.scaling import ScaleHold, ScaleMemory, ScaleTarget, Scaling
from monitor.scaling.signal import RENEWED_MS, Signal

SETTLING_MS: Final = 5_000
"""Commits end this hold, which come between two passes."""

_NOTHING: Final = ScaleMemory()


class ScaleNote(Value):
    """What is remembered of a group, and its newest number.

    The number is ``scaling``, of the instant ``looked_ms`` and until ``until_ms``, with the partitions that are
    ``crowded``; None: none was made. It is made again at once where ``look`` is another one.
    """

    memory: ScaleMemory = _NOTHING
    scaling: Scaling | None = None
    until_ms: int | None = None
    crowded: tuple[TopicPartition, ...] = ()
    looked_ms: int = 0
    look: bytes = b""

    @classmethod
    def of(cls, signal: Signal, look: bytes, looked_ms: int) -> Self:
        """That of a number."""
        return cls(signal.memory, signal.scaling, signal.until_ms, signal.crowded, looked_ms, look)

    def newest_signal(self, look: bytes, now_ms: int) -> Signal | None:
        """The number, if it still holds; None: it has to be made again.

        A busy group is evaluated each second, and what a number is made of changes with each pass.
        """
        if self.scaling is None or look != self.look:
            return None
        until_ms = self.looked_ms + (SETTLING_MS if self.scaling.hold is ScaleHold.SETTLING else RENEWED_MS)
        if self.until_ms is not None:
            until_ms = min(until_ms, self.until_ms)
        is_newest = self.looked_ms <= now_ms < until_ms
        return Signal(self.scaling, self.memory, until_ms, self.crowded) if is_newest else None

    def after_gap(self) -> ScaleNote:
        """What is left of it once the group could not be evaluated for long: how fast members read."""
        return ScaleNote(ScaleMemory(rates=self.memory.rates))


_ENCODER: Final = msgspec.msgpack.Encoder()
_NOTES: Final = msgspec.msgpack.Decoder(ScaleNote)


def encode_note(note: ScaleNote) -> bytes:
    """A note for the next evaluator."""
    return _ENCODER.encode(note)


def decode_note(data: bytes) -> ScaleNote:
    """What :func:`encode_note` made."""
    return _NOTES.decode(data)


def look_at(verdict: GroupVerdict, group: GroupState, topics: Topics, target: ScaleTarget) -> bytes:
    """A digest of what makes a number be made again at once: a new pass, another target, findings or members."""
    found = [(each.kind, each.reason) for each in verdict.findings]
    away = verdict.missed_brokers, verdict.topics_without_leader
    members = verdict.generation, verdict.generation_ms, len(verdict.members)
    moves = verdict.rebalancing_since_ms, bool(verdict.handovers), bool(group.pending)
    state = topics.catalog.pass_ms, verdict.lag is None, members, moves, found, away
    return blake2b(_ENCODER.encode((target, state)), digest_size=16).digest()
