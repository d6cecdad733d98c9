"""The HTML of the pages, from templates that escape everything they are given."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Final
from urllib.parse import urlencode

import jinja2

from monitor.detection.units import unit_of
from monitor.metrics.addresses import API, GroupAddress
from monitor.metrics.group_page import GroupPage
from monitor.metrics.overview import ClusterLine, Overview
from monitor.metrics.wording import counted, grouped, visible
from monitor.model import FindingKind, Value

KIND_WORDS: Final = {
    FindingKind.ORPHANED: "Orphaned",
    FindingKind.UNATTENDED: "Unattended",
    FindingKind.DEAD_MEMBER: "Dead member",
    FindingKind.DOUBLE_OWNED: "Double owned",
    FindingKind.DRIFT: "Drift",
    FindingKind.IMBALANCE: "Imbalance",
    FindingKind.IDLE_MEMBERS: "Idle members",
    FindingKind.LAG: "Lag",
    FindingKind.RETENTION: "Retention",
    FindingKind.ABANDONED: "Abandoned",
    FindingKind.REBALANCE: "Rebalance",
}

STYLE: Final = files("monitor.metrics").joinpath("templates", "style.css").read_bytes()
STYLE_VERSION: Final = hashlib.sha256(STYLE).hexdigest()[:12]
"""In the address of the style sheet, so that a browser keeps it until it changes."""


class PageOptions(Value):
    """What a reader has asked for in the address: a search, all rows, or a page that stands still."""

    path: str
    search: str = ""
    all_rows: bool = False
    paused: bool = False

    def href(self, *, all_rows: bool | None = None, paused: bool | None = None) -> str:
        """The same page with an option changed."""
        wants = {
            "q": self.search,
            "all": "1" if (self.all_rows if all_rows is None else all_rows) else "",
            "paused": "1" if (self.paused if paused is None else paused) else "",
        }
        query = urlencode({name: value for name, value in wants.items() if value}, errors="replace")
        return f"{self.path}?{query}" if query else self.path


class Pages:
    """Renders the pages."""

    def __init__(self) -> None:
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("monitor.metrics"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"visible": visible, "grouped": grouped, "kind_word": KIND_WORDS.__getitem__}
        self._templates.globals |= {"counted": counted, "style_version": STYLE_VERSION, "unit_of": unit_of}

    def overview(self, page: Overview, options: PageOptions) -> str:
        """The list of groups."""
        return self._render("overview.html", page=page, options=options)

    def group(self, page: GroupPage, cluster: ClusterLine, options: PageOptions) -> str:
        """One group."""
        address = GroupAddress(page.verdict.cluster, page.verdict.group)
        return self._render("group.html", page=page, cluster=cluster, options=options, api_href=address.under(API))

    def message(self, title: str, sentence: str) -> str:
        """A page that says one thing."""
        return self._render("message.html", title=title, sentence=sentence)

    def _render(self, template: str, **values: object) -> str:
        return self._templates.get_template(template).render(values)
