"""The options of a cluster's Kafka sources, from one start of its query to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import uuid4

from monitor.collectors.kafka_client.client_properties import spark_options
from monitor.config import ClusterSettings
from streaming_jobs.ingest.sources import FETCH_LIMIT_MS, LONGEST_FETCH_LIMIT_MS, fetch_limits
from streaming_jobs.jobs.watch_targets import WatchTarget

READER_GROUPS: Final = "groupwatch"
"""The prefix of the consumers' groups. They assign themselves, so no coordinator gets requests for them."""

_SERVERS: Final = "kafka.bootstrap.servers"


class SourceOptions:
    """Gives the options for each start of a query.

    Spark keeps its consumers by the name of their group, and wants them to have the same options. So equal options come
    with the same group, whose consumers know the brokers, and others with a new one. Nothing is committed in its name.
    """

    def __init__(self, cluster: ClusterSettings, *, serves_tokens: bool) -> None:
        self._cluster = cluster
        self._serves_tokens = serves_tokens
        self._limit_ms = FETCH_LIMIT_MS
        self._newest: dict[str, str] = {}
        self._group = ""

    def client_options(self) -> dict[str, str]:
        """Those of any consumer of Java's.

        Raises:
            ConfigError: see ``spark_options``.
        """
        return spark_options(self._cluster, serves_tokens=self._serves_tokens)

    def source_options(self, answering: Sequence[str] = ()) -> dict[str, str]:
        """Those of the query's sources.

        Args:
            answering: the addresses of the brokers that answer, where some do not: a new consumer would wait for one
                of these too long, should it ask that one first.
        """
        options = fetch_limits(self._limit_ms) | self.client_options()
        if answering:
            options[_SERVERS] = ",".join(answering)
        if options != self._newest:
            self._newest, self._group = options, f"{READER_GROUPS}-{uuid4().hex}"
        return options | {"kafka.group.id": self._group}

    def wait_longer(self) -> None:
        """Let fetches take twice as long: they took too long although all brokers answer, as by a slow line."""
        self._limit_ms = min(2 * self._limit_ms, LONGEST_FETCH_LIMIT_MS)


class QueryOptions(NamedTuple):
    """The options of all sources of a query: ``log`` for the log of groups, ``events`` for the collectors' topic.

    Both are the same object if one cluster has both.
    """

    log: SourceOptions
    events: SourceOptions

    def wait_longer(self) -> None:
        """See SourceOptions."""
        for each in dict.fromkeys(self):
            each.wait_longer()


def query_options(target: WatchTarget, *, serves_tokens: bool) -> QueryOptions:
    """The options for the queries of a target."""
    of_events = SourceOptions(target.carrier, serves_tokens=serves_tokens)
    if not target.reads_two:
        return QueryOptions(of_events, of_events)
    return QueryOptions(SourceOptions(target.cluster, serves_tokens=serves_tokens), of_events)
