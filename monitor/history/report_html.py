"""A report as an HTML file that needs no other: style and diagrams are in it, and it has no script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

import jinja2
from markupsafe import Markup
from msgspec.structs import asdict

from monitor.charts.style import STYLE as CHART_STYLE
from monitor.history.report.document import PAGE_NOW, Document
from monitor.model.escaping import escaped

STYLE: Final = files("monitor.history").joinpath("templates", "report.css").read_text(encoding="utf-8") + CHART_STYLE
STYLE_HASH: Final = f"sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}"
"""By this a Content-Security-Policy allows the style and nothing else."""


def write_html(document: Document) -> str:
    """The document as HTML. What is in it is escaped, but for the diagrams, which escape their texts themselves."""
    sections = [{**asdict(each), "chart": Markup(each.chart)} for each in document.sections]
    return _template().render(
        title=document.title,
        span=document.span,
        page=document.page,
        page_now=PAGE_NOW,
        summary=document.summary,
        sections=sections,
        style=Markup(STYLE),
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("monitor.history"),
        autoescape=True,
        finalize=_visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")


def _visible(value: object) -> object:
    """Every text with what cannot be seen written out."""
    return escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value
