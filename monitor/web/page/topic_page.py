"""What the pages of topics show: the list, what could be deleted, and one topic with its groups. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Final

from msgspec.structs import replace

from monitor.messages.formatting import age, rate, searchable, unknown_rate
from monitor.messages.notification import utc
from monitor.messages.truncation import truncation_sentence
from monitor.model import PartitionId, Snapshot, TopicPartition, Value
from monitor.topics.detail import GroupPartition, LogPartition, TopicDetail, TopicGroup
from monitor.topics.unused import UNUSED_MS, Unused
from monitor.web.page.member_labels import Holder, Holders
from monitor.web.page.options import PageOptions
from monitor.web.views.addresses import PAGE, TOPICS, TOPICS_API, GroupAddress, TopicAddress
from monitor.web.views.overview import ClusterLine, cluster_line
from monitor.web.views.status import shard_sentence
from monitor.web.views.topic_finder import FoundTopic
from monitor.web.views.topic_list import (
    ClusterTopics,
    TopicColumn,
    TopicListings,
    TopicSummary,
    TopicWish,
    is_unread,
    search_topics,
)

SHOWN_TOPICS: Final = 50
"""How many topics the page lists, unless it is to list all."""
SHOWN_PARTITIONS: Final = 100
"""How many partitions a topic's page lists, and of each group, unless it is to list all."""
SHOWN_TRUNCATIONS: Final = 10
"""How many truncations of its partitions a topic's page lists."""
UNREAD: Final = "unread"
UNUSED: Final = "unused"
"""In the address of the list: only topics that no group reads, and what could be deleted."""


class TopicLine(Value):
    """A topic in the list."""

    summary: TopicSummary
    href: str
    rate: str | None
    why: str = ""
    """Why the rate is not known, and until when."""


class UnusedLine(Value):
    """What could be deleted, with the page of its group."""

    unused: Unused
    href: str


class TopicsPage(Value):
    """The list. ``total`` and ``unread`` count the topics that match the search; ``unread`` None: it is unknown.

    ``waiting`` are the clusters of which no topic is known yet, ``unused_after`` says how old commits are to be.
    """

    clusters: tuple[ClusterLine, ...]
    total: int
    unread: int | None
    topics: tuple[TopicLine, ...] = ()
    unused: tuple[UnusedLine, ...] = ()
    hidden: int = 0
    has_more_unused: bool = False
    is_unused: bool = False
    waiting: int = 0
    share: str | None = None
    unused_after: str = age(UNUSED_MS)


class LogLine(Value):
    """A partition of the topic; ``share`` is its part of what comes in, in percent."""

    row: LogPartition
    rate: str | None
    share: str | None
    is_unread: bool


class GroupPartitionLine(Value):
    """A partition as a group reads it."""

    row: GroupPartition
    owners: tuple[Holder, ...]
    lag_age: str | None
    is_lost: bool


class TopicGroupLine(Value):
    """A group of the topic with its first partitions; ``hidden`` more are not listed."""

    row: TopicGroup
    href: str
    lag_age: str | None
    partitions: tuple[GroupPartitionLine, ...]
    hidden: int


class TopicPage(Value):
    """The page of a topic."""

    detail: TopicDetail
    cluster: ClusterLine
    rate: str | None
    partitions: tuple[LogLine, ...]
    hidden_partitions: int
    groups: tuple[TopicGroupLine, ...]
    readers: int
    seen: str | None
    api_href: str
    share: str | None = None
    truncations: tuple[str, ...] = ()
    why: str = ""
    """Why the rate is not known, and until when."""


def topics_page(snapshot: Snapshot, listings: TopicListings, options: PageOptions, now_ms: int) -> TopicsPage:
    """The list that the options describe. Clusters of which nothing is known yet are counted, not shown as empty."""
    chosen = [each for each in snapshot.clusters if options.cluster in ("", each.cluster)]
    ready = [each for each in chosen if each.ready]
    limit = None if options.all_rows else SHOWN_TOPICS
    topics = [listings.cluster(each) for each in ready]
    matching = search_topics(topics, _wish(options))
    is_all = snapshot.shard.is_all
    page = TopicsPage(
        clusters=tuple(cluster_line(each, now_ms) for each in snapshot.clusters),
        total=len(matching),
        unread=sum(map(is_unread, matching)) if is_all else None,
        waiting=len(chosen) - len(ready),
        share=None if is_all else shard_sentence(snapshot.shard),
    )
    if options.kind == UNUSED:
        found = (each for cluster in ready for each in listings.find_unused(cluster))
        return _with_unused(page, (each for each in found if _has_text(each, options.search)), limit)
    wanted = [each for each in matching if is_unread(each)] if options.kind == UNREAD and is_all else matching
    return _with_topics(page, {each.catalog.cluster: each for each in topics}, wanted, limit, now_ms)


def _with_topics(
    page: TopicsPage,
    clusters: dict[str, ClusterTopics],
    wanted: Sequence[TopicSummary],
    limit: int | None,
    now_ms: int,
) -> TopicsPage:
    shown = [_topic_line(clusters[each.cluster].with_inflow(each), now_ms) for each in wanted[:limit]]
    return replace(page, topics=tuple(shown), hidden=len(wanted) - len(shown))


def _has_text(unused: Unused, search: str) -> bool:
    """Whether the name of the group or of the topic has a text in it, in any case."""
    return any(searchable(search) in searchable(name) for name in (unused.group, unused.topic or ""))


def _with_unused(page: TopicsPage, found: Iterable[Unused], limit: int | None) -> TopicsPage:
    """The page with what could be deleted, as far as shown: each is checked with the newest state of its group."""
    shown = list(islice(found, None if limit is None else limit + 1))
    lines = [UnusedLine(each, GroupAddress(each.cluster, each.group).under(PAGE)) for each in shown[:limit]]
    return replace(page, unused=tuple(lines), has_more_unused=len(shown) > len(lines), is_unused=True)


def _topic_line(summary: TopicSummary, now_ms: int) -> TopicLine:
    href = TopicAddress(summary.cluster, summary.topic).under(TOPICS)
    why = unknown_rate(summary.rate_known_ms, summary.rate_polled_ms, summary.rate_unpolled, now_ms)
    return TopicLine(summary=summary, href=href, rate=_rate(summary.per_second), why=why)


def _wish(options: PageOptions) -> TopicWish:
    column = options.sort.removeprefix("-")
    return TopicWish(
        search=options.search,
        column=TopicColumn(column) if column in list(TopicColumn) else TopicColumn.TOPIC,
        turned=options.sort.startswith("-"),
    )


def topic_page(found: FoundTopic, snapshot: Snapshot, now_ms: int, limit: int | None) -> TopicPage:
    """The page of a topic, with at most so many of its partitions, and of those of each group."""
    detail = found.detail
    unread = set(detail.unread or ())
    groups = [_group_line(each, Holders(found.verdicts[each.group].members), detail, limit) for each in detail.groups]
    return TopicPage(
        detail=detail,
        cluster=cluster_line(found.cluster, now_ms),
        rate=_rate(detail.per_second),
        partitions=tuple(_log_line(each, detail, unread) for each in detail.partitions[:limit]),
        hidden_partitions=len(detail.partitions) - len(detail.partitions[:limit]),
        groups=tuple(groups),
        readers=sum(each.is_reader for each in detail.groups),
        seen=None if detail.pass_ms is None else utc(detail.pass_ms),
        api_href=TopicAddress(detail.cluster, detail.topic).under(TOPICS_API),
        share=None if snapshot.shard.is_all else shard_sentence(snapshot.shard),
        truncations=tuple(_truncation_lines(detail)),
        why=unknown_rate(detail.rate_known_ms, detail.rate_polled_ms, detail.rate_unpolled, now_ms),
    )


def _truncation_lines(detail: TopicDetail) -> Iterator[str]:
    """The newest ones, each with when it was found."""
    cut = [(each.truncation, each.partition) for each in detail.partitions if each.truncation is not None]
    for found, partition in sorted(cut, key=lambda each: -each[0].at_ms)[:SHOWN_TRUNCATIONS]:
        place = TopicPartition(detail.topic, partition)
        yield f"{utc(found.at_ms)}: {truncation_sentence(place, found.before, found.after)}"


def _log_line(row: LogPartition, detail: TopicDetail, unread: Set[PartitionId]) -> LogLine:
    share = None
    if row.per_second is not None and detail.per_second:
        share = f"{100 * row.per_second / detail.per_second:.3g} %"
    return LogLine(row=row, rate=_rate(row.per_second), share=share, is_unread=row.partition in unread)


def _group_line(row: TopicGroup, holders: Holders, detail: TopicDetail, limit: int | None) -> TopicGroupLine:
    return TopicGroupLine(
        row=row,
        href=GroupAddress(detail.cluster, row.group).under(PAGE),
        lag_age=_age(row.lag_ms),
        partitions=tuple(_partition_line(each, holders) for each in row.partitions[:limit]),
        hidden=len(row.partitions) - len(row.partitions[:limit]),
    )


def _partition_line(row: GroupPartition, holders: Holders) -> GroupPartitionLine:
    return GroupPartitionLine(
        row=row,
        owners=tuple(holders[owner] for owner in row.owners),
        lag_age=_age(row.lag_ms),
        is_lost=row.margin is not None and row.margin < 0,
    )


def _rate(per_second: float | None) -> str | None:
    return None if per_second is None else rate(per_second)


def _age(lag_ms: int | None) -> str | None:
    return None if lag_ms is None else age(lag_ms)
