"""RocketMQ's groups, put together from the responses of brokers and members. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from monitor.collectors.rocketmq.members import NO_INFO, MemberInfo, MemberKey
from monitor.model import (
    GroupKind,
    GroupObserved,
    Member,
    ObservedOffset,
    PartitionObserved,
    Sharing,
    Source,
    TopicObserved,
    TopicPartition,
    TopicPartitions,
    Value,
)
from monitor.model.silent_members import presumed_holdings
from monitor.protocol.rocketmq.names import is_proxy_client, is_topic
from monitor.protocol.rocketmq.responses import (
    POP,
    CommittedOffset,
    GroupConnections,
    Queue,
    QueueRange,
    RequestMode,
    RouteQueues,
)


class MemberSeen(Value):
    """A member that brokers have connections of. ``broker`` is the first of them by name."""

    client_id: str
    broker: str
    host: str = ""
    connections: int = 1


class GroupSeen(Value):
    """A group as its brokers know it: members sorted by id, topics of the newest heartbeats, sorted."""

    group: str
    members: tuple[MemberSeen, ...] = ()
    topics: tuple[str, ...] = ()
    is_broadcasting: bool = False

    def without(self, present: AbstractSet[tuple[str, str]]) -> GroupSeen:
        """The group with those members only that are among these, named by group and client id."""
        return replace(self, members=tuple(each for each in self.members if (self.group, each.client_id) in present))


class Moment(Value):
    """The cluster of a poll, when its pass began, and when it looked at the groups (ms).

    ``partial``: the offsets of some broker are not known.
    """

    cluster: str
    pass_ms: int
    observed_ms: int
    partial: bool = False


class QueueOffset(Value):
    """A group's committed offset in a queue."""

    group: str
    queue: Queue
    offset: int


def group_seen(group: str, by_broker: Mapping[str, GroupConnections]) -> GroupSeen:
    """The group from what every broker says of it.

    A client has one connection to each broker, so a second one to the same broker is another client of that name, or
    the one that it had before and that has not been missed yet.
    """
    members: dict[str, MemberSeen] = {}
    for broker, known in sorted(by_broker.items()):
        counts = Counter(each.client_id for each in known.connections)
        for each in known.connections:
            new = MemberSeen(client_id=each.client_id, broker=broker, host=_host(each.address))
            before = members.get(each.client_id, new)
            connections = max(before.connections, counts[each.client_id])
            members[each.client_id] = replace(before, connections=connections)
    topics = {topic for known in by_broker.values() for topic in known.topics if is_topic(topic)}
    return GroupSeen(
        group=group,
        members=tuple(members[client_id] for client_id in sorted(members)),
        topics=tuple(sorted(topics)),
        is_broadcasting=any(known.is_broadcasting for known in by_broker.values()),
    )


def topics_of(seen: GroupSeen, told: Mapping[MemberKey, MemberInfo]) -> set[str]:
    """All topics that any member of the group subscribes to."""
    said = [_client_info(seen.group, each.client_id, told).topics for each in seen.members]
    return set(seen.topics).union(*(topics for topics in said if topics is not None))


def group_observed(
    seen: GroupSeen,
    told: Mapping[MemberKey, MemberInfo],
    offsets: Iterable[QueueOffset],
    modes: Iterable[RequestMode],
    moment: Moment,
) -> GroupObserved:
    """The group as it is to be judged.

    A member that does not answer has what it is presumed to hold (monitor.model.silent_members).
    """
    known = {
        each.client_id: told.get(MemberKey(group=seen.group, client_id=each.client_id), NO_INFO)
        for each in seen.members
    }
    sharing = _sharing(seen, known, modes)
    said = (queue for each in known.values() if each.answers for queue in each.held)
    held = frozenset(TopicPartition(queue.topic, partition_of(queue)) for queue in said)
    members = tuple(_member(each, known[each.client_id], seen.topics, held, sharing) for each in seen.members)
    return GroupObserved(
        cluster=moment.cluster,
        group=seen.group,
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        pass_ms=moment.pass_ms,
        observed_ms=moment.observed_ms,
        members=members,
        offsets=tuple(_offset(each) for each in sorted(offsets, key=lambda each: each.queue)),
        protocol=None if sharing is Sharing.BY_RECORD else _common_assignor(members),
        sharing=sharing,
        partial=moment.partial,
    )


def partition_of(queue: Queue) -> str:
    """The id of a queue within its topic."""
    return f"{queue.broker}-{queue.number}"


def queue_offsets(
    broker: str, offsets: Iterable[CommittedOffset], readable: Mapping[tuple[str, str], int]
) -> Iterator[QueueOffset]:
    """A broker's committed offsets in the queues that may be read; these are counted by broker and topic.

    Queues that a topic lost when it was made smaller are not consumed, though their offsets stay.
    """
    for each in offsets:
        if each.number < readable.get((broker, each.topic), 0):
            queue = Queue(topic=each.topic, broker=broker, number=each.number)
            yield QueueOffset(group=each.group, queue=queue, offset=each.offset)


def offsets_by_group(offsets: Mapping[str, Iterable[CommittedOffset]]) -> dict[str, dict[Queue, int]]:
    """All committed offsets by group and queue, also in queues that may not be read; ``offsets`` are by broker."""
    found: dict[str, dict[Queue, int]] = defaultdict(dict)
    for broker, kept in offsets.items():
        for each in kept:
            found[each.group][Queue(each.topic, broker, each.number)] = each.offset
    return found


def observed_topic(
    topic: str, route: Iterable[RouteQueues], ranges: Iterable[QueueRange], moment: Moment, observed_ms: int
) -> TopicObserved:
    """A topic with the queues that may be read; without offsets where the broker did not return them."""
    found = {each.queue: each for each in ranges}
    queues = [
        Queue(topic=topic, broker=each.broker, number=number) for each in route for number in range(each.readable)
    ]
    return TopicObserved(
        cluster=moment.cluster,
        topic=topic,
        pass_ms=moment.pass_ms,
        observed_ms=observed_ms,
        partitions=tuple(_partition(queue, found.get(queue)) for queue in sorted(queues)),
    )


def _partition(queue: Queue, found: QueueRange | None) -> PartitionObserved:
    if found is None:
        return PartitionObserved(partition=partition_of(queue))
    return PartitionObserved(partition=partition_of(queue), earliest=found.earliest, end=found.end)


def _client_info(group: str, client_id: str, told: Mapping[MemberKey, MemberInfo]) -> MemberInfo:
    return told.get(MemberKey(group=group, client_id=client_id), NO_INFO)


def _member(
    seen: MemberSeen, told: MemberInfo, topics: tuple[str, ...], held: AbstractSet[TopicPartition], sharing: Sharing
) -> Member:
    assigned = () if sharing is Sharing.BY_RECORD else _assignment(told.held)
    if not told.answers and sharing is not Sharing.BROADCAST:
        assigned = presumed_holdings(assigned, held)
    return Member(
        member_id=seen.client_id,
        topics=topics if told.topics is None else told.topics,
        assigned=assigned,
        host=seen.host,
        unreadable=told.unreadable,
        assignor=told.assignor,
        answers=told.answers or is_proxy_client(seen.client_id),
        connections=seen.connections,
        expressions=told.expressions,
    )


def _assignment(held: Sequence[Queue]) -> tuple[TopicPartitions, ...]:
    """Queues, which are sorted, by topic: in the order of RocketMQ's strategies, by broker's name, then by number."""
    topics: dict[str, list[str]] = defaultdict(list)
    for queue in held:
        topics[queue.topic].append(partition_of(queue))
    return tuple(TopicPartitions(topic, tuple(partitions)) for topic, partitions in topics.items())


def _sharing(seen: GroupSeen, known: Mapping[str, MemberInfo], modes: Iterable[RequestMode]) -> Sharing:
    """Whether queues have owners.

    The broker's table of modes counts only if no member responds: clients that do their own rebalancing, as is the
    default, ignore it. Clients that choose their queues themselves have no owners that could be known.
    """
    answering = [told for told in known.values() if told.answers]
    if seen.is_broadcasting or any(told.is_broadcasting for told in known.values()):
        return Sharing.BROADCAST
    if any(told.pops or told.chooses for told in known.values()) or any(is_proxy_client(each) for each in known):
        return Sharing.BY_RECORD
    pops = any(each.mode == POP and each.group == seen.group and each.topic in seen.topics for each in modes)
    return Sharing.BY_RECORD if pops and not answering else Sharing.EXCLUSIVE


def _common_assignor(members: Sequence[Member]) -> str | None:
    """Who says nothing of it is taken to be like the others."""
    assignors = {member.assignor for member in members if member.assignor is not None}
    return assignors.pop() if len(assignors) == 1 else None


def _offset(each: QueueOffset) -> ObservedOffset:
    """RocketMQ does not keep when an offset was committed: a moved one counts from the reading that saw it."""
    return ObservedOffset(topic=each.queue.topic, partition=partition_of(each.queue), offset=each.offset)


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]/")
