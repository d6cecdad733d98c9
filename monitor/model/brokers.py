"""Which brokers a cluster has, what those led that are away, and which partitions have no leader."""

from __future__ import annotations

import msgspec

from monitor.model.values import PartitionId, TopicPartitions, Value


class BrokerAway(Value, array_like=True):
    """A broker that has replicas and that no broker lists, with what it led by the last pass that saw it.

    It was the coordinator of the groups in the partitions ``log_partitions`` of the offsets topic. Only the first pass
    that misses it names what it led. ``led_ms``: it handed some of that over before it went away, and the first pass
    that counts for it began then (None: all is by the last pass that listed it).
    """

    broker: int
    log_partitions: tuple[int, ...] = ()
    topics: tuple[TopicPartitions, ...] = ()
    led_ms: int | None = None

    @property
    def led_anything(self) -> bool:
        """Whether it is known to have led a partition."""
        return bool(self.log_partitions or self.topics)


class BrokersSeen(Value):
    """What a pass saw of the brokers, in one response of one of them.

    ``listed`` are the ids of those that there are, sorted; ``away`` are the others that have replicas.
    ``without_leader`` are the partitions of topics that have no leader.
    """

    listed: tuple[int, ...]
    away: tuple[BrokerAway, ...] = ()
    without_leader: tuple[TopicPartitions, ...] = ()


class MissedBroker(Value, array_like=True):
    """A broker that is away since a pass at ``since_ms``. The last one that saw it began at ``before_ms``."""

    broker: BrokerAway
    since_ms: int
    before_ms: int


class LeaderlessPartitions(Value, array_like=True):
    """Partitions of a topic that have no leader, so they cannot be read.

    ``since_ms`` is when a pass first saw that, ``before_ms`` when the last one began that did not (None: there was
    none), ``ended_ms`` when one first saw a leader again (None: it lasts).
    """

    partitions: tuple[PartitionId, ...]
    since_ms: int
    before_ms: int | None = None
    ended_ms: int | None = None


class BrokersHealth(Value):
    """What passes have shown of the brokers.

    ``listed`` are the ids of those that there were by the newest pass. ``away`` are those that are missing since an
    earlier one, sorted. ``leaderless`` are the partitions without a leader, by topic; those that have one again are
    kept for a while. All of that is as of ``seen_ms``, when a pass last saw the brokers (0: not known), and
    ``interval_ms`` after the pass before it.
    """

    listed: tuple[int, ...] = ()
    away: tuple[MissedBroker, ...] = ()
    leaderless: dict[str, tuple[LeaderlessPartitions, ...]] = msgspec.field(default_factory=dict)
    seen_ms: int = 0
    interval_ms: int = 0

    def without_leader(self, topic: str) -> frozenset[PartitionId]:
        """The partitions of a topic that have no leader now."""
        lasting = [each.partitions for each in self.leaderless.get(topic, ()) if each.ended_ms is None]
        return frozenset().union(*lasting)
