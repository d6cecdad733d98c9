"""Elements of SVG. ElementTree escapes texts and attributes; what cannot be seen or cannot be in XML is written out.

Places along the time axis are parts of the width, places across it are pixels: so text and heights keep their size
however wide the chart is shown.
"""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree as ET

from monitor.charts.axes import MOST_TIMES, time_ticks
from monitor.charts.style import STYLE
from monitor.charts.values import TimeRange
from monitor.messages.formatting import visible
from monitor.model.escaping import escaped

NAMESPACE: Final = "http://www.w3.org/2000/svg"
AXIS_HEIGHT: Final = 34
EDGE: Final = 0.06
"""Text at a place nearer to an end than this part of the width is aligned to that end."""

LONGEST_TEXT: Final = 1_000


def percent(part: float) -> str:
    """A part of the width.

    >>> percent(0.123456), percent(1)
    ('12.346%', '100.000%')
    """
    return f"{100 * part:.3f}%"


def add(parent: ET.Element, tag: str, kind: str = "", **attributes: str | float) -> ET.Element:
    """An element in another one; ``kind`` is its class. A dash in an attribute's name is written as ``_``."""
    given = {"class": kind} if kind else {}
    given |= {name.replace("_", "-"): str(value) for name, value in attributes.items()}
    return ET.SubElement(parent, tag, given)


def add_text(parent: ET.Element, text: str, kind: str = "", **attributes: str | float) -> ET.Element:
    """A text in another element."""
    found = add(parent, "text", kind, **attributes)
    found.text = _short(text)
    return found


def add_title(parent: ET.Element, text: str) -> None:
    """What the element is, for people who point at it or hear it."""
    add(parent, "title").text = _short(text)


def add_link(parent: ET.Element, href: str, title: str) -> ET.Element:
    """A link with a title; without ``href`` a group with the title."""
    found = add(parent, "a", href=escaped(href)) if href else add(parent, "g")
    add_title(found, title)
    return found


def _short(text: str) -> str:
    return visible(text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}...")


def new_chart(height: int, title: str, description: str, *, has_links: bool) -> ET.Element:
    """The root of a chart. An image has no links for screen readers, so a chart with links is a group."""
    root = ET.Element(
        "svg",
        {
            "xmlns": NAMESPACE,
            "class": "chart",
            "width": "100%",
            "height": str(height),
            "role": "group" if has_links else "img",
            "aria-label": _short(title),
        },
    )
    add_title(root, title)
    add(root, "desc").text = _short(description)
    add(root, "rect", "chart-paper", width="100%", height="100%")
    return root


def add_time_axis(parent: ET.Element, span: TimeRange, height: int, most: int = MOST_TIMES) -> None:
    """Lines at round times, at most so many, and their labels below, in UTC."""
    for tick in time_ticks(span, most):
        part = span.place(tick.at_ms)
        anchor = "start" if part < EDGE else "end" if part > 1 - EDGE else "middle"
        place = percent(part)
        add(parent, "line", "chart-grid", x1=place, x2=place, y1=0, y2=height + 4)
        add_text(parent, tick.label, x=place, y=height + 16, text_anchor=anchor)
        if tick.date:
            add_text(parent, tick.date, x=place, y=height + 30, text_anchor=anchor)


def to_text(root: ET.Element, width_px: int | None, *, with_style: bool) -> str:
    """The chart as text.

    ``width_px`` fixes its width; None: as wide as its place. ``with_style`` puts its style into it.
    """
    if width_px is not None:
        root.set("width", str(width_px))
    if with_style:
        style = ET.Element("style")
        style.text = STYLE
        root.insert(2, style)  # after its title and its description
    return ET.tostring(root, encoding="unicode")
