"""A recording in memory, as the tables of a real one have it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from monitor.history.chronicle.writer import chronicle_of
from monitor.history.recorded import RecordedRow, RecordedSettings, decode_events, encode_settings
from monitor.history.replay import Base, Recording
from monitor.history.story import GroupStory, story_of
from monitor.tracking.cluster_fold import Key


class MemoryRecording:
    """Rows, and states after some of them."""

    def __init__(
        self, rows: Sequence[RecordedRow], bases: Sequence[Base] = (), settings: RecordedSettings | None = None
    ) -> None:
        self.every_row = rows
        self._bases = bases
        self._settings = settings

    def base(self, _: str, at_ms: int, keys: Collection[Key]) -> Base:
        return max((each for each in self._bases if each.recorded_ms <= at_ms), key=_recorded_ms, default=Base())

    def reach_ms(self, _: str) -> int:
        return max(row.recorded_ms for row in self.every_row)

    def settings(self, _cluster: str, _at_ms: int) -> bytes | None:
        return None if self._settings is None else encode_settings(self._settings)

    def rows(self, _: str, after_ms: int, at_ms: int, keys: Collection[Key]) -> list[RecordedRow]:
        return [
            row
            for row in self.every_row
            if row.recorded_ms > after_ms and (row.entity, row.name) in keys and _first_ms(row) <= at_ms
        ]


def _recorded_ms(base: Base) -> int:
    return base.recorded_ms


def _first_ms(row: RecordedRow) -> int:
    return min(recorded.begun_ms for recorded in decode_events(row))


def tell_story(recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int) -> GroupStory | None:
    """What the command history and the API tell of a group; None: it was not known in that time."""
    chronicle = chronicle_of(recording, cluster, group, since_ms, until_ms)
    return None if chronicle is None else story_of(chronicle)
