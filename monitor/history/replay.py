"""What was known of a group at an instant: the recorded states before it, and the events since, folded as then.

A portion of a recording is folded as a micro-batch is: the rows of an entity in the order of its log, then what ends a
pass. The instant of a verdict lies between portions or in one; of that only the events count that had happened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.history.recorded import (
    NotRecordedError,
    RecordedEntity,
    RecordedRow,
    RecordedSettings,
    decode_events,
    decode_settings,
    in_order,
    until,
)
from monitor.kinds.streams import needed_topics, topology_of
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import (
    Catalog,
    ConnectConfigEvent,
    ConnectConfigsState,
    GroupObserved,
    GroupsListed,
    GroupState,
    LogGrown,
    PassCompleted,
    Source,
    TopicObserved,
    TopicState,
    Value,
)
from monitor.tracking.connect import fold_connect_configs
from monitor.tracking.group import fold_group
from monitor.tracking.log_places import is_left_behind, without_log
from monitor.tracking.polled.group import is_deleted
from monitor.tracking.topic import catalog_of, expire_topic, fold_topic

Key = tuple[RecordedEntity, str]

FIRST_PASS: Final = "first"
"""The name of the entity PASS under which a base has when the first pass that was recorded began."""


class Base(Value):
    """The states of some entities after a portion of the recording (``recorded_ms``; 0: before all portions)."""

    recorded_ms: int = 0
    groups: dict[str, GroupState] = msgspec.field(default_factory=dict)
    topics: dict[str, TopicState] = msgspec.field(default_factory=dict)
    configs: dict[str, ConnectConfigsState] = msgspec.field(default_factory=dict)
    newest_pass: PassCompleted | None = None
    first_pass_ms: int | None = None


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
    return only_concerned(inputs)


def beyond_reach(cluster: str, reach_ms: int) -> NotRecordedError:
    """That an instant is later than what is recorded of a cluster."""
    return NotRecordedError(f"The recording of cluster {shown(cluster)} reaches until {utc(reach_ms)}.")


def group_at(recording: Recording, cluster: str, group: str, at_ms: int) -> GroupState | None:
    """The group at an instant that is recorded; None: there was none.

    Raises:
        RecordingError: the recording cannot be read.
    """
    own: Key = (RecordedEntity.GROUP, group)
    base = recording.base(cluster, at_ms, [own])
    rows = recording.rows(cluster, base.recorded_ms, at_ms, [own, (RecordedEntity.LISTING, "")])
    return fold_group_rows(cluster, group, base.groups.get(group), rows, at_ms)


def fold_group_rows(
    cluster: str, group: str, state: GroupState | None, rows: Iterable[RecordedRow], at_ms: int
) -> GroupState | None:
    """The group after the rows of its own and of listings, at an instant. Rows of other entities are passed over."""
    portions: dict[int, list[RecordedRow]] = defaultdict(list)
    for row in rows:
        portions[row.recorded_ms].append(row)
    for recorded_ms in sorted(portions):
        state = _fold_portion(cluster, group, state, portions[recorded_ms], at_ms)
    return state


def _fold_portion(
    cluster: str, group: str, state: GroupState | None, rows: Sequence[RecordedRow], at_ms: int
) -> GroupState | None:
    """The group after one portion. A listing comes after what was read before it: what it lacks, begins anew then."""
    rest = in_order([row for row in rows if (row.entity, row.name) == (RecordedEntity.GROUP, group)])
    listings = _listings_by(rows, at_ms)
    sources = {each.event.source for each in rest if isinstance(each.event, GroupObserved)}
    for listing in listings:
        if _may_delete(listing, group, state, sources):
            read = list(takewhile(lambda each, last_ms=listing.at_ms: each.at_ms <= last_ms, rest))  # type: ignore[misc]
            state = fold_group(cluster, group, state, [each.event for each in read])  # type: ignore[misc] # its own
            state, rest = _after_listing(state, listing), rest[len(read) :]
    if rest:
        state = fold_group(cluster, group, state, until(rest, at_ms))  # type: ignore[arg-type] # its own
    for listing in listings:
        if isinstance(listing.event, LogGrown):
            state = _after_listing(state, listing)
    return state


def _may_delete(listing: _Listing, group: str, state: GroupState | None, sources: Collection[Source]) -> bool:
    """Whether it lacks the group, which is known from its source, or by events from these sources will be."""
    if isinstance(listing.event, LogGrown) or group in listing.named:
        return False
    source = listing.event.source
    is_known = state is not None and state.source is source
    return is_known or source in sources


def _listings_by(rows: Iterable[RecordedRow], at_ms: int) -> list[_Listing]:
    """What the rows have of listings by an instant, in the order of their log."""
    listings = [row for row in rows if row.entity is RecordedEntity.LISTING]
    ordered = sorted(listings, key=lambda row: row.position)
    return [listing for row in ordered for listing in _listings_of(row.events) if listing.at_ms <= at_ms]


def _after_listing(state: GroupState | None, listing: _Listing) -> GroupState | None:
    if state is None:
        return None
    if isinstance(listing.event, LogGrown):
        is_left = is_left_behind(state, listing.event.before, listing.event.partitions)
        return without_log(state) if is_left else state
    return None if is_deleted(state, listing.event, listing.named) else state


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
    decoded = decode_events(RecordedRow(0, RecordedEntity.LISTING, "", 0, events))
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
    known = CatalogFold(cluster, base)
    known.fold(rows, at_ms)
    return known.catalog(settings.connect_topics)


def catalog_keys(topics: Iterable[str], settings: RecordedSettings) -> list[Key]:
    """The entities that tell of these topics, and of Connect clusters."""
    return [
        (RecordedEntity.PASS, ""),
        (RecordedEntity.PASS, FIRST_PASS),
        *[(RecordedEntity.TOPIC, name) for name in topics],
        *[(RecordedEntity.CONNECT, topic) for topic in settings.connect_topics.values()],
    ]


def topics_of(group: GroupState) -> frozenset[str]:
    """The names of all topics that a verdict on the group may ask for."""
    found = {offset.topic for offset in (*group.offsets, *group.unconfirmed)}
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


CatalogChange = TopicObserved | PassCompleted | ConnectConfigEvent


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
        CatalogEvent(recorded.at_ms, row.entity is RecordedEntity.PASS, row.name, recorded.event)
        for row in ordered
        if row.entity in (RecordedEntity.TOPIC, RecordedEntity.PASS, RecordedEntity.CONNECT)
        for recorded in decode_events(row)
        if isinstance(recorded.event, CatalogChange)
    ]
    return sorted(found, key=lambda each: (each.at_ms, each.is_pass))


class CatalogFold:
    """The topics of a cluster while portions of a recording are folded in."""

    def __init__(self, cluster: str, base: Base) -> None:
        self._cluster = cluster
        self.topics = dict(base.topics)
        self.configs = dict(base.configs)
        self.newest_pass = base.newest_pass
        self.first_pass_ms = base.first_pass_ms

    def copy(self) -> CatalogFold:
        """The same, to be folded on by itself."""
        base = Base(
            topics=self.topics,
            configs=self.configs,
            newest_pass=self.newest_pass,
            first_pass_ms=self.first_pass_ms,
        )
        return CatalogFold(self._cluster, base)

    def fold(self, rows: Iterable[RecordedRow], at_ms: int) -> None:
        """Take what had happened by an instant."""
        for each in catalog_events(rows):
            if each.at_ms <= at_ms:
                self.apply(each)

    def apply(self, each: CatalogEvent) -> None:
        """Take an event. Those of one log come in its order."""
        match each.event:
            case TopicObserved() as event:
                self._observe(event)
            case PassCompleted() as event:
                self._end_pass(event)
            case event:
                before = self.configs.get(each.name)
                self.configs[each.name] = fold_connect_configs(self._cluster, each.name, before, [event])

    def _observe(self, event: TopicObserved) -> None:
        after = fold_topic(self._cluster, event.topic, self.topics.get(event.topic), [event])
        if after is not None:
            self.topics[event.topic] = after

    def _end_pass(self, event: PassCompleted) -> None:
        before_ms = self.newest_pass.pass_ms if self.newest_pass is not None else None
        self.newest_pass = event
        self.first_pass_ms = event.completed_ms if self.first_pass_ms is None else self.first_pass_ms
        kept = {name: expire_topic(state, event.pass_ms, before_ms) for name, state in self.topics.items()}
        self.topics = {name: state for name, state in kept.items() if state is not None}

    def catalog(self, connect_topics: Mapping[str, str]) -> Catalog:
        """The topics that exist, as of the newest pass. ``connect_topics``: those of configurations, by group."""
        pass_ms = self.newest_pass.pass_ms if self.newest_pass is not None else 0
        found = catalog_of(self._cluster, pass_ms, self.topics.values())
        watched = [found.watched_ms] if found.topics else []
        watched_ms = min([*watched, *([] if self.first_pass_ms is None else [self.first_pass_ms])], default=0)
        configs = {group: self.configs[topic] for group, topic in connect_topics.items() if topic in self.configs}
        return replace(found, watched_ms=watched_ms, connect_configs=configs)
