"""How many members a group needs, for an autoscaler: a number, or an error. Nothing here reads as zero."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from monitor.messages.formatting import visible
from monitor.model import ClusterSnapshot, GroupSummary
from monitor.model.scaling import Scaling
from monitor.web.api.response import JsonAnswer
from monitor.web.api.types import GroupScaling
from monitor.web.views.addresses import SCALE
from monitor.web.views.query import Query
from monitor.web.views.snapshot_source import GroupFinder, Source, address_of
from monitor.web.views.status import cluster_sentence


class ScaleHandler:
    """Answers for one group: 200 with the number, 404 if no entry is for the group, 503 if the number is unknown."""

    def __init__(self, source: Source, now_ms: Callable[[], int]) -> None:
        self._find = GroupFinder(source, now_ms)
        self._now_ms = now_ms

    def answer(self, request: Request, _: Query) -> Response:
        """The number of members that the group needs."""
        listed = self._find.listed(request, SCALE)
        cluster = self._find.cluster(address_of(request, SCALE).cluster)
        scaling = _require_known(listed, cluster, self._now_ms())
        found = GroupScaling(
            **msgspec.structs.asdict(scaling),
            cluster=listed.cluster,
            group=listed.group,
            evaluated_ms=cluster.evaluated_ms or 0,
        )
        return JsonAnswer(msgspec.json.encode(found)).to(request)


def _require_known(listed: GroupSummary, cluster: ClusterSnapshot, now_ms: int) -> Scaling:
    """What is known of the number.

    Raises:
        HTTPException: 404 or 503, with a sentence.
    """
    if listed.scaling is None:
        name = visible(listed.group)
        raise HTTPException(404, f"No entry [[scale]] of the job's configuration is for group {name}.")
    if cluster.is_stale(now_ms) or cluster.is_late(now_ms):
        raise HTTPException(503, f"The number of members is unknown. {cluster_sentence(cluster, now_ms)}")
    if listed.unjudged is not None:
        raise HTTPException(503, f"The number of members is unknown: {visible(listed.unjudged)}")
    if listed.scaling.wanted_members is None:
        raise HTTPException(503, f"The number of members is unknown. {listed.scaling.sentence}")
    return listed.scaling
