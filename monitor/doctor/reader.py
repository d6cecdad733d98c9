"""Reads a cluster by the admin API with the readers of the job's collectors. It writes nothing, and joins no group."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from kafka.admin import KafkaAdminClient

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.errors import ClusterAway, CollectorError
from monitor.collectors.kafka.admin_reader import AdminReader
from monitor.collectors.kafka.rebalance_sampler import RebalanceSampler
from monitor.collectors.kafka.share_groups import ShareGroupReader
from monitor.collectors.kafka.share_offsets import ShareOffsetsReader
from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.collectors.kafka_client.connection import CONNECT_LIMIT_S as NAMED_LIMIT_S
from monitor.collectors.kafka_client.connection import accepts_connections, explain_request_errors, open_admin
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import ClusterSettings, ConfigError
from monitor.doctor.reading import Reading
from monitor.doctor.target import with_option_names
from monitor.doctor.unread import Unread
from monitor.doctor.visibility import describe_missing, may_describe_all, places_without_offsets, subscribed_topics
from monitor.model import TopicObserved

CONNECT_LIMIT_S: Final = 5.0
"""A first answer is expected within ten seconds, also that there is none."""

SLOW_CONNECT_LIMIT_S: Final = 60.0
"""For a cluster that accepts connections and has not responded by then: each of several requests may take 5 s."""

SLOW_REQUEST_MS: Final = 30_000
"""For its requests: the first one to a broker waits for the connection, too."""


class ClusterReader:
    """Reads the groups and the topics of one cluster, again and again. For one thread."""

    def __init__(
        self, cluster: ClusterSettings, clock: Callable[[], int] = wall_clock_ms, *, client: Path | None = None
    ) -> None:
        """Prepare; the first reading connects.

        Args:
            cluster: the cluster, with ``groups_from = "admin"``.
            clock: gives the time in ms since the epoch.
            client: the properties file of the cluster's client, for sentences.
        """
        self._cluster = cluster
        self._client = client
        self._clock = clock
        self._pass_ms = 0
        self._admin: KafkaAdminClient | None = None
        self._groups = AdminReader(cluster, clock, CONNECT_LIMIT_S)
        self._stable = StableOffsets()
        self._share_offsets = ShareOffsetsReader(cluster)
        self._shares = ShareGroupReader(cluster.name, self._share_offsets)
        self._samples = RebalanceSampler(cluster.name)
        self._subscribed: dict[str, frozenset[str]] = {}

    def read(self) -> Reading:
        """One round: the topics with their ends, then the groups with their members and offsets.

        Raises:
            ConfigError: the client properties cannot be used.
            ConnectionFailed: the cluster does not answer, or refuses.
        """
        began_s = time.monotonic()
        try:
            return self._read()
        except ConfigError as error:
            raise ConfigError(*(self._explain(problem, began_s) for problem in error.problems)) from None
        except CollectorError as error:
            raise type(error)(self._explain(str(error), began_s)) from None

    def _explain(self, sentence: str, began_s: float) -> str:
        """The sentence with the names of the options, and with how long the cluster has really been tried.

        Sentences on a failed request name the limit of a job's connection, whatever the limit here.
        """
        tried_s = max(1, round(time.monotonic() - began_s))
        measured = sentence.replace(f"tried for {NAMED_LIMIT_S:g} s", f"tried for {tried_s} s")
        return with_option_names(measured, self._cluster, self._client)

    def _read(self) -> Reading:
        admin = self._admin = self._admin or self._connect()
        self._pass_ms = pass_ms = max(self._clock(), self._pass_ms + 1)
        with explain_request_errors(self._cluster):
            topics = observe_topics(
                admin, self._stable, cluster=self._cluster.name, pass_ms=pass_ms, observed_ms=pass_ms
            )
        groups = self._groups.read(pass_ms)
        self._samples.begin_pass()
        samples = [sample for samples in self._samples.ask(admin, self._clock) for sample in samples]
        shares = [share for shares in self._shares.ask(admin, self._clock) for share in shares]
        with explain_request_errors(self._cluster):
            unread = self._unread(admin, groups, topics)
        return Reading(
            pass_ms=pass_ms,
            groups=groups.groups,
            topics=topics,
            listed=frozenset(groups.listed or ()),
            complete=groups.complete,
            samples=tuple(samples),
            shares=tuple(shares),
            problems=groups.problems,
            unread=unread,
        )

    def _connect(self) -> KafkaAdminClient:
        """A client, soon where nothing listens; a cluster that only takes its time is given it."""
        try:
            return open_admin(self._cluster, CONNECT_LIMIT_S)
        except ClusterAway:
            if not accepts_connections(self._cluster):
                raise
        admin = open_admin(self._cluster, SLOW_CONNECT_LIMIT_S, request_ms=SLOW_REQUEST_MS)
        self._groups = AdminReader(self._cluster, self._clock, SLOW_CONNECT_LIMIT_S, SLOW_REQUEST_MS)
        return admin

    def _unread(self, admin: KafkaAdminClient, groups: SourceSnapshot, topics: Sequence[TopicObserved]) -> Unread:
        """What the brokers did not return of this reading."""
        names = frozenset(groups.listed or ())
        newest = self._subscribed | {group.group: subscribed_topics(group) for group in groups.groups}
        self._subscribed = {name: own for name, own in newest.items() if name in names}
        missing = frozenset().union(*self._subscribed.values()) - {topic.topic for topic in topics}
        found = describe_missing(admin, missing)
        return Unread(
            partitions=places_without_offsets(topics),
            coordinators=found.offline,
            coordinator_count=found.count,
            share_groups=tuple(sorted(self._share_offsets.unanswered & names)),
            hidden_topics=found.hidden,
            missing_brokers=found.brokers,
            may_see_none=not names and groups.complete and not may_describe_all(admin),
        )

    def close(self) -> None:
        """Close the connections. The next reading opens new ones."""
        self._groups.close()
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()
