"""Readings of a cluster, folded into states as the job folds the events of its collectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from monitor.doctor.unread import Unread
from monitor.model import (
    Catalog,
    Entity,
    GroupEvent,
    GroupObserved,
    GroupsListed,
    GroupState,
    PassCompleted,
    Phase,
    RebalanceSampled,
    ShareGroupRead,
    Source,
    TopicObserved,
    Value,
)
from monitor.tracking.cluster_fold import ClusterFold, Key
from monitor.tracking.polled.kafka import REBALANCING_STATES
from monitor.tracking.serialization import EntityState

_WITH_MEMBERS_KNOWN: Final = frozenset({Phase.STABLE, Phase.EMPTY})


class Reading(Value):
    """What the brokers returned in one round; ``pass_ms`` is its start, in ms since the epoch.

    ``groups`` lacks those without a change since the one before. ``listed`` are all that exist. If not ``complete``,
    a broker did not list its groups. ``problems`` are sentences on missing groups; ``unread`` is what else is missing.
    """

    pass_ms: int
    groups: tuple[GroupObserved, ...]
    topics: tuple[TopicObserved, ...]
    listed: frozenset[str]
    complete: bool = True
    samples: tuple[RebalanceSampled, ...] = ()
    shares: tuple[ShareGroupRead, ...] = ()
    problems: tuple[str, ...] = ()
    unread: Unread = Unread()


class ClusterState(Value):
    """All that readings have shown of a cluster. ``began_ms`` is the start of the first reading.

    ``states`` is what is known of each entity, ``groups`` the groups among these by name. ``rebalancing`` are groups
    that have done so since they were first read: their members and owners are not known.
    """

    cluster: str
    began_ms: int = 0
    pass_ms: int = 0
    states: Mapping[Key, EntityState] = {}
    groups: Mapping[str, GroupState] = {}
    listed: frozenset[str] = frozenset()
    rebalancing: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    unread: Unread = Unread()

    def catalog(self) -> Catalog:
        """The topics that exist, as of the newest reading."""
        return ClusterFold(self.cluster, self.states).catalog()


def fold_reading(state: ClusterState, reading: Reading) -> ClusterState:
    """The cluster after one more reading. Readings come in the order of their ``pass_ms``."""
    listed = reading.listed if reading.complete else state.listed | reading.listed
    states = _fold_entities(state, reading, listed)
    groups = {name: group for (_, name), group in states.items() if isinstance(group, GroupState)}
    return ClusterState(
        cluster=state.cluster,
        began_ms=state.began_ms or reading.pass_ms,
        pass_ms=reading.pass_ms,
        states=states,
        groups=groups,
        listed=listed,
        rebalancing=_rebalancing(state, reading, groups) & listed,
        problems=reading.problems,
        unread=reading.unread,
    )


def _fold_entities(state: ClusterState, reading: Reading, listed: frozenset[str]) -> Mapping[Key, EntityState]:
    """What is known of each entity after the reading, which lists these groups."""
    fold = ClusterFold(state.cluster, state.states)
    for name, events in _events_by_group(reading).items():
        fold.take(Entity.GROUP, name, events)
    fold.take_listing(GroupsListed(state.cluster, Source.ADMIN, reading.pass_ms, reading.pass_ms), listed)
    for seen in reading.topics:
        fold.take(Entity.TOPIC, seen.topic, [seen])
    ended_ms = max([seen.observed_ms for seen in reading.topics], default=reading.pass_ms)
    fold.take_pass(PassCompleted(state.cluster, reading.pass_ms, ended_ms, len(reading.topics)))
    return fold.states


def _events_by_group(reading: Reading) -> Mapping[str, list[GroupEvent]]:
    found: dict[str, list[GroupEvent]] = defaultdict(list)
    every: tuple[Iterable[GroupObserved | RebalanceSampled | ShareGroupRead], ...]
    every = (reading.groups, reading.shares, reading.samples)
    for events in every:
        for event in events:
            found[event.group].append(event)
    return found


def _rebalancing(state: ClusterState, reading: Reading, groups: Mapping[str, GroupState]) -> frozenset[str]:
    in_rebalance = {group.group for group in reading.groups if group.state in REBALANCING_STATES}
    named = {group.group for group in reading.groups}
    known = {name for name, group in groups.items() if group.phase in _WITH_MEMBERS_KNOWN}
    return frozenset((in_rebalance | (state.rebalancing - named)) - known)
