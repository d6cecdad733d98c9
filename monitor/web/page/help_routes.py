"""The routes of the pages of help. They ask nothing of the snapshot, so they are there from the start."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.web.page.help_page import help_page
from monitor.web.page.render import Pages
from monitor.web.views.addresses import HELP, HELP_PAGES


def help_routes(pages: Pages) -> list[Route]:
    """A route for each page; they are rendered in threads, like the other pages."""
    return [Route(f"{HELP}{name}", _page(pages, name)) for name in HELP_PAGES]


def _page(pages: Pages, name: str) -> Callable[[Request], Response]:
    def answer(_: Request) -> Response:
        return HTMLResponse(pages.help(help_page(name)))

    return answer
