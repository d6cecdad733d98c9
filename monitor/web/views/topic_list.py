"""The topics of the clusters, who reads them, and what could be deleted; found and in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from monitor.detection.lag.inflow import Inflow, topic_inflow
from monitor.kinds.connect import sink_connectors
from monitor.messages.formatting import searchable
from monitor.model import Catalog, ClusterSnapshot, GroupUse, Value
from monitor.snapshot_file import NotJudgedError
from monitor.topics.unused import Unused, find_unused
from monitor.topics.uses import all_topics, group_use, read_topics
from monitor.web.views.snapshot_source import NotKnownYet, Source

_OWN: Final = ("__", "groupwatch.")
"""How the names of topics begin that Kafka or groupwatch keep for themselves: no group is to read them."""


class TopicSummary(Value):
    """A topic in the list. ``per_second`` and ``skew`` are of monitor.detection.lag.inflow."""

    cluster: str
    topic: str
    partitions: int
    """Number of partitions."""
    groups: int = 0
    """Groups that read the topic or have offsets in it."""
    readers: int = 0
    """Groups that read it now."""
    per_second: float | None = None
    skew: float | None = None
    rate_known_ms: int | None = None
    rate_polled_ms: int | None = None
    rate_unpolled: int = 0


class TopicColumn(StrEnum):
    """What the list of topics can be sorted by."""

    TOPIC = "topic"
    CLUSTER = "cluster"
    PARTITIONS = "partitions"
    READERS = "readers"
    RATE = "rate"
    SKEW = "skew"


class TopicWish(Value):
    """Which topics to list: whose name has ``search`` in it in any case, in that order.

    ``unread``: only those that no group reads.
    """

    search: str = ""
    unread: bool = False
    column: TopicColumn = TopicColumn.TOPIC
    turned: bool = False


class ClusterTopics:
    """The topics of one cluster as of one poll. What comes in is computed once, when it is first needed."""

    def __init__(self, catalog: Catalog, uses: tuple[GroupUse, ...]) -> None:
        self.catalog = catalog
        self.uses = uses
        self._inflows: dict[str, Inflow] = {}

    @cached_property
    def summaries(self) -> tuple[TopicSummary, ...]:
        """The topics by name, without what comes in."""
        groups, readers = _counts(self.uses)
        return tuple(
            TopicSummary(
                cluster=self.catalog.cluster,
                topic=name,
                partitions=len(self.catalog.topics[name].partitions),
                groups=groups[name],
                readers=readers[name],
            )
            for name in sorted(self.catalog.topics)
        )

    @cached_property
    def search_texts(self) -> dict[str, str]:
        """The names as a search compares them."""
        return {name: searchable(name) for name in self.catalog.topics}

    def inflow(self, topic: str) -> Inflow:
        """What comes into a topic."""
        known = self._inflows.get(topic)
        if known is None:
            known = self._inflows[topic] = topic_inflow(self.catalog.topics[topic].partitions)
        return known

    def with_inflow(self, summary: TopicSummary) -> TopicSummary:
        """The topic with what comes in."""
        inflow = self.inflow(summary.topic)
        return replace(
            summary,
            per_second=inflow.per_second,
            skew=inflow.skew,
            rate_known_ms=inflow.known_ms,
            rate_polled_ms=inflow.polled_ms,
            rate_unpolled=inflow.unpolled,
        )


class TopicListings:
    """The topics of the newest evaluations, kept until they differ. For all threads: two may compute the same."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kept: dict[str, ClusterTopics] = {}

    def cluster(self, cluster: ClusterSnapshot) -> ClusterTopics:
        """The topics of a cluster.

        Raises:
            NotKnownYet: the groups of the cluster cannot be evaluated one by one yet.
        """
        inputs = self._source.inputs(cluster.cluster) if cluster.ready else None
        if inputs is None:
            raise NotKnownYet([cluster])
        catalog, uses = inputs.catalog, self._source.uses(cluster.cluster)
        kept = self._kept.get(cluster.cluster)
        if kept is None or kept.catalog is not catalog or kept.uses is not uses:
            kept = self._kept[cluster.cluster] = ClusterTopics(catalog, uses)
        return kept

    def find_unused(self, cluster: ClusterSnapshot) -> Iterator[Unused]:
        """What could be deleted in a cluster, by group. Each is checked with the newest state of the group.

        The group of a known sink of Kafka Connect is left out: a paused connector keeps its offsets on purpose.

        Raises:
            NotKnownYet: as above.
        """
        topics = self.cluster(cluster)
        now_ms = cluster.evaluated_ms or 0
        sinks = sink_connectors(topics.catalog.connect_configs.values())
        for use in topics.uses:
            if use.group not in sinks and find_unused(cluster.cluster, use, now_ms):
                yield from self._find_unused_now(cluster.cluster, use.group, now_ms)

    def _find_unused_now(self, cluster: str, group: str, now_ms: int) -> tuple[Unused, ...]:
        inputs = self._source.inputs(cluster)
        try:
            found = inputs.inputs(group) if inputs is not None else None
        except NotJudgedError:
            return ()
        return () if found is None else find_unused(cluster, group_use(found.group, found.catalog), now_ms)


def search_topics(clusters: Iterable[ClusterTopics], wish: TopicWish) -> list[TopicSummary]:
    """The topics that match, in order. What comes in is there only if it orders them."""
    wanted = searchable(wish.search)
    found = [
        (each, summary)
        for each in clusters
        for summary in each.summaries
        if (not wish.unread or is_unread(summary)) and (not wanted or wanted in each.search_texts[summary.topic])
    ]
    if wish.column in (TopicColumn.RATE, TopicColumn.SKEW):
        return _sorted([each.with_inflow(summary) for each, summary in found], wish)
    return _sorted([summary for _, summary in found], wish)


def is_unread(summary: TopicSummary) -> bool:
    """Whether no group reads the topic now, although it is a topic for groups."""
    return not summary.readers and not summary.topic.startswith(_OWN)


def _counts(uses: Iterable[GroupUse]) -> tuple[Counter[str], Counter[str]]:
    """How many groups have to do with each topic, and how many of them read it now."""
    groups: Counter[str] = Counter()
    readers: Counter[str] = Counter()
    for use in uses:
        groups.update(all_topics(use))
        readers.update(read_topics(use))
    return groups, readers


_BY_NUMBER: Final[Mapping[TopicColumn, Callable[[TopicSummary], float | None]]] = {
    TopicColumn.PARTITIONS: lambda each: each.partitions,
    TopicColumn.READERS: lambda each: each.readers,
    TopicColumn.RATE: lambda each: each.per_second,
    TopicColumn.SKEW: lambda each: each.skew,
}
"""Largest first."""


def _sorted(found: list[TopicSummary], wish: TopicWish) -> list[TopicSummary]:
    """Equal topics come by name, unknown numbers last in both orders."""
    number = _BY_NUMBER.get(wish.column)
    if number is not None:
        known = [each for each in found if number(each) is not None]
        known.sort(key=lambda each: number(each) or 0, reverse=not wish.turned)
        return known + [each for each in found if number(each) is None]
    if wish.column is TopicColumn.CLUSTER:
        return sorted(found, key=lambda each: each.cluster, reverse=wish.turned)
    return sorted(found, key=lambda each: (each.topic.casefold(), each.cluster), reverse=wish.turned)
