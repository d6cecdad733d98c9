"""A position in one partition that Kafka keeps for a consumer group, apart from who reads the partition.

A consumer of a group that has no coordinator gets no records, although the partition can be read.
"""

from __future__ import annotations

import time
from typing import Final

from kafka import KafkaConsumer, TopicPartition
from kafka.structs import OffsetAndMetadata

from monitor.collectors.kafka_client.connection import open_consumer
from monitor.config import ClusterSettings

CONNECT_LIMIT_S: Final = 10.0
REQUEST_LIMIT_MS: Final = 10_000


class KeptPosition:
    """Belongs to one thread. It connects when it is first used, and after an error with a new connection."""

    def __init__(self, cluster: ClusterSettings, group: str, place: TopicPartition) -> None:
        self._cluster = cluster
        self._group = group
        self._place = place
        self._consumer: KafkaConsumer | None = None
        self._kept: int | None = None
        self._kept_at_s = 0.0

    def read(self) -> int | None:
        """The position; None: the group has none.

        Raises:
            CollectorError, ConfigError: no connection. KafkaError: its coordinator does not return it within 10 s.
        """
        position: int | None = self._open().committed(self._place, timeout_ms=REQUEST_LIMIT_MS)
        return position

    def keep(self, position: int) -> None:
        """Keep a position. Raises like ``read``: it is not kept."""
        offset = OffsetAndMetadata(position, "", -1)
        self._open().commit({self._place: offset}, timeout_ms=REQUEST_LIMIT_MS)
        self._kept, self._kept_at_s = position, time.monotonic()

    def is_kept(self, position: int, at_most_s: float) -> bool:
        """Whether this is the position that was kept last, not longer ago than that."""
        return position == self._kept and time.monotonic() - self._kept_at_s < at_most_s

    def close(self) -> None:
        """Close the connection, if there is one."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()

    def _open(self) -> KafkaConsumer:
        if self._consumer is None:
            self._consumer = open_consumer(self._cluster, CONNECT_LIMIT_S, group=self._group)
            self._consumer.assign([self._place])
        return self._consumer
