"""A bucket: the groups, topics and sources that live together, and their events folded in. Knows no Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import msgspec

from monitor.model import (
    ConnectConfigEvent,
    ConnectConfigsState,
    DecodeFailed,
    GroupEvent,
    GroupsListed,
    GroupState,
    GrownLog,
    PassCompleted,
    Phase,
    Source,
    SourceState,
    TopicObserved,
    TopicState,
)
from monitor.tracking.connect import fold_connect_configs
from monitor.tracking.decode_errors import fold_decode_errors
from monitor.tracking.group import fold_group
from monitor.tracking.log_places import is_left_behind, note_growth, without_log
from monitor.tracking.offsets.delta import KIND, apply_delta, decode_delta, encode_delta, offset_delta
from monitor.tracking.polled.group import is_deleted
from monitor.tracking.serialization import (
    StateCorruptError,
    decode_connect_configs_state,
    decode_group_state,
    decode_grown_log,
    decode_source_state,
    decode_topic_state,
    encode_state,
)
from monitor.tracking.topic import expire_topic, fold_topic
from streaming_jobs.ingest.bucket_of import Entity

State = GroupState | TopicState | SourceState | PassCompleted | ConnectConfigsState | GrownLog
Key = tuple[Entity, str]
AnyOf = TypeVar("AnyOf")

_GROUP_EVENTS: Final = msgspec.msgpack.Decoder(list[GroupEvent])
_TOPIC_EVENTS: Final = msgspec.msgpack.Decoder(list[TopicObserved])
_PASS_EVENTS: Final = msgspec.msgpack.Decoder(list[PassCompleted])
_LISTINGS: Final = msgspec.msgpack.Decoder(list[GroupsListed])
_SOURCE_EVENTS: Final = msgspec.msgpack.Decoder(list[DecodeFailed])
_CONNECT_EVENTS: Final = msgspec.msgpack.Decoder(list[ConnectConfigEvent])
_PASS: Final = msgspec.msgpack.Decoder(PassCompleted)
_DECODERS: Final[dict[Entity, Callable[[bytes], State]]] = {
    Entity.GROUP: decode_group_state,
    Entity.TOPIC: decode_topic_state,
    Entity.SOURCE: decode_source_state,
    Entity.PASS: _PASS.decode,
    Entity.CONNECT: decode_connect_configs_state,
    Entity.PLACES: decode_grown_log,
}


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entity as it is stored. No state: it is gone."""

    entity: str
    name: str
    state: bytes | None


WHOLE_GROUP_SOURCES: Final = frozenset({Source.ADMIN, Source.SYSTEM})
"""Of these one collector reads all groups of a cluster."""

MANY_OFFSETS: Final = 100
"""Of a group with fewer committed offsets, what has moved is not worth to be told apart from the rest."""

_ENTRIES: Final = msgspec.msgpack.Decoder(list[Entry])


def pack_entries(entries: Sequence[Entry]) -> bytes:
    """Entries as one stored row: Spark's Python reads rows of a state slowly, one after the other."""
    return msgspec.msgpack.encode(entries)


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
    states: dict[Key, State] = field(default_factory=dict)
    changed: dict[Key, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    had_reading: bool = False
    _moved: dict[Key, _OffsetChange] = field(default_factory=dict)

    def load(self, entries: Iterable[Entry], batch: int) -> None:
        """Take stored entries, which were changed in that micro-batch.

        Raises:
            StateVersionError: a groupwatch with another version of the states wrote one.
            StateCorruptError: one is no state.
        """
        for entry in entries:
            entity = Entity(entry.entity)
            if entity is Entity.OFFSETS:
                self._replace((Entity.GROUP, entry.name), self._apply_offset_change(entry), batch)
            else:
                state = None if entry.state is None else _DECODERS[entity](entry.state)
                self._replace((entity, entry.name), state, batch)

    def _apply_offset_change(self, entry: Entry) -> GroupState:
        before = self.states.get((Entity.GROUP, entry.name))
        if not isinstance(before, GroupState):
            raise StateCorruptError(KIND)
        return apply_delta(before, decode_delta(entry.state or b""))

    def fold_all(self, events: Mapping[Key, Sequence[bytes]], batch: int) -> None:
        """Fold the events of a micro-batch: the payloads of each entity, in log order."""
        self.failures.clear()
        self.had_reading = False
        before = self._newest_pass()
        for (entity, name), payloads in events.items():
            if entity is not Entity.LISTING:
                self.fold(entity, name, payloads, batch)
        for (entity, _), payloads in events.items():
            if entity is Entity.LISTING:  # after the groups, as the topics below
                self.expire_groups(_flat(_LISTINGS, payloads)[-1], batch)
        if any(entity is Entity.PASS for entity, _ in events):
            self.expire_topics(batch, before)  # at the end: topics that a newer pass saw may stand behind it

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
        for state in groups:
            if is_left_behind(state, known.partitions, partitions):
                self._replace((Entity.GROUP, state.group), without_log(state), batch)

    def fold(self, entity: Entity, name: str, payloads: Sequence[bytes], batch: int) -> None:
        """Fold the events of one entity, given in log order. Its failure is noted and leaves its state as it was."""
        before = self.states.get((entity, name))
        try:
            after = self._fold_events(entity, name, before, payloads)
        except Exception as error:
            self.failures[f"{entity}/{name}"] = f"{type(error).__name__}: {error}"
            return
        if after != before:
            since = self.changed.get((entity, name), -1)
            self._replace((entity, name), after, batch)
            self._note_offset_change((entity, name), before, since)
            self.had_reading |= (
                isinstance(after, GroupState) and after.source in WHOLE_GROUP_SOURCES
            )  # only a reading changes it

    def _note_offset_change(self, key: Key, before: State | None, since: int) -> None:
        """Remember how little has changed, if it is much less than the whole."""
        after, batch = self.states.get(key), self.changed[key]
        if not isinstance(before, GroupState) or not isinstance(after, GroupState) or since >= batch:
            return
        moved = offset_delta(before, after) if len(after.offsets) >= MANY_OFFSETS else None
        if moved is not None and len(moved) < len(after.offsets):
            self._moved[key] = _OffsetChange(since, batch, Entry(Entity.OFFSETS.value, key[1], encode_delta(moved)))

    def _fold_events(self, entity: Entity, name: str, before: State | None, payloads: Sequence[bytes]) -> State | None:
        if entity is Entity.GROUP:
            assert before is None or isinstance(before, GroupState)
            return fold_group(self.cluster, name, before, _flat(_GROUP_EVENTS, payloads))
        if entity is Entity.TOPIC:
            assert before is None or isinstance(before, TopicState)
            return fold_topic(self.cluster, name, before, _flat(_TOPIC_EVENTS, payloads))
        if entity is Entity.SOURCE:
            assert before is None or isinstance(before, SourceState)
            return fold_decode_errors(self.cluster, name, before, _flat(_SOURCE_EVENTS, payloads))
        if entity is Entity.CONNECT:
            assert before is None or isinstance(before, ConnectConfigsState)
            return fold_connect_configs(self.cluster, name, before, _flat(_CONNECT_EVENTS, payloads))
        return _flat(_PASS_EVENTS, payloads)[-1]  # the log's order counts: a clock may have been set back

    def expire_topics(self, batch: int, before: PassCompleted | None = None) -> None:
        """Mark the topics that the newest completed pass did not see, drop those that it is the second to miss.

        ``before`` is the completed pass of the micro-batches before.
        """
        completed = self._newest_pass()
        if completed is None:
            return
        before_ms = before.pass_ms if before is not None else None
        for key, state in list(self.states.items()):
            if isinstance(state, TopicState):
                after = expire_topic(state, completed.pass_ms, before_ms)
                if after is not state:
                    self._replace(key, after, batch)

    def expire_groups(self, listed: GroupsListed, batch: int) -> None:
        """Drop the groups that the collector's source no longer has."""
        self.had_reading |= listed.source in WHOLE_GROUP_SOURCES
        named = frozenset(listed.groups)
        for key, state in list(self.states.items()):
            if isinstance(state, GroupState) and is_deleted(state, listed, named):
                self._replace(key, None, batch)

    def _newest_pass(self) -> PassCompleted | None:
        completed = self.states.get((Entity.PASS, ""))
        return completed if isinstance(completed, PassCompleted) else None

    def _replace(self, key: Key, state: State | None, batch: int) -> None:
        self.changed[key] = batch
        self._moved.pop(key, None)
        if state is None:
            self.states.pop(key, None)
        else:
            self.states[key] = state

    def changed_since(self, batch: int) -> list[Key]:
        """The entities that were changed or removed after a micro-batch."""
        return [key for key, changed in self.changed.items() if changed > batch]

    def forget_changes_until(self, batch: int) -> None:
        """The driver knows everything up to this micro-batch."""
        self.changed = {key: changed for key, changed in self.changed.items() if changed > batch}
        self._moved = {key: moved for key, moved in self._moved.items() if moved.batch > batch}

    def changes_since(self, batch: int) -> list[Entry]:
        """What has changed after a micro-batch, for a reader who knows all until then: as little as can be said."""
        entries: list[Entry] = []
        for key in self.changed_since(batch):
            moved = self._moved.get(key)
            entries += [moved.entry] if moved is not None and moved.since <= batch else self.entries([key])
        return entries

    def entries(self, keys: Iterable[Key]) -> list[Entry]:
        """These entities as they are stored."""
        return [Entry(entity.value, name, encode_payload(self.states.get((entity, name)))) for entity, name in keys]

    def groups(self) -> dict[str, GroupState]:
        """The groups by name; without those that no log of groups has yet, of which only share state is known."""
        return {
            name: state
            for (_, name), state in self.states.items()
            if isinstance(state, GroupState) and state.phase is not Phase.UNSEEN
        }


def unpack_entries(row: bytes) -> list[Entry]:
    """The entries of a stored row.

    Raises:
        StateCorruptError: it is none.
    """
    try:
        return _ENTRIES.decode(row)
    except msgspec.DecodeError as error:
        raise StateCorruptError("bucket") from error


def encode_payload(state: State | None) -> bytes | None:
    """A state as bytes."""
    if state is None:
        return None
    return msgspec.msgpack.encode(state) if isinstance(state, PassCompleted) else encode_state(state)


def _flat(decoder: msgspec.msgpack.Decoder[list[AnyOf]], payloads: Sequence[bytes]) -> list[AnyOf]:
    return [event for payload in payloads for event in decoder.decode(payload)]
