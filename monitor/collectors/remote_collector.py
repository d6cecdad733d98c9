"""The passes that another process writes: of jobs that share the groups, one has the collectors; or they run alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from kafka.errors import KafkaError

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.errors import CollectorError, OffsetsTopicMissing
from monitor.collectors.kafka.preflight import end_offsets
from monitor.collectors.kafka_client.connection import CONNECT_LIMIT_S, error_name
from monitor.collectors.passes.known_source import KnownSource
from monitor.config import ClusterSettings, ConfigError
from monitor.model import Value

MIN_SILENCE_LIMIT_S: Final = 60.0
SILENCE_LIMIT_PASSES: Final = 3
"""After so many intervals without a pass, it is reported as missing; never before MIN_SILENCE_LIMIT_S."""


class ExpectedWriter(Value):
    """Who writes the passes that are awaited, and what he does that they come of, both in words."""

    who: str
    does: str


FIRST_SHARD: Final = ExpectedWriter(who="the job of the first shard", does="lists the topics")
COLLECT: Final = ExpectedWriter(who="groupwatch collect", does="reads the cluster")


class RemoteCollector:
    """Looks whether the events topic of a cluster exists and grows; it writes nothing.

    It replaces the collector where that runs in another process. ``run`` belongs to one thread; ``last_success_ms`` and
    ``problem`` may be read from any.
    """

    def __init__(
        self,
        cluster: ClusterSettings,
        clock_s: Callable[[], float] = time.monotonic,
        connect_limit_s: float = CONNECT_LIMIT_S,
        *,
        writer: ExpectedWriter = FIRST_SHARD,
        name: str | None = None,
    ) -> None:
        """Prepare to look; the first look connects.

        Args:
            cluster: the Kafka cluster that has the topic.
            clock_s: gives seconds that only go forward.
            connect_limit_s: how long one attempt to connect may take.
            writer: whose passes they are.
            name: of the cluster that they are of; None: of this one.
        """
        self._writer = writer
        self._name = cluster.name if name is None else name
        self._cluster = cluster
        self._clock_s = clock_s
        self._connect_limit_s = connect_limit_s
        self.source = KnownSource(self._name)
        """The Kafka cluster that has the topic."""
        self._ends: dict[int, int] = {}
        self._grown_s = clock_s()
        self.last_success_ms: int | None = None
        """When the topic was last seen."""
        self.problem: str | None = None
        """Why there are no passes to read, as a sentence; None while they come."""

    @property
    def has_begun(self) -> bool:
        """Whether the topic was seen."""
        return self.last_success_ms is not None

    def run(self, stop: threading.Event) -> None:
        """Look now and then once every interval of the collector, until ``stop``."""
        while not stop.is_set():
            self.attempt()
            stop.wait(self._cluster.collect_interval_s)

    def attempt(self) -> None:
        """Look once and remember how it went."""
        try:
            bounds = end_offsets(self._cluster, self._cluster.events_topic, self._connect_limit_s)
            self.source.require(bounds.cluster_id)
        except (KafkaError, CollectorError, ConfigError, OSError) as error:
            self.problem = self._sentence(error)
            return
        if bounds.ends != self._ends:
            self._ends, self._grown_s = bounds.ends, self._clock_s()
        self.last_success_ms = wall_clock_ms()
        self.problem = self._silence_problem(self._clock_s() - self._grown_s)

    def _silence_problem(self, lasted_s: float) -> str | None:
        if lasted_s <= max(MIN_SILENCE_LIMIT_S, SILENCE_LIMIT_PASSES * self._cluster.collect_interval_s):
            return None
        return (
            f"Cluster {self._name}: nothing was written to {self._cluster.events_topic} for {lasted_s:.0f} s;"
            f" {self._writer.who}, which {self._writer.does}, does not seem to run."
        )

    def _sentence(self, error: Exception) -> str:
        name, topic = self._name, self._cluster.events_topic
        if isinstance(error, OffsetsTopicMissing):
            return f"Cluster {name}: there is no {topic} yet; {self._writer.who} creates it."
        if isinstance(error, CollectorError | ConfigError):
            return str(error)
        return f"Cluster {name}: polling {topic} failed ({error_name(error)}); retrying."
