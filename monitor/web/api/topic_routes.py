"""The API's addresses about topics: the list, one of them, and what could be deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from monitor.model import Snapshot
from monitor.web.api.cache import Listed
from monitor.web.api.chosen_clusters import ChosenClusters, chosen_clusters
from monitor.web.api.lists import Cut, Order, Place, Wanted, cut_rows, encoded
from monitor.web.api.paging import page_response, read_wanted
from monitor.web.api.response import JsonAnswer
from monitor.web.views.addresses import TOPICS_API
from monitor.web.views.query import Query
from monitor.web.views.snapshot_source import Source
from monitor.web.views.status import shard_sentence
from monitor.web.views.topic_finder import TopicFinder
from monitor.web.views.topic_list import TopicListings, TopicSummary, TopicWish, search_topics

Handler = Callable[[Request, Query], Response]


def topic_handlers(source: Source, listings: TopicListings, now_ms: Callable[[], int]) -> Mapping[str, Handler]:
    """By the name of the address. ``now_ms`` is the clock for the age of an evaluation.

    ``listings`` are those of ``source``.
    """
    handlers = _TopicHandlers(source, listings, now_ms)
    return {"topics": handlers.topics, "topic": handlers.topic, "unused": handlers.list_unused}


class _TopicHandlers:
    def __init__(self, source: Source, listings: TopicListings, now_ms: Callable[[], int]) -> None:
        self._source = source
        self._now_ms = now_ms
        self._listings = listings
        self._find = TopicFinder(source, listings)

    def topics(self, request: Request, query: Query) -> Response:
        snapshot = self._source.read()
        chosen = chosen_clusters(snapshot, query, to_judge=True)
        wanted = read_wanted(query, Order.NAME)
        wish = TopicWish(search=wanted.search, unread=_wants_unread(query, snapshot))
        cut = self._cut(chosen, wanted, wish)
        listed = Listed(answer=JsonAnswer(encoded(cut.rows)), matching=cut.matching, after=cut.after)
        return page_response(request, wanted, listed, chosen.headers(self._now_ms()))

    def topic(self, request: Request, query: Query) -> Response:
        found = self._find.topic(request, TOPICS_API, query.number("limit"))
        return JsonAnswer(msgspec.json.encode(found.detail)).to(request)

    def list_unused(self, request: Request, query: Query) -> Response:
        chosen = chosen_clusters(self._source.read(), query, to_judge=True)
        found = tuple(unused for cluster in chosen.known for unused in self._listings.find_unused(cluster))
        headers = {"X-Total-Count": str(len(found)), **chosen.headers(self._now_ms())}
        return JsonAnswer(encoded(found)).to(request, headers)

    def _cut(self, chosen: ChosenClusters, wanted: Wanted, wish: TopicWish) -> Cut[TopicSummary]:
        """The topics up to the limit, by cluster and name, with what comes in."""
        clusters = {each.cluster: self._listings.cluster(each) for each in chosen.known}
        rows = sorted(search_topics(clusters.values(), wish), key=_place)
        cut = cut_rows(rows, wanted, _place)
        measured = tuple([clusters[each.cluster].with_inflow(each) for each in cut.rows])
        return Cut(rows=measured, matching=cut.matching, after=cut.after)


def _place(summary: TopicSummary) -> Place:
    return Place(0, 0, summary.cluster, summary.topic)


def _wants_unread(query: Query, snapshot: Snapshot) -> bool:
    if query.is_on("unread") and not snapshot.shard.is_all:
        raise HTTPException(400, f"unread cannot be known here. {shard_sentence(snapshot.shard)}")
    return query.is_on("unread")
