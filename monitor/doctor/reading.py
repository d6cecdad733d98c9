"""Readings of a cluster, folded into states as the job folds the events of its collectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from monitor.doctor.unread import Unread
from monitor.model import (
    Catalog,
    GroupEvent,
    GroupObserved,
    GroupState,
    Phase,
    RebalanceSampled,
    ShareGroupRead,
    TopicObserved,
    TopicState,
    Value,
)
from monitor.tracking.group import fold_group
from monitor.tracking.polled.kafka import REBALANCING_STATES
from monitor.tracking.topic import catalog_of, expire_topic, fold_topic

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

    ``rebalancing`` are groups that have done so since they were first read: their members and owners are not known.
    """

    cluster: str
    began_ms: int = 0
    pass_ms: int = 0
    groups: Mapping[str, GroupState] = {}
    topics: Mapping[str, TopicState] = {}
    listed: frozenset[str] = frozenset()
    rebalancing: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    unread: Unread = Unread()

    def catalog(self) -> Catalog:
        """The topics that exist, as of the newest reading."""
        return catalog_of(self.cluster, self.pass_ms, self.topics.values())


def fold_reading(state: ClusterState, reading: Reading) -> ClusterState:
    """The cluster after one more reading. Readings come in the order of their ``pass_ms``."""
    listed = reading.listed if reading.complete else state.listed | reading.listed
    groups = _fold_groups(state, reading)
    in_rebalance = {group.group for group in reading.groups if group.state in REBALANCING_STATES}
    named = {group.group for group in reading.groups}
    known = {name for name, group in groups.items() if group.phase in _WITH_MEMBERS_KNOWN}
    rebalancing = (in_rebalance | (state.rebalancing - named)) - known
    return ClusterState(
        cluster=state.cluster,
        began_ms=state.began_ms or reading.pass_ms,
        pass_ms=reading.pass_ms,
        groups={name: group for name, group in groups.items() if name in listed},
        topics=_fold_topics(state, reading),
        listed=listed,
        rebalancing=frozenset(rebalancing & listed),
        problems=reading.problems,
        unread=reading.unread,
    )


def _fold_groups(state: ClusterState, reading: Reading) -> dict[str, GroupState]:
    events: dict[str, list[GroupEvent]] = defaultdict(list)
    every: tuple[Iterable[GroupObserved | RebalanceSampled | ShareGroupRead], ...]
    every = (reading.groups, reading.shares, reading.samples)
    for events_read in every:
        for event in events_read:
            events[event.group].append(event)
    groups = dict(state.groups)
    for name, own in events.items():
        after = fold_group(state.cluster, name, state.groups.get(name), own)
        if after is None:
            groups.pop(name, None)
        else:
            groups[name] = after
    return groups


def _fold_topics(state: ClusterState, reading: Reading) -> dict[str, TopicState]:
    topics = dict(state.topics)
    for event in reading.topics:
        after = fold_topic(state.cluster, event.topic, topics.get(event.topic), [event])
        if after is not None:
            topics[event.topic] = after
    kept = ((name, expire_topic(topic, reading.pass_ms)) for name, topic in topics.items())
    return {name: topic for name, topic in kept if topic is not None}
