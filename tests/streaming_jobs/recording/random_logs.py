"""Random logs of a cluster, as bytes: its offsets topic and its events topic, in the order in which they were written.

The group "g" is classic, "k" of KIP-848; collectors read "a" by the admin API, "z" in ZooKeeper and "q" from the
checkpoints of Spark, and list them. They share the topics "t" and "u", which grow, are deleted and come back. Groups
need not make sense: whatever a log holds, its recording tells the same.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hypothesis import strategies as st

from monitor.model import (
    CollectedEvent,
    GroupKind,
    GroupObserved,
    GroupsListed,
    ListedOffset,
    Member,
    ObservedOffset,
    OffsetsListed,
    PartitionObserved,
    PassCompleted,
    RebalanceSampled,
    Source,
    TopicObserved,
    TopicPartitions,
)
from monitor.protocol.events_topic import encode_event
from monitor.protocol.kafka.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    NamedPartitions,
)
from monitor.protocol.kafka.records.classic import ClassicMember, GroupMetadataKey, GroupMetadataValue, OffsetCommitKey
from monitor.protocol.kafka.records.consumer import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    GroupKey,
    MemberKey,
    OwnedPartitions,
    TargetAssignmentMemberValue,
    TargetAssignmentMetadataValue,
    TopicPartitionIds,
)
from monitor.protocol.wire.schema import Message
from tests.support.encoding import encoded, encoded_key

CLUSTER: Final = "c"
START: Final = 1_795_313_640_000
"""2026-11-22 02:14:00 UTC."""

IDS: Final = {"t": "AAAAAAAAAAAAAAAAAAAAAQ", "u": "AAAAAAAAAAAAAAAAAAAAAg"}
OTHER_ID: Final = "AAAAAAAAAAAAAAAAAAAAAw"
PARTITIONS: Final = 3
CLASSIC, MODERN, POLLED = "g", "k", "a"
READ: Final = {
    Source.ADMIN: (POLLED, GroupKind.CLASSIC),
    Source.SYSTEM: ("z", GroupKind.ZOOKEEPER),
    Source.CHECKPOINT: ("q", GroupKind.SPARK),
}
"""The group that a collector reads from each source as a whole, and its kind."""

GROUPS_OF_ALL: Final = (CLASSIC, MODERN, *[group for group, _ in READ.values()])
MEMBERS: Final = ("m0", "m1")


class Written(NamedTuple):
    """A record: its log, when it was written (ms since the epoch), its key and its value.

    ``is_of_logged_group``: it is about a group of which the offsets topic tells, too.
    """

    is_of_offsets: bool
    at_ms: int
    key: bytes | None
    value: bytes | None
    is_of_logged_group: bool = True


@dataclass
class Writer:
    """The logs as far as they have been written, and what the next records need to know of the ones before."""

    now_ms: int = START
    log: list[Written] = field(default_factory=list)
    generation: int = 0
    ends: dict[str, list[int]] = field(default_factory=lambda: {"t": [100] * PARTITIONS, "u": [100]})
    committed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    recreated: bool = False
    sampled_ms: int = 0
    ahead_ms: int = 0
    """By how much the collector's clock is ahead of the brokers'."""

    @property
    def seen_ms(self) -> int:
        """Now, by the collector's clock."""
        return self.now_ms + self.ahead_ms

    def _add(
        self, key: bytes | None, value: bytes | None, *, is_of_offsets: bool, is_of_logged_group: bool = True
    ) -> None:
        """Two logs have no record in the same millisecond: which of them came first would be open."""
        if self.log and self.log[-1].is_of_offsets is not is_of_offsets and self.log[-1].at_ms == self.now_ms:
            self.now_ms += 1
        self.log.append(Written(is_of_offsets, self.now_ms, key, value, is_of_logged_group))

    def offsets(self, kind: int, key: Message, value: Message | None, version: int = 0) -> None:
        """A record of the offsets topic."""
        told = None if value is None else encoded(value, version)
        self._add(encoded_key(kind, key), told, is_of_offsets=True)

    def event(self, event: CollectedEvent) -> None:
        """A record of the events topic. What the next poll sees is not of the millisecond in which this one ends."""
        ends_poll = isinstance(event, PassCompleted | GroupsListed)
        is_of_logged_group = isinstance(event, OffsetsListed | RebalanceSampled)
        self._add(None, encode_event(event), is_of_offsets=False, is_of_logged_group=is_of_logged_group)
        self.now_ms += ends_poll

    def commit(self, group: str, topic: str, partition: int, by: int) -> None:
        """A commit of so many records more than the one before it, version 3."""
        at = group, topic, partition
        self.committed[at] = max(0, self.committed.get(at, 90) + by)
        key = OffsetCommitKey(group=group, topic=topic, partition=partition)
        self.now_ms += bool(self.log and not self.log[-1].is_of_offsets)  # the time stands in the value, too
        told = struct.pack(">hqihq", 3, self.committed[at], -1, 0, self.now_ms)
        self._add(encoded_key(1, key), told, is_of_offsets=True)


class Pause(NamedTuple):
    """Nothing is written for so long."""

    ms: int

    def write(self, to: Writer) -> None:
        to.now_ms += self.ms


class Commits(NamedTuple):
    """So many commits of some partitions, ``every_ms``, each so many records further."""

    group: str
    topic: str
    partitions: tuple[int, ...]
    times: int
    every_ms: int
    by: int

    def write(self, to: Writer) -> None:
        for number in range(self.times):
            to.now_ms += self.every_ms if number else 0
            for partition in self.partitions:
                to.commit(self.group, self.topic, partition, self.by)


class Uncommit(NamedTuple):
    """The committed offset of a partition is deleted."""

    group: str
    topic: str
    partition: int

    def write(self, to: Writer) -> None:
        to.offsets(1, OffsetCommitKey(group=self.group, topic=self.topic, partition=self.partition), None)


class Generation(NamedTuple):
    """A generation of the classic group: the members that it has, and which of them owns each partition of "t"."""

    members: tuple[str, ...]
    owners: tuple[int, ...]
    protocol: str
    is_new: bool = True

    def write(self, to: Writer) -> None:
        to.generation += self.is_new
        joined = tuple(
            _classic_member(name, tuple(n for n, owner in enumerate(self.owners) if owner == index))
            for index, name in enumerate(self.members)
        )
        value = GroupMetadataValue(
            protocol_type="consumer",
            generation=to.generation,
            protocol=self.protocol if joined else None,
            leader=self.members[0] if joined else None,
            current_state_timestamp=to.now_ms,
            members=joined,
        )
        to.offsets(2, GroupMetadataKey(group=CLASSIC), value, 3)


def _classic_member(name: str, owned: tuple[int, ...]) -> ClassicMember:
    given = (NamedPartitions(topic="t", partitions=owned),) if owned else ()
    return ClassicMember(
        member_id=name,
        client_id=name,
        client_host="/10.0.0.1",
        rebalance_timeout=300_000,
        session_timeout=10_000,
        subscription=encoded(ConsumerProtocolSubscription(topics=("t",)), 0),
        assignment=encoded(ConsumerProtocolAssignment(assigned_partitions=given), 0),
    )


class Deletion(NamedTuple):
    """A group is deleted; its offsets stay."""

    group: str

    def write(self, to: Writer) -> None:
        if self.group == CLASSIC:
            to.offsets(2, GroupMetadataKey(group=CLASSIC), None)
        else:
            to.offsets(3, GroupKey(group_id=MODERN), None)


class Modern(NamedTuple):
    """A member of the KIP-848 group joins or leaves, has other targets, or has taken or given back partitions."""

    what: str
    member: str
    partitions: tuple[int, ...]
    state: int

    def write(self, to: Writer) -> None:
        key, group = MemberKey(group_id=MODERN, member_id=self.member), GroupKey(group_id=MODERN)
        some = (TopicPartitionIds(topic_id=IDS["t"], partitions=self.partitions),) if self.partitions else ()
        match self.what:
            case "join":
                to.offsets(5, key, _modern_member(self.member))
                to.generation += 1
                to.offsets(3, group, ConsumerGroupMetadataValue(epoch=to.generation))
            case "leave":
                for kind in (8, 7, 5):
                    to.offsets(kind, key, None)
                to.generation += 1
                to.offsets(3, group, ConsumerGroupMetadataValue(epoch=to.generation))
            case "target":
                to.offsets(7, key, TargetAssignmentMemberValue(topic_partitions=some))
                to.offsets(6, group, TargetAssignmentMetadataValue(assignment_epoch=to.generation))
            case _:
                to.offsets(8, key, self._current(to.generation))

    def _current(self, epoch: int) -> ConsumerGroupCurrentMemberAssignmentValue:
        own = tuple(OwnedPartitions(topic_id=IDS["t"], partitions=(n,)) for n in self.partitions)
        has_to_revoke = self.state == 1
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=epoch,
            previous_member_epoch=max(0, epoch - 1),
            state=self.state,
            assigned_partitions=own[1:] if has_to_revoke else own,
            partitions_pending_revocation=own[:1] if has_to_revoke else (),
        )


def _modern_member(name: str) -> ConsumerGroupMemberMetadataValue:
    return ConsumerGroupMemberMetadataValue(
        instance_id=None,
        rack_id=None,
        client_id=name,
        client_host="/10.0.0.2",
        subscribed_topic_names=("t",),
        subscribed_topic_regex=None,
        rebalance_timeout_ms=30_000,
        server_assignor="uniform",
        classic_member_metadata=None,
    )


class ClockSet(NamedTuple):
    """The collector's clock is set; what it dates is ahead of the brokers' clock by so much from now on."""

    ahead_ms: int

    def write(self, to: Writer) -> None:
        to.ahead_ms = self.ahead_ms


class Pass(NamedTuple):
    """A poll of the topics that sees some of them, takes so long and tells of its end or not.

    ``unheard``: so many more it names at its end, whose events were lost.
    """

    seen: tuple[str, ...]
    more: int
    took_ms: int
    ends: bool = True
    unheard: int = 0

    def write(self, to: Writer) -> None:
        pass_ms, observed_ms = to.seen_ms, to.seen_ms + self.took_ms // 4
        to.now_ms += self.took_ms // 2
        for topic in self.seen:
            to.ends[topic] = [end + self.more for end in to.ends[topic]]
            seen = tuple(PartitionObserved(partition=n, earliest=0, end=end) for n, end in enumerate(to.ends[topic]))
            topic_id = OTHER_ID if topic == "u" and to.recreated else IDS[topic]
            to.event(TopicObserved(CLUSTER, topic, pass_ms, observed_ms, seen, topic_id))
        if self.ends:
            to.now_ms += self.took_ms // 2
            topics = len(self.seen) + self.unheard
            to.event(PassCompleted(CLUSTER, pass_ms=pass_ms, completed_ms=to.seen_ms, topics=topics))


class TopicChange(NamedTuple):
    """A topic gets a partition more, or "u" is made anew."""

    topic: str
    grows: bool

    def write(self, to: Writer) -> None:
        if self.grows:
            to.ends[self.topic].append(0)
        else:
            to.recreated, to.ends["u"] = not to.recreated, [0]


class Sample(NamedTuple):
    """What a broker says of the classic group: that it rebalances, or no longer does."""

    state: str | None

    def write(self, to: Writer) -> None:
        if self.state is not None:
            to.sampled_ms = to.sampled_ms or to.seen_ms
            to.event(RebalanceSampled(CLUSTER, CLASSIC, self.state, to.sampled_ms, to.seen_ms, interval_ms=5_000))
        elif to.sampled_ms:
            to.event(
                RebalanceSampled(
                    CLUSTER, CLASSIC, None, to.sampled_ms, to.seen_ms, 5_000, seen_ms=to.seen_ms, gap_ms=5_000, broker=1
                )
            )
            to.sampled_ms = 0


class Answer(NamedTuple):
    """The broker says what a group has committed."""

    group: str
    by: int

    def write(self, to: Writer) -> None:
        own = [(topic, n, offset) for (group, topic, n), offset in to.committed.items() if group == self.group]
        told = tuple(ListedOffset(topic, n, max(0, offset + self.by)) for topic, n, offset in own)
        to.event(OffsetsListed(CLUSTER, self.group, to.seen_ms, told))


class Reading(NamedTuple):
    """A collector reads the group of a source (owners None: not), and lists all that there are."""

    owners: tuple[int, ...] | None
    offset: int
    is_listed: bool
    took_ms: int
    source: Source = Source.ADMIN

    def write(self, to: Writer) -> None:
        pass_ms, (group, kind) = to.seen_ms, READ[self.source]
        if self.owners is not None:
            members = tuple(
                _read_member(name, tuple(n for n, owner in enumerate(self.owners) if owner == index))
                for index, name in enumerate(MEMBERS)
            )
            offsets = tuple(ObservedOffset("t", n, self.offset) for n in range(PARTITIONS))
            to.now_ms += self.took_ms // 2
            to.event(
                GroupObserved(
                    CLUSTER,
                    group,
                    kind,
                    self.source,
                    pass_ms,
                    to.seen_ms,
                    members,
                    offsets,
                    protocol="range" if self.source is Source.ADMIN else None,
                    state="Stable" if self.source is Source.ADMIN else None,
                )
            )
        to.now_ms += self.took_ms // 2
        named = (group,) if self.is_listed else ()
        to.event(GroupsListed(CLUSTER, self.source, pass_ms, to.seen_ms, named))


def _read_member(name: str, owned: tuple[int, ...]) -> Member:
    given = (TopicPartitions("t", owned),) if owned else ()
    return Member(member_id=name, client_id=name, host="/10.0.0.3", topics=("t",), assigned=given)


class Backlog(NamedTuple):
    """Polls that follow one another without a record of the offsets topic: a job may read many of them at once."""

    polls: tuple[Pass | Reading, ...]

    def write(self, to: Writer) -> None:
        for poll in self.polls:
            to.now_ms += 10_000
            poll.write(to)


Step = (
    Pause
    | ClockSet
    | Commits
    | Uncommit
    | Generation
    | Deletion
    | Modern
    | Pass
    | TopicChange
    | Sample
    | Answer
    | Reading
    | Backlog
)

OWNERS: Final = st.sampled_from([(0, 0, 1), (0, 0, 1), (0, 1, 1), (0, 0, 0), (0, 1, 2), (2, 2, 2)])
"""Of each partition its member; 2: nobody. The first is what the assignor "range" gives."""

GROUPS: Final = st.sampled_from([CLASSIC, CLASSIC, MODERN])
SUBSETS: Final = st.sampled_from([(), (0,), (0, 1), (1, 2), (0, 1, 2)])
MORE: Final = st.sampled_from([0, 3, 20])
TOOK: Final = st.sampled_from([0, 2, 400, 3_000])


PASSES: Final = st.builds(
    Pass,
    st.sampled_from([("t", "u"), ("t", "u"), ("t",), ()]),
    MORE,
    TOOK,
    st.sampled_from([True, True, False]),
    st.sampled_from([0, 0, 0, 1]),
)
READINGS: Final = st.builds(
    Reading, st.none() | OWNERS, st.integers(90, 120), st.booleans(), TOOK, st.sampled_from([*READ])
)


def commits(most: int) -> st.SearchStrategy[Commits]:
    """At most so many commits of one partition."""
    return st.builds(
        Commits,
        GROUPS,
        st.sampled_from(["t", "t", "u"]),
        st.sampled_from([(0,), (0, 1, 2), (1,)]),
        st.integers(1, most),
        st.sampled_from([1, 400, 1_000, 5_000, 20_000]),
        st.sampled_from([0, 1, 5, 50, 400, -7]),
    )


def steps(most_commits: int) -> st.SearchStrategy[Step]:
    """What may happen next."""
    return st.one_of(
        st.builds(Pause, st.sampled_from([0, 1, 300, 1_000, 7_000, 30_000, 61_000, 130_000])),
        st.builds(ClockSet, st.sampled_from([0, 0, 800, -800, -90_000, -3_600_000])),
        commits(most_commits),
        st.builds(Uncommit, GROUPS, st.sampled_from(["t", "u"]), st.integers(0, 2)),
        st.builds(Generation, st.sampled_from([MEMBERS, MEMBERS[:1], ()]), OWNERS, st.just("range"), st.booleans()),
        st.builds(Deletion, st.sampled_from([CLASSIC, MODERN])),
        st.builds(
            Modern,
            st.sampled_from(["join", "leave", "target", "current"]),
            st.sampled_from(MEMBERS),
            SUBSETS,
            st.sampled_from([0, 0, 1, 2]),
        ),
        PASSES,
        st.builds(Pass, st.just(("t", "u")), MORE, TOOK),
        st.builds(TopicChange, st.sampled_from(["t", "u"]), st.booleans()),
        st.builds(Sample, st.sampled_from(["PreparingRebalance", "PreparingRebalance", None])),
        st.builds(Answer, GROUPS, st.sampled_from([0, 0, 5])),
        READINGS,
        st.builds(Backlog, st.lists(PASSES | READINGS, min_size=2, max_size=4).map(tuple)),
    )


BEGUN: Final = (
    Pass(("t", "u"), 0, 2),
    Generation(MEMBERS, (0, 0, 1), "range"),
    *[Modern("join", name, (), 0) for name in MEMBERS],
    *[Reading((0, 0, 1), 100, True, 2, source) for source in READ],
    *[Commits(group, "t", (0, 1, 2), 1, 1, 10) for group in (CLASSIC, MODERN)],
)
"""What has happened before: the topics are seen, and the groups have members."""


def histories(most_commits: int = 4, most_steps: int = 40) -> st.SearchStrategy[list[Step]]:
    """What happens then."""
    return st.lists(steps(most_commits), min_size=1, max_size=most_steps)


def written(happened: Iterable[Step]) -> list[Written]:
    """The logs after what has happened."""
    to = Writer()
    for step in (*BEGUN, *happened):
        step.write(to)
    return to.log


def cuts(length: int, most: int) -> st.SearchStrategy[list[int]]:
    """Where something of this length is cut, its end included."""
    return st.lists(st.integers(0, length), max_size=most).map(lambda places: sorted({*places, length}))


def between(places: list[int]) -> Iterator[tuple[int, int]]:
    """The pieces."""
    yield from zip([0, *places[:-1]], places, strict=True)
