"""Before the job starts: is the cluster there, may the user do what groupwatch does, where does its log end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import (
    AuthorizationError,
    KafkaError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from msgspec.structs import replace

from monitor.collectors.errors import (
    ClusterAway,
    OffsetsTopicMissing,
    PermissionMissing,
)
from monitor.collectors.kafka.events_writer import events_topic_plan
from monitor.collectors.kafka.topic_poll import Described, cluster_id_of, kafka_text, topic_error
from monitor.collectors.kafka_client.cluster_description import describe_cluster
from monitor.collectors.kafka_client.connection import (
    CONNECT_LIMIT_S,
    error_name,
    explain_request_errors,
    open_admin,
    open_consumer,
)
from monitor.config import ClusterSettings
from monitor.model import Value
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC

READ_UNCOMMITTED: Final = "read_uncommitted"

FETCH_LIMIT_MS: Final = 1000
FETCH_SLICE_MS: Final = 20


class ClusterFacts(Value, frozen=True):
    """A cluster as it is before the start. ``events_topic_exists``: else the collector may create it.

    ``offsets_partitions`` is 0 where the offsets topic is not to be read.
    """

    cluster: str
    brokers: int
    offsets_partitions: int
    events_topic_exists: bool


class PartitionBounds(Value, frozen=True):
    """The first offset of a partition's log, and the one after its last.

    ``written`` is the latter whatever is committed; ``end`` may be before it where only what is committed is read.
    """

    partition: int
    begin: int
    end: int
    written: int


class LogBounds(Value, frozen=True):
    """Where the partitions of a topic begin and end, in the order of their numbers.

    ``topic_id`` and ``cluster_id`` tell it from a topic of the same name; None: the brokers are too old to have them.
    """

    topic: str
    partitions: tuple[PartitionBounds, ...]
    topic_id: str | None = None
    cluster_id: str | None = None
    partition_count: int = 0
    """How many partitions there are, with those that do not say where they begin and end."""

    @property
    def begins(self) -> dict[int, int]:
        """The first offset of each partition."""
        return {bounds.partition: bounds.begin for bounds in self.partitions}

    @property
    def ends(self) -> dict[int, int]:
        """The end offset of each partition."""
        return {bounds.partition: bounds.end for bounds in self.partitions}

    def unread(self, read: Mapping[int, int]) -> LogBounds:
        """What is left when each partition has been read up to this next offset.

        >>> bounds = LogBounds("t", (PartitionBounds(0, 5, 90, 90), PartitionBounds(1, 5, 7, 7)))
        >>> bounds.unread({0: 80}).begins
        {0: 80, 1: 5}
        """
        begins = (min(each.end, max(each.begin, read.get(each.partition, 0))) for each in self.partitions)
        left = tuple(replace(each, begin=begin) for each, begin in zip(self.partitions, begins, strict=True))
        return replace(self, partitions=left)

    @property
    def records(self) -> int:
        """The span of all logs, in records; a compacted log has fewer."""
        return sum(bounds.end - bounds.begin for bounds in self.partitions)


def check(
    cluster: ClusterSettings, limit_s: float = CONNECT_LIMIT_S, carrier: ClusterSettings | None = None
) -> ClusterFacts:
    """Make sure that groupwatch can work with this cluster: reach it, read its offsets topic, write its events.

    The offsets topic is not looked at if the groups come from elsewhere (``groups_from``). The events topic is that of
    the carrier; None: of this cluster.

    Raises:
        ConfigError: the client properties cannot be used.
        ConnectionFailed: no broker let the user in within ``limit_s`` seconds (ClusterAway: none responded).
        PermissionMissing: names the first missing permission.
        OffsetsTopicMissing: no group has ever committed here.
    """
    own_events = carrier is None or carrier.name == cluster.name
    with open_admin(cluster, limit_s) as admin, explain_request_errors(cluster):
        brokers = len(describe_cluster(admin)["brokers"])
        logs = admin.describe_topics([OFFSETS_TOPIC]) if cluster.groups_from == "log" else []
        missing = _offsets_topic_missing(cluster, logs[0]) if logs else None
        events = _usable_events(cluster, admin) if own_events else []
        if missing is None:
            _check_readable(cluster, [*logs, *events], limit_s)
    if carrier is not None and not own_events:
        with open_admin(carrier, limit_s) as admin, explain_request_errors(carrier):
            events = _usable_events(carrier, admin)
            _check_readable(carrier, events, limit_s)
    if missing is not None:
        raise missing
    return ClusterFacts(
        cluster=cluster.name,
        brokers=brokers,
        offsets_partitions=sum(len(log["partitions"]) for log in logs),
        events_topic_exists=bool(events),
    )


def _usable_events(cluster: ClusterSettings, admin: KafkaAdminClient) -> list[Described]:
    """The events topic, if it exists: the user may read and write it then, and else create it."""
    described: list[Described] = admin.describe_topics([cluster.events_topic])
    return described if _check_events_topic(cluster, admin, described[0]) else []


def check_reached(cluster: ClusterSettings, limit_s: float = CONNECT_LIMIT_S) -> None:
    """Make sure that a collector can poll this cluster, which another one carries: reach it.

    Raises:
        ConfigError, ConnectionFailed: as for ``check``.
    """
    with open_admin(cluster, limit_s) as admin, explain_request_errors(cluster):
        describe_cluster(admin)


def check_carrier(cluster: ClusterSettings, limit_s: float = CONNECT_LIMIT_S) -> None:
    """Make sure that collectors can work with this cluster: reach it, and write its events.

    Raises:
        ConfigError, ConnectionFailed, PermissionMissing: as for ``check``.
    """
    with open_admin(cluster, limit_s) as admin, explain_request_errors(cluster):
        (events_topic,) = admin.describe_topics([cluster.events_topic])
        _check_events_topic(cluster, admin, events_topic, "WRITE")


def end_offsets(cluster: ClusterSettings, topic: str = OFFSETS_TOPIC, limit_s: float = CONNECT_LIMIT_S) -> LogBounds:
    """Where the logs of a topic begin and end now; they end at an open transaction if that is how they are read.

    Raises:
        ConfigError, ConnectionFailed, PermissionMissing: as for ``check``.
        OffsetsTopicMissing: there is no such topic.
    """
    with open_admin(cluster, limit_s) as admin, explain_request_errors(cluster):
        (described,) = admin.describe_topics([topic])
        require_described(cluster, described)
        partitions, cluster_id = _partitions(described), cluster_id_of(admin)
        try:
            begins = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST))
            latest = dict.fromkeys(partitions, OffsetSpec.LATEST)
            written = admin.list_partition_offsets(latest)
            ends = written
            if cluster.offsets_isolation != READ_UNCOMMITTED:
                ends = admin.list_partition_offsets(latest, isolation_level=cluster.offsets_isolation)
        except AuthorizationError as error:
            raise _may_not(cluster, "read", topic, error, "DESCRIBE and READ") from None
    return LogBounds(
        topic=topic,
        partitions=tuple(
            PartitionBounds(
                partition=place.partition,
                begin=begins[place].offset,
                end=ends[place].offset,
                written=written[place].offset,
            )
            for place in partitions
        ),
        topic_id=kafka_text(described.get("topic_id")),
        cluster_id=cluster_id,
        partition_count=len(partitions),
    )


def require_readable(cluster: ClusterSettings, topic: str, limit_s: float = CONNECT_LIMIT_S) -> None:
    """Make sure that a topic is there and may be read.

    Raises:
        ConfigError, ConnectionFailed, PermissionMissing: as for ``check``.
        OffsetsTopicMissing: there is no such topic.
    """
    with open_admin(cluster, limit_s) as admin, explain_request_errors(cluster):
        (described,) = admin.describe_topics([topic])
        _check_may_read(cluster, described)


def share_state_partitions(cluster: ClusterSettings, limit_s: float = CONNECT_LIMIT_S) -> int:
    """How many partitions the log of share state has; 0: it is not there, as no share group was ever used.

    Raises:
        ConfigError, ConnectionFailed, PermissionMissing: as for ``check``.
    """
    with open_admin(cluster, limit_s) as admin, explain_request_errors(cluster):
        return readable_share_partitions(cluster, admin)


def readable_share_partitions(cluster: ClusterSettings, admin: KafkaAdminClient) -> int:
    """As ``share_state_partitions``, by a client that is connected.

    Raises:
        PermissionMissing: the user may not read the log.
        KafkaError: the brokers do not say.
    """
    (described,) = admin.describe_topics([SHARE_STATE_TOPIC])
    try:
        _check_may_read(cluster, described)
    except OffsetsTopicMissing:
        return 0
    return len(described["partitions"])


def _offsets_topic_missing(cluster: ClusterSettings, described: Described) -> OffsetsTopicMissing | None:
    """A missing offsets topic is reported last: brokers create it by themselves; the other problems do not go away."""
    try:
        _check_offsets_topic(cluster, described)
    except OffsetsTopicMissing as missing:
        return missing
    return None


def _check_offsets_topic(cluster: ClusterSettings, described: Described) -> None:
    _check_may_read(cluster, described)
    leaderless = [p["partition_index"] for p in described["partitions"] if p["leader_id"] < 0]
    if leaderless:
        raise ClusterAway(
            f"Cluster {cluster.name}: {len(leaderless)} of {len(described['partitions'])} partitions of"
            f" {OFFSETS_TOPIC} have no leader now. Check the brokers."
        )


def _check_may_read(cluster: ClusterSettings, described: Described) -> None:
    """The topic is there, and the user may see and read it."""
    require_described(cluster, described)
    _check_granted(cluster, described, "READ")


def require_described(cluster: ClusterSettings, described: Described) -> None:
    """See that a broker has described a topic.

    Raises:
        OffsetsTopicMissing: it is not there.
        PermissionMissing: the user may not see it.
        KafkaError: anything else.
    """
    error = topic_error(described)
    if error is None:
        return
    topic = described["name"]
    if issubclass(error, AuthorizationError):
        raise _may_not(cluster, "read", topic, error(), "DESCRIBE and READ")
    if issubclass(error, UnknownTopicOrPartitionError):
        reason = "no consumer group has committed an offset yet" if topic == OFFSETS_TOPIC else "it was not created"
        raise OffsetsTopicMissing(f"Cluster {cluster.name}: there is no topic {topic}; {reason}.")
    raise error(topic)


def _check_granted(cluster: ClusterSettings, described: Described, operation: str) -> None:
    """The broker lists what the user may do with a topic (KIP-430); from brokers before 2.3 no list comes."""
    granted = described.get("authorized_operations")
    if granted is not None and operation not in granted:
        verb, topic = operation.lower(), described["name"]
        needed = "DESCRIBE and READ" if operation == "READ" else operation
        raise _may_not(cluster, verb, topic, TopicAuthorizationFailedError(), needed)


def _check_events_topic(
    cluster: ClusterSettings, admin: KafkaAdminClient, described: Described, *operations: str
) -> bool:
    """Whether the events topic exists; if so the user may do these operations (read and write), if not create it."""
    error = topic_error(described)
    if error is not None and issubclass(error, UnknownTopicOrPartitionError):
        _check_creatable(cluster, admin)
        return False
    if error is not None and issubclass(error, AuthorizationError):
        raise _may_not(cluster, "see", cluster.events_topic, error(), "CREATE, DESCRIBE, READ and WRITE")
    for operation in operations or ("READ", "WRITE"):
        _check_granted(cluster, described, operation)
    return True


def _check_creatable(cluster: ClusterSettings, admin: KafkaAdminClient) -> None:
    try:
        admin.create_topics({cluster.events_topic: events_topic_plan(admin)}, validate_only=True)
    except AuthorizationError as error:
        raise _may_not(cluster, "create", cluster.events_topic, error, "CREATE, DESCRIBE, READ and WRITE") from None
    except TopicAlreadyExistsError:
        return


def _check_readable(cluster: ClusterSettings, topics: Sequence[Described], limit_s: float) -> None:
    """Fetch from the end of every topic, as the job will: nothing less proves that reading works."""
    if not topics:
        return
    consumer = open_consumer(cluster, limit_s)
    try:
        for described in topics:
            _fetch(cluster, consumer, described)
    finally:
        consumer.close()


def _fetch(cluster: ClusterSettings, consumer: KafkaConsumer, described: Described) -> None:
    partitions = _partitions(described)
    consumer.assign(partitions)
    consumer.seek_to_end(*partitions)
    deadline = time.monotonic() + FETCH_LIMIT_MS / 1000
    try:
        # A quiet log has no record for us: that a partition's high watermark is known says that it was answered.
        while any(consumer.highwater(each) is None for each in partitions) and time.monotonic() < deadline:
            consumer.poll(timeout_ms=FETCH_SLICE_MS)
    except AuthorizationError as error:
        raise _may_not(cluster, "read", described["name"], error, "DESCRIBE and READ") from None


def _partitions(described: Described) -> list[TopicPartition]:
    return [TopicPartition(described["name"], n) for n in sorted(p["partition_index"] for p in described["partitions"])]


def _may_not(cluster: ClusterSettings, verb: str, topic: str, error: KafkaError, needed: str) -> PermissionMissing:
    return PermissionMissing(
        f"Cluster {cluster.name}: user may not {verb} {topic} ({error_name(error)}). Grant {needed} on it."
    )
