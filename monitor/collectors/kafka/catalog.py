"""The collector of a Kafka cluster's topics: a pass at a fixed rhythm, each written to the events topic."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka.broker_watch import BrokerWatch
from monitor.collectors.kafka.events_writer import (
    Written,
    clock_problem,
    ensure_events_topic,
    send_samples,
    write_answers,
    write_completion,
    write_topics,
)
from monitor.collectors.kafka.offsets_retention import OffsetsRetentionReader
from monitor.collectors.kafka.offsets_topic import observe_offsets_topic
from monitor.collectors.kafka.pending_offsets import PendingOffsetsReader
from monitor.collectors.kafka.rebalance_sampler import SAMPLE_S, RebalanceSampler
from monitor.collectors.kafka.share_groups import ShareGroupReader
from monitor.collectors.kafka.share_offsets import ShareOffsetsReader
from monitor.collectors.kafka.topic_poll import (
    Poll,
    StableOffsets,
    cluster_id_of,
    content_digest,
    describe_all,
    poll_topics,
)
from monitor.collectors.kafka.transactional_offsets import TransactionalOffsets
from monitor.collectors.kafka_client.connection import CONNECT_LIMIT_S, close_producer, open_admin, open_producer
from monitor.collectors.passes.collector import RetryingCollector
from monitor.collectors.passes.unchanged import UnchangedPolls
from monitor.config import ClusterSettings, ConfigError
from monitor.model import PassCompleted, TopicObserved

CLOSE_LIMIT_S: Final = 1.0

POLL_REQUEST_MS: Final = 5_000
"""How long a request of a poll may take: with a broker that hangs, the next poll leaves it out."""

RECONNECT_S: Final = 2.0
"""The pause between two attempts to connect while no broker answers."""

RETURN_S: Final = 2.0
"""How long a pass waits for the producers of a cluster that is back: Java's connect again within a second, and write
what they kept. Before that, the ends would be too low, and so would the lag."""

RENEW_S: Final = 20.0
"""How often a new client is tried while the brokers do not report some ends, as when partitions have no leader."""


class KafkaCatalogCollector(RetryingCollector):
    """Watches the topics of one cluster and writes what it sees to the events topic of its carrier.

    ``run`` belongs to one thread.
    """

    a_pass = "a poll of the topics"

    def __init__(
        self,
        cluster: ClusterSettings,
        clock: Callable[[], int] = wall_clock_ms,
        connect_limit_s: float = CONNECT_LIMIT_S,
        *,
        carrier: ClusterSettings | None = None,
        own_topics: frozenset[str] | None = None,
    ) -> None:
        """Prepare a collector; it connects at the first pass.

        Args:
            cluster: the cluster; its ``collect_interval_s`` is the time between the starts of two passes.
            clock: gives the time in milliseconds since the epoch.
            connect_limit_s: how long one attempt to connect may take.
            carrier: the cluster that has the events topic; None: the watched one.
            own_topics: the topics of the watched cluster that groupwatch writes; None: those that its settings name.
        """
        super().__init__(cluster.name, "kafka", cluster.name)
        self._cluster = cluster
        self._carrier = cluster if carrier is None else carrier
        self._own_topics = {cluster.events_topic, cluster.findings_topic} if own_topics is None else own_topics
        self._clock = clock
        self._connect_limit_s = connect_limit_s
        self._admin: KafkaAdminClient | None = None
        self._producer: KafkaProducer | None = None
        self._pass_ms = 0
        self._transactions = TransactionalOffsets(cluster.name, PendingOffsetsReader(cluster))
        self._shares = ShareGroupReader(cluster.name, ShareOffsetsReader(cluster))
        self._states = RebalanceSampler(cluster.name)
        self._stable = StableOffsets()
        self._retention = OffsetsRetentionReader()
        self._brokers = BrokerWatch()
        self._stop = threading.Event()
        self._next_sample_s = 0.0
        self._renewed_s = -RENEW_S
        self._found: tuple[bytes, bytes] = b"", b""
        """The digests of what the newest two polls found."""
        self.unchanged = UnchangedPolls()
        """Where the events topic holds polls that found nothing new."""

    def run(self, stop: threading.Event) -> None:
        """Make a pass now and then one every interval, until ``stop``; a failed one is made again at the next interval.

        A pass that takes longer than the interval is followed by the next one at the next multiple of the interval.
        While no broker answers, one connection is tried after another: a cluster that is back is seen within seconds.
        Not so where its events go to another cluster, which may be the one that is away.
        Between two passes, every second, it requests the rebalancing groups from the brokers.
        """
        interval_s, self._stop = self._cluster.collect_interval_s, stop
        begin = time.monotonic()
        try:
            while not stop.is_set():
                self.attempt()
                passed_s = time.monotonic() - begin
                pause_s = interval_s - passed_s % interval_s
                if self._is_waited_for:
                    pause_s = min(pause_s, RECONNECT_S)
                self._sample_until(begin + passed_s + pause_s, stop)
        finally:
            self.close()

    @property
    def _is_waited_for(self) -> bool:
        """Whether the watched cluster was away at the newest attempt."""
        return self.is_away and self._carrier.name == self._cluster.name

    def _sample_until(self, due_s: float, stop: threading.Event) -> None:
        """Sample the groups' states once a second until the next pass is due."""
        self._states.begin_pass()
        while not stop.is_set() and (now_s := time.monotonic()) < due_s:
            if now_s >= self._next_sample_s:
                self._next_sample_s = now_s + SAMPLE_S
                self._sample(due_s, stop)
            stop.wait(max(0.0, min(due_s, self._next_sample_s) - time.monotonic()))

    def _sample(self, due_s: float, stop: threading.Event) -> None:
        """Ask the brokers which groups rebalance now, and send it; nothing if there is no connection.

        What goes wrong is no failure of a pass, and the next pass says it if the cluster is away. A broker that does
        not answer holds up the next pass, and the end, for one time limit at most.
        """
        admin, producer = self._admin, self._producer
        if admin is None or producer is None:
            return
        try:
            for samples in self._states.ask(admin, self._clock):
                send_samples(producer, self._carrier.events_topic, samples)
                if stop.is_set() or time.monotonic() >= due_s:
                    return
        except (KafkaError, OSError):
            return

    def collect(self) -> PassCompleted:
        """Make one pass: see all topics, write them, then write and return that the pass is complete.

        Where uncommitted records are read, what the brokers say of transactional commits is written behind it, and so
        is what no log has of share groups. A pass is complete without them: most clusters have neither transactions nor
        share groups, and the log of offsets, or a default, counts where something is missing.

        Raises:
            CollectorError: no connection.
            ConfigError: the client properties cannot be used.
            KafkaError: the cluster did not say what topics it has, or the events were not written.
        """
        admin, producer = self._clients()
        cluster_id = cluster_id_of(admin)
        self.source.require(cluster_id)
        self._pass_ms = max(self._clock(), self._pass_ms + 1)
        name, destination = self._cluster.name, self._carrier.events_topic
        poll, metadata = Poll(name, self._pass_ms, self._not_before_the_pass()), describe_all(admin)
        topics = poll_topics(admin, metadata.topics, self._stable, poll)
        written = write_topics(producer, destination, topics)
        ended_ms = self._not_before_the_pass()
        completed = PassCompleted(
            cluster=name,
            pass_ms=self._pass_ms,
            completed_ms=ended_ms,
            topics=len(topics),
            source_id=cluster_id,
            offsets_retention=self._retention.read(admin),
            offsets_topic=observe_offsets_topic(admin),
            brokers=self._brokers.compare(self._pass_ms, metadata),
        )
        ended = write_completion(producer, destination, completed)
        self._brokers.note_written(completed.brokers)
        self.warning = clock_problem(completed, ended)
        self._note_unchanged(completed, topics, written, ended)
        if self._corrects_the_log:
            for listed in self._transactions.ask(admin, self._clock):
                write_answers(producer, destination, listed)
        for read in self._shares.ask(admin, self._clock):
            write_answers(producer, destination, read)
        if self._transactions.needs_new_client or self._has_lost_a_leader(topics):
            self._renew_admin(admin)
        self.last_success_ms = completed.completed_ms
        self.complete_passes += 1
        self.problem = None
        return completed

    def _note_unchanged(
        self, completed: PassCompleted, topics: Sequence[TopicObserved], written: Written, ended: Written
    ) -> None:
        """Note the poll if it found what the two before did, and no other writer's events lie within it.

        The second of two equal polls is news: only then is a topic that both lack taken for deleted.
        """
        others = (topic for topic in topics if topic.topic not in self._own_topics)
        found = content_digest(others, completed.offsets_retention, completed.offsets_topic, completed.brokers)
        is_third = self._found == (found, found)
        self._found = (self._found[1], found)
        first = written.first if topics else ended.first
        if is_third and ended.end - first == len(topics) + 1:
            self.unchanged.note(first, ended.end)

    @property
    def _corrects_the_log(self) -> bool:
        """Whether the log of offsets is read, with the commits of transactions that may come to nothing."""
        return self._cluster.groups_from == "log" and self._cluster.offsets_isolation == "read_uncommitted"

    def _has_lost_a_leader(self, topics: Iterable[TopicObserved]) -> bool:
        """Whether an end is missing and the client is not new: it may not know a broker that has come back.

        kafka-python forgets an unavailable broker with its next metadata request, and repeats that after five minutes.
        """
        is_new = time.monotonic() - self._renewed_s < RENEW_S
        return not is_new and any(partition.end is None for topic in topics for partition in topic.partitions)

    def _not_before_the_pass(self) -> int:
        """Now; after the clock was set back, the beginning of the pass, which is never before that of the last one."""
        return max(self._clock(), self._pass_ms)

    def close(self) -> None:
        """Close the connections. The next pass opens new ones."""
        admin, producer = self._admin, self._producer
        self._admin = self._producer = None
        if producer is not None:
            close_producer(producer, CLOSE_LIMIT_S)
        if admin is not None:
            admin.close()

    def _clients(self) -> tuple[KafkaAdminClient, KafkaProducer]:
        if self._admin is None:
            self._admin = open_admin(self._cluster, self._connect_limit_s, request_ms=POLL_REQUEST_MS)
            self.source.require(cluster_id_of(self._admin))  # before a topic is made there
            if self._is_waited_for:
                self._stop.wait(RETURN_S)
        if self._producer is None:
            self._ensure_topic(self._admin)
            self._producer = open_producer(self._carrier, self._connect_limit_s)
        return self._admin, self._producer

    def _ensure_topic(self, watched: KafkaAdminClient) -> None:
        topic = self._carrier.events_topic
        if self._carrier.name == self._cluster.name:
            self.has_made_topic |= ensure_events_topic(watched, topic)
            return
        with open_admin(self._carrier, self._connect_limit_s) as admin:
            self.has_made_topic |= ensure_events_topic(admin, topic)

    def _renew_admin(self, old: KafkaAdminClient) -> None:
        """Take a new admin client; keep the old one if its bootstrap servers are those that are away."""
        try:
            self._admin = open_admin(self._cluster, self._connect_limit_s, request_ms=POLL_REQUEST_MS)
        except (CollectorError, ConfigError):
            return
        self._renewed_s = time.monotonic()
        old.close()
