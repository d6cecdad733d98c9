"""One look at all topics of a cluster: partitions, racks, earliest, end and last stable offsets.

Offsets are requested by leader, in one request for each of the three. What one broker or one topic does not answer
stays None and hides nothing else.

The last stable offsets are requested after the ends. Either only grows, so one that is still below an end that was read
before it was below the end then, too; requested before, that of every busy partition would be below its end.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.protocol.consumer import IsolationLevel

from monitor.collectors.kafka_client.cluster_description import describe_cluster
from monitor.model import PartitionObserved, TopicObserved
from monitor.model.brokers import BrokersSeen
from monitor.model.expiry import OffsetsRetention
from monitor.model.offsets_topic import OffsetsTopicSeen

OFFSETS_LIMIT_MS: Final = 1000
"""How long requests for a partition whose leader moves are repeated within one pass."""

SILENCE_S: Final = 10.0
"""How long a broker that let a request time out is left out of the polls."""

Offsets = Mapping[TopicPartition, int]
Leaders = Mapping[int, Sequence[TopicPartition]]
"""Partitions by the broker that leads them."""

Described = Mapping[str, Any]
"""A topic as kafka-python describes it: the fields of a MetadataResponse."""


class SilentLeaders:
    """The brokers that let a request time out. For a while they get no request: each would delay every poll."""

    def __init__(self) -> None:
        self._until_s: dict[int, float] = {}

    def note(self, broker: int) -> None:
        """Leave a broker out from now on."""
        self._until_s[broker] = time.monotonic() + SILENCE_S

    def __contains__(self, broker: int) -> bool:
        return time.monotonic() < self._until_s.get(broker, 0.0)


class StableOffsets:
    """Asks for the last stable offsets, from pass to pass: only where there may be an open transaction.

    Where the last stable offset had reached the end and the end has not moved since, there is none: a transaction
    begins with a record.
    """

    def __init__(self) -> None:
        self._reached: dict[TopicPartition, int] = {}
        self._below: dict[TopicPartition, int] = {}
        self.silent = SilentLeaders()

    def below(self, admin: KafkaAdminClient, leaders: Leaders, ends: Offsets) -> dict[TopicPartition, int]:
        """The last stable offsets of the partitions where these are below the end, which was requested before.

        A leader that did not give the end gets no request: it would only time out again. Without a response, the offset
        of the pass before stays, and the next pass requests it again.
        """
        asked = {leader: [p for p in places if self._is_open(p, ends)] for leader, places in leaders.items()}
        told = list_offsets(
            admin,
            {leader: places for leader, places in asked.items() if places},
            OffsetSpec.LATEST,
            IsolationLevel.READ_COMMITTED,
            silent=self.silent,
        )
        unsure = {p for places in asked.values() for p in places if p not in told or told[p] < ends[p]}
        self._reached = {place: end for place, end in ends.items() if place not in unsure}
        newest = self._below | told
        self._below = {place: offset for place, offset in newest.items() if place in ends and offset < ends[place]}
        return self._below

    def _is_open(self, place: TopicPartition, ends: Offsets) -> bool:
        return place in ends and self._reached.get(place) != ends[place]


class ClusterMetadata(NamedTuple):
    """One MetadataResponse: the ids of the brokers that there are, and all topics that the user may describe."""

    brokers: frozenset[int]
    topics: Sequence[Described]


def describe_all(admin: KafkaAdminClient) -> ClusterMetadata:
    """The brokers and the topics of one response, so that they fit together: kafka-python returns one or the other.

    Raises:
        KafkaError: the cluster did not say which topics it has.
    """
    response = admin._manager.run(admin._get_cluster_metadata, None)  # there is no public way to both
    return ClusterMetadata(frozenset(each["node_id"] for each in response["brokers"]), response["topics"])


def observe_topics(
    admin: KafkaAdminClient, stable: StableOffsets, *, cluster: str, pass_ms: int, observed_ms: int
) -> tuple[TopicObserved, ...]:
    """As :func:`poll_topics`, of all topics that there are now."""
    return poll_topics(admin, describe_all(admin).topics, stable, Poll(cluster, pass_ms, observed_ms))


class Poll(NamedTuple):
    """Which poll it is: of which cluster, when its pass began, and when the ends were requested at the earliest."""

    cluster: str
    pass_ms: int
    observed_ms: int


def poll_topics(
    admin: KafkaAdminClient, described: Iterable[Described], stable: StableOffsets, poll: Poll
) -> tuple[TopicObserved, ...]:
    """The described topics with their offsets, without the internal ones, in the order of their names.

    ``stable`` is the same one in every pass over a cluster.

    Raises:
        KafkaError: the cluster did not say which brokers it has.
    """
    racks = broker_racks(admin)
    topics = [topic for topic in described if is_watched(topic)]
    leaders = partitions_by_leader(topics)
    earliest = list_offsets(admin, leaders, OffsetSpec.EARLIEST, silent=stable.silent)
    ends = list_offsets(admin, leaders, OffsetSpec.LATEST, silent=stable.silent)
    held_back = stable.below(admin, leaders, ends)
    return tuple(
        TopicObserved(
            cluster=poll.cluster,
            topic=topic["name"],
            pass_ms=poll.pass_ms,
            observed_ms=poll.observed_ms,
            partitions=_partitions(topic, racks, earliest, ends, held_back),
            topic_id=kafka_text(topic.get("topic_id")),
        )
        for topic in sorted(topics, key=lambda topic: str(topic["name"]))
    )


def content_digest(
    topics: Iterable[TopicObserved],
    retention: OffsetsRetention | None = None,
    offsets_topic: OffsetsTopicSeen | None = None,
    brokers: BrokersSeen | None = None,
) -> bytes:
    """A digest of all that a poll found of these topics and of the brokers, without the time of the poll."""
    digest = blake2b(msgspec.msgpack.encode((retention, offsets_topic, brokers)), digest_size=16)
    for topic in topics:
        digest.update(msgspec.msgpack.encode((topic.topic, topic.topic_id, topic.partitions)))
    return digest.digest()


def cluster_id_of(admin: KafkaAdminClient) -> str | None:
    """The id of the cluster; None where the brokers have none (before 0.10.1).

    Raises:
        KafkaError: no broker answered.
    """
    found = describe_cluster(admin).get("cluster_id")
    return None if found is None else str(found)


def kafka_text(topic_id: str | None) -> str | None:
    """A topic's id as Kafka's own tools show it; None where the broker has none (before 2.8).

    >>> kafka_text("3d3383d4-3bc3-4a92-bb76-67ff8ef09976")
    'PTOD1DvDSpK7dmf_jvCZdg'
    >>> kafka_text("00000000-0000-0000-0000-000000000000") is None
    True
    """
    data = b"" if topic_id is None else bytes.fromhex(topic_id.replace("-", ""))
    return urlsafe_b64encode(data).decode().rstrip("=") if any(data) else None


def is_watched(topic: Described) -> bool:
    """Whether to report the topic. One without partitions is being deleted or its metadata have not arrived yet."""
    return not topic["is_internal"] and bool(topic["partitions"])


def broker_racks(admin: KafkaAdminClient) -> dict[int, str | None]:
    """The rack of each broker; empty if no broker has one."""
    racks = {broker["broker_id"]: broker["rack"] for broker in describe_cluster(admin)["brokers"]}
    return racks if any(rack is not None for rack in racks.values()) else {}


def partitions_by_leader(topics: Iterable[Described]) -> dict[int, list[TopicPartition]]:
    """The partitions that have a leader, by the broker that leads them."""
    leaders: dict[int, list[TopicPartition]] = defaultdict(list)
    for topic in topics:
        for partition in topic["partitions"]:
            if partition["leader_id"] >= 0:
                leaders[partition["leader_id"]].append(TopicPartition(topic["name"], partition["partition_index"]))
    return leaders


def list_offsets(
    admin: KafkaAdminClient,
    leaders: Leaders,
    spec: OffsetSpec,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    *,
    silent: SilentLeaders,
) -> dict[TopicPartition, int]:
    """The offsets that the leaders gave; partitions of a leader that does not answer are absent."""
    offsets: dict[TopicPartition, int] = {}
    for broker, partitions in leaders.items():
        try:
            offsets |= {} if broker in silent else _offsets(admin, partitions, spec, isolation)
        except (KafkaTimeoutError, RequestTimedOutError):
            silent.note(broker)
        except KafkaError:
            continue
    return offsets


def _offsets(
    admin: KafkaAdminClient, partitions: Sequence[TopicPartition], spec: OffsetSpec, isolation: IsolationLevel
) -> dict[TopicPartition, int]:
    """One request; if one topic in it is gone or forbidden, which fails it whole, the same for both halves."""
    try:
        answers = admin.list_partition_offsets(
            dict.fromkeys(partitions, spec), isolation_level=isolation, timeout_ms=OFFSETS_LIMIT_MS
        )
    except (UnknownTopicOrPartitionError, TopicAuthorizationFailedError):
        if len(partitions) == 1:
            return {}
        middle = len(partitions) // 2
        halves = partitions[:middle], partitions[middle:]
        return _offsets(admin, halves[0], spec, isolation) | _offsets(admin, halves[1], spec, isolation)
    # A leader that does not know yet answers -1.
    return {partition: answer.offset for partition, answer in answers.items() if answer.offset >= 0}


def _partitions(
    topic: Described, racks: Mapping[int, str | None], earliest: Offsets, ends: Offsets, held_back: Offsets
) -> tuple[PartitionObserved, ...]:
    name = topic["name"]
    return tuple(
        PartitionObserved(
            partition=number,
            earliest=earliest.get(TopicPartition(name, number)),
            end=ends.get(TopicPartition(name, number)),
            racks=tuple(racks.get(broker) for broker in replicas) if racks else (),
            stable=held_back.get(TopicPartition(name, number)),
        )
        for number, replicas in sorted((p["partition_index"], p["replica_nodes"]) for p in topic["partitions"])
    )


def topic_error(topic: Described) -> type[KafkaError] | None:
    """The error with which a broker described a topic, if any."""
    return for_code(topic["error_code"]) if topic["error_code"] else None
