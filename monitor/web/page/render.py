"""The HTML of the pages, from templates that escape all that they are given: for HTML, and for the eye."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

import jinja2
from markupsafe import Markup

from monitor.charts.style import STYLE as CHART_STYLE
from monitor.messages.client_libraries import CERTAINTIES
from monitor.messages.formatting import NO_OWN_LAG, counted, grouped, visible
from monitor.messages.kind_words import KIND_WORDS, finding_words
from monitor.messages.notification import utc
from monitor.messages.units import unit_of
from monitor.model.escaping import escaped
from monitor.web.page.assignment_map import Mark
from monitor.web.page.assignor_names import short, words
from monitor.web.page.delivery_lines import WORDS
from monitor.web.page.group import GroupPage
from monitor.web.page.help_page import HelpPage
from monitor.web.page.help_search import LONGEST_QUERY, HelpHits
from monitor.web.page.on_demand import Asked
from monitor.web.page.options import AT, PageOptions
from monitor.web.page.sparkline import Sparkline
from monitor.web.page.timeline import TimelinePage
from monitor.web.page.topic_page import TopicPage, TopicsPage
from monitor.web.page.what_if_form import LISTED_MEMBERS
from monitor.web.views.addresses import (
    API,
    HELP,
    HELP_FIRST,
    HELP_SEARCH,
    LIBRARIES_API,
    LIBRARIES_PAGE,
    TOPICS,
    GroupAddress,
    TopicAddress,
)
from monitor.web.views.libraries import LibrariesPage
from monitor.web.views.overview import ClusterLine, Overview

MARKS: Final = {
    Mark.RIGHT: "\N{BLACK SQUARE}",
    Mark.HELD: "\N{MIDDLE DOT}",
    Mark.STRAY: "\N{NOT EQUAL TO}",
    Mark.AWAITED: "\N{WHITE CIRCLE}",
    Mark.DOUBLE: "2",
    Mark.ORPHAN: "\N{MULTIPLICATION SIGN}",
}
"""The sign of each mark, so that the map can be read without its colors."""

LEGEND: Final = {
    Mark.RIGHT: "owner, as expected",
    Mark.HELD: "owner; the expected owner is unknown",
    Mark.STRAY: "owner, but another is expected",
    Mark.AWAITED: "expected owner",
    Mark.DOUBLE: "one of several owners",
    Mark.ORPHAN: "no owner",
}

NOTHING_ASKED: Final = Asked()


def _file(name: str) -> bytes:
    return files("monitor.web.page").joinpath("templates", name).read_bytes()


STYLE: Final = _file("style.css") + CHART_STYLE.encode()
SCRIPT: Final = _file("page.js")
ICON: Final = _file("icon.svg")
VERSION: Final = hashlib.sha256(STYLE + SCRIPT + ICON).hexdigest()[:12]
"""In the addresses of these files, so that a browser keeps them until they change."""

REFRESH_S: Final = 5
"""The interval after which a page refreshes."""

SLOW_REFRESH_S: Final = 60
"""The same for a page that lists everything, which may be thousands of rows."""

MOST_NAME: Final = 80
"""A table shows only the start of a longer name; all of it is on the page of the group, and where a pointer rests."""


class Pages:
    """Renders the pages."""

    def __init__(self) -> None:
        self._templates = _templates()

    def overview(
        self, page: Overview, options: PageOptions, trends: Mapping[str, Sparkline] = MappingProxyType({})
    ) -> str:
        """The list of groups. ``trends`` has the lines of their lags, by the addresses of the groups."""
        return self._render("overview.html", page=page, options=options, trends=trends)

    def group(self, page: GroupPage, cluster: ClusterLine, options: PageOptions, asked: Asked = NOTHING_ASKED) -> str:
        """One group, with the answers to what was requested about it."""
        api_href = GroupAddress(page.verdict.cluster, page.verdict.group).under(API)
        if options.at:
            api_href = f"{api_href}?{urlencode({AT: options.at}, safe=':')}"
        return self._render("group.html", page=page, cluster=cluster, options=options, asked=asked, api_href=api_href)

    def timeline(self, page: TimelinePage) -> str:
        """What happened to one group in a span of time."""
        return self._render("timeline.html", page=page)

    def libraries(self, page: LibrariesPage, options: PageOptions) -> str:
        """The client libraries of all clusters."""
        values = {"page": page, "options": options, "certainties": CERTAINTIES, "api_href": LIBRARIES_API}
        return self._render("libraries.html", **values)

    def topics(self, page: TopicsPage, options: PageOptions, api_href: str) -> str:
        """The list of topics, or what could be deleted."""
        return self._render("topics.html", page=page, options=options, api_href=api_href)

    def topic(self, page: TopicPage, options: PageOptions) -> str:
        """One topic with its groups."""
        return self._render("topic.html", page=page, options=options)

    def help(self, page: HelpPage) -> str:
        """A page of help."""
        return self._render("help.html", page=page)

    def help_search(self, found: HelpHits, pages: Sequence[HelpPage]) -> str:
        """What a search in the help found, above a list of all its pages."""
        return self._render("help_search.html", found=found, pages=pages)

    def message(self, title: str, sentence: str, now_href: str = "") -> str:
        """A page that says one thing. With ``now_href`` it is about the past of the group there, and stays as it is."""
        return self._render("message.html", title=title, sentence=sentence, now_href=now_href)

    def _render(self, template: str, **values: object) -> str:
        return self._templates.get_template(template).render(values)


@cache
def _templates() -> jinja2.Environment:
    """The templates, each compiled once in a process: that takes a third of a second for all of them."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("monitor.web.page"),
        autoescape=True,
        finalize=_seen,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "visible": visible,
        "grouped": grouped,
        "kind_word": KIND_WORDS.__getitem__,
        "finding_words": finding_words,
        "utc": utc,
        "as_time": as_time,
    }
    templates.globals |= {
        "counted": counted,
        "short_assignor": short,
        "words": words,
        "version": VERSION,
        "unit_of": unit_of,
        "no_own_lag": NO_OWN_LAG,
        "most_name": MOST_NAME,
        "refresh_s": REFRESH_S,
        "slow_refresh_s": SLOW_REFRESH_S,
        "marks": MARKS,
        "legend": LEGEND,
        "delivery_words": WORDS,
        "listed_members": LISTED_MEMBERS,
        "libraries_href": LIBRARIES_PAGE,
        "topics_href": TOPICS,
        "help_href": HELP,
        "help_first": HELP_FIRST,
        "help_search_href": HELP_SEARCH,
        "longest_query": LONGEST_QUERY,
        "topic_href": lambda cluster, topic: TopicAddress(cluster, topic).under(TOPICS),
    }
    return templates


def as_time(text: str) -> Markup:
    """An instant in words (UTC, to the second) as an element, to which the page's script adds the local time.

    >>> print(as_time("2026-11-22 02:40:15 UTC"))
    <time datetime="2026-11-22T02:40:15Z">2026-11-22 02:40:15 UTC</time>
    """
    day, second, _ = text.split(" ")
    return Markup('<time datetime="{}T{}Z">{}</time>').format(day, second, text)


def _seen(value: object) -> object:
    """What a template shows: every text with what cannot be seen written out, in attributes as between tags.

    Addresses are percent-encoded, so they have nothing to be written out. What is HTML already was made by a template.
    """
    return escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value
