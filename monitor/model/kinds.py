"""What sort of thing a group is, with what follows from it; where it was seen, and in which phase it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, Protocol

from msgspec.structs import replace

from monitor.model.connect import CONNECT
from monitor.model.members import STREAM
from monitor.model.values import Value


class Source(StrEnum):
    """Where what is known of a group comes from. Of two that tell of one group, the first one here counts."""

    LOG = "log"
    """The cluster's own log of groups, ``__consumer_offsets``: everything that happened, in order."""
    ADMIN = "admin"
    """The brokers' answers to a collector's requests."""
    SYSTEM = "system"
    """A collector's reading of a system that has no such log: RocketMQ, ZooKeeper."""
    CHECKPOINT = "checkpoint"
    """The files of a Spark query's checkpoint."""


class Sharing(StrEnum):
    """How the members of a group share the partitions of a topic."""

    EXCLUSIVE = "exclusive"
    """Every partition has one owner."""
    BROADCAST = "broadcast"
    """Every member reads every partition and keeps its offsets for itself (RocketMQ's broadcasting)."""
    BY_RECORD = "by_record"
    """The broker hands out records, not partitions (RocketMQ's POP, and clients of its proxy)."""


class GroupKind(StrEnum):
    """What kind of group it is. A group has one kind at a time; one of Kafka's may be converted."""

    CLASSIC = "kafka-classic"
    CONSUMER = "kafka-consumer"
    SHARE = "kafka-share"
    STREAMS = "kafka-streams"
    ZOOKEEPER = "kafka-zk"
    """The consumers of Kafka 0.8 to 0.10 that keep their groups in ZooKeeper."""
    ROCKETMQ = "rocketmq"
    METAQ = "metaq"
    SPARK = "spark"
    """Not a group to its cluster: a query of Spark Structured Streaming, which keeps its offsets in its checkpoint."""


DEFAULT_KIND: Final = GroupKind.CLASSIC
"""The kind of a group that has only committed offsets: a broker keeps these as a classic group."""

CONSUMER_PROTOCOL: Final = "consumer"
"""The protocol type of the groups whose members consume the partitions that they are assigned."""


class Assigner(StrEnum):
    """Who decides which member is to own which partition."""

    LEADER = "leader"
    """One member, by an assignor that all of them know."""
    BROKER = "broker"
    """The group's coordinator (KIP-848)."""
    MEMBERS = "members"
    """Each member works out its own share, by a strategy that all of them should have."""
    NOBODY = "nobody"
    """There is nothing to share out."""


class Era(StrEnum):
    """What the number of a group's assignment is called."""

    GENERATION = "generation"
    EPOCH = "epoch"
    ASSIGNMENT = "assignment"
    """Nobody counts them."""


class OffsetUnit(StrEnum):
    """What one step of an offset stands for."""

    RECORD = "record"
    BYTE = "byte"


# The members of an enumeration are slow to look up, and these are asked of each group in each micro-batch.
_LEADER: Final = Assigner.LEADER
_BROKER: Final = Assigner.BROKER
_MEMBERS: Final = Assigner.MEMBERS
_NOBODY: Final = Assigner.NOBODY
_GENERATION: Final = Era.GENERATION


class KindTraits(Value):
    """All that depends on the kind of a group, and on whose clients its members are.

    Attributes:
        assigns: who decides which member is to own which partition.
        era: what the number of an assignment is called.
        unit: what one step of an offset stands for.
        assignors: the system whose assignors assign one owner to each partition (monitor.assignors.registry.System).
            "": no assignor that groupwatch has.
        has_owners: each partition is to have one owner.
        by_topic_id: what is known of the group names topics by their ids.
        text_partitions: partitions are named by texts, not by numbers.
        commits_to_log: its offsets are records of ``__consumer_offsets``.
        commits_to_zookeeper: its offsets are those of Kafka's partitions, and are kept in ZooKeeper.
        has_kafka_clients: its members are clients of a Kafka broker, by any library.
        reads_by_task: its members are Kafka Streams threads: they read the partitions of the tasks that they run.
        runs_connectors: its members are Connect workers: they run connectors and tasks, and own no partitions.
        acknowledges_records: its members acquire and acknowledge single records of partitions that they share
            (KIP-932).
        reports_strategies: each member reports the strategy by which it takes its share.
        shares_among_all: each topic is shared among all members, also those that do not subscribe to it.
        refreshes_routes: its members learn of new partitions by polling, and share them out in between.
        reports_ends: whoever reports its offsets reports the ends of its partitions as well.
        may_repeat_ids: two clients can have the id of one member.
        message: what a member sends that groupwatch decodes to know it; "": it depends.
        delete_tool: the script of Kafka that deletes the group and its offsets; "": groupwatch suggests none.
        group_protocol: the protocol of the group in the words of Kafka's ``group.protocol``; "": it has none.
    """

    assigns: Assigner
    era: Era
    unit: OffsetUnit = OffsetUnit.RECORD
    assignors: str = ""
    has_owners: bool = True
    by_topic_id: bool = False
    text_partitions: bool = False
    commits_to_log: bool = False
    commits_to_zookeeper: bool = False
    has_kafka_clients: bool = False
    reads_by_task: bool = False
    runs_connectors: bool = False
    acknowledges_records: bool = False
    reports_strategies: bool = False
    shares_among_all: bool = False
    refreshes_routes: bool = False
    reports_ends: bool = False
    may_repeat_ids: bool = False
    message: str = ""
    delete_tool: str = ""
    group_protocol: str = ""

    @property
    def has_members(self) -> bool:
        """Whether it can have members at all."""
        return self.assigns is not _NOBODY

    @property
    def has_generations(self) -> bool:
        """Whether the coordinator stores all members at once, in one record for each generation.

        Its log then shows a rebalance only when that is over. Members choose their own session timeouts.
        """
        return self.era is _GENERATION

    @property
    def commits_partitions(self) -> bool:
        """Whether it is to commit an offset in each partition that its members read."""
        return self.has_owners and not self.runs_connectors

    @property
    def runs_tasks(self) -> bool:
        """Whether its members run tasks, of Kafka Streams or of Connect."""
        return self.reads_by_task or self.runs_connectors

    @property
    def has_reset_policy(self) -> bool:
        """Whether its members decide by ``auto.offset.reset`` alone where to start if no offset is committed.

        Kafka Streams restores its state before it reads: it commits nothing for a while, however long that takes.
        """
        return self.commits_partitions and self.commits_to_log and not self.reads_by_task

    @property
    def broker_chooses_owners(self) -> bool:
        """Whether the broker chooses one owner for each partition."""
        return self.assigns is _BROKER and self.has_owners

    @property
    def broker_assigns_partitions(self) -> bool:
        """Whether the broker's records name the partitions of each member (KIP-848)."""
        return self.assigns is _BROKER and self.has_owners and not self.reads_by_task

    @property
    def broker_assigns_tasks(self) -> bool:
        """Whether the broker knows the application's topology, and assigns its tasks (KIP-1071)."""
        return self.assigns is _BROKER and self.reads_by_task

    @property
    def leader_assigns_partitions(self) -> bool:
        """Whether the leader assigns nothing but partitions, by an assignor of consumers."""
        return self.assigns is _LEADER and not self.reads_by_task and not self.runs_connectors

    @property
    def leader_assigns_tasks(self) -> bool:
        """Whether the leader assigns tasks, and each member's partitions with them (``StreamsPartitionAssignor``)."""
        return self.assigns is _LEADER and self.reads_by_task

    @property
    def is_self_assigned(self) -> bool:
        """Whether each member works out its own share: what it has is then seen by collectors only."""
        return self.assigns is _MEMBERS


_DELETE_TOOL: Final = "kafka-consumer-groups.sh"

KINDS: Final[Mapping[str, KindTraits]] = {
    GroupKind.CLASSIC: KindTraits(
        Assigner.LEADER,
        Era.GENERATION,
        assignors="kafka",
        commits_to_log=True,
        has_kafka_clients=True,
        delete_tool=_DELETE_TOOL,
        group_protocol="classic",
    ),
    GroupKind.CONSUMER: KindTraits(
        Assigner.BROKER,
        Era.EPOCH,
        assignors="kafka.server",
        by_topic_id=True,
        commits_to_log=True,
        has_kafka_clients=True,
        delete_tool=_DELETE_TOOL,
        group_protocol="consumer",
    ),
    GroupKind.SHARE: KindTraits(
        Assigner.BROKER,
        Era.EPOCH,
        has_owners=False,
        by_topic_id=True,
        has_kafka_clients=True,
        acknowledges_records=True,
        group_protocol="share",
    ),
    GroupKind.STREAMS: KindTraits(
        Assigner.BROKER,
        Era.EPOCH,
        by_topic_id=True,
        commits_to_log=True,
        has_kafka_clients=True,
        reads_by_task=True,
        group_protocol="streams",
    ),
    GroupKind.ZOOKEEPER: KindTraits(
        Assigner.MEMBERS, Era.ASSIGNMENT, assignors="kafka08", commits_to_zookeeper=True, message="registration"
    ),
    GroupKind.ROCKETMQ: KindTraits(
        Assigner.MEMBERS,
        Era.ASSIGNMENT,
        assignors="rocketmq",
        text_partitions=True,
        reports_strategies=True,
        shares_among_all=True,
        refreshes_routes=True,
        reports_ends=True,
        may_repeat_ids=True,
        message="answer",
    ),
    GroupKind.METAQ: KindTraits(
        Assigner.MEMBERS,
        Era.ASSIGNMENT,
        unit=OffsetUnit.BYTE,
        assignors="metaq",
        text_partitions=True,
        message="registration",
    ),
    GroupKind.SPARK: KindTraits(Assigner.NOBODY, Era.EPOCH, has_owners=False),
}
"""A row for each kind. What only its own package does (its records, its collector, its strategies) is not here."""

PROTOCOLS: Final[Mapping[tuple[str, str, str | None], KindTraits]] = {
    (GroupKind.CLASSIC, CONNECT, None): replace(KINDS[GroupKind.CLASSIC], assignors="", runs_connectors=True),
    (GroupKind.CLASSIC, CONSUMER_PROTOCOL, STREAM): replace(KINDS[GroupKind.CLASSIC], assignors="", reads_by_task=True),
}
"""Kinds that only the protocol tells: Kafka Connect, and Kafka Streams before KIP-1071.

The key is a kind, a protocol type, and a protocol; None: any. What differs from the row of the kind is here.
"""


class HasProtocol(Protocol):
    """A group, as far as it has to be known for its traits."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def protocol_type(self) -> str:
        """What its members are to each other: consumers, or the workers of a Connect cluster."""

    @property
    def protocol(self) -> str | None:
        """The protocol that its members agreed on; of consumers that is their assignor."""


def traits_of(group: HasProtocol) -> KindTraits:
    """The traits of a group, those included that only its protocol tells."""
    return traits_by_protocol(group.kind, group.protocol_type, group.protocol)


def traits_by_protocol(kind: str, protocol_type: str, protocol: str | None) -> KindTraits:
    """The traits of the groups of a kind that have this protocol.

    >>> traits_by_protocol("kafka-classic", "connect", "sessioned").runs_connectors
    True
    >>> traits_by_protocol("kafka-classic", "consumer", "range") is KINDS["kafka-classic"]
    True
    """
    own = PROTOCOLS.get((kind, protocol_type, protocol)) or PROTOCOLS.get((kind, protocol_type, None))
    return own or KINDS[kind]


def kinds_with(trait: Callable[[KindTraits], bool]) -> frozenset[str]:
    """The kinds of which this is true, for code that asks it of very many groups.

    >>> kinds_with(lambda traits: traits.text_partitions) == {"metaq", "rocketmq"}
    True
    """
    return frozenset(kind for kind, traits in KINDS.items() if trait(traits))


class Phase(StrEnum):
    """Where a group stands, as far as the log can tell.

    A rebalance of a classic group that is under way is not in the log; ASSIGNING and RECONCILING are states of the
    other kinds only (KIP-848): the broker has yet to choose targets, the members have yet to reach them. NOT_READY is
    one of streams groups only (KIP-1071): the application's topology needs a topic that is not there.
    """

    UNSEEN = "unseen"
    OFFSETS_ONLY = "offsets_only"
    EMPTY = "empty"
    NOT_READY = "not_ready"
    ASSIGNING = "assigning"
    RECONCILING = "reconciling"
    STABLE = "stable"
    GONE = "gone"
