"""What was known of a group at an instant: the recorded states before it, and the events since, folded as then.

A portion of a recording is folded as a micro-batch is, by monitor.tracking.cluster_fold: what ends a pass and what
lists groups count behind the events before them. The instant of a verdict lies between portions or in one; of that only
the events count that had happened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.history.joined_portions import join_portions
from monitor.history.recorded import (
    NotRecordedError,
    RecordedEvent,
    RecordedRow,
    RecordedSettings,
    decode_events,
    decode_settings,
    in_order,
    until,
)
from monitor.kinds.offset_expiry import is_shown
from monitor.kinds.streams import needed_topics, topology_of
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import (
    Catalog,
    ConnectConfigEvent,
    Entity,
    GroupObserved,
    GroupsListed,
    GroupState,
    LogGrown,
    PassCompleted,
    PassTopicsCounted,
    Source,
    TopicObserved,
    Value,
    topics_beside_members,
)
from monitor.tracking.cluster_fold import NEWEST_PASS, PASS_HISTORY, ClusterFold, Key
from monitor.tracking.serialization import EntityState

FIRST_PASS: Final[Key] = (Entity.PASS, "first")
"""Under this key an older groupwatch stored when the first pass ended that was recorded (PASS_HISTORY by now)."""


class Base(Value):
    """The states of some entities after a portion of the recording (``recorded_ms``; 0: before all portions)."""

    recorded_ms: int = 0
    states: dict[Key, EntityState] = msgspec.field(default_factory=dict)

    def group(self, name: str) -> GroupState | None:
        """The state of a group; None: there was none."""
        state = self.states.get((Entity.GROUP, name))
        return state if isinstance(state, GroupState) else None


class Recording(Protocol):
    """Where a recording is read from."""

    def base(self, cluster: str, at_ms: int, keys: Collection[Key]) -> Base:
        """The newest states from before an instant.

        Raises:
            RecordingError: the recording cannot be read.
        """

    def reach_ms(self, cluster: str) -> int:
        """When the newest portion of the cluster was recorded: what happened later is not known.

        Raises:
            RecordingError: there is none, or the recording cannot be read.
        """

    def settings(self, cluster: str, at_ms: int) -> bytes | None:
        """The settings that were recorded last by an instant; None: none yet.

        Raises:
            RecordingError: the recording cannot be read.
        """

    def rows(self, cluster: str, after_ms: int, at_ms: int, keys: Collection[Key]) -> list[RecordedRow]:
        """What the portions after one have of these entities, as far as it had begun to happen by an instant.

        Raises:
            RecordingError: as above.
        """


def inputs_at(recording: Recording, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
    """What a verdict on the group was made of at an instant; None: there was no such group.

    Raises:
        RecordingError: the recording cannot be read, or does not reach until then.
    """
    reach_ms = recording.reach_ms(cluster)
    if at_ms > reach_ms:
        raise beyond_reach(cluster, reach_ms)
    state = group_at(recording, cluster, group, at_ms)
    if state is None:
        return None
    settings = settings_at(recording, cluster, at_ms)
    catalog = catalog_at(recording, cluster, topics_of(state), settings, at_ms)
    inputs = GroupInputs(group=state, catalog=catalog, now_ms=at_ms, settings=settings.rules.of(cluster, group))
    return only_concerned(inputs) if is_shown(state, catalog.offsets_retention, at_ms) else None


def beyond_reach(cluster: str, reach_ms: int) -> NotRecordedError:
    """That an instant is later than what is recorded of a cluster."""
    return NotRecordedError(f"The recording of cluster {shown(cluster)} reaches until {utc(reach_ms)}.")


def group_at(recording: Recording, cluster: str, group: str, at_ms: int) -> GroupState | None:
    """The group at an instant that is recorded; None: there was none.

    Raises:
        RecordingError: the recording cannot be read.
    """
    own: Key = (Entity.GROUP, group)
    base = recording.base(cluster, at_ms, [own])
    rows = recording.rows(cluster, base.recorded_ms, at_ms, [own, (Entity.LISTING, "")])
    return fold_group_rows(cluster, group, base.group(group), rows, at_ms)


def fold_group_rows(
    cluster: str, group: str, state: GroupState | None, rows: Iterable[RecordedRow], at_ms: int
) -> GroupState | None:
    """The group after the rows of its own and of listings, at an instant. Rows of other entities are passed over."""
    for portion in join_portions(rows, group):
        state = _fold_portion(cluster, group, state, portion, at_ms)
    return state


def _fold_portion(
    cluster: str, group: str, state: GroupState | None, rows: Sequence[RecordedRow], at_ms: int
) -> GroupState | None:
    """The group after one portion. A listing without the group drops it; later events start it anew."""
    key: Key = (Entity.GROUP, group)
    fold = ClusterFold(cluster, {} if state is None else {key: state})
    rest = in_order([row for row in rows if (row.entity, row.name) == key])
    listings = _listings_by(rows, at_ms)
    sources = {each.event.source for each in rest if isinstance(each.event, GroupObserved)}
    for listing in listings:
        if isinstance(listing.event, GroupsListed) and _may_delete(listing, group, fold, sources):
            read = list(takewhile(lambda each, last_ms=listing.at_ms: each.at_ms <= last_ms, rest))  # type: ignore[misc]
            fold.take(*key, [each.event for each in read])
            fold.take_listing(listing.event, listing.named)
            rest = rest[len(read) :]
    if rest:
        fold.take(*key, until(rest, at_ms))
    for listing in listings:
        if isinstance(listing.event, LogGrown):
            fold.move_groups(listing.event.before, listing.event.partitions)
    after = fold.states.get(key)
    return after if isinstance(after, GroupState) else None


def _may_delete(listing: _Listing, group: str, fold: ClusterFold, sources: Collection[Source]) -> bool:
    """Whether it lacks the group, which is known from its source, or by events from these sources will be."""
    if isinstance(listing.event, LogGrown) or group in listing.named:
        return False
    state, source = fold.states.get((Entity.GROUP, group)), listing.event.source
    is_known = isinstance(state, GroupState) and state.source is source
    return is_known or source in sources


def _listings_by(rows: Iterable[RecordedRow], at_ms: int) -> list[_Listing]:
    """What the rows have of listings by an instant, in the order of their log."""
    listings = [row for row in rows if row.entity is Entity.LISTING]
    ordered = sorted(listings, key=lambda row: (row.recorded_ms, row.position))
    return [listing for row in ordered for listing in _listings_of(row.events) if listing.at_ms <= at_ms]


class _Listing(NamedTuple):
    """A listing (without its names), and the groups in it; or a growth of the offsets topic, which names none."""

    at_ms: int
    event: GroupsListed | LogGrown
    named: frozenset[str]


def listing_times(row: RecordedRow) -> list[int]:
    """When the listings of a row were read."""
    return [listing.at_ms for listing in _listings_of(row.events)]


LISTINGS_KEPT: Final = 90
"""Of so many rows, the listings are kept: of an hour and a half, which is what a walk through states has at once."""


@lru_cache(maxsize=LISTINGS_KEPT)
def _listings_of(events: bytes) -> tuple[_Listing, ...]:
    """The listings in a row: they concern each group, and are read once for many."""
    decoded = decode_events(RecordedRow(0, Entity.LISTING, "", 0, events))
    found: list[_Listing] = []
    for each in decoded:
        if isinstance(each.event, LogGrown):
            found.append(_Listing(each.at_ms, each.event, frozenset()))
        elif isinstance(each.event, GroupsListed):
            found.append(_Listing(each.at_ms, replace(each.event, groups=()), _name_set(each.event.groups)))
    return tuple(found)


@lru_cache(maxsize=4)
def _name_set(groups: tuple[str, ...]) -> frozenset[str]:
    """The names as a set. Most listings name the same groups, and have one set."""
    return frozenset(groups)


def settings_at(recording: Recording, cluster: str, at_ms: int) -> RecordedSettings:
    """By what groups were judged at an instant.

    Raises:
        RecordingError: the recording cannot be read.
    """
    known = recording.settings(cluster, at_ms)
    return RecordedSettings() if known is None else decode_settings(known)


def catalog_at(
    recording: Recording, cluster: str, topics: Iterable[str], settings: RecordedSettings, at_ms: int
) -> Catalog:
    """These topics at an instant that is recorded, and the configurations of Connect clusters.

    Raises:
        RecordingError: the recording cannot be read.
    """
    keys = catalog_keys(topics, settings)
    base = recording.base(cluster, at_ms, keys)
    rows = recording.rows(cluster, base.recorded_ms, at_ms, keys)
    known = ClusterFold(cluster, base.states)
    fold_catalog(known, rows, at_ms)
    return full_catalog(known, settings)


def catalog_keys(topics: Iterable[str], settings: RecordedSettings) -> list[Key]:
    """The entities that tell of these topics, and of Connect clusters."""
    return [
        NEWEST_PASS,
        PASS_HISTORY,
        FIRST_PASS,
        *[(Entity.TOPIC, name) for name in topics],
        *[(Entity.CONNECT, topic) for topic in settings.connect_topics.values()],
    ]


def topics_of(group: GroupState) -> frozenset[str]:
    """The names of all topics that a verdict on the group may ask for."""
    found = {*topics_beside_members(group)}
    for member in group.members:
        found.update(member.topics)
        found.update(entry.topic for entry in (*member.assigned, *member.owned))
    share = group.share
    if share is not None:
        found.update(topic.topic for topic in (*share.initialized, *share.initializing))
    topology = topology_of(group)
    if topology is not None:
        found.update(needed_topics(topology))
    return frozenset(found)


CatalogChange = TopicObserved | PassTopicsCounted | PassCompleted | ConnectConfigEvent


@lru_cache(maxsize=LISTINGS_KEPT)
def _passes_of(events: bytes) -> tuple[RecordedEvent, ...]:
    """The events of passes in a row: they concern each topic, and are decoded once for many."""
    return tuple(decode_events(RecordedRow(0, Entity.PASS, "", 0, events)))


class CatalogEvent(NamedTuple):
    """An event of a topic, a pass or a Connect cluster; ``name`` is that of its row. Passes end behind their topics."""

    at_ms: int
    is_pass: bool
    name: str
    event: CatalogChange


def catalog_events(rows: Iterable[RecordedRow]) -> list[CatalogEvent]:
    """The events of these rows that tell of topics and configurations, in the order of their times."""
    ordered = sorted(rows, key=lambda row: (row.recorded_ms, row.position))
    found = [
        CatalogEvent(recorded.at_ms, row.entity is Entity.PASS, row.name, recorded.event)
        for row in ordered
        if row.entity in (Entity.TOPIC, Entity.PASS, Entity.CONNECT)
        for recorded in (_passes_of(row.events) if row.entity is Entity.PASS else decode_events(row))
        if isinstance(recorded.event, CatalogChange)
    ]
    return sorted(found, key=lambda each: (each.at_ms, each.is_pass))


def fold_catalog(fold: ClusterFold, rows: Iterable[RecordedRow], at_ms: int) -> None:
    """Take what had happened to topics and configurations by an instant."""
    for each in catalog_events(rows):
        if each.at_ms <= at_ms:
            take_change(fold, each)


def take_change(fold: ClusterFold, each: CatalogEvent) -> None:
    """Take an event. Those of one log come in its order."""
    match each.event:
        case TopicObserved() as event:
            fold.take(Entity.TOPIC, event.topic, [event])
        case PassTopicsCounted() | PassCompleted() as event:
            fold.take_pass(event)
        case event:
            fold.take(Entity.CONNECT, each.name, [event])


def full_catalog(fold: ClusterFold, settings: RecordedSettings) -> Catalog:
    """The topics that exist, and the configurations of Connect clusters."""
    return replace(fold.catalog(), connect_configs=fold.connect_configs(settings.connect_topics))
