"""Small groups and catalogs, and Kafka's range rule written out by hand as the oracle of these tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from monitor.model import (
    Catalog,
    CommittedOffset,
    EndOffsetAt,
    GroupKind,
    GroupObserved,
    GroupState,
    Member,
    PartitionState,
    Phase,
    Source,
    TopicPartition,
    TopicPartitions,
    TopicState,
    WireForm,
)
from monitor.tracking.topic import add_end

CREATED = 1_000_000
"""When collectors first saw what has always been there."""

ASSIGNED = 2_000_000
"""When the generation was stored."""

NOW = 3_000_000


JAVA = WireForm(subscription_version=3, assignment_version=3)
"""How Kafka's Java client writes subscriptions and assignments since 3.5."""

NO_GENERATION = bytes.fromhex("ffffffff")


def topic(name: str, count: int, *, grown: int = 0, grown_ms: int = ASSIGNED + 5_000, seen_ms: int = CREATED, end=100):
    """A topic with ``count`` partitions, the last ``grown`` of which came later."""
    partitions = (
        PartitionState(
            partition=number,
            first_seen_ms=grown_ms if number >= count - grown else seen_ms,
            earliest=0,
            end=end,
            ends=(EndOffsetAt(at_ms=CREATED, offset=0), EndOffsetAt(at_ms=NOW, offset=end)),
        )
        for number in range(count)
    )
    return TopicState(cluster="c", topic=name, pass_ms=NOW, partitions=tuple(partitions))


def rocketmq_poll(at_ms: int, members: tuple[Member, ...], **more: object) -> GroupObserved:
    """What a poll of RocketMQ saw of the group ``g`` of the cluster ``mq``."""
    return GroupObserved(
        cluster="mq",
        group="g",
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        pass_ms=at_ms,
        observed_ms=at_ms,
        members=members,
        **more,
    )


def redated(state: TopicState, at_ms: int) -> TopicState:
    """As a later pass sees a topic in which nothing was written: each end has that date."""
    partitions = [
        replace(each, ends=add_end(each.ends, EndOffsetAt(at_ms=at_ms, offset=each.ends[-1].offset)))
        for each in state.partitions
    ]
    return replace(state, pass_ms=at_ms, observed_ms=at_ms, partitions=tuple(partitions))


def catalog(*topics: TopicState, pass_ms: int = NOW, watched_ms: int = CREATED) -> Catalog:
    """``watched_ms`` is when collectors began to look."""
    names = {state.topic_id: state.topic for state in topics if state.topic_id is not None}
    known = {state.topic: state for state in topics}
    return Catalog(cluster="c", pass_ms=pass_ms, topics=known, names=names, watched_ms=watched_ms)


def member(
    member_id: str, topics: Sequence[str], assigned: Mapping[str, Sequence[int]] | None = None, **more
) -> Member:
    """A member that subscribes ``topics`` and was given ``assigned``, as Kafka's Java client writes it."""
    given = tuple(TopicPartitions(name, tuple(numbers)) for name, numbers in (assigned or {}).items())
    return Member(member_id=member_id, topics=tuple(topics), assigned=given, **({"wire": JAVA} | more))


def group(*members: Member, protocol: str = "range", offsets: Sequence[CommittedOffset] = (), **more) -> GroupState:
    """A stable group of consumers, in generation 3."""
    fields = {"phase": Phase.STABLE, "phase_ms": ASSIGNED, "protocol_type": "consumer", "generation": 3}
    fields |= {"generation_ms": ASSIGNED, **more}
    joined = tuple(as_java_joins(each, protocol) for each in members)
    return GroupState(cluster="c", group="g", protocol=protocol, members=joined, offsets=tuple(offsets), **fields)


def as_java_joins(member: Member, protocol: str) -> Member:
    """With the generation that Kafka's Java client sends as the user data of ``cooperative-sticky``."""
    is_java = protocol == "cooperative-sticky" and member.wire is JAVA and member.user_data is None
    return replace(member, user_data=NO_GENERATION) if is_java else member


def commit(name: str, partition: int, offset: int = 100, at_ms: int = NOW) -> CommittedOffset:
    return CommittedOffset(topic=name, partition=partition, offset=offset, committed_ms=at_ms)


def places(name: str, *numbers: int) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(name, number) for number in numbers)


def range_by_hand(subscriptions: Mapping[str, Sequence[str]], counts: Mapping[str, int]) -> list[Member]:
    """Each topic is cut into one run for each subscriber, by member id; the first ones get the remainder."""
    given: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in subscriptions}
    for name, count in counts.items():
        subscribers = sorted(member_id for member_id in subscriptions if name in subscriptions[member_id])
        left = list(range(count))
        for index, member_id in enumerate(subscribers):
            size = len(left) // (len(subscribers) - index) + bool(len(left) % (len(subscribers) - index))
            if size:
                given[member_id][name] = left[:size]
            left = left[size:]
    return [member(member_id, subscriptions[member_id], given[member_id]) for member_id in subscriptions]
