"""All that is known of a cluster, or of a part of it, and how each event changes it.

This is the only place that knows what a pass, a listing and a growth of the offsets topic do to the entities of a
cluster. The job's buckets, the recording, the doctor and captured logs fold by it, each with its own storage. The job
gives it events in the order of their log, the recording by the times of the records, which the brokers set in that
order. How events are cut into micro-batches or portions then makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from msgspec.structs import replace

from monitor.kinds.offset_expiry import retention_of, with_retention
from monitor.model import (
    Catalog,
    ConnectConfigsState,
    Entity,
    GroupsListed,
    GroupState,
    PassCompleted,
    PassHistory,
    PassTopicsCounted,
    SourceState,
    TopicState,
)
from monitor.tracking.brokers import brokers_after
from monitor.tracking.connect import fold_connect_configs
from monitor.tracking.decode_errors import fold_decode_errors
from monitor.tracking.group import fold_group
from monitor.tracking.log_places import is_left_behind, without_log
from monitor.tracking.offsets_topic import health_after
from monitor.tracking.polled.group import is_deleted
from monitor.tracking.serialization import EntityState
from monitor.tracking.topic import catalog_of, expire_topic, fold_topic

Key = tuple[Entity, str]
"""An entity and its name."""

NEWEST_PASS: Final[Key] = (Entity.PASS, "")
PASS_HISTORY: Final[Key] = (Entity.PASSES, "")

MAX_COUNTED_PASSES: Final = 4
"""How many passes have their topics counted at a time: several collectors may read one cluster."""

MISSED_MS: Final = 3_600_000
"""For so long a topic stays that only passes miss whose events are incomplete. Where an event of each pass is refused,
deleted topics would otherwise stay for ever."""


HIDDEN_MS: Final = 86_400_000
"""For so long a topic is known that passes no longer see: it was deleted, or the permission to see it taken away."""


class ClusterFold:
    """The entities of a cluster, or some of them, while events are folded in.

    ``states`` has what is known, by entity and name. Each method says what it changed, so that a caller can store it.
    """

    __slots__ = ("cluster", "states")

    def __init__(self, cluster: str, states: Mapping[Key, EntityState] | None = None) -> None:
        self.cluster = cluster
        self.states: dict[Key, EntityState] = dict(states or {})

    def copy(self) -> ClusterFold:
        """The same, to be folded on by itself."""
        return ClusterFold(self.cluster, self.states)

    def take(self, entity: Entity, name: str, events: Iterable[Any]) -> bool:
        """Fold the events of one entity, in the order of their log; whether they changed it.

        Args:
            entity: GROUP, TOPIC, SOURCE or CONNECT; what ends a pass or lists groups has methods of its own.
            name: which of these.
            events: all are of this entity.
        """
        return self._put((entity, name), self._after(entity, name, events))

    def _after(self, entity: Entity, name: str, events: Iterable[Any]) -> EntityState | None:
        before = self.states.get((entity, name))
        match entity:
            case Entity.GROUP:
                assert before is None or isinstance(before, GroupState)
                return fold_group(self.cluster, name, before, events)
            case Entity.TOPIC:
                assert before is None or isinstance(before, TopicState)
                return fold_topic(self.cluster, name, before, events)
            case Entity.CONNECT:
                assert before is None or isinstance(before, ConnectConfigsState)
                return fold_connect_configs(self.cluster, name, before, events)
            case _:
                assert before is None or isinstance(before, SourceState)
                return fold_decode_errors(self.cluster, name, before, events)

    def take_pass(
        self, event: PassTopicsCounted | PassCompleted, unfolded: AbstractSet[Key] = frozenset()
    ) -> list[Key]:
        """Take an event of a pass, after the topics that it saw; what has changed.

        A complete pass marks the topics that it did not see. A topic that two in a row have missed is gone. With an
        id, it is hidden for HIDDEN_MS, as it may come back. A pass is not complete if it names more topics than were
        counted, as their events were lost: for it, only topics are gone that no pass has seen for MISSED_MS. Without a
        count, as in older recordings, a pass is taken for complete. A pass whose end was written twice ends once.

        ``unfolded``: topics whose events could not be folded; whether the pass saw them is not known.
        """
        if isinstance(event, PassTopicsCounted):
            self.states[PASS_HISTORY] = _with_count(self.pass_history, event)
            return [PASS_HISTORY]
        before = self.newest_pass
        if event == before:
            return []
        before_ms = None if before is None else before.pass_ms
        lost = _lost_topics(self.pass_history, event)
        changed = []
        for key, state in list(self.states.items()):
            if not isinstance(state, TopicState) or key in unfolded:
                continue
            if self._put(key, _topic_after(state, event.pass_ms, before_ms, lost)):
                changed.append(key)
        history = with_retention(self.pass_history, before, event)
        self.states[PASS_HISTORY] = _with_end(history, event, lost, before_ms)
        self.states[NEWEST_PASS] = event
        return [*changed, PASS_HISTORY, NEWEST_PASS]

    def take_listing(self, listed: GroupsListed, named: AbstractSet[str] | None = None) -> list[Key]:
        """Drop the groups that the collector's source no longer has, behind what was read of them; what has changed.

        ``named``: the groups of the listing, for a caller who has them as a set.
        """
        groups = frozenset(listed.groups) if named is None else named
        gone = [key for key, state in self._groups() if is_deleted(state, listed, groups)]
        for key in gone:
            del self.states[key]
        return gone

    def move_groups(self, before: int, partitions: int) -> list[Key]:
        """Drop what came from the log of groups that the brokers look for elsewhere by now; what has changed.

        Args:
            before: by how many partitions of the offsets topic groups were placed.
            partitions: by how many they are placed now.
        """
        moved = [(key, state) for key, state in self._groups() if is_left_behind(state, before, partitions)]
        return [key for key, state in moved if self._put(key, without_log(state))]

    def _groups(self) -> Iterator[tuple[Key, GroupState]]:
        return ((key, state) for key, state in self.states.items() if isinstance(state, GroupState))

    @property
    def newest_pass(self) -> PassCompleted | None:
        """The complete pass that the log has last: a clock may have been set back since another one."""
        completed = self.states.get(NEWEST_PASS)
        return completed if isinstance(completed, PassCompleted) else None

    @property
    def pass_history(self) -> PassHistory:
        """What is known of the passes before it."""
        history = self.states.get(PASS_HISTORY)
        return history if isinstance(history, PassHistory) else PassHistory()

    def catalog(self) -> Catalog:
        """The topics that exist, as of the newest pass; before the first one, those that it has seen so far."""
        completed = self.newest_pass
        topics = (state for state in self.states.values() if isinstance(state, TopicState))
        if completed is None:
            return catalog_of(self.cluster, 0, topics, self.pass_history)
        retention = retention_of(completed, self.pass_history.former_retentions)
        return catalog_of(self.cluster, completed.pass_ms, topics, self.pass_history, retention)

    def connect_configs(self, topics: Mapping[str, str]) -> dict[str, ConnectConfigsState]:
        """The connectors of Connect clusters, by their groups. ``topics`` are those that they are read from."""
        known = ((group, self.states.get((Entity.CONNECT, topic))) for group, topic in topics.items())
        return {group: state for group, state in known if isinstance(state, ConnectConfigsState)}

    def _put(self, key: Key, state: EntityState | None) -> bool:
        """Know this state from now on (None: the entity is gone); whether it is another one."""
        before = self.states.get(key)
        if state is before or state == before:
            return False
        if state is None:
            del self.states[key]
        else:
            self.states[key] = state
        return True


def _topic_after(state: TopicState, pass_ms: int, before_ms: int | None, lost: int) -> TopicState | None:
    """The topic after a completed pass, which lacks the events of so many topics."""
    if state.hidden:
        return state if abs(pass_ms - state.pass_ms) < HIDDEN_MS else None
    after = expire_topic(state, pass_ms, before_ms)
    if after is not None:
        return after
    if lost > 0 and pass_ms - state.pass_ms < MISSED_MS:
        return state
    return None if state.topic_id is None else replace(state, hidden=True)


def _with_count(history: PassHistory, counted: PassTopicsCounted) -> PassHistory:
    """The history with one more count. Each entity of a recording takes each of them: it is made without a search."""
    counts = history.counts
    if counts and counts[-1].pass_ms == counted.pass_ms:
        before, counts = counts[-1], counts[:-1]
        counted = PassTopicsCounted(counted.pass_ms, before.topics + counted.topics)
    elif any(each.pass_ms == counted.pass_ms for each in counts):
        topics = counted.topics + sum(each.topics for each in counts if each.pass_ms == counted.pass_ms)
        counts = tuple(each for each in counts if each.pass_ms != counted.pass_ms)
        counted = PassTopicsCounted(counted.pass_ms, topics)
    return replace(history, counts=(*counts, counted)[-MAX_COUNTED_PASSES:])


def _lost_topics(history: PassHistory, completed: PassCompleted) -> int:
    """How many topics the pass names that were not counted; 0 where nothing was."""
    for each in reversed(history.counts):
        if each.pass_ms == completed.pass_ms:
            return max(0, completed.topics - each.topics)
    return 0


def _with_end(history: PassHistory, completed: PassCompleted, lost: int, before_ms: int | None) -> PassHistory:
    """After a step back of the clock, the first pass has the date of now: nothing seen later is older than it."""
    first_ms = completed.completed_ms if before_ms is None else min(history.first_ms, completed.completed_ms)
    health = health_after(history.offsets_topic, completed.offsets_topic, before_ms, completed.completed_ms)
    brokers = brokers_after(history.brokers, completed.brokers, before_ms, completed.completed_ms)
    return replace(history, first_ms=first_ms, lost=lost, offsets_topic=health, brokers=brokers)
