"""The API: everything that the page shows, as JSON; to be read only. docs/api.md has every address with an example."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from monitor.detection.ended_findings import ended_in_cluster, in_group
from monitor.detection.evaluation_input import GroupInputs, QuestionError, only_concerned
from monitor.explain.query import counts_typed
from monitor.explain.rollout_cost import RolloutForecast, RolloutQuestion, forecast
from monitor.explain.rollout_plan import DEFAULT, rollout_typed
from monitor.explain.what_if import Change, what_if
from monitor.history.story import story_of
from monitor.messages.formatting import visible
from monitor.metrics.version import installed_version
from monitor.model import GroupKind, Phase, Snapshot
from monitor.scaling.explanation import fully_explained
from monitor.snapshot_file import Evaluated, all_lines, group_lines
from monitor.web.api.cache import KeptLists, Listed
from monitor.web.api.chosen_clusters import chosen_clusters
from monitor.web.api.endpoints import ADDRESSES, EXPLAIN, GROUP, LAG, ROLLOUT, TOPIC, WHAT_IF, Address
from monitor.web.api.lists import Order, Wanted, condition
from monitor.web.api.openapi import openapi_document
from monitor.web.api.paging import page_response, read_wanted
from monitor.web.api.response import JSON, JsonAnswer
from monitor.web.api.scaling import ScaleHandler
from monitor.web.api.topic_routes import topic_handlers
from monitor.web.api.types import ApiAddress, ApiIndex, GroupLag
from monitor.web.api.verification import Verifier
from monitor.web.http.concurrency import AllTurns
from monitor.web.views.addresses import API, HISTORY, REPORT_API, ROOT, SAVED, STORY
from monitor.web.views.deployment import NO_CHOICE, Deployment
from monitor.web.views.past import PastReader, has_instant, verdict_then
from monitor.web.views.query import Query
from monitor.web.views.snapshot_source import GroupFinder, Source, address_of
from monitor.web.views.summary import verdict_json
from monitor.web.views.topic_list import TopicListings
from monitor.web.views.what_if_limits import affordable, require_small_group

log = logging.getLogger(__name__)

Handler = Callable[[Request, Query], Response]
Runner = Callable[[Callable[[], Response]], Awaitable[Response]]

_LINES_OF_JSON: Final = "application/x-ndjson"
_TAKING_TURNS: Final = frozenset(
    {"group", "explain", "what-if", "rollout", "snapshot-of-group", "topics", "topic", "unused"}
)
"""These take a second or so for a huge group, or for many groups; else a few milliseconds."""

_OF_THE_PAST: Final = frozenset({"history", "story", "report"})
"""These are about the past only; some others are if they name an instant."""


def api_routes(  # noqa: PLR0913, PLR0917 -- each is a part of the app
    source: Source,
    listings: TopicListings,
    now_ms: Callable[[], int],
    turns: AllTurns,
    past: PastReader,
    deployment: Deployment = NO_CHOICE,
) -> list[Route]:
    """Everything under ``/api/``. ``now_ms`` is the clock for the age of an evaluation.

    ``listings`` are those of ``source``.
    """
    handlers = {
        **_Listing(source, now_ms, deployment.external_url).handlers(),
        **_OfGroups(source, past, now_ms).handlers(),
        **topic_handlers(source, listings, now_ms),
        "verify": Verifier(source, deployment.expected, now_ms).answer,
        "scale": ScaleHandler(source, now_ms).answer,
    }
    routes = [
        Route(
            each.path.replace(GROUP, "{rest:any}").replace(TOPIC, "{rest:any}"),
            _endpoint(each, handlers[each.name], turns),
        )
        for each in ADDRESSES
    ]
    return [*routes, Route(ROOT.rstrip("/"), routes[0].endpoint), Route("/api/{rest:any}", _nothing_there)]


async def _nothing_there(_: Request) -> Response:
    raise HTTPException(404, f"The API has no such address; {ROOT} lists all addresses.")


def _endpoint(address: Address, handle: Handler, turns: AllTurns) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        query = Query(request, address.parameters)
        try:
            return await _runner(address, request, turns)(partial(handle, request, query))
        except HTTPException:
            raise
        except Exception as error:
            log.exception("The API could not answer at %s", address.path)
            raise HTTPException(
                500, f"The request failed ({type(error).__name__}); the job's log has details."
            ) from error

    return answer


def _runner(address: Address, request: Request, turns: AllTurns) -> Runner:
    if address.name in _OF_THE_PAST or (address.name in _TAKING_TURNS and has_instant(request)):
        return turns.past.take
    return turns.now.take if address.name in _TAKING_TURNS else run_in_threadpool


# --- all groups -------------------------------------------------------------------------------------------------------


class _Listing:
    """The addresses about all groups, or about none."""

    def __init__(self, source: Source, now_ms: Callable[[], int], external_url: str | None) -> None:
        self._source = source
        self._now_ms = now_ms
        self._external_url = external_url
        self._lists = KeptLists()

    def handlers(self) -> Mapping[str, Handler]:
        """By the name of the address."""
        return {
            "index": self._index,
            "clusters": self._clusters,
            "groups": self._groups,
            "findings": self._findings,
            "libraries": self._libraries,
            "snapshot": self._saved,
            "openapi": lambda request, _: JsonAnswer(openapi_document()).to(request),
        }

    def _index(self, request: Request, _: Query) -> Response:
        addresses = tuple(
            ApiAddress(address=each.path, meaning=each.meaning, parameters=tuple(own.name for own in each.parameters))
            for each in ADDRESSES
        )
        index = ApiIndex(
            version=installed_version(),
            shard=str(self._source.read().shard),
            addresses=addresses,
            external_url=self._external_url,
        )
        return _json_answer(index).to(request)

    def _clusters(self, request: Request, _: Query) -> Response:
        now_ms = self._now_ms()
        found = [condition(each, now_ms) for each in self._source.read().clusters]
        return JsonAnswer(msgspec.json.encode(found)).to(request)

    def _groups(self, request: Request, query: Query) -> Response:
        order = next(iter(query.words("sort", Order)), Order.NAME)
        wanted = msgspec.structs.replace(
            read_wanted(query, order),
            problems=query.is_on("problems"),
            kinds=query.words("kind", GroupKind),
            states=query.words("state", Phase),
        )
        return self._listed(request, query, wanted, self._lists.groups)

    def _findings(self, request: Request, query: Query) -> Response:
        return self._listed(request, query, read_wanted(query, Order.WORST), self._lists.findings)

    def _libraries(self, request: Request, query: Query) -> Response:
        return self._listed(request, query, Wanted(), self._lists.libraries)

    def _listed(
        self, request: Request, query: Query, wanted: Wanted, lists: Callable[[Snapshot, Wanted], Listed]
    ) -> Response:
        """The requested list, of one snapshot: the one from which the ready clusters were read."""
        snapshot = self._source.read()
        chosen = chosen_clusters(snapshot, query)
        listed = lists(snapshot, msgspec.structs.replace(wanted, clusters=chosen.names))
        return page_response(request, wanted, listed, chosen.headers(self._now_ms()))

    def _saved(self, request: Request, query: Query) -> Response:
        """All groups, one by one: Starlette asks for the pieces in a thread, and a scrape need not wait for them."""
        chosen = chosen_clusters(self._source.read(), query, to_judge=True, is_whole=True)
        found = ((cluster, self._source.inputs(cluster.cluster)) for cluster in chosen.known)
        evaluated = [
            Evaluated(inputs=inputs, groups=tuple(summary.group for summary in cluster.groups))
            for cluster, inputs in found
            if inputs is not None
        ]
        lines = all_lines(evaluated) if request.method == "GET" else ()
        return StreamingResponse(lines, headers=chosen.headers(self._now_ms()), media_type=_LINES_OF_JSON)


# --- one group --------------------------------------------------------------------------------------------------------


class _OfGroups:
    """The addresses about one group."""

    def __init__(self, source: Source, past: PastReader, now_ms: Callable[[], int]) -> None:
        self._source = source
        self._find = GroupFinder(source, now_ms)
        self._now_ms = now_ms
        self._past = past

    def handlers(self) -> Mapping[str, Handler]:
        """By the name of the address."""
        return {
            "group": self._verdict,
            "explain": self._explained,
            "what-if": self._what_if,
            "rollout": self._rollout,
            "lag": self._lag,
            "history": partial(self._history, HISTORY),
            "story": partial(self._history, STORY),
            "report": self._report,
            "snapshot-of-group": self._saved,
        }

    def _inputs(self, request: Request, query: Query, prefix: str) -> GroupInputs:
        """What the verdict on the group is made of now, or was at the requested instant."""
        at = query.text("at")
        if at is not None:
            return self._past.inputs(address_of(request, prefix), at)
        return self._find.inputs(request, prefix)

    def _verdict(self, request: Request, query: Query) -> Response:
        if query.text("at") is None:
            found = self._find.verdict(request, API)
            ended = ended_in_cluster(found.cluster, self._now_ms())
            own = None if ended is None else in_group(ended, found.verdict.group)
            return JsonAnswer(verdict_json(found.verdict, own)).to(request)
        inputs = self._inputs(request, query, API)
        return JsonAnswer(verdict_json(verdict_then(inputs))).to(request)

    def _explained(self, request: Request, query: Query) -> Response:
        topic, partition = query.text("topic"), query.text("partition")
        inputs = only_concerned(self._inputs(request, query, EXPLAIN))
        return _asked(inputs, lambda: fully_explained(inputs, topic, partition)).to(request)

    def _what_if(self, request: Request, query: Query) -> Response:
        change = _change(query)
        inputs = only_concerned(self._inputs(request, query, WHAT_IF))
        return _asked(inputs, lambda: what_if(inputs, change)).to(request)

    def _rollout(self, request: Request, query: Query) -> Response:
        inputs = only_concerned(self._inputs(request, query, ROLLOUT))
        return _asked(inputs, lambda: _forecast(inputs, query)).to(request)

    def _lag(self, request: Request, _: Query) -> Response:
        group = self._find.listed(request, LAG)
        points = self._source.history(group.cluster, group.group)
        return _json_answer(GroupLag(cluster=group.cluster, group=group.group, points=points)).to(request)

    def _history(self, prefix: str, request: Request, query: Query) -> Response:
        since, until = query.text("since") or "-1h", query.text("until") or "now"
        found = self._past.chronicle(address_of(request, prefix), *self._past.span(since, until))
        return _json_answer(story_of(found)).to(request)

    def _report(self, request: Request, query: Query) -> Response:
        since, until = query.text("since") or "-1h", query.text("until") or "now"
        return _json_answer(self._past.report(address_of(request, REPORT_API), since, until)).to(request)

    def _saved(self, request: Request, query: Query) -> Response:
        return Response(group_lines(self._inputs(request, query, SAVED)), media_type=_LINES_OF_JSON)


def _forecast(inputs: GroupInputs, query: Query) -> RolloutForecast:
    require_small_group(inputs)
    rollout = rollout_typed(query.text("rollout") or DEFAULT)
    question = RolloutQuestion(rollout, query.text("assignor"), query.text("protocol"), query.is_on("static"))
    return forecast(inputs, question, is_alone=True)


def _change(query: Query) -> Change:
    try:
        partitions = counts_typed(query.texts("partitions"))
    except QuestionError as error:
        raise HTTPException(400, f"partitions: {error}") from error
    change = Change(
        assignor=query.text("assignor"),
        leader=query.text("leader"),
        members=query.number("members"),
        without=query.texts("without"),
        partitions=partitions,
    )
    try:
        return affordable(change)
    except QuestionError as error:
        raise HTTPException(400, str(error)) from error


def _asked(inputs: GroupInputs, question: Callable[[], msgspec.Struct]) -> JsonAnswer:
    """The answer; a rule that fails on this group is an error of this group."""
    try:
        return _json_answer(question())
    except QuestionError as error:
        raise HTTPException(400, str(error)) from error
    except Exception as error:
        sentence = f"Group {visible(inputs.group.group)} of cluster {visible(inputs.group.cluster)} cannot be evaluated"
        reason = f"{type(error).__name__}: {visible(str(error))}"
        raise HTTPException(500, f"{sentence} ({reason}). Other groups are not affected.") from error


def _json_answer(answer: msgspec.Struct) -> JsonAnswer:
    return JsonAnswer(msgspec.json.encode(answer))


def json_response(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Bytes of JSON as an answer."""
    return Response(body, status, headers, media_type=JSON)
