"""The timeline of a group: what is drawn of its past, and where it is.

A timeline is a value of its own, so that it can be made from whatever keeps the past: today from a chronicle, which
evaluates every event of a span again.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from monitor.history.chronicle.values import Chronicle
from monitor.history.instants import instant_text
from monitor.history.story import Happened, HappenedKind, LagThen, accuracy, story_of
from monitor.model import Value
from monitor.model.findings import Severity
from monitor.web.views.addresses import TIMELINE, GroupAddress

AROUND_MS: Final = 1_800_000
"""A timeline around an instant begins so long before it and ends so long after it."""


class FindingThen(Value):
    """A finding while it stayed the same. ``name`` is its kind and reason, as ``kind/reason``."""

    name: str
    severity: Severity
    sentence: str
    from_ms: int
    until_ms: int


class Timeline(Value):
    """How the lag of a group went from one instant to another, and what happened to it, the oldest first.

    ``happened`` has all events in sentences. ``findings`` also has those that were open before. ``unit`` is what the
    lag counts. ``accuracy`` says how exact all that is, "" if that is not known.
    """

    since_ms: int
    until_ms: int
    lag: tuple[LagThen, ...] = ()
    happened: tuple[Happened, ...] = ()
    findings: tuple[FindingThen, ...] = ()
    unit: str = "record"
    accuracy: str = ""

    @property
    def rebalances(self) -> tuple[Happened, ...]:
        """The rebalances among the events."""
        return tuple(each for each in self.happened if each.about is HappenedKind.REBALANCE)


def chronicle_timeline(chronicle: Chronicle, *, has_every_poll: bool = True) -> Timeline:
    """The timeline of what a chronicle has; not ``has_every_poll``: it comes from the tables of minutes."""
    story = story_of(chronicle)
    return Timeline(
        since_ms=chronicle.since_ms,
        until_ms=chronicle.until_ms,
        lag=story.lag,
        happened=story.happened,
        findings=tuple(
            FindingThen(each.name, each.severity, each.sentence, each.from_ms, each.until_ms)
            for each in chronicle.findings
        ),
        unit=story.unit,
        accuracy=accuracy(story.step_ms, has_every_poll=has_every_poll) if story.step_ms else "",
    )


def timeline_href(address: GroupAddress, since_ms: int, until_ms: int, at_ms: int | None = None) -> str:
    """The timeline of a group between two instants; ``at_ms`` is an instant that is marked in it.

    >>> timeline_href(GroupAddress("c", "g"), 1_795_313_640_000, 1_795_313_700_000)
    '/timeline/c/g?since=2026-11-22T02:14:00Z&until=2026-11-22T02:15:00Z'
    """
    marked = {} if at_ms is None else {"at": instant_text(at_ms)}
    query = {"since": instant_text(since_ms), "until": instant_text(until_ms), **marked}
    return f"{address.under(TIMELINE)}?{urlencode(query, safe=':')}"
