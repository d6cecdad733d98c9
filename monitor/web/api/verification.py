"""Whether a group is as expected, for gates of rollouts: 200 it is, 409 it is not, 503 that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from monitor.detection.evaluation_input import GroupInputs
from monitor.expectations.expectation import Expectation
from monitor.expectations.look import Look, look_at, not_known_now
from monitor.expectations.outcome import GroupOutcome
from monitor.expectations.rollout import RolloutLimits, rollout_outcome
from monitor.expectations.verification import unknown_cluster, verify_group
from monitor.history.instants import InstantError, read_instant
from monitor.messages.formatting import visible
from monitor.model.expectations import Met
from monitor.web.api.endpoints import VERIFY
from monitor.web.api.response import JSON, JsonAnswer
from monitor.web.views.addresses import GroupAddress
from monitor.web.views.deployment import Expected
from monitor.web.views.query import Query
from monitor.web.views.snapshot_source import GroupFinder, Source, address_of
from monitor.web.views.status import cluster_sentence, shard_sentence

NOTHING_EXPECTED: Final = "This job has no expectations: [expectations] file is not set."

_STATUSES: Final = {Met.NO: 409, Met.UNKNOWN: 503}


class Verifier:
    """Answers for one group. ``expected`` None: the job has no file of expectations."""

    def __init__(self, source: Source, expected: Expected | None, now_ms: Callable[[], int]) -> None:
        self._source = source
        self._find = GroupFinder(source, now_ms)
        self._expected = expected
        self._now_ms = now_ms

    def answer(self, request: Request, query: Query) -> Response:
        """The outcome of the group; with ``since``, that of its rollout since then."""
        address, since_ms = address_of(request, VERIFY), self._since_ms(query)
        cluster = self._find.cluster(address.cluster)
        expected = self._expectation(address)
        now_ms = self._now_ms()
        if not cluster.ready or cluster.is_stale(now_ms) or cluster.is_late(now_ms):
            outcome = unknown_cluster(
                address.cluster, not_known_now(address.cluster, cluster_sentence(cluster, now_ms)), address.group
            )
        else:
            outcome = self._outcome(request, address, expected, since_ms)
        body = msgspec.json.encode(outcome)
        if outcome.met is Met.YES:
            return JsonAnswer(body).to(request)
        return Response(body, _STATUSES[outcome.met], {"Cache-Control": "no-store"}, media_type=JSON)

    def _since_ms(self, query: Query) -> int | None:
        text = query.text("since")
        try:
            return None if text is None else read_instant(text, self._now_ms())
        except InstantError as error:
            raise HTTPException(400, f"since: {error}") from error

    def _expectation(self, address: GroupAddress) -> Expectation:
        if self._expected is None:
            raise HTTPException(404, NOTHING_EXPECTED)
        try:
            found = self._expected().of(address.cluster, address.group)
        except ValueError as error:
            raise HTTPException(503, f"The file of expectations cannot be used. {error}") from error
        if found is None:
            raise HTTPException(404, f"No entry of the file of expectations is about {visible(address.group)}.")
        return found

    def _outcome(
        self, request: Request, address: GroupAddress, expected: Expectation, since_ms: int | None
    ) -> GroupOutcome:
        found = self._inputs(request)
        look = None if found is None or since_ms is None else look_at(found)
        if since_ms is None or not isinstance(look, Look):
            return verify_group(expected, address.cluster, address.group, found, self._missing(address.cluster))
        return rollout_outcome(expected, RolloutLimits(since_ms=since_ms, stable_ms=0), look)

    def _missing(self, cluster: str) -> str | None:
        """Why a group may be missing, as a sentence; None: one that is not known does not exist."""
        shard, unread = self._source.read().shard, self._find.cluster(cluster).unread
        return unread if unread is not None or shard.is_all else shard_sentence(shard)

    def _inputs(self, request: Request) -> GroupInputs | None:
        """What the verdict on the group is made of; None: the cluster has no such group."""
        try:
            return self._find.inputs(request, VERIFY)
        except HTTPException as error:
            if error.status_code == 404:
                return None
            raise
