"""The findings topic of a cluster as a feed: every record once it is there, from a position that Kafka keeps."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from monitor.collectors.errors import CollectorError, FindingsNotRead
from monitor.collectors.kafka.findings_topic import PARTITION, findings_topic_plan
from monitor.collectors.kafka.kept_position import KeptPosition
from monitor.collectors.kafka.managed_topics import ensure_topic
from monitor.collectors.kafka_client.connection import error_name, open_admin, open_consumer
from monitor.config import ClusterSettings
from monitor.model import FindingNews, FindingRecord
from monitor.protocol.findings_topic import decode_finding
from monitor.protocol.wire.errors import DecodeError

log = logging.getLogger(__name__)

CONNECT_LIMIT_S: Final = 10.0
READ_LIMIT_S: Final = 60.0
FETCH_BYTES: Final = 1 << 20
RENEW_AFTER_S: Final = 3_600.0
"""A position that does not change is kept again after that time: Kafka forgets that of a group without members a week
after its newest commit (offsets.retention.minutes)."""

KEEP_AGAIN_S: Final = 30.0
"""The pause after a position was not kept: an attempt takes up to 10 s, and no event is sent meanwhile."""

MAX_RECORDS: Final = 100
"""How many records are given at once: so many may be given again after a crash."""


class FindingsFeed:
    """Belongs to one thread. It connects when it is first read; after an error, it has to be closed.

    Where the group has no position, the feed begins with what is open now, and keeps that position at once: what
    happens from then on is given, even if the next one to read comes after a crash.

    While Kafka cannot keep a position, which is itself a finding of the cluster, the feed gives what happens all the
    same: it knows how far it has come. After a crash, that is given again.
    """

    def __init__(self, cluster: ClusterSettings, group: str) -> None:
        self._cluster = cluster
        self._place = TopicPartition(cluster.findings_topic, PARTITION)
        self._position = KeptPosition(cluster, group, self._place)
        self._consumer: KafkaConsumer | None = None
        self._beginning = Beginning(0, 0, frozenset())
        self._done: int | None = None
        self._keep_after_s = 0.0
        self._is_refused = False
        self._unreadable = 0

    def read(self, wait_ms: int) -> list[FindingRecord]:
        """The next records, after ``wait_ms`` at the latest; there may be none.

        Raises:
            CollectorError, ConfigError: no connection. KafkaError: the topic cannot be read, or the group not be used.
        """
        polled = self._open().poll(timeout_ms=wait_ms, max_records=MAX_RECORDS).get(self._place, [])
        records = [(each.offset, _finding(each.value)) for each in polled]
        told = zip(polled, records, strict=True)
        self._unreadable += sum(each.value is not None and record is None for each, (_, record) in told)
        return [record for offset, record in records if record and self._beginning.has(offset, record)]

    def take_unreadable(self) -> int:
        """How many records were no findings since the last call."""
        found, self._unreadable = self._unreadable, 0
        return found

    def commit(self) -> None:
        """Everything that was read is done with: keep that, as soon as Kafka does.

        Also where nothing was given: removed findings are records, too, and would count as lag of the group.

        Raises:
            CollectorError, ConfigError: no connection. KafkaError: the topic cannot be read.
        """
        self._done = self._open().position(self._place)
        self.renew()

    def renew(self) -> None:
        """Keep how far everything is done with, unless that was kept within the hour."""
        done, now_s = self._done, time.monotonic()
        if done is None or now_s < self._keep_after_s or self._position.is_kept(done, RENEW_AFTER_S):
            return
        try:
            self._position.keep(done)
        except (KafkaError, CollectorError) as error:
            self._position.close()
            self._keep_after_s = time.monotonic() + KEEP_AGAIN_S
            self._report_refusal(error)
        else:
            self._is_refused = False

    def close(self) -> None:
        """Close the connections, if there are any."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()
        self._position.close()

    def _report_refusal(self, error: Exception) -> None:
        name = error_name(error) if isinstance(error, KafkaError) else str(error)
        text = "Cluster %s: the position in %s cannot be committed (%s); events go on, and a restart repeats them"
        if not self._is_refused:
            log.warning(text, self._cluster.name, self._place.topic, name)
        self._is_refused = True

    def _open(self) -> KafkaConsumer:
        if self._consumer is None:
            with open_admin(self._cluster, CONNECT_LIMIT_S) as admin:
                ensure_topic(admin, self._place.topic, findings_topic_plan)
            consumer = open_consumer(self._cluster, CONNECT_LIMIT_S, fetch_bytes=FETCH_BYTES)
            try:
                consumer.assign([self._place])
                self._go_to_position(consumer)
            except BaseException:
                consumer.close()
                raise
            self._consumer = consumer
        return self._consumer

    def _go_to_position(self, consumer: KafkaConsumer) -> None:
        """Go where this feed or its group was, or (it was nowhere) to the oldest finding that is open."""
        if self._done is None:
            position = self._position.read()
            if position is None:
                self._beginning = self._read_beginning(consumer)
                position = self._beginning.start
                self._position.keep(position)
            self._done = position
            self.renew()
        consumer.seek(self._place, self._done)

    def _read_beginning(self, consumer: KafkaConsumer) -> Beginning:
        end = consumer.end_offsets([self._place])[self._place]
        consumer.seek_to_beginning(self._place)
        deadline = time.monotonic() + READ_LIMIT_S
        newest: dict[bytes | None, tuple[int, FindingRecord | None]] = {}
        while consumer.position(self._place) < end:
            for each in consumer.poll(timeout_ms=500).get(self._place, []):
                newest[each.key] = each.offset, _finding(each.value)
            if time.monotonic() > deadline:
                raise FindingsNotRead(f"{self._place.topic} could not be read within {READ_LIMIT_S:g} s.")
        return find_beginning(newest.values(), end)


class Beginning(NamedTuple):
    """Where a feed without a position begins: at ``start``. Before ``end`` only the findings ``open_ids`` count."""

    start: int
    end: int
    open_ids: frozenset[str]

    def has(self, offset: int, record: FindingRecord) -> bool:
        """Whether a record is to be given."""
        return offset >= self.end or record.id in self.open_ids


def find_beginning(newest: Iterable[tuple[int, FindingRecord | None]], end: int) -> Beginning:
    """The beginning of a feed by the newest record of each key with its offset, in a topic that ends at ``end``.

    >>> find_beginning([(4, None)], 5)
    Beginning(start=5, end=5, open_ids=frozenset())
    """
    held = [(offset, record.id) for offset, record in newest if record and record.event is not FindingNews.CLOSED]
    return Beginning(min((offset for offset, _ in held), default=end), end, frozenset(name for _, name in held))


def _finding(value: bytes | None) -> FindingRecord | None:
    """What a record says; None: it removes a finding, or is none."""
    try:
        return None if value is None else decode_finding(value)
    except DecodeError:
        return None
