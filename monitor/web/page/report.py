"""A report on an incident as a file: HTML that needs nothing else, or Markdown, as the command writes it."""

from __future__ import annotations

from functools import partial
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.history.report.document import Document, report_document
from monitor.history.report.markdown import write_markdown
from monitor.history.report_html import STYLE_HASH, write_html
from monitor.web.http.concurrency import PastTurns
from monitor.web.views.addresses import REPORT, page_url
from monitor.web.views.past import PastReader
from monitor.web.views.snapshot_source import address_of

POLICY: Final = (
    f"default-src 'none'; style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The style is in the file: it is allowed by its hash."""


def report_routes(past: PastReader, turns: PastTurns, external_url: str | None = None) -> list[Route]:
    """The address of reports, with ``since`` and ``until``: ``format=md`` gives Markdown, ``download`` a file.

    With ``external_url``, the address of the page, a report names the page of its group.
    """

    async def report(request: Request) -> Response:
        return await turns.take(partial(_report, past, request, external_url))

    return [Route(f"{REPORT}{{rest:any}}", report)]


def _report(past: PastReader, request: Request, external_url: str | None) -> Response:
    asked = request.query_params
    chosen = asked.get("format") or "html"
    if chosen not in {"html", "md"}:
        raise HTTPException(400, "The format of a report is html or md; the API has it as JSON.")
    found = past.report(address_of(request, REPORT), asked.get("since") or "-1h", asked.get("until") or "now")
    page = None if external_url is None else page_url(external_url, found.cluster, found.group)
    answer = _answer(report_document(found, page), chosen)
    if "download" in asked:
        answer.headers["Content-Disposition"] = f'attachment; filename="incident-{found.since_ms}.{chosen}"'
    return answer


def _answer(document: Document, chosen: str) -> Response:
    if chosen == "md":
        return Response(write_markdown(document), media_type="text/markdown")
    return HTMLResponse(write_html(document), headers={"Content-Security-Policy": POLICY})
