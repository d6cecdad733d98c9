"""Lists in pages: the part of a list that a query selects, and the response with the address of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from monitor.model import FindingKind
from monitor.web.api.cache import Listed
from monitor.web.api.lists import CursorError, Order, Wanted, cursor, read_cursor
from monitor.web.views.query import Query


def read_wanted(query: Query, order: Order) -> Wanted:
    """What the query says of a list, but for the clusters."""
    text = query.text("cursor")
    try:
        after = None if text is None else read_cursor(order, text)
    except CursorError as error:
        raise HTTPException(400, str(error)) from error
    return Wanted(
        search=query.text("q") or "",
        findings=query.words("finding", FindingKind),
        teams=query.texts("team"),
        order=order,
        limit=query.number("limit"),
        after=after,
    )


def page_response(request: Request, wanted: Wanted, listed: Listed, extra: Mapping[str, str]) -> Response:
    """The rows, with their number, the address of the next ones, and ``extra`` headers."""
    headers = {"X-Total-Count": str(listed.matching), **extra}
    if listed.after is not None:
        parameters = [item for item in request.query_params.multi_items() if item[0] != "cursor"]
        query = urlencode([*parameters, ("cursor", cursor(wanted.order, listed.after))])
        headers["Link"] = f'<{request.scope["path"]}?{query}>; rel="next"'
    return listed.answer.to(request, headers)
