"""What the queries of a job watch, and which collectors tell them of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from monitor.collectors.configured import ConfiguredCollectors
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.collectors.passes.health import PassCounter
from monitor.collectors.passes.unchanged import UnchangedPolls
from monitor.collectors.readers import collector_kind
from monitor.collectors.remote_collector import COLLECT, FIRST_SHARD, RemoteCollector
from monitor.config import ClusterSettings, Settings, System
from monitor.model import CollectorHealth
from monitor.model.kinds import kinds_with

TEXT_PARTITIONS: Final = kinds_with(lambda traits: traits.text_partitions)
"""The systems whose partitions are not numbers (monitor.model.PartitionId)."""


@dataclass(frozen=True, slots=True)
class WatchTarget:
    """What one query watches: a Kafka cluster, or a system whose events a Kafka cluster carries.

    ``cluster`` is the Kafka cluster whose logs are read: of a system, that is its carrier. ``carrier`` has the events.
    ``own_topics`` are those of ``cluster`` that groupwatch writes.

    ``groups_from`` is where its groups come from, in one word: "log" and "admin" are those of a Kafka cluster, the
    others are systems. ``awaited`` must have had a pass before anything is read, and their problems are the cluster's;
    those ``beside`` tell of more groups. ``interval_s`` is the time between the readings of its groups, in seconds.
    """

    name: str
    cluster: ClusterSettings
    carrier: ClusterSettings
    groups_from: str
    interval_s: float
    awaited: tuple[PassCounter | RemoteCollector, ...]
    beside: tuple[PassCounter, ...] = ()
    own_topics: frozenset[str] = frozenset()

    @property
    def reads_log(self) -> bool:
        """Whether its groups come by the offsets topic of the Kafka cluster."""
        return self.groups_from == "log"

    @property
    def is_carried(self) -> bool:
        """Whether another Kafka cluster than the watched one has its events."""
        return self.carrier.name != self.cluster.name

    @property
    def reads_two(self) -> bool:
        """Whether its query reads two Kafka clusters: a log of groups, and events that another one has."""
        return self.reads_log and self.is_carried

    @property
    def text_partitions(self) -> bool:
        """Whether its partitions are texts."""
        return self.groups_from in TEXT_PARTITIONS

    @property
    def collects(self) -> bool:
        """Whether its collectors run in this job."""
        return not any(isinstance(each, RemoteCollector) for each in self.awaited)

    @property
    def collectors(self) -> tuple[PassCounter | RemoteCollector, ...]:
        """All of them."""
        return (*self.awaited, *self.beside)

    @property
    def unchanged(self) -> UnchangedPolls:
        """The polls of its topics that found nothing new, as far as they are made in this job."""
        polls = (each.unchanged for each in self.awaited if isinstance(each, KafkaCatalogCollector))
        return next(polls, UnchangedPolls())

    @property
    def problem(self) -> str | None:
        """What is wrong with its collectors, in a sentence or several; None: nothing."""
        problems = dict.fromkeys(each.problem for each in self.awaited if each.problem is not None)
        return " ".join(problems) or None

    def expect_problem(self, sentence: str) -> None:
        """Take this for the problem of the collectors until they have made a pass: the cluster was found away."""
        for collector in self.awaited:
            collector.problem = sentence

    @property
    def has_begun(self) -> bool:
        """Whether there is something to read: all that is awaited has written a pass, be it an incomplete one.

        What an incomplete pass did not see is as the checkpoint has it.
        """
        return all(each.has_begun for each in self.awaited)

    def health(self) -> tuple[CollectorHealth, ...]:
        """How those collectors go that run in this job."""
        return tuple(each.health() for each in self.collectors if isinstance(each, PassCounter))

    @property
    def is_system(self) -> bool:
        """Whether it is no Kafka cluster of today: then its topics come by the readings of its groups."""
        return self.groups_from not in ("log", "admin")

    def readings(self, read: int) -> int:
        """A number that is another one after each reading of the groups, complete or not.

        Args:
            read: how many micro-batches of this run had something of a reading, which counts of collectors elsewhere.
        """
        reading = self.awaited[-1]
        return reading.written_passes if isinstance(reading, PassCounter) else read


@dataclass(frozen=True, slots=True)
class WatchList:
    """All that a job watches. ``first``: it is the job of the first shard, which has the collectors."""

    settings: Settings
    collectors: ConfiguredCollectors
    first: bool = True

    def __iter__(self) -> Iterator[WatchTarget]:
        """The Kafka clusters, then the systems."""
        for cluster in self.settings.clusters.values():
            yield self.cluster_target(cluster)
        for system in self.settings.systems:
            yield self.system_target(system)

    def cluster_target(self, cluster: ClusterSettings) -> WatchTarget:
        """A Kafka cluster, and the queries of Spark that read it."""
        carrier = self.settings.carrier_of(cluster)
        awaited = self._unless_elsewhere(
            cluster,
            carrier,
            lambda: (self.collectors.topic_collector(cluster), *self.collectors.group_collectors(cluster)),
        )
        queries = [each for each in self.settings.spark_queries.values() if self.settings.cluster_of(each) is cluster]
        return WatchTarget(
            name=cluster.name,
            cluster=cluster,
            carrier=carrier,
            groups_from=cluster.groups_from,
            interval_s=cluster.collect_interval_s,
            awaited=awaited,
            beside=tuple(self.collectors.query_collector(each) for each in queries if each.collect and self.first),
            own_topics=self.settings.own_topics_at(cluster),
        )

    def system_target(self, system: System) -> WatchTarget:
        """A system."""
        carrier = self.settings.carrier_of(system)
        return WatchTarget(
            name=system.name,
            cluster=carrier,
            carrier=carrier,
            groups_from=collector_kind(system),
            interval_s=system.interval_s,
            awaited=self._unless_elsewhere(system, carrier, lambda: (self.collectors.system_collector(system),)),
            own_topics=self.settings.own_topics_at(carrier),
        )

    def _unless_elsewhere(
        self,
        watched: ClusterSettings | System,
        carrier: ClusterSettings,
        collectors: Callable[[], tuple[PassCounter, ...]],
    ) -> tuple[PassCounter | RemoteCollector, ...]:
        if watched.collect and self.first:
            return collectors()
        writer = FIRST_SHARD if watched.collect else COLLECT
        return (RemoteCollector(carrier, writer=writer, name=watched.name),)
