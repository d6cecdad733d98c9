"""What a collector writes in a pass over the topics of a cluster: each topic, then its end."""

from __future__ import annotations

from monitor.model.brokers import BrokersSeen
from monitor.model.event import Event
from monitor.model.expiry import OffsetsRetention
from monitor.model.offsets_topic import OffsetsTopicSeen
from monitor.model.values import PartitionId, Value


class PartitionObserved(Value):
    """One partition as a collector saw it; None where the broker did not answer for it.

    ``stable`` is the last stable offset where that is below the end: a transaction that began there is open, and who
    reads only committed records gets nothing from there on. None: nothing is held back, or it is not known.
    """

    partition: PartitionId
    earliest: int | None = None
    end: int | None = None
    racks: tuple[str | None, ...] = ()
    stable: int | None = None


class TopicObserved(Event):
    """A topic as a collector saw it. ``pass_ms`` is when the pass began that saw it."""

    cluster: str
    topic: str
    pass_ms: int
    observed_ms: int
    partitions: tuple[PartitionObserved, ...]
    topic_id: str | None = None
    version: int = 1


class PassCompleted(Event):
    """A collector has written every topic of the cluster. Topics not seen since ``pass_ms`` no longer exist.

    ``source_id`` distinguishes what was read from another one at the same address: the id of a Kafka cluster, the birth
    of a tree in ZooKeeper; None: it has none. What the brokers say of themselves is None where it was not read.
    """

    cluster: str
    pass_ms: int
    completed_ms: int
    topics: int
    version: int = 1
    source_id: str | None = None
    offsets_retention: OffsetsRetention | None = None
    offsets_topic: OffsetsTopicSeen | None = None
    brokers: BrokersSeen | None = None


class PassTopicsCounted(Event):
    """A piece of the events log has so many topics of the pass that began at ``pass_ms``.

    No collector writes it: whoever reads the log counts. A pass that names more topics at its end is not complete.
    """

    pass_ms: int
    topics: int
