"""What the page of a group has only where there is a recording: the instant it shows, and the way to others. Pure."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from monitor.history.instants import HELP, instant_text
from monitor.messages.formatting import age
from monitor.messages.notification import utc
from monitor.model import Value
from monitor.web.page.options import PageOptions
from monitor.web.views.addresses import TIMELINE, GroupAddress

AROUND_MS: Final = 1_800_000
"""A timeline around an instant begins so long before it and ends so long after it."""

_STEPS: Final = (("1 hour", 3_600_000), ("10 minutes", 600_000), ("1 minute", 60_000))


class Step(Value):
    """A link to the same page at another instant."""

    label: str
    href: str


class PastPart(Value):
    """The instant that the page shows ("" for now), how long ago it was, and links to others.

    ``timeline_href`` is the timeline around that instant, or of the last hour. ``examples`` says what the form takes.
    """

    at: str = ""
    ago: str = ""
    earlier: tuple[Step, ...] = ()
    later: tuple[Step, ...] = ()
    now_href: str = ""
    timeline_href: str = ""
    examples: str = HELP


def past_part(address: GroupAddress, options: PageOptions, at_ms: int | None, now_ms: int) -> PastPart:
    """The part of a page that shows an instant; ``at_ms`` None: it shows now."""
    if at_ms is None:
        return PastPart(timeline_href=address.under(TIMELINE))
    earlier = [(f"{words} earlier", at_ms - step_ms) for words, step_ms in _STEPS]
    later = [(f"{words} later", at_ms + step_ms) for words, step_ms in reversed(_STEPS)]
    return PastPart(
        at=utc(at_ms),
        ago=age(now_ms - at_ms),
        earlier=tuple(
            Step(label, options.href(at=instant_text(then_ms))) for label, then_ms in earlier if then_ms >= 0
        ),
        later=tuple(
            Step(label, options.href(at=instant_text(then_ms))) for label, then_ms in later if then_ms <= now_ms
        ),
        now_href=options.href(at=""),
        timeline_href=span_href(address, max(0, at_ms - AROUND_MS), min(at_ms + AROUND_MS, now_ms), at_ms),
    )


def span_href(
    address: GroupAddress, since_ms: int, until_ms: int, at_ms: int | None = None, prefix: str = TIMELINE
) -> str:
    """The timeline of a group between two instants, or another page of them; ``at_ms`` is an instant that is marked.

    >>> span_href(GroupAddress("c", "g"), 1_795_313_640_000, 1_795_313_700_000)
    '/timeline/c/g?since=2026-11-22T02:14:00Z&until=2026-11-22T02:15:00Z'
    """
    marked = {} if at_ms is None else {"at": instant_text(at_ms)}
    query = {"since": instant_text(since_ms), "until": instant_text(until_ms), **marked}
    return f"{address.under(prefix)}?{urlencode(query, safe=':')}"
