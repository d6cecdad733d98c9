"""The routes of the pages of help. They ask nothing of the snapshot, so they are there from the start."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.web.page.help_page import help_page
from monitor.web.page.help_search import help_hits
from monitor.web.page.render import Pages
from monitor.web.views.addresses import HELP, HELP_PAGES, HELP_SEARCH


def help_routes(pages: Pages) -> list[Route]:
    """The search with a list of all pages, and each page. They are rendered in threads, like other pages."""

    def search(request: Request) -> Response:
        found = help_hits(request.query_params.get("q", ""))
        return HTMLResponse(pages.help_search(found, [help_page(name) for name in HELP_PAGES]))

    addresses = (HELP, HELP.rstrip("/"), HELP_SEARCH)
    return [
        *(Route(path, search) for path in addresses),
        *(Route(f"{HELP}{name}", _page(pages, name)) for name in HELP_PAGES),
    ]


def _page(pages: Pages, name: str) -> Callable[[Request], Response]:
    def answer(_: Request) -> Response:
        return HTMLResponse(pages.help(help_page(name)))

    return answer
