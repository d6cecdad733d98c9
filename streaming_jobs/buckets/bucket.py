"""A bucket: the groups, topics and sources that live together, and their events folded in. Knows no Spark."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from monitor.kinds.offset_expiry import is_forgotten, is_shown, retention_of
from monitor.model import (
    ConnectConfigEvent,
    DecodeFailed,
    Entity,
    GroupEvent,
    GroupsListed,
    GroupState,
    GrownLog,
    PassCompleted,
    PassTopicsCounted,
    Phase,
    PieceBegun,
    Source,
    TopicObserved,
)
from monitor.tracking.cluster_fold import ClusterFold, Key
from monitor.tracking.log_places import note_growth
from monitor.tracking.offsets.delta import KIND, apply_delta, decode_delta, encode_delta, offset_delta
from monitor.tracking.serialization import STATE_DECODERS, EntityState, StateCorruptError, encode_state

_EVENT_DECODERS: Final[Mapping[Entity, Callable[[bytes], list[Any]]]] = MappingProxyType(
    {
        Entity.GROUP: msgspec.msgpack.Decoder(list[GroupEvent | PieceBegun]).decode,
        Entity.TOPIC: msgspec.msgpack.Decoder(list[TopicObserved | PieceBegun]).decode,
        Entity.PASS: msgspec.msgpack.Decoder(list[PassTopicsCounted | PassCompleted]).decode,
        Entity.LISTING: msgspec.msgpack.Decoder(list[GroupsListed]).decode,
        Entity.SOURCE: msgspec.msgpack.Decoder(list[DecodeFailed | PieceBegun]).decode,
        Entity.CONNECT: msgspec.msgpack.Decoder(list[ConnectConfigEvent | PieceBegun]).decode,
    }
)

_ENDED_BY: Final = MappingProxyType({Entity.GROUP: Entity.LISTING, Entity.TOPIC: Entity.PASS})
"""What ends a poll: a listing that of groups, the end of a pass that of topics."""


class EventRow(NamedTuple):
    """Some events of one entity, and the place of the first of them in its log.

    Where a row of the events log continues behind the end of a pass or a listing, it has a PieceBegun.
    """

    position: int
    entity: Entity
    name: str
    payload: bytes


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entity as it is stored. No state: it is gone."""

    entity: str
    name: str
    state: bytes | None


WHOLE_GROUP_SOURCES: Final = frozenset({Source.ADMIN, Source.SYSTEM})
"""The sources of which one collector reads all groups of a cluster."""

FORGET_EVERY: Final = 100
"""After so many micro-batches, groups are looked for that can be forgotten."""

MANY_OFFSETS: Final = 100
"""In a group with fewer committed offsets, it is not worth separating what has moved from the rest."""

_ENTRIES: Final = msgspec.msgpack.Decoder(list[Entry])


def pack_entries(entries: Sequence[Entry]) -> bytes:
    """Entries as one stored row: Spark's Python reads rows of a state slowly, one after the other."""
    return msgspec.msgpack.encode(entries)


class _Piece(NamedTuple):
    """The events of a row up to the end of a pass or a listing, and where the first of them stood."""

    position: int
    name: str
    events: list[Any]


class _OffsetChange(NamedTuple):
    """The offsets of a group that a micro-batch moved. Until then it was what it had been ``since`` another one."""

    since: int
    batch: int
    entry: Entry


@dataclass(slots=True)
class Bucket:
    """The entities of one bucket, changed in place while a micro-batch is folded in.

    ``changed`` says in which micro-batch an entity was last changed, or removed; only of micro-batches that the driver
    may not know yet. ``had_reading``: the newest micro-batch had something of a reading of the cluster's groups, which
    are not Spark's queries: those tell nothing of the others.
    """

    cluster: str
    changed: dict[Key, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    had_reading: bool = False
    _fold: ClusterFold = field(init=False)
    _moved: dict[Key, _OffsetChange] = field(default_factory=dict)
    _failed: set[Key] = field(default_factory=set)
    """The entities whose events could not be folded in this micro-batch."""

    def __post_init__(self) -> None:
        self._fold = ClusterFold(self.cluster)

    @property
    def states(self) -> dict[Key, EntityState]:
        """What is known of each entity."""
        return self._fold.states

    def load(self, entries: Iterable[Entry], batch: int) -> None:
        """Take stored entries, which were changed in that micro-batch.

        Raises:
            StateVersionError: a groupwatch with another version of the states wrote one.
            StateCorruptError: one is no state.
        """
        for entry in entries:
            entity = _known_entity(entry.entity)
            if entity is Entity.OFFSETS:
                self._replace((Entity.GROUP, entry.name), self._apply_offset_change(entry), batch)
            else:
                state = None if entry.state is None else STATE_DECODERS[entity](entry.state)
                self._replace((entity, entry.name), state, batch)

    def _apply_offset_change(self, entry: Entry) -> GroupState:
        before = self.states.get((Entity.GROUP, entry.name))
        if not isinstance(before, GroupState):
            raise StateCorruptError(KIND)
        return apply_delta(before, decode_delta(entry.state or b""))

    def fold_all(self, rows: Iterable[EventRow], batch: int) -> None:
        """Fold the events of a micro-batch, those of each log in its order."""
        self.failures.clear()
        self._failed.clear()
        self.had_reading = False
        found: dict[Entity, list[_Piece]] = defaultdict(list)
        for row in rows:
            found[row.entity] += self._pieces(row)
        for pieces in found.values():
            pieces.sort(key=_position)
        for entity, end in _ENDED_BY.items():
            self._fold_in_order(entity, found[entity], end, found[end], batch)
        for entity in (Entity.SOURCE, Entity.CONNECT):
            self._fold_by_name(entity, found[entity], batch)

    def _pieces(self, row: EventRow) -> list[_Piece]:
        """The events of a row, cut where it continues behind the end of a pass or a listing."""
        try:
            events = _EVENT_DECODERS[row.entity](row.payload)
        except Exception as error:
            self._note_failure((row.entity, row.name), error)
            return []
        cuts = [place for place, event in enumerate(events) if isinstance(event, PieceBegun)]
        positions = [row.position, *[events[cut].position for cut in cuts]]
        begins, ends = [0, *[cut + 1 for cut in cuts]], [*cuts, len(events)]
        spans = zip(positions, begins, ends, strict=True)
        return [_Piece(position, row.name, events[begin:end]) for position, begin, end in spans]

    def _fold_in_order(
        self, entity: Entity, pieces: list[_Piece], end: Entity, ends: Sequence[_Piece], batch: int
    ) -> None:
        """Fold the pieces of all entities of a kind, and between them what ends a poll of these."""
        begin = 0
        for each in ends:
            place = bisect_left(pieces, each.position, lo=begin, key=_position)
            self._fold_by_name(entity, pieces[begin:place], batch)
            self._take(end, each.name, each.events, batch)
            begin = place
        self._fold_by_name(entity, pieces[begin:], batch)

    def _fold_by_name(self, entity: Entity, pieces: Iterable[_Piece], batch: int) -> None:
        events: dict[str, list[Any]] = defaultdict(list)
        for piece in pieces:
            events[piece.name] += piece.events
        for name, own in events.items():
            self._take(entity, name, own, batch)

    def place_groups(self, partitions: int, batch: int, now_ms: int) -> None:
        """Drop the groups that the brokers look for elsewhere, if they place groups by more partitions than before.

        ``partitions`` 0: by how many is not known. ``now_ms``: the time of the micro-batch.
        """
        key = (Entity.PLACES, "")
        known = self.states.get(key)
        if not isinstance(known, GrownLog):
            if partitions:
                self._replace(key, GrownLog(partitions), batch)
            return
        if partitions <= known.partitions:
            return
        groups = [state for state in self.states.values() if isinstance(state, GroupState)]
        self._replace(key, note_growth(known, partitions, now_ms, groups), batch)
        self._note(self._fold.move_groups(known.partitions, partitions), batch)

    def _take(self, entity: Entity, name: str, events: list[Any], batch: int) -> None:
        """Fold the events of one entity. Its failure is noted and leaves its state as it was."""
        try:
            self._take_events(entity, name, events, batch)
        except Exception as error:
            self._note_failure((entity, name), error)

    def _note_failure(self, key: Key, error: Exception) -> None:
        entity, name = key
        self.failures[f"{entity}/{name}"] = f"{type(error).__name__}: {error}"
        self._failed.add(key)

    def _take_events(self, entity: Entity, name: str, events: list[Any], batch: int) -> None:
        match entity:
            case Entity.PASS:
                for event in events:
                    self._note(self._fold.take_pass(event, self._failed), batch)
            case Entity.LISTING:
                for listed in events:
                    self.had_reading |= listed.source in WHOLE_GROUP_SOURCES
                    self._note(self._fold.take_listing(listed), batch)
            case _:
                before = self.states.get((entity, name))
                if self._fold.take(entity, name, events):
                    self._note_change((entity, name), before, batch)

    def _note_change(self, key: Key, before: EntityState | None, batch: int) -> None:
        """Remember that an entity has changed; of a group, how little, if that is much less than the whole."""
        since, after = self.changed.get(key, -1), self.states.get(key)
        self._note([key], batch)
        if not isinstance(after, GroupState):
            return
        self.had_reading |= after.source in WHOLE_GROUP_SOURCES  # only a reading changes it
        if not isinstance(before, GroupState) or since >= batch:
            return
        moved = offset_delta(before, after) if len(after.offsets) >= MANY_OFFSETS else None
        if moved is not None and len(moved) < len(after.offsets):
            self._moved[key] = _OffsetChange(since, batch, Entry(Entity.OFFSETS.value, key[1], encode_delta(moved)))

    def _replace(self, key: Key, state: EntityState | None, batch: int) -> None:
        self._note([key], batch)
        if state is None:
            self.states.pop(key, None)
        else:
            self.states[key] = state

    def _note(self, keys: Iterable[Key], batch: int) -> None:
        for key in keys:
            self.changed[key] = batch
            self._moved.pop(key, None)

    def changed_since(self, batch: int) -> list[Key]:
        """The entities that were changed or removed after a micro-batch."""
        return [key for key, changed in self.changed.items() if changed > batch]

    def forget_changes_until(self, batch: int) -> None:
        """The driver knows everything up to this micro-batch."""
        self.changed = {key: changed for key, changed in self.changed.items() if changed > batch}
        self._moved = {key: moved for key, moved in self._moved.items() if moved.batch > batch}

    def changes_since(self, batch: int) -> list[Entry]:
        """What has changed after a micro-batch, for a reader who knows all until then: as little as possible."""
        entries: list[Entry] = []
        for key in self.changed_since(batch):
            moved = self._moved.get(key)
            entries += [moved.entry] if moved is not None and moved.since <= batch else self.entries([key])
        return entries

    def entries(self, keys: Iterable[Key]) -> list[Entry]:
        """These entities as they are stored."""
        return [Entry(entity.value, name, _payload_of(self.states.get((entity, name)))) for entity, name in keys]

    def groups(self, now_ms: int = 0) -> dict[str, GroupState]:
        """The groups by name at an instant; 0: whatever its age, what remains of deleted ones counts.

        Left out are those that no log of groups has yet, of which only share state is known, and those of which only
        offsets remain that an administrator deleted.
        """
        newest = self._fold.newest_pass
        retention = None if newest is None else retention_of(newest, self._fold.pass_history.former_retentions)
        unseen = Phase.UNSEEN
        return {
            name: state
            for (_, name), state in self.states.items()
            if isinstance(state, GroupState) and (state.phase is not unseen or is_shown(state, retention, now_ms))
        }

    def forget_deleted(self, batch: int, now_ms: int) -> None:
        """Now and then, drop the groups of which only deleted offsets remain that are reported no more."""
        if batch % FORGET_EVERY:
            return
        states = [(key, state) for key, state in self.states.items() if key[0] is Entity.GROUP]
        for key, state in states:
            if isinstance(state, GroupState) and is_forgotten(state, now_ms):
                self._replace(key, None, batch)


def _known_entity(entity: str) -> Entity:
    """The entity of a stored entry.

    Raises:
        StateCorruptError: this groupwatch knows none of that name; a newer one may.
    """
    try:
        return Entity(entity)
    except ValueError as error:
        raise StateCorruptError(f"state that this groupwatch knows ({entity})") from error


def unpack_entries(row: bytes) -> list[Entry]:
    """The entries of a stored row.

    Raises:
        StateCorruptError: it is none.
    """
    try:
        return _ENTRIES.decode(row)
    except msgspec.DecodeError as error:
        raise StateCorruptError("bucket") from error


def _payload_of(state: EntityState | None) -> bytes | None:
    return None if state is None else encode_state(state)


_position: Final = attrgetter("position")
