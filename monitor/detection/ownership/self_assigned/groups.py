"""Groups whose members each work out their own share: RocketMQ, MetaQ, and Kafka 0.8 to 0.10 with ZooKeeper.

There is no leader and no record of what a share was made from. What is known are the members, the partitions and who
holds what, as a collector read them. So there is one expectation: what the strategies give for what is there now. If
the members hold exactly what they would for the partitions that they hold together, and all others are new, they have
not seen yet that the topics are others now, and nothing is wrong with the strategies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.assignors.registry import SYSTEM_OF, System
from monitor.detection.ownership.catalog_view import first_seen_ms
from monitor.detection.ownership.context import Expectation, Owners, Ownership
from monitor.detection.ownership.inference import Candidate, OwnersOf, Place, best_fit
from monitor.detection.ownership.self_assigned import metaq as metaq_groups
from monitor.detection.ownership.self_assigned import rocketmq as rocketmq_groups
from monitor.detection.ownership.self_assigned import zookeeper as zookeeper_groups
from monitor.model import Catalog, GroupState, PartitionId, Sharing, TopicPartition, TopicState, Value
from monitor.model.evidence import Growth

Partitions = dict[str, tuple[PartitionId, ...]]
"""Partitions by topic."""


class _System(Value):
    """How members of a system share: what they may take, and whether that is known or has to be tried.

    ``presumed`` gives members that do not answer what they presumably hold; None: all members of the system answer.
    """

    candidates: Callable[[GroupState, Mapping[str, Sequence[PartitionId]]], tuple[Candidate, ...]]
    is_told: Callable[[GroupState], bool]
    presumed: Callable[[GroupState, Mapping[str, Sequence[PartitionId]]], GroupState] | None = None


_SYSTEMS: Final[Mapping[System, _System]] = {
    System.ROCKETMQ: _System(rocketmq_groups.candidates, rocketmq_groups.is_told, rocketmq_groups.with_presumed),
    System.METAQ: _System(metaq_groups.candidates, metaq_groups.is_told),
    System.KAFKA_ZOOKEEPER: _System(zookeeper_groups.candidates, zookeeper_groups.is_told),
}
"""One for each system whose members assign themselves."""


class Found(Value):
    """Who should own what, and by which strategy: the reported one, or the one that fits."""

    expectation: Expectation
    strategy: str | None


def readable(group: GroupState, catalog: Catalog) -> GroupState:
    """The group as it can be judged.

    Members of RocketMQ that do not answer have what they are presumed to hold. If members do not share partitions
    at all, no partition needs an owner.
    """
    if group.sharing is not Sharing.EXCLUSIVE:
        return replace(group, protocol_type="")
    presumed = _system_of(group).presumed
    if presumed is None:
        return group
    topics = frozenset[str]().union(*[member.topics for member in group.members])
    return presumed(group, partitions_now(catalog, topics))


def _system_of(group: GroupState) -> _System:
    return _SYSTEMS[SYSTEM_OF[group.kind]]


def expect_shares(group: GroupState, catalog: Catalog, ownership: Ownership) -> Found:
    """What the members' strategies give, and which these are."""
    if not ownership.complete:
        return Found(Expectation(kind="none"), _named(group))
    owners = ownership.owners
    now = partitions_now(catalog, ownership.subscribed)
    candidates = offered(group, now)
    fit = best_fit(candidates, _actual(owners, now), group.generation_ms)
    if fit is None:
        return Found(Expectation(kind="invariants"), _named(group))
    if fit.is_exact:
        return Found(Expectation(kind="exact", current=owners, replayed=owners, fit=fit), fit.candidate)
    seen = _partitions_of(owners, ownership.subscribed)
    may_be_older = seen != now and _are_new(group, catalog, seen, now)
    then = best_fit(offered(group, seen), _actual(owners, seen), group.generation_ms) if may_be_older else None
    if then is not None and then.is_exact:
        grown = owners_of(_named_owners(candidates, then.candidate), now) if _has_grown(seen, now) else owners
        changes = tuple(_changes(catalog, seen, now))
        known = Expectation(
            kind="exact", current=grown, replayed=owners, stale_metadata=True, changes=changes, fit=then
        )
        return Found(known, then.candidate)
    told = _system_of(group).is_told(group)
    expected = _named_owners(candidates, fit.candidate) if told else _agreed(candidates, _actual(owners, now))
    if expected is None:
        return Found(Expectation(kind="invariants", fit=fit), _named(group))
    current = owners_of(expected, now)
    return Found(Expectation(kind="exact", current=current, replayed=current, fit=fit), fit.candidate)


def _agreed(candidates: Sequence[Candidate], actual: OwnersOf) -> OwnersOf | None:
    """What all strategies give that give every partition that is owned to its owner; None if they do not agree.

    Then the rest has not been taken by those for whom it is, whichever strategy it is. A single candidate is RocketMQ's
    whose arguments are not known: it may be another.
    """
    if len(candidates) < 2:
        return None
    fitting = [each.owners for each in candidates if each.owners is not None and actual.items() <= each.owners.items()]
    return fitting[0] if fitting and all(owners == fitting[0] for owners in fitting) else None


def offered(group: GroupState, partitions: Partitions) -> tuple[Candidate, ...]:
    """What the members may take of these partitions; nothing where that cannot be computed."""
    return _system_of(group).candidates(group, partitions)


def partitions_now(catalog: Catalog, topics: frozenset[str]) -> Partitions:
    """The partitions of these topics that exist now; without topics that have none."""
    known = (catalog.topics[topic] for topic in sorted(topics) if topic in catalog.topics)
    return {state.topic: tuple([p.partition for p in state.partitions]) for state in known if state.partitions}


def owners_of(given: OwnersOf, partitions: Partitions) -> Owners:
    """Owners by partition as they are named in the catalog."""
    names = {Place(topic, str(each)): TopicPartition(topic, each) for topic, own in partitions.items() for each in own}
    return {names[place]: owners for place, owners in given.items()}


def grown_ms(group: GroupState, catalog: Catalog, ownership: Ownership) -> int:
    """When the newest partition of the group's topics was first seen, of those that came after its assignment.

    0: there is none. A topic that was there before counts as it was first seen: groupwatch may have started later.
    """
    known = [catalog.topics[topic] for topic in ownership.subscribed if topic in catalog.topics]
    held = {place.topic for place in ownership.owners}
    newest = [
        (max(p.first_seen_ms for p in state.partitions), horizon_ms(group, state, owned=state.topic in held))
        for state in known
        if state.partitions
    ]
    return max([seen_ms for seen_ms, known_ms in newest if seen_ms > known_ms], default=0)


def horizon_ms(group: GroupState, state: TopicState, *, owned: bool) -> int:
    """What was first seen after this instant came after the assignment.

    Of a topic of which some is owned that is not before the topic was first seen: the group may have been read first.
    """
    return max(group.generation_ms, first_seen_ms(state)) if owned else group.generation_ms


def _named(group: GroupState) -> str | None:
    return group.protocol or ", ".join(rocketmq_groups.strategies(group)) or None


def _actual(owners: Owners, partitions: Partitions) -> OwnersOf:
    existing = {(topic, each) for topic, own in partitions.items() for each in own}
    return {
        Place(place.topic, str(place.partition)): holders
        for place, holders in owners.items()
        if (place.topic, place.partition) in existing
    }


def _named_owners(candidates: Sequence[Candidate], name: str) -> OwnersOf:
    return next((each.owners for each in candidates if each.name == name and each.owners is not None), {})


def _partitions_of(owners: Owners, topics: frozenset[str]) -> Partitions:
    found: dict[str, list[PartitionId]] = {}
    for place in sorted(owners):
        if place.topic in topics:
            found.setdefault(place.topic, []).append(place.partition)
    return {topic: tuple(own) for topic, own in found.items()}


def _are_new(group: GroupState, catalog: Catalog, seen: Partitions, now: Partitions) -> bool:
    """Whether what has no owner came after the assignment. Members have had the time to see what was there before."""
    held = {(topic, each) for topic, own in seen.items() for each in own}
    return all(
        state.first_seen_ms > horizon_ms(group, catalog.topics[topic], owned=topic in seen)
        for topic in now
        for state in catalog.topics[topic].partitions
        if (topic, state.partition) not in held
    )


def _has_grown(seen: Partitions, now: Partitions) -> bool:
    return any(not set(own) <= set(seen.get(topic, ())) for topic, own in now.items())


def _changes(catalog: Catalog, seen: Partitions, now: Partitions) -> list[Growth]:
    changed = sorted(topic for topic in seen.keys() | now.keys() if seen.get(topic) != now.get(topic))
    return [_change(catalog, topic, seen.get(topic, ()), now.get(topic, ())) for topic in changed]


def _change(catalog: Catalog, topic: str, before: Sequence[PartitionId], after: Sequence[PartitionId]) -> Growth:
    state, old = catalog.topics.get(topic), set(before)
    new = [known.first_seen_ms for known in state.partitions if known.partition not in old] if state else []
    return Growth(topic=topic, before=len(before), after=len(after), since_ms=max(new, default=None))
