"""What sort of thing a group is, where it was seen, and in which phase it is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


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


OWN_SHARES: Final = frozenset({GroupKind.ROCKETMQ, GroupKind.METAQ, GroupKind.ZOOKEEPER})
"""The kinds of groups whose members each work out their own share: there is no leader, and no broker assigns."""


class Phase(StrEnum):
    """Where a group stands, as far as the log can tell.

    A rebalance of a classic group that is under way is not in the log; ASSIGNING and RECONCILING are states of the
    other kinds only (KIP-848): the broker has yet to choose targets, the members have yet to reach them.
    """

    UNSEEN = "unseen"
    OFFSETS_ONLY = "offsets_only"
    EMPTY = "empty"
    ASSIGNING = "assigning"
    RECONCILING = "reconciling"
    STABLE = "stable"
    GONE = "gone"
