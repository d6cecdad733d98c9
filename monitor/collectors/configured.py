"""The collectors that a configuration asks for, each with its reader, its rhythm and the topic that it writes to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.collectors.polling import PollingCollector
from monitor.collectors.readers import Readable, collector_kind, create_reader
from monitor.collectors.snapshot import SnapshotReader
from monitor.config import ClusterSettings, Settings, SparkQueriesSettings, System

MakeReader = Callable[[Readable], SnapshotReader]


class ConfiguredCollectors:
    """Makes the collectors of a configuration; each connects at its first pass."""

    def __init__(
        self, settings: Settings, clock: Callable[[], int] = wall_clock_ms, readers: MakeReader | None = None
    ) -> None:
        """Prepare.

        Args:
            settings: what is watched.
            clock: gives the time in milliseconds since the epoch.
            readers: gives the reader of what is read as a whole; None: those of groupwatch, by this clock.
        """
        self._settings = settings
        self._clock = clock
        self._readers = readers or partial(create_reader, clock=clock)

    def topic_collector(self, cluster: ClusterSettings) -> KafkaCatalogCollector:
        """That of a Kafka cluster's topics."""
        carrier, own_topics = self._settings.carrier_of(cluster), self._settings.own_topics_at(cluster)
        return KafkaCatalogCollector(cluster, self._clock, carrier=carrier, own_topics=own_topics)

    def group_collectors(self, cluster: ClusterSettings) -> tuple[PollingCollector, ...]:
        """That of a Kafka cluster's groups, if they are not read from its log."""
        if cluster.groups_from == "log":
            return ()
        carrier = self._settings.carrier_of(cluster)
        return (self._collector(cluster, carrier, cluster.name, cluster.collect_interval_s),)

    def system_collector(self, system: System) -> PollingCollector:
        """That of a system."""
        carrier = self._settings.carrier_of(system)
        named = system.model_copy(update={"via": carrier.name})
        return self._collector(named, carrier, system.name, system.interval_s)

    def query_collector(self, queries: SparkQueriesSettings) -> PollingCollector:
        """That of some queries of Spark, as groups of the Kafka cluster that they read."""
        cluster = self._settings.cluster_of(queries)
        named = queries.model_copy(update={"cluster": cluster.name})
        return self._collector(named, self._settings.carrier_of(cluster), cluster.name, queries.interval_s)

    def _collector(self, read: Readable, carrier: ClusterSettings, cluster: str, interval_s: float) -> PollingCollector:
        collector = PollingCollector(cluster, self._readers(read), carrier, interval_s, self._clock)
        collector.set_identity(collector_kind(read), read.name)
        return collector
