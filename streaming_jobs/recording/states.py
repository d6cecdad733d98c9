"""The states after a portion of the recording, one entity at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from monitor.history.recorded import RecordedEntity, RecordedRow, is_readable
from monitor.history.replay import FIRST_PASS, Base, CatalogFold, fold_group_rows
from monitor.history.tables import STATES, day_of
from monitor.model import PassCompleted
from monitor.model.group_choice import ALL, GroupChoice
from monitor.tracking.serialization import (
    decode_connect_configs_state,
    decode_group_state,
    decode_topic_state,
    encode_state,
)

if TYPE_CHECKING:
    import pandas as pd

END: Final = 2**63 - 1
"""Later than every event."""


@dataclass(frozen=True, slots=True)
class StateFold:
    """Folds the events of one entity onto its state before. ``of_all`` are the rows that concern all entities."""

    cluster: str
    recorded_ms: int
    of_all: list[tuple[int, str, str, int, bytes]]
    groups: GroupChoice = ALL
    """The groups that are recorded: of another one nothing comes anymore, so its state would stay as it was."""

    @property
    def fold_rows(self) -> Callable[[pd.DataFrame], pd.DataFrame]:
        """The same as a function: Spark counts the parameters of what it is given, also ``self``."""
        return lambda frame: self(frame)  # noqa: PLW0108 -- see above

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The new state of the entity whose rows these are; no row if it is gone."""
        import pandas as pd  # noqa: PLC0415 -- as in streaming_jobs.buckets.processor

        entity, name = RecordedEntity(frame["entity"].iloc[0]), str(frame["name"].iloc[0])
        before: bytes | None = None
        rows: list[RecordedRow] = []
        for recorded_ms, position, events, state in zip(
            frame["recorded_ms"], frame["position"], frame["events"], frame["state"], strict=True
        ):
            if state is not None:
                before = bytes(state)
            else:
                rows.append(RecordedRow(int(recorded_ms), entity, name, int(position), bytes(events)))
        readable = [row for row in rows if is_readable(row)]
        unread = len(rows) - len(readable)
        found: list[tuple[str, bytes | None, int]]
        try:
            found = [(key, state, unread) for key, state in self._after(entity, name, before, readable)]
        except Exception:  # as in a bucket of the job: one entity's failure is its own
            # It has no state from now on: one from before would be shown as that of now.
            found = [(name, None, len(rows))]
        if unread and not found:
            found = [(name, None, unread)]
        day = day_of(self.recorded_ms)
        told = [(self.cluster, day, self.recorded_ms, entity.value, *each) for each in found]
        return pd.DataFrame(told, columns=[column.name for column in STATES.columns])

    def _after(
        self, entity: RecordedEntity, name: str, before: bytes | None, rows: list[RecordedRow]
    ) -> Iterable[tuple[str, bytes]]:
        everywhere = [RecordedRow(row[0], RecordedEntity(row[1]), *row[2:]) for row in self.of_all]
        match entity:
            case RecordedEntity.GROUP if not self.groups.has(name):
                return
            case RecordedEntity.GROUP:
                state = None if before is None else decode_group_state(before)
                after = fold_group_rows(self.cluster, name, state, [*rows, *everywhere], END)
                yield from [] if after is None else [(name, encode_state(after))]
            case RecordedEntity.TOPIC:
                yield from self._topic(name, before, [*rows, *everywhere])
            case RecordedEntity.CONNECT:
                known = {} if before is None else {name: decode_connect_configs_state(before)}
                configs = CatalogFold(self.cluster, Base(configs=known))
                configs.fold(rows, END)
                yield from [(name, encode_state(configs.configs[name]))] if name in configs.configs else []
            case RecordedEntity.PASS:
                yield from self._passes(name, before, rows)
            case _:
                return

    def _topic(self, name: str, before: bytes | None, rows: list[RecordedRow]) -> Iterable[tuple[str, bytes]]:
        known = {} if before is None else {name: decode_topic_state(before)}
        topics = CatalogFold(self.cluster, Base(topics=known))
        topics.fold([row for row in rows if row.entity is not RecordedEntity.LISTING], END)
        state = topics.topics.get(name)
        yield from [] if state is None else [(name, encode_state(state))]

    def _passes(self, name: str, before: bytes | None, rows: list[RecordedRow]) -> Iterable[tuple[str, bytes]]:
        """The newest pass, and when the first one began."""
        if name == FIRST_PASS and before is not None:
            yield FIRST_PASS, before
            return
        folded = CatalogFold(self.cluster, Base(newest_pass=None if before is None else _PASS.decode(before)))
        folded.fold(rows, END)
        if folded.newest_pass is not None:
            yield "", msgspec.msgpack.encode(folded.newest_pass)
        if before is None and folded.first_pass_ms is not None:
            yield FIRST_PASS, msgspec.msgpack.encode(folded.first_pass_ms)


_PASS: Final = msgspec.msgpack.Decoder(PassCompleted)
