"""What sort of thing a group is, with what follows from it; where it was seen, and in which phase it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

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


class KindTraits(Value):
    """All that depends on the kind of a group alone.

    Attributes:
        assigns: who decides which member is to own which partition.
        era: what the number of an assignment is called.
        unit: what one step of an offset stands for.
        has_owners: each partition is to have one owner.
        by_topic_id: what is known of the group names topics by their ids.
        text_partitions: partitions are named by texts, not by numbers.
        commits_to_log: its offsets are records of ``__consumer_offsets``.
        has_kafka_clients: its members are clients of a Kafka broker, by any library.
        message: what a member sends that groupwatch decodes to know it; "": it depends.
        delete_tool: the script of Kafka that deletes the group and its offsets; "": groupwatch suggests none.
    """

    assigns: Assigner
    era: Era
    unit: OffsetUnit = OffsetUnit.RECORD
    has_owners: bool = True
    by_topic_id: bool = False
    text_partitions: bool = False
    commits_to_log: bool = False
    has_kafka_clients: bool = False
    message: str = ""
    delete_tool: str = ""

    @property
    def broker_chooses_owners(self) -> bool:
        """Whether the broker chooses one owner for each partition."""
        return self.assigns is Assigner.BROKER and self.has_owners

    @property
    def is_self_assigned(self) -> bool:
        """Whether each member works out its own share: what it has is then seen by collectors only."""
        return self.assigns is Assigner.MEMBERS


_DELETE_TOOL: Final = "kafka-consumer-groups.sh"

KINDS: Final[Mapping[str, KindTraits]] = {
    GroupKind.CLASSIC: KindTraits(
        Assigner.LEADER, Era.GENERATION, commits_to_log=True, has_kafka_clients=True, delete_tool=_DELETE_TOOL
    ),
    GroupKind.CONSUMER: KindTraits(
        Assigner.BROKER,
        Era.EPOCH,
        by_topic_id=True,
        commits_to_log=True,
        has_kafka_clients=True,
        delete_tool=_DELETE_TOOL,
    ),
    GroupKind.SHARE: KindTraits(Assigner.BROKER, Era.EPOCH, has_owners=False, by_topic_id=True, has_kafka_clients=True),
    GroupKind.STREAMS: KindTraits(
        Assigner.BROKER, Era.EPOCH, by_topic_id=True, commits_to_log=True, has_kafka_clients=True
    ),
    GroupKind.ZOOKEEPER: KindTraits(Assigner.MEMBERS, Era.ASSIGNMENT, message="registration"),
    GroupKind.ROCKETMQ: KindTraits(Assigner.MEMBERS, Era.ASSIGNMENT, text_partitions=True, message="answer"),
    GroupKind.METAQ: KindTraits(
        Assigner.MEMBERS, Era.ASSIGNMENT, unit=OffsetUnit.BYTE, text_partitions=True, message="registration"
    ),
    GroupKind.SPARK: KindTraits(Assigner.NOBODY, Era.EPOCH, has_owners=False),
}
"""A row for each kind. What only its own package does (its records, its collector, its strategies) is not here."""


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
