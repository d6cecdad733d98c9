"""The states after a portion of the recording, one entity at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import astuple

from monitor.history.held import StateRow, base_of
from monitor.history.recorded import RecordedRow, is_readable
from monitor.history.replay import fold_catalog, fold_group_rows
from monitor.history.tables import STATES, StatesRow, day_of
from monitor.kinds.offset_expiry import is_forgotten
from monitor.model import Entity
from monitor.model.group_choice import ALL, GroupChoice
from monitor.tracking.cluster_fold import NEWEST_PASS, PASS_HISTORY, ClusterFold, Key
from monitor.tracking.serialization import decode_group_state, encode_state

if TYPE_CHECKING:
    import pandas as pd

END: Final = 2**63 - 1
"""Later than every event."""


@dataclass(frozen=True, slots=True)
class StateFold:
    """Folds the events of one entity onto its state before.

    ``of_all`` are the rows that concern all entities, ``passes`` the states of passes before these.
    """

    cluster: str
    recorded_ms: int
    of_all: list[tuple[int, str, str, int, bytes]]
    groups: GroupChoice = ALL
    """The groups that are recorded: of another one nothing comes anymore, so its state would stay as it was."""
    passes: tuple[StateRow, ...] = ()

    @property
    def fold_rows(self) -> Callable[[pd.DataFrame], pd.DataFrame]:
        """The same as a function: Spark counts the parameters of what it is given, also ``self``."""
        return lambda frame: self(frame)  # noqa: PLW0108 -- see above

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The new state of the entity whose rows these are; no row if it is gone."""
        import pandas as pd  # noqa: PLC0415 -- as in streaming_jobs.buckets.processor

        entity, name = Entity(frame["entity"].iloc[0]), str(frame["name"].iloc[0])
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
        new_row = partial(StatesRow, self.cluster, day_of(self.recorded_ms), self.recorded_ms)
        try:
            after = self._after(entity, name, before, readable)
            found = [new_row(about.value, own, state, unread) for about, own, state in after]
        except Exception:  # as in a bucket of the job: one entity's failure is its own
            # It has no state from now on: one from before would be shown as that of now.
            found = [new_row(entity.value, name, None, len(rows))]
        if unread and not found:
            found = [new_row(entity.value, name, None, unread)]
        return pd.DataFrame(map(astuple, found), columns=[column.name for column in STATES.columns])

    def _after(
        self, entity: Entity, name: str, before: bytes | None, rows: list[RecordedRow]
    ) -> Iterable[tuple[Entity, str, bytes]]:
        of_all = [RecordedRow(row[0], Entity(row[1]), *row[2:]) for row in self.of_all]
        key = entity, name
        match entity:
            case Entity.GROUP:
                if self.groups.has(name):
                    known = None if before is None else decode_group_state(before)
                    state = fold_group_rows(self.cluster, name, known, [*rows, *of_all], END)
                    is_gone = state is None or is_forgotten(state, self.recorded_ms)
                    yield from [] if state is None or is_gone else [(*key, encode_state(state))]
            case Entity.TOPIC | Entity.CONNECT:
                yield from self._states_of([key], [*self._rows_before(key, before), *self.passes], [*rows, *of_all])
            case Entity.PASS if name == "":
                yield from self._states_of([NEWEST_PASS, PASS_HISTORY], self.passes, rows)
            case _:
                return

    @staticmethod
    def _rows_before(key: Key, before: bytes | None) -> list[StateRow]:
        return [] if before is None else [StateRow(*key, before)]

    def _states_of(
        self, keys: Iterable[Key], before: Iterable[StateRow], rows: list[RecordedRow]
    ) -> Iterator[tuple[Entity, str, bytes]]:
        """The states of some entities after the rows; an entity that is gone has none."""
        fold = ClusterFold(self.cluster, base_of(self.recorded_ms, before).states)
        fold_catalog(fold, rows, END)
        for key in keys:
            if key in fold.states:
                yield *key, encode_state(fold.states[key])
