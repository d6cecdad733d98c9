"""A group through a span of time: what its verdict was made of at one instant after the other, each folded once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Final

from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.history.joined_portions import join_portions
from monitor.history.portion_fold import PortionFold
from monitor.history.recorded import RecordedEvent, RecordedRow, decode_events
from monitor.history.replay import (
    CatalogEvent,
    Recording,
    catalog_events,
    catalog_keys,
    fold_group_rows,
    full_catalog,
    listing_times,
    settings_at,
    take_change,
    topics_of,
)
from monitor.history.work_limit import Check, no_check
from monitor.kinds.offset_expiry import is_shown
from monitor.model import (
    CommitRun,
    CurrentStored,
    Entity,
    EpochStored,
    GroupDeleted,
    GroupState,
    MemberRemoved,
    MembershipStored,
    MemberStored,
    OffsetCommitted,
    PassCompleted,
    TargetEpochStored,
    TopicObserved,
    Value,
)
from monitor.tracking.cluster_fold import ClusterFold, Key

OF_MEMBERS: Final = (EpochStored, GroupDeleted, MembershipStored, MemberRemoved, MemberStored, TargetEpochStored)
"""What changes who is in a group, or who is to have what. Everything else happens all the time."""

GONE_AFTER: Final = 2
"""A topic that so many passes in a row have missed is gone (monitor.tracking.topic.expire_topic)."""


class _Portion(Value):
    """What was recorded of the group at once, and the state before it.

    ``first_ms`` is when the first of its events had begun to happen, ``last_ms`` when the newest had, ``rest_ms`` when
    the first had that it or a later portion has. ``member_times``: when something happened to the members.
    """

    before: GroupState | None
    rows: tuple[RecordedRow, ...]
    first_ms: int
    last_ms: int
    member_times: tuple[int, ...] = ()
    rest_ms: int = 0


class GroupWalk:
    """A group of a recording between two instants. Each question costs what happened in one portion.

    Raises:
        RecordingError: the recording cannot be read, or this takes too long by ``check``.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- what is walked, from when to when, and how long that may take
        self, recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int, check: Check = no_check
    ) -> None:
        self.cluster, self.group = cluster, group
        self._check = check
        self.since_ms, self.until_ms = since_ms, until_ms
        """From when until when it reaches."""
        self._settings = settings_at(recording, cluster, until_ms)
        own: Key = (Entity.GROUP, group)
        base = recording.base(cluster, since_ms, [own])
        rows = recording.rows(cluster, base.recorded_ms, until_ms, [own, (Entity.LISTING, "")])
        self._fold: tuple[_Portion, PortionFold] | None = None
        self._portions = _portions(cluster, group, base.group(group), rows, check)
        known = [*(portion.before for portion in self._portions), self.state(until_ms)]
        states = [state for state in known if state is not None]
        self.partitions = max(map(_count_partitions, states), default=0)
        """How many partitions the group has committed at most, or its members had."""
        topics = frozenset[str]().union(*map(topics_of, states))
        keys = catalog_keys(topics, self._settings)
        base = recording.base(cluster, since_ms, keys)
        self._catalog = ClusterFold(cluster, base.states)
        self._changes = catalog_events(recording.rows(cluster, base.recorded_ms, until_ms, keys))
        newest = self._catalog.newest_pass
        passes = [each.at_ms for each in self._changes if isinstance(each.event, PassCompleted)]
        self._pass_times = passes if newest is None else [newest.completed_ms, *passes]
        self._taken = 0
        self._mark = 0, self._catalog

    @property
    def event_times(self) -> list[int]:
        """When something happened to the group's members, in order."""
        return sorted({at_ms for portion in self._portions for at_ms in portion.member_times})

    @property
    def quiet_times(self) -> list[int]:
        """The last instant before each portion, in order: the group as of then is known without folding anything."""
        return [portion.first_ms - 1 for portion in self._portions if portion.rows]

    @property
    def further_times(self) -> list[int]:
        """When members took or gave back partitions one by one (KIP-848), and when topics changed, in order."""
        rows = [row for portion in self._portions for row in portion.rows if row.entity is Entity.GROUP]
        events = (event for row in rows for event in decode_events(row))
        taken = {each.at_ms for each in events if isinstance(each.event, CurrentStored)}
        return sorted(taken.union(topic_times(self._changes)))

    @property
    def pass_apart_ms(self) -> int:
        """How far apart the passes over the topics are where they follow one another; 0: there are not two."""
        passes = sorted({each.at_ms for each in self._changes if isinstance(each.event, PassCompleted)})
        return min((later - earlier for earlier, later in pairwise(passes)), default=0)

    @property
    def has_passes(self) -> bool:
        """Whether a pass over the topics is known."""
        return bool(self._pass_times)

    @property
    def recorded_spans(self) -> list[tuple[int, int]]:
        """When passes ended, and from when to when each part of the log was read that has events of the group."""
        passes = ((at_ms, at_ms) for at_ms in self._pass_times)
        return sorted([*passes, *map(_own_span, filter(_has_own_rows, self._portions))])

    @property
    def first_state(self) -> GroupState | None:
        """The group before all that the walk has; None: there was none."""
        return self._portions[0].before

    def log(self) -> Iterator[RecordedEvent]:
        """What the walk has of the group's events, in the order of its log."""
        for portion in self._portions:
            self._check(None)
            for row in sorted(portion.rows, key=lambda row: (row.recorded_ms, row.position)):
                if row.entity is Entity.GROUP:
                    yield from decode_events(row)

    def commits(self) -> Iterator[OffsetCommitted | CommitRun]:
        """What the walk has of the group's commits, in the order of its log."""
        for recorded in self.log():
            if isinstance(recorded.event, OffsetCommitted | CommitRun):
                yield recorded.event

    def polls(self) -> Iterator[tuple[int, TopicObserved]]:
        """The topics as the walk's polls saw them, each with its time, in the order of time."""
        for each in self._changes:
            if isinstance(each.event, TopicObserved):
                yield each.at_ms, each.event

    def state(self, at_ms: int) -> GroupState | None:
        """The group at an instant; None: there was none."""
        self._check(None)
        place = min(bisect_left(self._portions, at_ms, key=lambda portion: portion.last_ms), len(self._portions) - 1)
        before = self._portions[place].before
        begun = list(self._begun_portions(place, at_ms))
        if len(begun) == 1 and all(row.entity is Entity.GROUP for row in begun[0].rows):
            return self._fold_of(begun[0]).state(at_ms)
        rows = [row for portion in begun for row in portion.rows]
        return fold_group_rows(self.cluster, self.group, before, rows, at_ms) if rows else before

    def _fold_of(self, portion: _Portion) -> PortionFold:
        """The fold of a portion: that of the instant before, where it was in the same one."""
        if self._fold is None or self._fold[0] is not portion:
            self._fold = portion, PortionFold(self.cluster, self.group, portion.before, portion.rows)
        return self._fold[1]

    def _begun_portions(self, place: int, at_ms: int) -> Iterator[_Portion]:
        """The portions from one on that had begun by an instant: more than one where a backlog was read in several."""
        while place < len(self._portions) and self._portions[place].rest_ms <= at_ms:
            if self._portions[place].first_ms <= at_ms:
                yield self._portions[place]
            place += 1

    def inputs_at(self, at_ms: int) -> GroupInputs | None:
        """What the verdict at the next instant was made of (None: there was no such group)."""
        self._check(at_ms)
        while self._taken < len(self._changes) and self._changes[self._taken].at_ms <= at_ms:
            take_change(self._catalog, self._changes[self._taken])
            self._taken += 1
        state = self.state(at_ms)
        inputs = None if state is None else self._inputs(state, at_ms)
        return inputs if inputs and is_shown(inputs.group, inputs.catalog.offsets_retention, at_ms) else None

    def mark(self) -> None:
        """Remember this instant: :meth:`go_back` comes here again."""
        self._mark = self._taken, self._catalog.copy()

    def go_back(self) -> None:
        """The next instant may be any after the one that was marked last."""
        self._taken, self._catalog = self._mark[0], self._mark[1].copy()

    def _inputs(self, state: GroupState, at_ms: int) -> GroupInputs:
        catalog = full_catalog(self._catalog, self._settings)
        settings = self._settings.rules.of(self.cluster, self.group)
        return only_concerned(GroupInputs(group=state, catalog=catalog, now_ms=at_ms, settings=settings))


def _has_own_rows(portion: _Portion) -> bool:
    return any(row.entity is Entity.GROUP for row in portion.rows)


def _own_span(portion: _Portion) -> tuple[int, int]:
    """From the first to the last event of the group in a portion: between them, its log was read."""
    events = [event for row in portion.rows if row.entity is Entity.GROUP for event in decode_events(row)]
    return min(event.begun_ms for event in events), max(event.at_ms for event in events)


def topic_times(changes: Iterable[CatalogEvent]) -> Iterator[int]:
    """When topics were seen with another number of partitions, and when the second pass in a row had missed one."""
    counts: dict[str, int] = {}
    missed: dict[str, int] = {}
    for each in changes:
        match each.event:
            case TopicObserved() as event:
                if counts.get(each.name, len(event.partitions)) != len(event.partitions):
                    yield each.at_ms
                counts[each.name], missed[each.name] = len(event.partitions), -1
            case PassCompleted():
                missed = {name: count + 1 for name, count in missed.items()}
                if GONE_AFTER in missed.values():
                    yield each.at_ms


def _count_partitions(group: GroupState) -> int:
    assigned = sum(len(entry.partitions) for member in group.members for entry in member.assigned)
    return max(len(group.offsets), assigned)


def _portions(
    cluster: str, group: str, state: GroupState | None, rows: Iterable[RecordedRow], check: Check
) -> list[_Portion]:
    """The portions in order, each with the state before it; one without rows if there is none.

    ``last_ms`` never goes back from one to the next: an instant is looked for by it.
    """
    found: list[_Portion] = []
    last_ms = 0
    for own in map(tuple, join_portions(rows, group)):
        check(None)
        events = [event for row in own if row.entity is Entity.GROUP for event in decode_events(row)]
        listed = [at_ms for row in own if row.entity is Entity.LISTING for at_ms in listing_times(row)]
        last_ms = max([last_ms, *listed, *[event.at_ms for event in events]])
        found.append(
            _Portion(
                before=state,
                rows=own,
                first_ms=min([*listed, *[event.begun_ms for event in events]], default=last_ms),
                last_ms=last_ms,
                member_times=tuple([event.at_ms for event in events if isinstance(event.event, OF_MEMBERS)]),
            )
        )
        state = fold_group_rows(cluster, group, state, own, last_ms)
    return _with_rest(found) or [_Portion(before=state, rows=(), first_ms=0, last_ms=0)]


def _with_rest(portions: list[_Portion]) -> list[_Portion]:
    """The same, each with the beginning of what it and the later ones have."""
    begun = accumulate((portion.first_ms for portion in reversed(portions)), min)
    return [replace(portion, rest_ms=rest_ms) for portion, rest_ms in zip(reversed(portions), begun, strict=True)][::-1]
