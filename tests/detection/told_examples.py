"""For every finding that a rule makes, groups of which it is said: made by hand, judged by the real rules.

It is 03:00:00 UTC on 2026-11-22. The group is "checkout", its generation 12 (of KIP-848: epoch 12) was stored at
02:40:00. Topics were first seen at 01:00:00. Names can be given a suffix, the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace as changed

from monitor.detection import DetectionSettings
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.kinds.short_lives import sibling_pattern
from monitor.model import (
    CONNECT,
    THE_CONNECTOR,
    ArchivedRecords,
    AssignorInput,
    Catalog,
    CommitPoint,
    CommittedOffset,
    ConnectAssignment,
    ConnectConfigsState,
    ConnectGroupState,
    ConnectorConfig,
    ConnectorTasks,
    ConnectWorker,
    DeliveredSince,
    DoubleWork,
    EndFall,
    EndOffsetAt,
    FindingKind,
    FormerTasks,
    GroupKind,
    GroupState,
    IdPartitions,
    InvalidCommit,
    LostWork,
    Member,
    MemberState,
    PartitionState,
    PendingOffsets,
    Phase,
    Rebalance,
    RebalanceCause,
    RebalanceInProgress,
    Reconciliation,
    ResolvedRegex,
    ShareBatch,
    ShareConfig,
    SharedTopic,
    ShareGroupState,
    SharePartition,
    ShortLives,
    Source,
    SpareTasks,
    Standstill,
    StreamsClient,
    StreamsGroupState,
    StreamsNotice,
    StreamsTask,
    SubscriptionChange,
    SubscriptionChanges,
    Subtopology,
    TopicExpression,
    TopicPartitions,
    TopicState,
    Topology,
    Truncations,
    WireForm,
    WorkerBehind,
)
from monitor.model.commit_history import extend
from monitor.model.departures import Departure, Departures
from monitor.model.expiry import DeletedOffset, OffsetsRetention
from monitor.model.findings import Severity
from monitor.model.jumps import Jump
from monitor.model.rocketmq import (
    ConsumptionPoint,
    Redelivery,
    RedeliveryObserved,
    RocketMQGroupState,
    UnreadableQueue,
)
from monitor.model.scaling import MemberRate, ScaleMemory, ScaleTarget
from monitor.model.static_ids import StaticIdRun
from tests.assignors.kafka_client.sticky.written import user_data
from tests.support.builders import JAVA, as_java_joins

Kind = FindingKind
Cause = RebalanceCause
IDS = {"orders": "b3JkZXJzb3JkZXJzb3JkZQ", "refunds": "cmVmdW5kc3JlZnVuZHNyZQ"}


def at(time: str) -> int:
    """The instant of that day, in ms since the epoch.

    >>> at("00:00:00")
    1795305600000
    """
    return int(datetime.fromisoformat(f"2026-11-22T{time}").replace(tzinfo=UTC).timestamp()) * 1000


NOW = at("03:00:00")
STORED = at("02:40:00")


@dataclass(frozen=True, eq=False)
class Example:
    """A group of which the finding is told. ``since`` and ``words`` are worked out by hand, not by the rules.

    Each is equal to itself only, so that what is made of it can be kept.

    ``words``: what the text has to name.
    """

    title: str
    kind: FindingKind
    reason: str
    since: str
    words: tuple[str, ...]
    group: GroupState
    catalog: Catalog
    settings: DetectionSettings = field(default_factory=DetectionSettings)
    expectations: Expectations | None = None
    memory: ScaleMemory | None = None
    """What a job remembers of it, if an entry ``[[scale]]`` names it."""


class World:
    """Makes groups and topics. ``suffix`` ends every name that comes from a cluster or a client."""

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def name(self, name: str) -> str:
        return f"{name}{self.suffix}"

    def topic(self, name: str, *partitions: PartitionState) -> TopicState:
        own = self.name(name)
        return TopicState(cluster="prod", topic=own, pass_ms=NOW, topic_id=IDS[name], partitions=partitions)

    def topics(
        self, *, grown_at: str = "02:55:00", grown: int = 0, racks: Sequence[str] = (), **counts: int
    ) -> Catalog:
        """Topics with as many partitions, the last ``grown`` of which came later; nothing is written to them."""
        return self.catalog(
            *(
                self.topic(
                    name,
                    *(
                        quiet(
                            number,
                            seen=grown_at if number >= count - grown else "01:00:00",
                            racks=(racks[number],) if racks else (),
                        )
                        for number in range(count)
                    ),
                )
                for name, count in counts.items()
            )
        )

    @staticmethod
    def catalog(*topics: TopicState) -> Catalog:
        names = {state.topic_id: state.topic for state in topics if state.topic_id is not None}
        return Catalog(cluster="prod", pass_ms=NOW, topics={state.topic: state for state in topics}, names=names)

    def person(self, number: int, subscribed: Sequence[str], **more: Any) -> Member:
        """A member on a host of its own, with a client id that somebody chose."""
        fields = {
            "member_id": self.name(f"checkout-{number}-5d0c"),
            "client_id": self.name("checkout"),
            "host": self.name(f"/10.0.0.{number}"),
            "topics": tuple(map(self.name, subscribed)),
            "session_timeout_ms": 45_000,
            "rebalance_timeout_ms": 300_000,
        }
        return Member(**(fields | more))

    def given(self, **topics: Sequence[int]) -> tuple[TopicPartitions, ...]:
        return tuple(TopicPartitions(self.name(name), tuple(numbers)) for name, numbers in topics.items() if numbers)

    def member(self, number: int, subscribed: Sequence[str] = ("orders",), *, has: Any = (), **more: Any) -> Member:
        """A classic member, of Kafka's Java client, that has been given ``has`` of orders, or by topic."""
        topics = has if isinstance(has, dict) else {"orders": has}
        return self.person(number, subscribed, assigned=self.given(**topics), **({"wire": JAVA} | more))

    def group(self, *members: Member, **more: Any) -> GroupState:
        """A stable classic group."""
        fields = {
            "phase": Phase.STABLE if members else Phase.EMPTY,
            "phase_ms": STORED,
            "protocol_type": "consumer",
            "protocol": "range",
            "generation": 12,
            "generation_ms": STORED,
        }
        fields |= more
        joined = tuple([as_java_joins(each, str(fields["protocol"])) for each in members])
        return GroupState(cluster="prod", group=self.name("checkout"), members=joined, **fields)

    def modern(
        self,
        number: int,
        *,
        has: Sequence[int] = (),
        to_have: Sequence[int] | None = None,
        since: str = "",
        **more: Any,
    ) -> Member:
        """A member of a KIP-848 group with partitions of orders; ``revoking`` are those that it is to give back."""
        revoking, state = more.pop("revoking", ()), more.pop("state", MemberState.STABLE)
        aim = has if to_have is None else to_have
        standing = Reconciliation(
            epoch=12,
            state=state,
            assigned=of_orders(has),
            revoking=of_orders(revoking),
            target=of_orders(aim),
            since_ms=at(since or "02:40:00"),
        )
        more = {"member_id": self.name(f"K8s-uuid-{number}"), "rebalance_timeout_ms": 45_000, **more}
        return self.person(number, ("orders",), reconciliation=standing, **more)

    def broker_group(self, *members: Member, phase: Phase = Phase.STABLE, **more: Any) -> GroupState:
        """A KIP-848 group of a broker since 4.1."""
        fields = {"kind": GroupKind.CONSUMER, "phase": phase, "phase_ms": STORED, "generation": 12}
        fields |= {"generation_ms": STORED, "target_epoch": 12, "metadata_hash": 99}
        return GroupState(cluster="prod", group=self.name("checkout"), members=members, **(fields | more))

    def commit(self, number: int, offset: int, *times: str, topic: str = "orders") -> CommittedOffset:
        """Commits of that offset at these times, the newest last."""
        history = extend(b"", [CommitPoint(at(time), offset) for time in times])
        return CommittedOffset(
            topic=self.name(topic), partition=number, offset=offset, committed_ms=at(times[-1]), history=history
        )


def of_orders(numbers: Sequence[int]) -> tuple[IdPartitions, ...]:
    return (IdPartitions(IDS["orders"], tuple(numbers)),) if numbers else ()


def quiet(number: int, *, seen: str = "01:00:00", racks: tuple[str, ...] = ()) -> PartitionState:
    """A partition that ends at 1000 since long."""
    ends = (EndOffsetAt(at("02:50:00"), 1000), EndOffsetAt(NOW, 1000))
    return PartitionState(partition=number, first_seen_ms=at(seen), earliest=0, end=1000, ends=ends, racks=racks)


def busy(number: int, **more: Any) -> PartitionState:
    """Offset 1000 was passed at 02:45:00; there are 1100 now."""
    points = [("02:44:00", 1000), ("02:45:00", 1010), ("02:55:00", 1050), ("03:00:00", 1100)]
    ends = tuple(EndOffsetAt(at(time), offset) for time, offset in points)
    return PartitionState(partition=number, first_seen_ms=at("01:00:00"), earliest=0, end=1100, ends=ends, **more)


def loaded(number: int, waiting: int, came: int) -> PartitionState:
    """So many records wait after 1,000,000; so many came since 02:50:00."""
    end = 1_000_000 + waiting
    ends = (EndOffsetAt(at("02:50:00"), end - came), EndOffsetAt(NOW, end))
    return PartitionState(partition=number, first_seen_ms=at("01:00:00"), earliest=0, end=end, ends=ends)


def cut(number: int, earliest: int) -> PartitionState:
    """Ten records a second since 02:00:00, and the log begins there since 02:50:00."""
    seconds = range(0, 3601, 600)
    ends = tuple(EndOffsetAt(at("02:00:00") + 1000 * second, 10_000 + 10 * second) for second in seconds)
    return PartitionState(
        partition=number,
        first_seen_ms=at("01:00:00"),
        earliest=earliest,
        end=46_000,
        ends=ends,
        earliest_ms=at("02:50:00"),
    )


def examples(suffix: str = "") -> tuple[Example, ...]:
    """All of them, by subject."""
    w = World(suffix)
    return (
        *_lost(w),
        *_skipped(w),
        *_owners(w),
        *_unread(w),
        *_rebalances(w),
        *_unreadable(w),
        *_drifts(w),
        *_targets(w),
        *_balance(w),
        *_own_shares(w),
        *_streams_groups(w),
        *_task_balance(w),
        *_connect(w),
        *_expectations(w),
        *_capacity(w),
    )


def _lost(w: World) -> Iterator[Example]:
    """The log was cut at 02:50:00."""
    reader = w.member(1, has=[0])
    yield Example(
        "removed unread",
        Kind.RETENTION,
        "records_lost",
        "02:50:00",
        ("1 partition of orders (0)",),
        w.group(reader, offsets=(w.commit(0, 12_000, "02:20:00"),)),
        w.catalog(w.topic("orders", cut(0, 20_000))),
    )
    yield Example(
        "all that is kept waits",
        Kind.RETENTION,
        "close_to_loss",
        "02:50:00",
        ("1 partition of orders (0)",),
        w.group(reader, offsets=(w.commit(0, 15_100, "02:05:00", "02:10:00"),)),
        w.catalog(w.topic("orders", cut(0, 15_000))),
    )


def _skipped(w: World) -> Iterator[Example]:
    """A group far behind read 16 records a second at most; a commit jumped in the second before 02:55:00."""
    reader = w.member(1, has=[0])
    slow = Jump(15_000, at("02:54:59"), 20_010, at("02:55:00"), at("02:54:59"), recent_since_ms=at("02:45:00"))

    def commit_of(jump: Jump, number: int = 0) -> CommittedOffset:
        return changed(w.commit(number, jump.offset, "02:55:00"), jump=jump)

    yield Example(
        "overtaken while it read: 5,010 records, at least 4,850",
        Kind.SKIPPED,
        "retention",
        "02:55:00",
        ("1 partition of orders (0)", "At least 4,850 and at most 5,010", "from 15,000 to 20,010"),
        w.group(reader, offsets=(changed(w.commit(0, 20_030, "02:55:01"), jump=slow),), fastest=16),
        w.catalog(w.topic("orders", cut(0, 20_000))),
    )
    yield Example(
        "overtaken, or followed by retention: its next commit will show it",
        Kind.SKIPPED,
        "perhaps",
        "02:55:00",
        ("1 partition of orders (0)", "missed up to 5,010 records", "from 15,000 to 20,010"),
        w.group(reader, offsets=(commit_of(slow),), fastest=16),
        w.catalog(w.topic("orders", cut(0, 20_000))),
    )
    taken = changed(slow, before=12_000, offset=46_000, is_first=True)
    yield Example(
        "a backlog that it may have read",
        Kind.SKIPPED,
        "perhaps",
        "02:55:00",
        ("1 partition of orders (0)", "34,000 records", "from 12,000 to 46,000"),
        w.group(reader, offsets=(commit_of(taken),), fastest=16),
        w.catalog(w.topic("orders", cut(0, 10_000))),
    )
    yield Example(
        "a backlog that it may have read, or skipped as its offset had been deleted",
        Kind.SKIPPED,
        "perhaps",
        "02:55:00",
        ("1 partition of orders (0)", "34,000 records", "had been deleted before, or had expired"),
        w.group(reader, offsets=(commit_of(changed(taken, was_deleted=True)),), fastest=16),
        w.catalog(w.topic("orders", cut(0, 10_000))),
    )
    first = Jump(None, None, 1_000, at("02:55:00"), at("02:54:55"), is_first=True)
    yield Example(
        "a partition that came at 02:50:00 with records",
        Kind.SKIPPED,
        "new_partition",
        "02:55:00",
        ("1 partition of orders (1)", "1,000 records"),
        w.group(w.member(1, has=[0, 1]), offsets=(w.commit(0, 1_000, "02:55:00"), commit_of(first, 1))),
        w.topics(orders=2, grown=1, grown_at="02:50:00"),
    )


def _owners(w: World) -> Iterator[Example]:
    two = w.group(w.member(1, has=[0, 1]), w.member(2, has=[1]), protocol="ours")
    double = Kind.DOUBLE_OWNED, "same_generation", "02:40:00"
    yield Example(
        "two owners",
        *double,
        ("1 partition of orders (1)", "checkout at /10.0.0.1, checkout at /10.0.0.2"),
        two,
        w.topics(orders=2),
    )
    here = w.name("/10.0.0.1")
    yield Example(
        "two owners on one host, a static one and another",
        *double,
        ("checkout (checkout-1-5d0c) at /10.0.0.1, checkout (blue) at /10.0.0.1",),
        changed(two, members=(two.members[0], changed(two.members[1], host=here, instance_id=w.name("blue")))),
        w.topics(orders=2),
    )
    yield from _gaps(w)
    yield from _unsubscribed_leaders(w)
    yield from _unsubscribed_owners(w)
    yield from _share_groups(w)
    yield from _tasks(w)
    yield from _growth(w)
    yield from _on_their_way(w)


def _gaps(w: World) -> Iterator[Example]:
    gap = Kind.ORPHANED, "assignor_gap", "02:40:00"
    yield Example(
        "left out by the assignor",
        *gap,
        ("1 partition of orders (2)",),
        w.group(w.member(1, has=[0, 1]), w.member(2, has=[3])),
        w.topics(orders=4),
    )
    even = range(0, 30, 2)
    yield Example(
        "many of two topics",
        *gap,
        ("29 partitions of 2 topics", "orders 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 4 more", "refunds 1, 3"),
        w.group(
            w.member(1, ("orders", "refunds"), has={"orders": [*even, 29], "refunds": [*even, 30]}), protocol="ours"
        ),
        w.topics(orders=30, refunds=31),
    )
    yield Example(
        "left out by the broker",
        *gap,
        ("1 partition of orders (1)",),
        w.broker_group(w.modern(1, has=[0]), w.modern(2, has=[2])),
        w.topics(orders=3),
    )


def _unsubscribed_leaders(w: World) -> Iterator[Example]:
    """Somebody subscribes to refunds, and the leader does not."""
    unsubscribed = Kind.ORPHANED, "leader_unsubscribed", "02:40:00"
    abridged = {"wire": WireForm(subscription_version=1, assignment_version=0, assignment_data=0), "is_abridged": True}
    members = w.member(1, has=[0], **abridged), w.member(2, ("orders", "refunds"), has=[1], **abridged)
    topics = w.topics(orders=2, refunds=3)
    yield Example(
        "KafkaJS, by its assignor's name",
        *unsubscribed,
        ("3 partitions of refunds (0-2)", "leader, checkout at /10.0.0.1, does not", "RoundRobinAssigner"),
        w.group(*members, protocol="RoundRobinAssigner", leader=w.name("checkout-1-5d0c")),
        topics,
    )
    yield Example(
        "read from the brokers' answers, which tell no leader",
        *unsubscribed,
        ("3 partitions of refunds (0-2)", "leader is unknown", "The assignor roundrobin"),
        w.group(*members, protocol="roundrobin", source=Source.ADMIN),
        topics,
    )


def _unsubscribed_owners(w: World) -> Iterator[Example]:
    """The leader of KafkaJS gives its topics to all, and the second member does not subscribe to refunds."""
    own = {"wire": WireForm(subscription_version=0, assignment_version=0, assignment_data=0), "user_data": b""}
    first = w.member(1, ("orders", "refunds"), has={"orders": [0], "refunds": [0]}, **own)
    second = w.member(2, has={"orders": [1], "refunds": [1]}, **own)
    yield Example(
        "KafkaJS",
        Kind.ORPHANED,
        "owner_unsubscribed",
        "02:40:00",
        ("1 partition of refunds (1)", "not subscribe to the topic (checkout at /10.0.0.2)", "leader, checkout at"),
        w.group(first, second, protocol="RoundRobinAssigner", leader=w.name("checkout-1-5d0c")),
        w.topics(orders=2, refunds=2),
    )


def _share_groups(w: World) -> Iterator[Example]:
    """Offsets 950 to 999 of partition 0 wait; those of partition 1 are done."""

    def shared(*partitions: SharePartition, readable: Sequence[int] = (0, 1), limit: int | None = None) -> GroupState:
        topic = SharedTopic(IDS["orders"], w.name("orders"), tuple(readable))
        share = ShareGroupState(partitions=partitions, initialized=(topic,), config=ShareConfig(delivery_limit=limit))
        return w.broker_group(w.modern(1, has=[0, 1]), kind=GroupKind.SHARE, share=share)

    def partition(number: int, start: int, *batches: ShareBatch, answered: str = "02:59:50", **more: Any) -> Any:
        done = sum(batch.last - batch.first + 1 for batch in batches if batch.state)
        return SharePartition(IDS["orders"], number, start, done, batches, answered_ms=at(answered), **more)

    topics = w.topics(orders=2)
    yield Example(
        "nobody acknowledges",
        Kind.LAG,
        "stalled",
        "02:40:00",
        ("1 partition of orders (0) has lag", "for at least 60 s"),
        shared(partition(0, 950, answered="02:40:00"), partition(1, 1000)),
        topics,
    )
    yield Example(
        "the last attempt",
        Kind.POISON,
        "last_try",
        "02:58:00",
        (
            "3 records of 2 partitions of orders (0-1) have been delivered 4 times",
            "first offsets 950, 951 of partition 0",
        ),
        shared(
            partition(0, 950, ShareBatch(950, 951, 0, 4), waiting=(DeliveredSince(4, at("02:58:00")),)),
            partition(1, 999, ShareBatch(999, 999, 0, 4), waiting=(DeliveredSince(4, at("02:59:00")),)),
        ),
        topics,
    )
    yield Example(
        "given up",
        Kind.POISON,
        "given_up",
        "02:55:00",
        ("records of 1 partition of orders (1): 7 so far", "offset 980 in partition 1", "5 deliveries (by default"),
        shared(partition(1, 1000, archived=(ArchivedRecords(5, 7, 980, at("02:55:00")),))),
        topics,
    )
    yield Example(
        "given up, the limit is known",
        Kind.POISON,
        "given_up",
        "02:55:00",
        ("records of 1 partition of orders (1): 7 so far", "offset 980 in partition 1", "after 3 deliveries, and"),
        shared(partition(1, 1000, archived=(ArchivedRecords(3, 7, 980, at("02:55:00")),)), limit=3),
        topics,
    )
    yield Example(
        "not initialized",
        Kind.ORPHANED,
        "not_initialized",
        "02:40:00",
        ("1 partition of orders (1) is not initialized", "no member can read it"),
        shared(partition(0, 1000), readable=(0,)),
        topics,
    )


def _tasks(w: World) -> Iterator[Example]:
    """A classic group of Kafka Streams."""
    no_task = Kind.ORPHANED, "no_task", "02:40:00"

    def streams(*members: Member, **told: Any) -> GroupState:
        notice = StreamsNotice(version=11, **told)
        leader = w.name("checkout-1-5d0c")
        return w.group(*(changed(each, streams=notice) for each in members), protocol="stream", leader=leader)

    yield Example(
        "Kafka Streams has no task for it",
        *no_task,
        ("2 partitions of refunds (0-1)", "not assign them to any thread in generation 12"),
        streams(w.member(1, ("orders", "refunds"), has=[0]), w.member(2, has=[1])),
        w.topics(orders=2, refunds=2),
    )
    yield Example(
        "Kafka Streams assigned nothing",
        *no_task,
        ("2 partitions of orders (0-1)", "a source topic does not exist (INCOMPLETE_SOURCE_TOPIC_METADATA)"),
        streams(w.member(1), w.member(2), error=1),
        w.topics(orders=2),
    )
    before = w.given(orders=[0, 1, 2, 3])
    yield Example(
        "half of a rebalance of Kafka Streams",
        Kind.ORPHANED,
        "pending",
        "02:40:00",
        ("2 partitions of orders (2-3)", "checkout at /10.0.0.1 owned them before"),
        streams(w.member(1, has=[0, 1], owned=before, generation=11), w.member(2), next_rebalance_ms=0),
        w.topics(orders=4),
    )


def _growth(w: World) -> Iterator[Example]:
    halves = w.member(1, has=[0, 1]), w.member(2, has=[2, 3])
    leader = w.name("checkout-2-5d0c")
    yield Example(
        "grew, the leader is known",
        Kind.ORPHANED,
        "grew",
        "02:55:00",
        ("3 partitions of orders (4-6)", "leader, checkout at /10.0.0.2,"),
        w.group(*halves, leader=leader),
        w.topics(orders=7, grown=3),
    )
    yield Example(
        "grew, the leader is not known",
        Kind.ORPHANED,
        "grew",
        "02:55:00",
        ("3 partitions of orders (4-6)",),
        w.group(*halves),
        w.topics(orders=7, grown=3),
    )
    yield Example(
        "assigned from older metadata",
        Kind.ORPHANED,
        "grew",
        "02:40:00",
        ("1 partition of orders (4)", "leader, checkout at /10.0.0.2,"),
        w.group(*halves, leader=leader),
        w.topics(orders=5, grown=1, grown_at="02:30:00"),
    )
    yield Example(
        "grew under KIP-848",
        Kind.ORPHANED,
        "grew",
        "02:55:00",
        ("1 partition of orders (4)",),
        w.broker_group(w.modern(1, has=[0, 1]), w.modern(2, has=[2, 3])),
        w.topics(orders=5, grown=1),
    )


def _on_their_way(w: World) -> Iterator[Example]:
    def joining(number: int, had: Sequence[int], has: Sequence[int]) -> Member:
        return w.member(number, has=has, owned=w.given(orders=had), generation=11 if had else -1)

    yield Example(
        "first half of a cooperative rebalance",
        Kind.ORPHANED,
        "pending",
        "02:40:00",
        ("2 partitions of orders (2-3)", "previous owner (checkout at /10.0.0.1)"),
        w.group(joining(1, [0, 1, 2, 3], [0, 1]), joining(2, [], []), protocol="cooperative-sticky"),
        w.topics(orders=4),
    )
    yield Example(
        "given back and not taken yet",
        Kind.ORPHANED,
        "pending",
        "02:40:00",
        ("1 partition of orders (3)", "assigned it in epoch 12 to checkout at /10.0.0.2"),
        w.broker_group(w.modern(1, has=[0, 1]), w.modern(2, has=[2], to_have=[2, 3]), phase=Phase.RECONCILING),
        w.topics(orders=4),
    )
    yield Example(
        "the broker has yet to choose",
        Kind.ORPHANED,
        "rebalancing",
        "02:59:00",
        ("2 partitions of orders (2-3)",),
        w.broker_group(
            w.modern(1, has=[0, 1]),
            phase=Phase.ASSIGNING,
            under_way=Rebalance(generation=12, started_ms=at("02:59:00"), causes=(Cause.LEAVE,)),
        ),
        w.topics(orders=4),
    )


def _unreadable(w: World) -> Iterator[Example]:
    """Members whose bytes are broken."""
    unreadable = Kind.UNREADABLE_MEMBERS
    short, none = "underflow at byte 2 of the subscription", "underflow at byte 0 of the assignment"
    first, second = w.member(1, has=[0]), w.member(2, has=[1], unreadable=short, assignment_read=True)
    yield Example(
        "what it subscribes to",
        unreadable,
        "subscription",
        "02:40:00",
        ("checkout at /10.0.0.2", short),
        w.group(first, second),
        w.topics(orders=2),
    )
    yield Example(
        "what two of them own",
        unreadable,
        "assignment",
        "02:40:00",
        ("checkout at /10.0.0.2, checkout at /10.0.0.3", none),
        w.group(first, w.member(2, unreadable=none), w.member(3, unreadable=f"{short}; {none}")),
        w.topics(orders=2),
    )
    yield Example(
        "a registration of a consumer with ZooKeeper",
        unreadable,
        "subscription",
        "02:40:00",
        ("checkout at /10.0.0.2", "bad_json at byte 0 of the value"),
        w.group(
            w.member(1, has=[0, 1]),
            w.member(2, (), unreadable="bad_json at byte 0 of the value", assignment_read=True),
            kind=GroupKind.ZOOKEEPER,
            source=Source.SYSTEM,
            protocol=None,
        ),
        w.topics(orders=2),
    )


def _unread(w: World) -> Iterator[Example]:
    """The first record that nobody has committed came at 02:45:00."""
    stopped, orders = w.commit(0, 1000, "02:30:00"), w.catalog(w.topic("orders", busy(0)))
    yield Example(
        "no members",
        Kind.UNATTENDED,
        "no_members",
        "02:45:00",
        ("1 partition of orders (0)",),
        w.group(offsets=(stopped,)),
        orders,
    )
    joined = Rebalance(1, at("02:29:00"), at("02:29:00"), joined=1, is_first=True)
    left = Rebalance(2, at("02:30:02"), at("02:30:02"), left=1)
    ends, beginnings = ("01:00:00", "01:10:00", "01:20:00"), ("01:09:00", "01:19:00", "02:29:00")
    before = ShortLives(tuple(map(at, ends)), tuple(map(at, beginnings)))
    once = w.group(offsets=(stopped,), phase_ms=at("02:30:02"), generation=2, history=(joined, left))
    name = w.name("console-consumer-48213")
    yield Example(
        "the group of one process, as others were before it",
        Kind.UNATTENDED,
        "one_off",
        "02:45:00",
        ("1 partition of orders (0)", "after 1 min 2 s", "console-consumer-*"),
        changed(once, group=name),
        changed(orders, short_lives={sibling_pattern(name) or "": before}),
    )
    yield Example(
        "a topic that nobody subscribes to any more",
        Kind.ABANDONED,
        "unsubscribed",
        "02:45:00",
        ("1 partition of orders (0)",),
        w.group(w.member(1, ("refunds",), has={"refunds": [0]}), offsets=(stopped,)),
        w.catalog(w.topic("orders", busy(0)), w.topic("refunds", quiet(0))),
    )
    yield from _silent(w, stopped)
    alone = w.group(w.member(1, has=[0]), offsets=(stopped,))
    yield Example(
        "behind an open transaction",
        Kind.LAG,
        "open_transaction",
        "02:50:00",
        ("1 partition of orders (0)",),
        alone,
        w.catalog(w.topic("orders", busy(0, stable=1000, stable_ms=at("02:50:00")))),
    )
    yield Example(
        "created anew",
        Kind.LAG,
        "former_log",
        "02:31:00",
        ("1 partition of orders (0)",),
        w.group(w.member(1, has=[0]), offsets=(w.commit(0, 900, "02:00:00"),)),
        w.catalog(w.topic("orders", changed(quiet(0, seen="02:31:00"), former_ms=at("02:30:00")))),
    )
    yield from _in_transactions(w)
    yield from _beyond_the_end(w)
    yield from _uncommitted(w)
    yield from _expiring(w)
    yield Example(
        "more than is allowed",
        Kind.LAG,
        "behind",
        "02:55:00",
        ("1 partition of orders (0)",),
        alone,
        orders,
        DetectionSettings(lag_records=40),
    )


def _in_transactions(w: World) -> Iterator[Example]:
    """The attempts began at 02:40:00, one each 20 s; the newest listing is of 02:59:55."""
    orders = w.catalog(w.topic("orders", busy(0), busy(1)))
    loop = {"listed": 1000, "listed_ms": at("02:59:55"), "listed_since_ms": at("02:39:00"), "attempts": 60}
    loop |= {"attempts_since_ms": at("02:40:00"), "third_attempt_ms": at("02:40:40")}
    first, second = (changed(w.commit(number, 1000, "02:59:40"), **loop) for number in (0, 1))
    yield Example(
        "each transaction is aborted",
        Kind.TRANSACTIONS,
        "uncommitted",
        "02:40:00",
        ("1 partition of orders (0)", "checkout at /10.0.0.1", "At least 30 attempts", "is still 1,000"),
        w.group(w.member(1, has=[0]), offsets=(first,)),
        orders,
    )
    yield Example(
        "the same without an owner in two partitions",
        Kind.TRANSACTIONS,
        "uncommitted",
        "02:40:00",
        ("2 partitions of orders (0-1)", "At least 30 attempts", "partition 0 of orders is still 1,000"),
        w.group(phase=Phase.OFFSETS_ONLY, offsets=(first, second)),
        orders,
    )
    yield Example(
        "nothing was ever committed",
        Kind.TRANSACTIONS,
        "uncommitted",
        "02:40:00",
        ("1 partition of orders (0)", "checkout at /10.0.0.1", "There is no committed offset"),
        w.group(w.member(1, has=[0]), unconfirmed=(changed(first, listed=None),)),
        orders,
    )
    held = PendingOffsets(
        partitions=w.given(orders=[0]),
        log_partition=17,
        start_offset=5_012,
        producer_id=4_001,
        producer_epoch=3,
        sent_ms=at("02:35:00"),
    )
    known = changed(held, transactional_id=w.name("checkout-tx"), started_ms=at("02:34:58"), timeout_ms=900_000)
    alone = w.group(w.member(1, has=[0]), offsets=(w.commit(0, 1000, "02:30:00"),))
    yield Example(
        "the new owner waits for the transaction of a process that is gone",
        Kind.TRANSACTIONS,
        "pending_offsets",
        "02:34:58",
        ("1 partition of orders (0)", "checkout at /10.0.0.1", "producer 4001", "--partition 17 --start-offset 5012"),
        changed(alone, pending_offsets=(known,), pending_listed_ms=at("02:59:55")),
        orders,
    )
    yield Example(
        "its coordinator does not name the transaction",
        Kind.TRANSACTIONS,
        "pending_offsets",
        "02:35:00",
        ("1 partition of orders (0)", "producer 4001", "The brokers do not say when it ends"),
        changed(alone, pending_offsets=(held,), pending_listed_ms=at("02:59:55")),
        orders,
    )


def _beyond_the_end(w: World) -> Iterator[Example]:
    """Polls found the end at 1000 from 02:50:00 on; before, it was at 16056."""
    fall = EndFall(at("02:49:50"), at("02:50:00"), 16_056, 1000)
    truncated = changed(quiet(0), truncations=Truncations(None, fall, 15_056))
    yield Example(
        "the log was truncated",
        Kind.LAG,
        "beyond_end",
        "02:50:00",
        ("partition 0 of orders", "16,032", "15,032 records", "(1,000)"),
        w.group(offsets=(w.commit(0, 16_032, "02:30:00"),)),
        w.catalog(w.topic("orders", truncated)),
    )
    yield Example(
        "offsets of another cluster were committed",
        Kind.LAG,
        "beyond_end",
        "02:30:00",
        ("2 partitions of orders (0-1)", "partition 1 of orders", "4,500", "3,500 records", "(1,000)"),
        w.group(offsets=(w.commit(0, 1_001, "02:31:00"), w.commit(1, 4_500, "02:30:00"))),
        w.catalog(w.topic("orders", quiet(0), quiet(1))),
    )

    recreated = changed(quiet(0, seen="02:20:00"), former_ms=at("02:19:50"))
    yield Example(
        "the topic was recreated, and the consumer went on where it was",
        Kind.LAG,
        "beyond_end",
        "02:30:00",
        ("partition 0 of orders", "20,000", "19,000 records", "recreated"),
        w.group(offsets=(w.commit(0, 20_000, "02:30:00"),)),
        w.catalog(w.topic("orders", recreated)),
    )


def _repeating(w: World, stopped: CommittedOffset) -> Iterator[Example]:
    """Offset 1000 is committed every 5 s since 02:40:00."""
    times = ("02:59:45", "02:59:50", "02:59:55")
    stuck = changed(w.commit(0, 1000, *times), standstill=Standstill(at("02:40:00"), 240))
    yield Example(
        "its owner commits one offset again and again",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("1 partition of orders (0)", "offset 1,000", "at least 200 times", "Its owner is checkout at /10.0.0.1"),
        w.group(w.member(1, has=[0]), offsets=(stuck,)),
        w.catalog(w.topic("orders", busy(0))),
    )
    both = w.catalog(w.topic("orders", busy(0), busy(1)))
    also = changed(w.commit(1, 1000, *times), standstill=Standstill(at("02:42:00"), 216))
    yield Example(
        "a simple consumer commits the same offsets again and again",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("2 partitions of orders (0-1)", "the same offsets", "at least 200 times", "1,000 in partition 0 of orders"),
        GroupState(cluster="prod", group=w.name("checkout"), phase=Phase.OFFSETS_ONLY, offsets=(stuck, also)),
        both,
    )
    silent = changed(stopped, partition=1)
    yield Example(
        "it repeats one offset, and does not commit elsewhere",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("2 partitions of orders (0-1)", "no new offset", "1 partition of orders (0)", "offset 1,000"),
        w.group(w.member(1, has=[0, 1]), offsets=(stuck, silent)),
        both,
    )
    yield Example(
        "simple consumers: one repeats an offset, one has stopped to commit",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("2 partitions of orders (0-1)", "no new offset", "1 partition of orders (0)", "offset 1,000"),
        GroupState(cluster="prod", group=w.name("checkout"), phase=Phase.OFFSETS_ONLY, offsets=(stuck, silent)),
        both,
    )


def _kept(w: World) -> Iterator[Example]:
    """MirrorMaker 2 copied offset 1000 at 02:44:00 the last time; the cluster A is its source."""
    own = w.name("A.orders")
    copied = changed(w.commit(0, 1000, "02:42:00", "02:43:00", "02:44:00"), topic=own)
    points = [("02:44:00", 1000), ("02:45:00", 1150), ("02:55:00", 1300), ("03:00:00", 1500)]
    goes_on = changed(busy(0), end=1500, ends=tuple(EndOffsetAt(at(time), offset) for time, offset in points))
    written = changed(w.topic("orders", quiet(0)), topic="A.checkpoints.internal")
    group = GroupState(cluster="prod", group=w.name("checkout"), phase=Phase.OFFSETS_ONLY, offsets=(copied,))
    of_a = "1 partition of A.orders (0)", "No member has ever been seen", "by A.checkpoints.internal"
    yield Example(
        "as many records wait as copied offsets may lag",
        Kind.UNATTENDED,
        "kept",
        "02:45:00",
        of_a,
        group,
        w.catalog(changed(w.topic("orders", busy(0)), topic=own), written),
    )
    yield Example(
        "records go on, and no group is copied",
        Kind.UNATTENDED,
        "not_synced",
        "02:45:00",
        (*of_a, "no checkpoint of any group since"),
        group,
        w.catalog(changed(w.topic("orders", goes_on), topic=own), written),
    )


def _paused(w: World) -> Iterator[Example]:
    """Offset 1000 is committed every 5 s since 01:30:00, and the next records came at 01:40:00."""
    times = ("02:59:45", "02:59:50", "02:59:55")
    kept = changed(w.commit(0, 1000, *times), standstill=Standstill(at("01:30:00"), 1_080))
    points = [("01:39:50", 1000), ("01:40:00", 1010), ("02:55:00", 1050), ("03:00:00", 1100)]
    waiting = changed(busy(0), ends=tuple(EndOffsetAt(at(time), offset) for time, offset in points))
    yield Example(
        "its owner commits one offset for over an hour, and moves another partition",
        Kind.LAG,
        "not_moving",
        "01:40:00",
        ("1 partition of orders (0)", "offset 1,000", "at least 1,000 times", "other partitions"),
        w.group(w.member(1, has=[0, 1]), offsets=(kept, w.commit(1, 1100, *times))),
        w.catalog(w.topic("orders", waiting, busy(1))),
    )


def _leaving(w: World, stopped: CommittedOffset) -> Iterator[Example]:
    """Owners of partition 0 have left at offset 1000, some minutes apart."""
    offsets = tuple([w.commit(number, 1100, "02:59:45", "02:59:50", "02:59:55") for number in (1, 2)])
    members = w.member(3, has=[0]), w.member(4, has=[1, 2])
    topics = w.catalog(w.topic("orders", *map(busy, range(3))))
    gone = tuple([Departure(at(f"02:{m}:00"), at(f"02:{m}:50"), at(f"02:{m}:45")) for m in (48, 51, 54)])
    row = Departures(w.name("orders"), 0, first_commit=7, owners=3, others=0, newest=gone, distance=500)
    yield Example(
        "three owners in a row left at one record",
        Kind.LAG,
        "stuck_record",
        "02:45:00",
        ("offset 1,000", "partition 0 of orders", "at most 500 records apart", "At least 3 owners", "--offset 1000"),
        w.group(*members, offsets=(stopped, *offsets), departures=(row,)),
        topics,
    )
    also = changed(row, partition=1, owners=2, newest=gone[1:], distance=0)
    behind = changed(stopped, partition=1)
    yield Example(
        "in two partitions, and it is not known how many records a commit covers",
        Kind.LAG,
        "stuck_record",
        "02:45:00",
        ("2 partitions of orders (0-1)", "offset 1,000", "partition 0 of orders", "At least 2 owners"),
        w.group(
            w.member(3, has=[0, 1]),
            w.member(4, has=[2]),
            offsets=(stopped, behind, offsets[1]),
            departures=(changed(also, partition=0), also),
        ),
        topics,
    )
    nothing_else = tuple([changed(each, others_ms=0) for each in row.newest])
    yield Example(
        "three owners in a row left, and nothing else was committed",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("1 partition of orders (0)", "At least 3 owners in a row", "offset 1,000"),
        w.group(
            w.member(3, has=[0]),
            offsets=(w.commit(0, 1000, "02:29:50", "02:29:55", "02:30:00"),),
            departures=(changed(row, newest=nothing_else),),
            generation_ms=at("02:59:30"),
        ),
        w.catalog(w.topic("orders", busy(0))),
    )
    quick = tuple([Departure(at(f"02:58:{s}"), at(f"02:58:{s}") + 300, 0) for s in range(10, 59, 7)])
    yield Example(
        "its owners leave at once, and the next one has not come yet",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("1 partition of orders (0)", "no offset has been committed", "At least 10 owners in a row", "offset 1,000"),
        w.group(
            offsets=(w.commit(0, 1000, "02:29:50", "02:29:55", "02:30:00"),),
            departures=(changed(row, owners=12, newest=quick),),
            phase_ms=at("02:59:30"),
        ),
        w.catalog(w.topic("orders", busy(0))),
    )


def _uncommitted(w: World) -> Iterator[Example]:
    """Partition 1 has no committed offset; where it is busy, records came from 02:45:00 on."""
    members = w.member(1, has=[0]), w.member(2, has=[1])
    yield Example(
        "its owner commits nothing there",
        Kind.UNCOMMITTED,
        "never",
        "02:45:00",
        ("1 partition of orders (1)", "Its owner, checkout at /10.0.0.2, has had it for at least 60 s"),
        w.group(*members, offsets=(w.commit(0, 1100, "02:59:30", "02:59:40", "02:59:50"),)),
        w.catalog(w.topic("orders", busy(0), busy(1))),
    )
    read = w.commit(0, 1000, "02:30:00")
    yield Example(
        "nobody is there, and records came",
        Kind.UNCOMMITTED,
        "unattended",
        "02:45:00",
        ("1 partition of orders (1)", "no members", "auto.offset.reset"),
        w.group(offsets=(read,)),
        w.catalog(w.topic("orders", quiet(0), busy(1))),
    )
    at_risk = Kind.UNCOMMITTED, "at_risk", "02:40:00"
    both = w.catalog(w.topic("orders", quiet(0), quiet(1)))
    yield Example(
        "nothing came there", *at_risk, ("1 partition of orders (1)",), w.group(*members, offsets=(read,)), both
    )
    yield Example(
        "the group commits nothing",
        *at_risk,
        ("2 partitions of orders (0-1)", "commits no offsets", "keep them elsewhere"),
        w.group(*members),
        both,
    )
    deleted = tuple(DeletedOffset(w.name("orders"), each, 100, STORED, None, at("02:42:00")) for each in (0, 1))
    yield Example(
        "the topic was recreated, and records came",
        Kind.UNCOMMITTED,
        "never",
        "02:45:00",
        ("2 partitions of orders (0-1), since brokers deleted", "at 2026-11-22 02:42:00 UTC, as they do with a topic"),
        w.group(*members, deleted_offsets=deleted),
        w.catalog(w.topic("orders", busy(0), busy(1))),
    )
    yield Example(
        "the topic was recreated, and nothing came",
        *at_risk,
        ("has committed nothing since its offsets were deleted at 2026-11-22 02:42:00 UTC",),
        w.group(*members, deleted_offsets=deleted),
        both,
    )


def _expiring(w: World) -> Iterator[Example]:
    """The group is without members since 02:40:00, and committed 1,000 at 02:30:00; the logs end at 1,100."""
    orders = w.catalog(w.topic("orders", busy(0), busy(1)))
    kept = OffsetsRetention(35 * 60_000)
    both = w.commit(0, 1000, "02:30:00"), w.commit(1, 1000, "02:30:00")
    yield Example(
        "it has no members, and the brokers keep its offsets for 25 minutes",
        Kind.OFFSETS,
        "expire",
        "02:58:45",
        ("2 partitions of orders (0-1)", "2026-11-22 03:05:00 UTC", "no members", "auto.offset.reset"),
        w.group(offsets=both),
        changed(orders, offsets_retention=OffsetsRetention(25 * 60_000)),
    )
    yield Example(
        "a group that only commits has committed nothing for as long",
        Kind.OFFSETS,
        "expire",
        "02:56:15",
        ("2 partitions of orders (0-1)", "2026-11-22 03:05:00 UTC", "commits nothing"),
        changed(w.group(offsets=both), phase=Phase.OFFSETS_ONLY, protocol_type="", generation_ms=0),
        changed(orders, offsets_retention=kept),
    )
    yield Example(
        "its members have turned away from the topic",
        Kind.OFFSETS,
        "unsubscribed",
        "02:56:15",
        ("2 partitions of orders (0-1)", "2026-11-22 03:05:00 UTC", "No member subscribes"),
        w.group(w.member(1, ("refunds",), has={"refunds": [0]}), offsets=both),
        changed(w.catalog(w.topic("orders", busy(0), busy(1)), w.topic("refunds", quiet(0))), offsets_retention=kept),
    )
    deleted = [
        DeletedOffset(w.name("orders"), number, offset, at("01:30:00"), at("01:40:00"), at("02:41:07"))
        for number, offset in ((0, 900), (1, 950))
    ]
    gone = GroupState(cluster="prod", group=w.name("checkout"), deleted_offsets=tuple(deleted))
    expired = "expired at 2026-11-22 02:41:07 UTC"
    yield Example(
        "they have expired, and the group is gone from the brokers",
        Kind.OFFSETS,
        "expired",
        "02:41:07",
        ("2 partitions of orders (0-1)", expired, "were 900 to 950", "at least 200 records"),
        gone,
        changed(orders, offsets_retention=OffsetsRetention(3_600_000)),
    )
    yield Example(
        "one has expired",
        Kind.OFFSETS,
        "expired",
        "02:41:07",
        ("1 partition of orders (0)", expired, "was 900", "at least 200 records"),
        changed(gone, deleted_offsets=(deleted[0],)),
        changed(orders, offsets_retention=OffsetsRetention(3_600_000)),
    )
    below = [
        InvalidCommit(w.name("orders"), 0, -1, at("02:41:07"), at("02:41:07"), CommitPoint(at("02:40:59"), 900)),
        InvalidCommit(w.name("orders"), 1, -1001, at("02:43:00"), at("02:43:00"), CommitPoint(at("02:40:59"), 950)),
    ]
    none = "nothing is committed there"
    yield Example(
        "a client committed -1",
        Kind.OFFSETS,
        "invalid",
        "02:41:07",
        (
            "committed -1 in 1 partition of orders (0)",
            "2026-11-22 02:41:07 UTC",
            none,
            "was 900",
            "at least 200 records",
        ),
        changed(w.group(w.member(1, has=[0])), invalid_commits=(below[0],)),
        orders,
    )
    yield Example(
        "clients committed different ones",
        Kind.OFFSETS,
        "invalid",
        "02:41:07",
        ("offsets below 0 in 2 partitions of orders (0-1)", none, "were 900 to 950"),
        changed(gone, deleted_offsets=(), phase=Phase.OFFSETS_ONLY, invalid_commits=tuple(below)),
        orders,
    )
    yield Example(
        "it has never committed another offset",
        Kind.OFFSETS,
        "invalid",
        "02:43:00",
        ("committed -1001 in 1 partition of orders (1)", none),
        changed(gone, deleted_offsets=(), phase=Phase.OFFSETS_ONLY, invalid_commits=(changed(below[1], last=None),)),
        orders,
    )
    yield Example(
        "the brokers do not return their retention",
        Kind.OFFSETS,
        "removed",
        "02:41:07",
        ("2 partitions of orders (0-1)", f"deleted or {expired}", "900 to 950"),
        gone,
        changed(orders, offsets_retention=OffsetsRetention()),
    )


def _silent(w: World, stopped: CommittedOffset) -> Iterator[Example]:
    yield Example(
        "its owner does not commit",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("1 partition of orders (0)", "Its owner, checkout at /10.0.0.1, has"),
        w.group(w.member(1, has=[0]), offsets=(stopped,)),
        w.catalog(w.topic("orders", busy(0))),
    )
    both = w.catalog(w.topic("orders", busy(0), busy(1)))
    offsets = stopped, w.commit(1, 1000, "02:30:00")
    yield Example(
        "no owner commits",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("2 partitions of orders (0-1)", "Their owners, checkout at /10.0.0.1, checkout at /10.0.0.2, have"),
        w.group(w.member(1, has=[0]), w.member(2, has=[1]), offsets=offsets),
        both,
    )
    yield Example(
        "a simple consumer has stopped to commit",
        Kind.LAG,
        "not_committing",
        "02:45:00",
        ("2 partitions of orders (0-1)",),
        GroupState(cluster="prod", group=w.name("checkout"), phase=Phase.OFFSETS_ONLY, offsets=offsets),
        both,
    )
    yield from _repeating(w, stopped)
    yield from _leaving(w, stopped)
    yield from _paused(w)
    yield from _kept(w)
    going_on = w.commit(2, 1100, "02:59:40", "02:59:45", "02:59:50")
    three = w.catalog(w.topic("orders", busy(0), busy(1), busy(2)))
    members = w.member(1, has=[0]), w.member(2, has=[1]), w.member(3, has=[2])
    dead = Kind.DEAD_MEMBER, "silent", "02:45:00"
    yield Example(
        "hangs",
        *dead,
        ("checkout at /10.0.0.1 owns 1 partition of orders (0)",),
        w.group(*members, offsets=(stopped, w.commit(1, 1100, "02:59:50"), going_on)),
        three,
    )
    patient = changed(members[0], session_timeout_ms=1_800_000)
    yield Example(
        "hangs, or is gone with a long session",
        Kind.DEAD_MEMBER,
        "unnoticed",
        "02:45:00",
        ("checkout at /10.0.0.1 owns 1 partition of orders (0)", "session timeout is 30 min"),
        w.group(patient, *members[1:], offsets=(stopped, w.commit(1, 1100, "02:59:50"), going_on)),
        three,
    )
    twins = [changed(member, host=w.name("/10.0.0.1")) for member in members]
    yield Example(
        "two of three on one host hang",
        *dead,
        (
            "checkout (checkout-1-5d0c) at /10.0.0.1, checkout (checkout-2-5d0c) at /10.0.0.1 own",
            "2 partitions of orders (0-1)",
        ),
        w.group(*twins, offsets=(*offsets, going_on)),
        three,
    )


def _rebalances(w: World) -> Iterator[Example]:
    members = w.member(1, has=[0]), w.member(2, has=[1])
    orders = w.topics(orders=2)
    yield Example(
        "its members do not come back",
        Kind.REBALANCE,
        "long",
        "02:58:00",
        ("at most 5 min",),
        w.group(*members, sampled=RebalanceInProgress(at("02:57:00"), at("02:59:55"))),
        orders,
    )
    under_way = Rebalance(generation=12, started_ms=at("02:57:00"), causes=(Cause.JOIN,))
    reconciling = {"phase": Phase.RECONCILING, "under_way": under_way}
    giving = w.modern(1, has=[0], revoking=[1], since="02:57:00", state=MemberState.UNREVOKED_PARTITIONS)
    yield Example(
        "one member keeps the others waiting",
        Kind.REBALANCE,
        "long",
        "02:58:00",
        ("checkout at /10.0.0.1 has not revoked partitions",),
        w.broker_group(giving, w.modern(2, to_have=[1], state=MemberState.UNRELEASED_PARTITIONS), **reconciling),
        orders,
    )
    yield Example(
        "what was chosen is not taken",
        Kind.REBALANCE,
        "long",
        "02:58:00",
        ("checkout at /10.0.0.2 has not yet taken",),
        w.broker_group(w.modern(1, has=[0]), w.modern(2, to_have=[1]), **reconciling),
        orders,
    )
    yield Example(
        "the broker does not choose",
        Kind.REBALANCE,
        "long",
        "02:58:00",
        ("coordinator has not computed",),
        w.broker_group(w.modern(1, has=[0, 1]), phase=Phase.ASSIGNING, under_way=under_way),
        orders,
    )
    for title, causes in (
        ("members come and go", (Cause.JOIN, Cause.LEAVE)),
        ("topics come and go", (Cause.TOPICS,)),
        ("nobody knows why", (Cause.UNKNOWN,)),
    ):
        ends = range(at("02:50:15"), at("03:00:00"), 30_000)
        history = tuple(Rebalance(number, end, end, causes) for number, end in enumerate(ends))
        yield Example(title, Kind.REBALANCE, "storm", "02:59:45", (), w.group(*members, history=history), orders)
    skipped = tuple(changed(each, generation=2 * each.generation) for each in history)
    wire = WireForm(subscription_version=0, assignment_version=0)
    python = [changed(each, client_id=w.name("kafka-python-3.0.12"), user_data=b"", wire=wire) for each in members]
    yield Example(
        "leaders of kafka-python fail",
        Kind.REBALANCE,
        "storm",
        "02:59:45",
        ("before it assigned partitions", "Known defect of kafka-python", "Use range"),
        w.group(*python, protocol="roundrobin", history=skipped),
        orders,
    )
    order = w.member(1, ("order",)), w.member(2, ("order",))
    yield Example(
        "two members subscribe to a misspelled topic",
        Kind.SUBSCRIPTION,
        "nothing_to_read",
        "02:40:00",
        ("have nothing to read", "subscribe to order", "Topics with similar names exist: orders"),
        w.group(*order),
        orders,
    )
    deleted = DeletedOffset(w.name("refunds"), 0, 100, STORED, None, at("02:50:00"))
    yield Example(
        "the topic of a member was deleted",
        Kind.SUBSCRIPTION,
        "nothing_to_read",
        "02:50:00",
        ("has nothing to read", "Deleted: refunds", "at 02:50:00 UTC"),
        w.group(w.member(1, has=[0, 1]), w.member(2, ("refunds",)), deleted_offsets=(deleted,)),
        orders,
    )
    yield Example(
        "one of two topics does not exist",
        Kind.SUBSCRIPTION,
        "missing_topics",
        "02:40:00",
        ("subscribes to refunds",),
        w.group(w.member(1, ("orders", "refunds"), has=[0, 1])),
        orders,
    )
    unfit = changed(w.modern(1, has=[]), topics=(), regex="^order*")
    resolved = ResolvedRegex("^order*")
    yield Example(
        "an expression fits no topic as a whole",
        Kind.SUBSCRIPTION,
        "nothing_to_read",
        "02:40:00",
        ("has to match the whole name", "^order*", "a part of orders"),
        w.broker_group(unfit, regexes=(resolved,)),
        orders,
    )
    blue, green = w.name("blue"), w.name("green")
    runs = (
        StaticIdRun(blue, at("02:57:00"), at("02:59:55"), times=36, longest_gap_ms=6_000),
        StaticIdRun(green, at("02:56:00"), at("02:59:50"), times=5, longest_gap_ms=80_000),
        StaticIdRun(w.name("red"), at("02:59:50"), at("02:59:50"), times=1),
    )
    static = w.member(1, has=[0], instance_id=blue), w.member(2, has=[1], instance_id=green)
    yield Example(
        "two processes, or one that fails, have one static id",
        Kind.REBALANCE,
        "static_replacements",
        "02:56:00",
        (
            "blue",
            "36 times within 2 min 55 s, every 5 s",
            "checkout at /10.0.0.1",
            "also true of green (checkout at /10.0.0.2)",
        ),
        w.group(*static, static_ids=runs),
        orders,
    )
    modern = w.modern(1, has=[0, 1], instance_id=blue)
    yield Example(
        "a static member of KIP-848 restarts",
        Kind.REBALANCE,
        "static_replacements",
        "02:57:00",
        ("Its client is now: checkout at /10.0.0.1",),
        w.broker_group(modern, static_ids=runs[:1]),
        orders,
    )
    yield from _different_subscriptions(w)


def _different_subscriptions(w: World) -> Iterator[Example]:
    """Members of orders and of refunds; that of refunds leaves three times from 02:05:00 on, and is back after 10 s."""
    kind, since = (Kind.REBALANCE, "different_subscriptions"), "02:05:00"
    both = w.topics(orders=1, refunds=1)

    def history(*topics: str, paused_ms: int = 0) -> tuple[Rebalance, ...]:
        kept = tuple(sorted(map(w.name, topics)))
        gone = SubscriptionChanges((SubscriptionChange(kept, 0, 1),), paused_ms)
        come = SubscriptionChanges((SubscriptionChange(kept, 1, 0),))
        left = [at(f"02:{minute}:00") for minute in ("05", "10", "15")]
        return tuple(
            each
            for left_ms in left
            for each in (
                Rebalance(3, left_ms, left_ms, (Cause.LEAVE,), left=1, subscriptions=gone),
                Rebalance(4, left_ms + 10_000, left_ms + 10_000, (Cause.JOIN,), joined=1, subscriptions=come),
            )
        )

    orders = w.member(1, ("orders",), has=[0])
    refunds = w.member(2, ("refunds",), has={"refunds": [0]}, client_id=w.name("accounting"))
    yield Example(
        "two applications have one group.id",
        *kind,
        since,
        (
            "refunds",
            "client id accounting",
            "rebalanced 6 times",
            "at least 3 restarts",
            "12 s in total and 4 s per restart",
        ),
        w.group(orders, refunds, history=history("refunds", paused_ms=4_000)),
        both,
    )
    last_ms = at("02:58:00")
    gone = SubscriptionChange((w.name("refunds"),), 0, 1)
    away = Rebalance(5, last_ms, last_ms, (Cause.LEAVE,), left=1, subscriptions=SubscriptionChanges((gone,)))
    yield Example(
        "the other application is away",
        *kind,
        since,
        ("none now to refunds", "rebalanced 7 times"),
        w.group(orders, history=(*history("refunds"), away)),
        both,
    )
    shared = [changed(each, topics=(*each.topics, w.name("logs"))) for each in (orders, refunds)]
    yield Example(
        "two applications share one of their topics",
        *kind,
        since,
        ("logs, orders", "only a part of logs"),
        w.group(*shared, history=history("refunds", "logs")),
        both,
    )


def _drifts(w: World) -> Iterator[Example]:
    """Of four partitions, range gives 0 and 1 to the first and 2 and 3 to the second."""
    replayed = Kind.DRIFT, "replayed", "02:40:00"
    swapped = w.member(1, has=[2, 3]), w.member(2, has=[0, 1])
    four = w.topics(orders=4)
    all_four = (
        "4 partitions of orders (0-3)",
        "partition 0 of orders should belong to checkout at /10.0.0.1 but belongs to checkout at /10.0.0.2",
    )
    yield Example("exchanged", *replayed, all_four, w.group(*swapped), four)
    static = w.member(1, has=[0, 1]), w.member(2, has=[2], instance_id=w.name("blue"))
    yield Example(
        "exactly another client's",
        *replayed,
        ("The range of Sarama, aiokafka or librdkafka", "The group leader is checkout at /10.0.0.2"),
        w.group(*static, leader=w.name("checkout-2-5d0c")),
        w.topics(orders=3),
    )
    own_form = WireForm(subscription_version=0, assignment_version=0, assignment_data=0)
    python = {"client_id": w.name("kafka-python-3.0.12"), "user_data": b"", "wire": own_form}
    first, second = w.member(1, **python), w.member(2, has=[0, 1, 2, 3], client_id="consumer-checkout-1")
    led = changed(second, wire=WireForm(subscription_version=3, assignment_version=0, assignment_data=0))
    yield Example(
        "not even the leader's own client",
        *replayed,
        ("2 partitions of orders (0-1)", "leader is kafka-python-3.0.12 at /10.0.0.1. groupwatch knows"),
        w.group(first, led, leader=w.name("checkout-1-5d0c")),
        four,
    )
    yield Example(
        "a client that is not known",
        *replayed,
        ("4 partitions of orders (0-3)", "checkout at /10.0.0.1, does not encode"),
        w.group(changed(swapped[0], user_data=b"x"), swapped[1], leader=w.name("checkout-1-5d0c")),
        four,
    )
    yield Example(
        "different clients",
        *replayed,
        ("they use Kafka's Java client and kafka-python; kafka-python-3.0.12 at /10.0.0.1 differs from the rest",),
        w.group(first, second, leader=w.name("checkout-2-5d0c")),
        four,
    )
    sarama = {"client_id": "sarama", "wire": WireForm(subscription_version=1, assignment_version=0)}
    yield Example(
        "a client whose assignor is checked",
        *replayed,
        ("The assignor sticky of Sarama cannot", "partition 0 of orders belongs to sarama at /10.0.0.1, and a move of"),
        w.group(w.member(1, has=[0, 1, 2, 3], **sarama), w.member(2, **sarama), protocol="sticky"),
        four,
    )
    yield Example("racks", *replayed, all_four, w.group(changed(swapped[0], rack="r1"), swapped[1]), four)
    more = w.member(3, ("orders", "refunds"), has={"refunds": [0]})
    yield Example(
        "different subscriptions",
        *replayed,
        ("subscription of checkout at /10.0.0.3 differs from the others",),
        w.group(*swapped, more),
        w.topics(orders=4, refunds=1),
    )

    def remembering(number: int, had: Sequence[int], has: Sequence[int]) -> Member:
        told = user_data({w.name("orders"): had}, 11)
        return w.member(number, has=has, user_data=told, member_id=f"C{number - 1}")  # the ids decide the tie

    yield Example(
        "a tie",
        Kind.DRIFT,
        "tie",
        "02:40:00",
        ("2 partitions of orders (2, 6)",),
        w.group(
            remembering(1, [0, 1, 2, 3], [0, 1]),
            remembering(2, [4, 5, 6], [4, 5, 6]),
            remembering(3, [], [2, 3]),
            protocol="sticky",
        ),
        w.topics(orders=7),
    )
    yield Example(
        "the topic grew",
        Kind.DRIFT,
        "current",
        "02:55:00",
        ("5 partitions of orders (2-6)", "orders grew from 4 to 7 partitions"),
        w.group(w.member(1, has=[0, 1]), w.member(2, has=[2, 3])),
        w.topics(orders=7, grown=3),
    )
    uneven = w.group(w.member(1), w.member(2, has=[0, 1, 2, 3]), protocol="cooperative-sticky")
    better = Kind.DRIFT, "current", "02:40:00"
    yield Example("nothing has changed", *better, ("detected no change of the assignor's inputs",), uneven, four)
    racked = changed(uneven, members=tuple(changed(member, rack="r1") for member in uneven.members))
    here = w.topics(orders=4, racks=["r1"] * 4)
    yield Example("other racks", *better, ("considers racks",), racked, here)


def _targets(w: World) -> Iterator[Example]:
    target, orders = (Kind.DRIFT, "target", "02:40:00"), w.topics(orders=4)
    yield Example(
        "not the range that all ask for",
        *target,
        (
            "4 partitions of orders (0-3)",
            "should go to checkout at /10.0.0.1, but the coordinator chose checkout at /10.0.0.2",
        ),
        w.broker_group(
            w.modern(1, has=[2, 3], server_assignor="range"), w.modern(2, has=[0, 1], server_assignor="range")
        ),
        orders,
    )
    yield Example(
        "members ask for different ones",
        *target,
        ("range, uniform",),
        w.broker_group(w.modern(1, has=[0, 1, 2, 3], server_assignor="range"), w.modern(2, server_assignor="uniform")),
        orders,
    )
    yield Example(
        "nobody asks for one", *target, (), w.broker_group(w.modern(1, has=[0, 1, 2]), w.modern(2, has=[3])), orders
    )
    pending = Kind.DRIFT, "pending"
    giving = w.modern(1, has=[0, 1], revoking=[2], since="02:55:00", state=MemberState.UNREVOKED_PARTITIONS)
    waiting = w.modern(2, has=[3], to_have=[2, 3], state=MemberState.UNRELEASED_PARTITIONS)
    kept = (
        "1 partition of orders (2)",
        "target owner is checkout at /10.0.0.2",
        "checkout at /10.0.0.1, has not revoked it",
    )
    yield Example(
        "told to give back",
        *pending,
        "02:55:00",
        kept,
        w.broker_group(giving, waiting, phase=Phase.RECONCILING),
        orders,
    )
    sleeping = w.modern(1, has=[0, 1, 2], to_have=[0, 1], since="02:00:00")
    yield Example(
        "has not asked since",
        *pending,
        "02:40:00",
        ("1 partition of orders (2)", "checkout at /10.0.0.1, has not contacted the coordinator since"),
        w.broker_group(sleeping, waiting, phase=Phase.RECONCILING),
        orders,
    )
    yield Example(
        "meant for nobody",
        *pending,
        "02:55:00",
        ("has no target owner",),
        w.broker_group(giving, w.modern(2, has=[3]), phase=Phase.RECONCILING),
        orders,
    )


def _balance(w: World) -> Iterator[Example]:
    both = ("orders", "refunds")
    yield Example(
        "range over two topics",
        Kind.IMBALANCE,
        "partitions",
        "02:40:00",
        ("checkout at /10.0.0.1 owns 4 partitions", "at most 3 for any member"),
        w.group(
            w.member(1, both, has={"orders": [0, 1], "refunds": [0, 1]}),
            w.member(2, both, has={"orders": [2], "refunds": [2]}),
        ),
        w.topics(orders=3, refunds=3),
    )
    yield Example(
        "an assignor of somebody's own",
        Kind.IMBALANCE,
        "partitions",
        "02:40:00",
        ("checkout at /10.0.0.1 owns 3 partitions", "at most 2 for any member"),
        w.group(w.member(1, has=[0, 1, 2]), w.member(2, has=[3]), protocol="ours"),
        w.topics(orders=4),
    )
    skewed = w.group(
        w.member(1, has=[0, 1]),
        w.member(2, has=[2, 3]),
        offsets=tuple(w.commit(number, 1_000_000, "03:00:00") for number in range(4)),
    )
    lag = Kind.IMBALANCE, "lag", "02:40:00"
    whose = "checkout at /10.0.0.1, which owns 2 partitions"
    for title, waiting, came, word in (
        ("key skew", [19_000, 500, 500, 0], [19_000, 500, 500, 0], "Partition 0 of orders alone"),
        (
            "busy partitions together",
            [9_000, 9_000, 500, 0],
            [9_000, 9_000, 500, 0],
            "Partition 0 of orders is the busiest",
        ),
        ("a slow member", [9_000, 9_000, 500, 0], [50, 50, 50, 50], "the member is slow"),
    ):
        partitions = [loaded(number, *counts) for number, counts in enumerate(zip(waiting, came, strict=True))]
        yield Example(title, *lag, (whose, word), skewed, w.catalog(w.topic("orders", *partitions)))
    idle = Kind.IDLE_MEMBERS, "no_partitions", "02:40:00"
    yield Example(
        "more members than partitions",
        *idle,
        ("1 of 3 members owns no partition (checkout at /10.0.0.3)", "the 2 partitions"),
        w.group(w.member(1, has=[0]), w.member(2, has=[1]), w.member(3)),
        w.topics(orders=2),
    )
    yield Example(
        "twelve stand by",
        *idle,
        (
            "12 of 13 members own no partition",
            "checkout at /10.0.0.10, checkout at /10.0.0.11",
            "checkout at /10.0.0.7 and 2 more)",
        ),
        w.group(w.member(1, has=[0]), *(w.member(number) for number in range(2, 14))),
        w.topics(orders=1),
    )
    yield Example(
        "although there are partitions enough",
        *idle,
        ("(checkout at /10.0.0.2), although its topics have 2 partitions",),
        w.group(w.member(1, has=[0, 1]), w.member(2), protocol="ours"),
        w.topics(orders=2),
    )
    yield Example(
        "not all can be read",
        *idle,
        ("(checkout at /10.0.0.2)",),
        w.group(w.member(1, has=[0, 1]), w.member(2), w.member(3, (), unreadable="short"), protocol="ours"),
        w.topics(orders=2),
    )


# --- members that share partitions by themselves ----------------------------------------------------------------------

AVERAGELY, CIRCLE = "AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"


def _client(w: World, number: int, *has: int, assignor: str = AVERAGELY, topic: str = "orders", **more: Any) -> Member:
    """A client of RocketMQ with queues of broker-a."""
    own = tuple(f"broker-a-{queue}" for queue in has)
    name = w.name(f"10.0.0.{number}@app")
    fields = {
        "member_id": name,
        "client_id": name,
        "host": w.name(f"10.0.0.{number}"),
        "topics": (w.name(topic),),
        "assigned": (TopicPartitions(w.name(topic), own),) if own else (),
        "assignor": assignor,
    }
    return Member(**(fields | more))


def _rocketmq(w: World, *members: Member, **more: Any) -> GroupState:
    fields = {"kind": GroupKind.ROCKETMQ, "source": Source.SYSTEM, "protocol": None}
    return w.group(*members, **(fields | more))


def _queues(w: World, count: int, make: Callable[[int], PartitionState] = quiet, **later: str) -> TopicState:
    """A topic of broker-a; ``later`` says of queues, as ``q4="02:55:00"``, that they came later."""
    states = []
    for number in range(count):
        state = make(number)
        seen = at(later[f"q{number}"]) if f"q{number}" in later else state.first_seen_ms
        states.append(changed(state, partition=f"broker-a-{number}", first_seen_ms=seen))
    return w.topic("orders", *states)


def _own_shares(w: World) -> Iterator[Example]:
    yield from _mixed(w)
    yield from _not_taken(w)
    yield from _storm(w)
    yield from _hung(w)
    metaq = w.group(
        w.person(1, ("orders",), assigned=(TopicPartitions(w.name("orders"), ("0-0",)),)),
        kind=GroupKind.METAQ,
        source=Source.SYSTEM,
        protocol=None,
        offsets=(changed(w.commit(0, 1000, "02:30:00"), partition="0-0"),),
    )
    yield Example(
        "more bytes of MetaQ than are allowed",
        Kind.LAG,
        "behind",
        "02:55:00",
        ("more than 40 bytes", "1 partition of orders (0-0)"),
        metaq,
        w.catalog(w.topic("orders", changed(busy(0), partition="0-0"))),
        DetectionSettings(lag_records=40),
    )


def _mixed(w: World) -> Iterator[Example]:
    """Of four queues, averagely gives the first client 0 and 1, by circle the second 1 and 3."""
    strategies = _rocketmq(w, _client(w, 1, 0, 1), _client(w, 2, 1, 3, assignor=CIRCLE))
    four = w.catalog(_queues(w, 4))
    which = (f"{AVERAGELY} (10.0.0.1@app at 10.0.0.1)", f"{CIRCLE} (10.0.0.2@app at 10.0.0.2)")
    mixed = "mixed_strategy", "02:40:00"
    yield Example(
        "two strategies", Kind.DOUBLE_OWNED, *mixed, ("1 partition of orders (broker-a-1)", *which), strategies, four
    )
    yield Example(
        "in no share of two strategies",
        Kind.ORPHANED,
        *mixed,
        ("1 partition of orders (broker-a-2)", *which),
        strategies,
        four,
    )
    yield Example(
        "a member does not subscribe to the topic",
        Kind.ORPHANED,
        "mixed_subscription",
        "02:40:00",
        ("2 partitions of orders (broker-a-2, broker-a-3)", "10.0.0.2@app at 10.0.0.2 does not subscribe to orders"),
        _rocketmq(w, _client(w, 1, 0, 1), _client(w, 2, topic="refunds")),
        four,
    )
    one = _client(w, 1, 0, 1, expressions=(TopicExpression(w.name("orders"), w.name("paid || sent")),))
    two = _client(w, 2, 2, 3, expressions=(TopicExpression(w.name("orders"), w.name("SQL92: amount = 9")),))
    yield Example(
        "members filter by different expressions",
        Kind.SUBSCRIPTION,
        "mixed_expressions",
        "02:45:00",
        (
            "orders with different expressions",
            "* (10.0.0.3@app at 10.0.0.3)",
            "SQL92: amount = 9 (10.0.0.2@app at 10.0.0.2), paid || sent (10.0.0.1@app at 10.0.0.1)",
        ),
        _rocketmq(w, one, two, _client(w, 3, expressions=()), rocketmq=RocketMQGroupState(at("02:45:00"))),
        four,
    )
    failing = Redelivery(
        newest=RedeliveryObserved(440, 7, 20, at("02:58:00"), 18, 1_060),
        waiting_since_ms=at("02:59:10"),
        given_up_since_ms=at("02:20:00"),
        sent_back_since_ms=at("02:10:00"),
        sent_back_ms=at("02:59:50"),
        points=(ConsumptionPoint(at("02:52:00"), 400, 1_000), ConsumptionPoint(at("02:57:00"), 420, 1_030)),
    )
    fails = _rocketmq(w, _client(w, 1, 0, 1), _client(w, 2, 2, 3), rocketmq=RocketMQGroupState(redelivery=failing))
    narrow = tuple(
        UnreadableQueue(w.name("orders"), f"broker-a-{number}", 10, 2, 4, at("02:30:00")) for number in (2, 3)
    )
    yield Example(
        "fewer read queues than write queues",
        Kind.LAG,
        "unreadable",
        "02:30:00",
        (
            "2 partitions of orders (broker-a-2, broker-a-3) are not readable",
            "20 records",
            "broker-a lets 2 queues be read and 4 be written",
        ),
        _rocketmq(w, _client(w, 1, 0), _client(w, 2, 1), rocketmq=RocketMQGroupState(unreadable=narrow)),
        w.catalog(_queues(w, 2)),
    )
    yield Example(
        "dead letters",
        Kind.POISON,
        "dead_letters",
        "02:20:00",
        ("has given up 20 records, the newest at 02:58:00 UTC", "18 of them are in %DLQ%checkout"),
        fails,
        four,
    )
    yield Example(
        "most of what is consumed is sent back",
        Kind.POISON,
        "sent_back",
        "02:10:00",
        (
            "Since 02:52:00 UTC, members have sent back 40 records, and the group has consumed 60",
            "7 records wait in the retry topic, the oldest since 02:59:10 UTC at the latest",
        ),
        fails,
        four,
    )
    yield Example(
        "two clients with one id",
        Kind.DOUBLE_OWNED,
        "duplicate_client_id",
        "02:40:00",
        ("the client id 10.0.0.1@app at 10.0.0.1", "2 partitions of orders (broker-a-0, broker-a-1)"),
        _rocketmq(w, _client(w, 1, 0, 1, connections=2), _client(w, 2, 2, 3)),
        four,
    )


def _not_taken(w: World) -> Iterator[Example]:
    halves = _rocketmq(w, _client(w, 1, 0, 1), _client(w, 2, 2))
    yield Example(
        "its owner by the strategy has not taken it",
        Kind.ORPHANED,
        "pending",
        "02:40:00",
        ("1 partition of orders (broker-a-3)", f"{AVERAGELY} assigns it to 10.0.0.2@app at 10.0.0.2"),
        halves,
        w.catalog(_queues(w, 4)),
    )
    yield Example(
        "queues that came later",
        Kind.ORPHANED,
        "grew",
        "02:55:00",
        ("1 partition of orders (broker-a-3)", "after the members last computed their shares"),
        halves,
        w.catalog(_queues(w, 4, q3="02:55:00")),
    )
    yield Example(
        "nobody has taken it, by a strategy that is not known",
        Kind.ORPHANED,
        "assignor_gap",
        "02:40:00",
        ("1 partition of orders (broker-a-3)", "does not know how the members assign partitions"),
        _rocketmq(w, _client(w, 1, 0, 1, assignor="Ours"), _client(w, 2, 2, assignor="Ours")),
        w.catalog(_queues(w, 4)),
    )
    yield Example(
        "nobody takes the second share of an id that two clients have",
        Kind.ORPHANED,
        "assignor_gap",
        "02:40:00",
        (
            "2 partitions of orders (broker-a-2, broker-a-3)",
            "the same id, 10.0.0.1@app at 10.0.0.1, all take the first",
        ),
        _rocketmq(w, _client(w, 1, 0, 1, connections=2)),
        w.catalog(_queues(w, 4)),
    )
    yield Example(
        "shared out otherwise than by the strategy",
        Kind.DRIFT,
        "replayed",
        "02:40:00",
        ("2 partitions of orders (broker-a-1, broker-a-2)", "partition broker-a-1 of orders should belong to"),
        _rocketmq(w, _client(w, 1, 0, 2), _client(w, 2, 1, 3)),
        w.catalog(_queues(w, 4)),
    )


def _storm(w: World) -> Iterator[Example]:
    ends = [at("02:50:00") + 20_000 * number for number in range(20)]
    history = tuple(
        Rebalance(generation=number, started_ms=end_ms, ended_ms=end_ms, causes=(Cause.LEAVE,))
        for number, end_ms in enumerate(ends)
    )
    yield Example(
        "clients of RocketMQ come and go",
        Kind.REBALANCE,
        "storm",
        "02:56:20",
        ("at least 20 times within 10 min (members left or timed out)", "lose their connections"),
        _rocketmq(w, _client(w, 1, 0, 1), _client(w, 2, 2, 3), history=history, generation_ms=ends[-1]),
        w.catalog(_queues(w, 4)),
    )


def _hung(w: World) -> Iterator[Example]:
    def commit(number: int, offset: int, *times: str) -> CommittedOffset:
        return changed(w.commit(number, offset, *times), partition=f"broker-a-{number}")

    going_on = commit(1, 1100, "02:59:30", "02:59:40", "02:59:50")
    yield Example(
        "connected, and does not answer",
        Kind.DEAD_MEMBER,
        "no_answer",
        "02:45:00",
        ("10.0.0.1@app at 10.0.0.1 is connected but does not respond", "1 partition of orders (broker-a-0)"),
        _rocketmq(
            w,
            _client(w, 1, 0, answers=False),
            _client(w, 2, 1),
            offsets=(commit(0, 1000, "02:30:00"), going_on),
        ),
        w.catalog(_queues(w, 2, busy)),
    )


def _streams_groups(w: World) -> Iterator[Example]:
    """Streams groups of the broker (KIP-1071): the subtopology 0 reads orders, or orders and refunds."""
    not_ready = Kind.ORPHANED, "not_ready", "02:40:00"

    def thread(number: int, has: Sequence[int] = (), *, to_have: Sequence[int] | None = None, **more: Any) -> Member:
        own, aim = [(IdPartitions("0", tuple(each)),) if each else () for each in (has, to_have or has)]
        standing = Reconciliation(epoch=12, assigned=own, target=aim, since_ms=STORED)
        client = StreamsClient(process_id=w.name(f"process-{number}"))
        return w.person(number, (), **({"reconciliation": standing, "streams_client": client} | more))

    def streams(
        *threads: Member,
        sources: Sequence[str] = ("orders",),
        validated: int | None = 1,
        changelogs: tuple[str, ...] = (),
        replicas: int = 0,
        **more: Any,
    ) -> Any:
        names = tuple(map(w.name, sources))
        part = Subtopology("0", source_topics=names, copartitioned=(names,), changelogs=changelogs)
        topology = Topology(epoch=1, subtopologies=(part,))
        known = StreamsGroupState(topology=topology, validated_epoch=validated, standby_replicas=replicas)
        return w.broker_group(*threads, kind=GroupKind.STREAMS, streams=known, **more)

    yield from _task_targets(w, thread, streams)

    two = thread(1, [0]), thread(2, [1])
    yield Example(
        "a task that waits for its new owner",
        Kind.ORPHANED,
        "pending",
        "02:40:00",
        ("No thread runs the task 0_2", "checkout at /10.0.0.2"),
        streams(thread(1, [0, 1]), thread(2, [], to_have=[2]), phase=Phase.RECONCILING),
        w.topics(orders=3),
    )
    yield Example(
        "a streams group whose members or topics have changed",
        Kind.ORPHANED,
        "rebalancing",
        "02:40:00",
        ("No thread runs the task 0_2",),
        streams(*two, phase=Phase.ASSIGNING, generation=13, target_epoch=12),
        w.topics(orders=3),
    )
    yield Example(
        "a source topic is missing, and the members have left",
        *not_ready,
        ("the topic refunds", "No instance is left"),
        streams(sources=("orders", "refunds"), validated=None, phase=Phase.EMPTY),
        w.topics(orders=2),
    )
    yield Example(
        "a source topic is missing",
        *not_ready,
        ("the topic refunds", "2 partitions of orders (0-1)"),
        streams(thread(1), thread(2), sources=("orders", "refunds"), validated=None, phase=Phase.NOT_READY),
        w.topics(orders=2),
    )
    yield Example(
        "joined topics differ in size",
        *not_ready,
        (f"{w.name('orders')} has 2, {w.name('refunds')} has 1",),
        streams(*two, sources=("orders", "refunds"), validated=None, phase=Phase.NOT_READY),
        w.topics(orders=2, refunds=1),
    )
    yield Example(
        "nobody knows why a topology is not ready",
        *not_ready,
        ("does not know the cause",),
        streams(thread(1), thread(2), validated=None, phase=Phase.NOT_READY),
        w.topics(orders=2),
    )


def _task_targets(w: World, thread: Callable[..., Member], streams: Callable[..., GroupState]) -> Iterator[Example]:
    """Targets that the task assignor does not give for what the members had before."""

    def task(number: int) -> tuple[IdPartitions, ...]:
        return (IdPartitions("0", (number,)),)

    def had(member: Member, active: tuple[IdPartitions, ...] = (), standby: tuple[IdPartitions, ...] = ()) -> Any:
        return FormerTasks(member.member_id, active, standby)

    def with_standby(member: Member, number: int) -> Member:
        return changed(member, reconciliation=changed(member.reconciliation, spare_target=SpareTasks(task(number))))

    target = Kind.DRIFT, "target", "02:40:00"
    one, two = thread(1, [0]), thread(2, [1])
    yield Example(
        "two tasks that are swapped",
        *target,
        ("the tasks 0_0, 0_1", "task 0_0 should go to checkout at /10.0.0.2, but", "chose checkout at /10.0.0.1"),
        streams(
            one, two, assignor_input=AssignorInput(12, is_complete=True, targets=(had(one, task(1)), had(two, task(0))))
        ),
        w.topics(orders=2),
    )
    # Each member keeps its active task, and a third one is new. The standby task 0_1 stays with the first member, whose
    # share (4 tasks, 3 members) is full then. 2 tasks are left for 2 members, so the third gets the standby task 0_0.
    one, two, three = with_standby(one, 1), with_standby(thread(2), 0), thread(3, [1])
    before = had(one, task(0), task(1)), had(two, task(1), task(0)), had(three)
    yield Example(
        "a standby task that is another member's",
        *target,
        ("standby task 0_0 should go to checkout at /10.0.0.3, but the coordinator chose checkout at /10.0.0.2",),
        streams(
            *(one, two, three),
            changelogs=("state",),
            replicas=1,
            assignor_input=AssignorInput(12, is_complete=True, targets=before),
        ),
        w.topics(orders=2),
    )


def _task_balance(w: World) -> Iterator[Example]:
    """Classic groups of Kafka Streams whose assignment is final, with the tasks of orders."""

    def thread(number: int, process: str, *numbers: int) -> Member:
        tasks = tuple(StreamsTask(0, each) for each in numbers)
        client = StreamsClient(process_id=w.name(process), version=11)
        return w.member(number, has=numbers, streams=StreamsNotice(version=11, active=tasks), streams_client=client)

    yield Example(
        "an instance has more tasks than its threads must have",
        Kind.IMBALANCE,
        "tasks",
        "02:40:00",
        (f"The instance {w.name('eu-1')} runs 4 active tasks on 1 thread", "2 for each thread"),
        w.group(thread(1, "eu-1", 0, 1, 2, 3), thread(2, "eu-2", 4), thread(3, "eu-2", 5), protocol="stream"),
        w.topics(orders=6),
    )
    yield Example(
        "a thread has no task",
        Kind.IDLE_MEMBERS,
        "no_tasks",
        "02:40:00",
        ("1 of 2 threads has neither", "checkout at /10.0.0.1 runs 2 active tasks"),
        w.group(thread(1, "eu-1", 0, 1), thread(2, "eu-2"), protocol="stream"),
        w.topics(orders=2),
    )


class Workers:
    """Makes Connect clusters. The worker of number 1 leads; all have read the configurations up to offset 30."""

    def __init__(self, w: World) -> None:
        self.w = w

    def url(self, number: int) -> str:
        return f"http://10.0.0.{number}:8083/{self.w.suffix}"

    def work(self, connector: str, *tasks: int) -> ConnectorTasks:
        return ConnectorTasks(self.w.name(connector), tasks)

    def worker(
        self, number: int, *has: ConnectorTasks, revoked: Sequence[ConnectorTasks] = (), offset: int = 30, **told: int
    ) -> Member:
        assignment = ConnectAssignment(
            leader="leader", leader_url=self.url(1), config_offset=30, revoked=tuple(revoked), **told
        )
        known = ConnectWorker(
            version=2, url=self.url(number), config_offset=offset, allocation=has, assignment=assignment
        )
        return self.w.person(number, (), connect=known)

    def cluster(self, *members: Member, stored: str = "02:40:00", **known: Any) -> GroupState:
        return GroupState(
            cluster="prod",
            group=self.w.name("checkout"),
            phase=Phase.STABLE if members else Phase.EMPTY,
            phase_ms=at(stored),
            protocol_type=CONNECT,
            protocol="sessioned",
            generation=12,
            generation_ms=at(stored),
            members=members,
            connect=ConnectGroupState(**known),
        )

    def configured(self, **tasks: int) -> Catalog:
        connectors = tuple(
            ConnectorConfig(connector=self.w.name(name), is_configured=True, tasks=count, changed_ms=at("02:30:00"))
            for name, count in tasks.items()
        )
        configs = ConnectConfigsState(cluster="prod", topic="connect-configs", connectors=connectors)
        return Catalog(cluster="prod", pass_ms=NOW, connect_configs={self.w.name("checkout"): configs})


def _connect(w: World) -> Iterator[Example]:
    c = Workers(w)
    nothing = w.catalog()
    gone = LostWork(c.url(2), at("02:58:00"), (c.work("jdbc", 0, 1), c.work("s3", 4)))
    one = c.worker(1, c.work("s3", THE_CONNECTOR, 0))
    yield Example(
        "Connect waits for a worker",
        Kind.ORPHANED,
        "delay",
        "02:58:00",
        ("3 tasks (jdbc", "http://10.0.0.2:8083/", "waits until 03:03:00 UTC"),
        c.cluster(c.worker(1, c.work("s3", 0), delay_ms=300_000), stored="02:58:00", lost=(gone,)),
        nothing,
    )
    yield Example(
        "Connect waits although the worker is back",
        Kind.ORPHANED,
        "delay",
        "02:58:00",
        ("3 tasks (jdbc", "http://10.0.0.2:8083/", "rejoined", "waits until 03:03:00 UTC"),
        c.cluster(
            c.worker(1, c.work("s3", 0), delay_ms=300_000),
            c.worker(2, delay_ms=300_000),
            stored="02:58:00",
            lost=(gone,),
        ),
        nothing,
    )
    yield Example(
        "Connect waited for a worker, and has not gone on",
        Kind.ORPHANED,
        "not_assigned",
        "02:50:00",
        ("3 tasks (jdbc", "http://10.0.0.2:8083/", "in generation 12"),
        c.cluster(
            c.worker(1, c.work("s3", 0), delay_ms=300_000),
            stored="02:50:00",
            lost=(changed(gone, since_ms=at("02:50:00")),),
        ),
        nothing,
    )
    yield Example(
        "Connect has no worker for a task",
        Kind.ORPHANED,
        "not_assigned",
        "02:40:00",
        ("1 task (s3", "has not assigned it in generation 12"),
        c.cluster(one),
        c.configured(s3=2),
    )
    yield Example(
        "Connect revoked, and has not assigned",
        Kind.ORPHANED,
        "revoked",
        "02:40:00",
        ("1 connector (jdbc", "Generation 12 revoked it"),
        c.cluster(c.worker(1, c.work("jdbc", THE_CONNECTOR), revoked=[c.work("jdbc", THE_CONNECTOR)]), c.worker(2)),
        nothing,
    )
    yield Example(
        "Connect could not read the configurations",
        Kind.ORPHANED,
        "config_mismatch",
        "02:40:00",
        ("1 task (s3", "CONFIG_MISMATCH"),
        c.cluster(c.worker(1, error=1), lost=(LostWork(c.url(1), STORED, (c.work("s3", 0),)),)),
        nothing,
    )
    yield Example(
        "Connect has no workers",
        Kind.ORPHANED,
        "no_workers",
        "02:40:00",
        ("2 tasks (s3", "1 connector (s3", "has no workers"),
        c.cluster(lost=(LostWork(c.url(1), STORED, (c.work("s3", THE_CONNECTOR, 0, 1),)),)),
        nothing,
    )
    double = DoubleWork((c.url(1), c.url(2)), at("02:51:00"), at("02:55:30"), (c.work("jdbc", 0),))
    yield Example(
        "two workers of Connect ran a task",
        Kind.DOUBLE_OWNED,
        "run_twice",
        "02:51:00",
        ("1 task (jdbc", "http://10.0.0.1:8083/", "http://10.0.0.2:8083/", "from 02:51:00 UTC until 02:55:30 UTC"),
        c.cluster(c.worker(1, c.work("jdbc", 0)), c.worker(2), stored="02:55:30", doubles=(double,)),
        nothing,
    )
    yield Example(
        "a worker of Connect has more tasks than another",
        Kind.IMBALANCE,
        "workers",
        "02:40:00",
        ("http://10.0.0.1:8083/", "runs 3 tasks", "http://10.0.0.2:8083/", "only 1."),
        c.cluster(c.worker(1, c.work("s3", 0, 1, 2)), c.worker(2, c.work("jdbc", 0))),
        nothing,
    )
    yield Example(
        "a worker of Connect has read less than its leader",
        Kind.CONFIG_BEHIND,
        "config_offset",
        "02:57:00",
        ("http://10.0.0.2:8083/", "in generation 12 and in the one before"),
        c.cluster(
            c.worker(1),
            c.worker(2, offset=28),
            stored="02:58:00",
            behind=(WorkerBehind(w.name("checkout-2-5d0c"), at("02:57:00"), 2),),
        ),
        nothing,
    )


def _expectations(w: World) -> Iterator[Example]:
    """Its team expects something else: the number of members, an assignor, an age of its lag, or no such group."""
    healthy = w.group(w.member(1, has=[0]), w.member(2, has=[1]))
    entries = (Expectation(".*", assignor=w.name("sticky")), Expectation("(?s)checkout.*", members=MemberRange(3, 6)))
    yield Example(
        "other members and another assignor than its team expects",
        Kind.EXPECTATION,
        "warning",
        "02:40:00",
        ("(?s)checkout.*", "It has 2 members; expected: 3 to 6.", "Its assignor is range; expected: sticky"),
        healthy,
        w.topics(orders=2),
        expectations=Expectations(entries),
    )
    yield Example(
        "later than its team expects",
        Kind.EXPECTATION,
        "critical",
        "02:49:00",
        ("(?s)checkout.*", "older than 5 min"),
        w.group(w.member(1, has=[0]), offsets=(w.commit(0, 1000, "02:30:00"),)),
        w.catalog(w.topic("orders", busy(0))),
        expectations=Expectations((Expectation("(?s)checkout.*", max_lag_s=300),), Severity.CRITICAL),
    )
    yield Example(
        "a group that should not exist",
        Kind.EXPECTATION,
        "info",
        "02:40:00",
        ("(?s)checkout.*", "no such group"),
        healthy,
        w.topics(orders=2),
        expectations=Expectations((Expectation("(?s)checkout.*", exists=False),), Severity.INFO),
    )


def _capacity(w: World) -> Iterator[Example]:
    """Members read 200 records a second, and 300 come into partition 0; into the other one come 10."""
    rates = tuple([MemberRate(at("02:40:00"), w.name("checkout-1-5d0c"), "", 200.0) for _ in range(5)])
    yield Example(
        "one partition brings more than one member reads",
        Kind.CAPACITY,
        "one_partition",
        "02:50:00",
        (w.name("orders"), "1 partition", "more records than one member reads"),
        w.group(
            w.member(1, has=[0]),
            w.member(2, has=[1]),
            offsets=(w.commit(0, 1_000_000, "02:59:58"), w.commit(1, 1_000_000, "02:59:58")),
        ),
        w.catalog(w.topic("orders", loaded(0, 60_000, 180_000), loaded(1, 0, 6_000))),
        settings=DetectionSettings(scale=ScaleTarget()),
        memory=ScaleMemory(since_ms=at("02:00:00"), rates=rates, latest=2, crowded_ms=at("02:50:00")),
    )
