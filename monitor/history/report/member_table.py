"""The members that left, joined or hung, a row for each, with all by which a person can find them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from monitor.history.chronicle.values import MemberThen
from monitor.history.report.facts import IncidentReport
from monitor.history.report.people import People
from monitor.history.report.sentences import GONE
from monitor.history.report.times import Clock
from monitor.messages.client_libraries import library_name
from monitor.messages.names import listed, places, shown
from monitor.model import Certainty, TopicPartition, Value

MOST_ROWS: Final = 200
"""A table with more rows is cut."""

MOST_EVENTS: Final = 4
"""More events of one member are counted."""


HEADINGS: Final = ("client id", "host", "instance id", "library", "what happened", "partitions", "member id")
"""What a row has; "" is not known, or none. The member id is another one for each return; the partitions are those that
the member had when it left or hung."""


class _Event(Value):
    at_ms: int
    words: str
    member: MemberThen
    partitions: tuple[TopicPartition, ...] = ()


def member_rows(report: IncidentReport) -> list[tuple[str, ...]]:
    """The rows, the member first to which something happened first; at most 200."""
    people, clock = People(report), Clock(report.since_ms, report.until_ms)
    own: defaultdict[tuple[str, ...], list[_Event]] = defaultdict(list)
    for event in sorted(_events(report, clock), key=lambda each: each.at_ms):
        own[people.identity(event.member)].append(event)
    return [_row(events, clock) for events in own.values()][:MOST_ROWS]


def _events(report: IncidentReport, clock: Clock) -> Iterator[_Event]:
    for gone in report.left:
        yield _Event(gone.at_ms, f"{GONE[gone.departure]} {clock.at(gone.at_ms)}", gone.member, gone.partitions)
    for came in report.joined:
        verb = "rejoined" if came.is_back else "joined"
        yield _Event(came.at_ms, f"{verb} {clock.at(came.at_ms)}", came.member)
    for hung in report.hung:
        until = "to" if hung.is_over else "until at least"
        words = f"no commits from {clock.at(hung.from_ms)} {until} {clock.at(hung.until_ms)}"
        yield _Event(hung.from_ms, words, hung.member, hung.partitions)


def _row(events: Sequence[_Event], clock: Clock) -> tuple[str, ...]:
    member = events[-1].member
    is_known = member.library.certainty is not Certainty.UNKNOWN
    likely = "probably " if member.library.certainty is Certainty.LIKELY else ""
    had = [event.partitions for event in events if event.partitions]
    return (
        shown(member.client_id),
        shown(member.host),
        shown(member.instance_id or ""),
        f"{likely}{library_name(member.library)}" if is_known else "",
        _events_text(events, clock),
        _partitions_text(had),
        listed(list(dict.fromkeys(event.member.member_id for event in events))),
    )


def _events_text(events: Sequence[_Event], clock: Clock) -> str:
    head = "; ".join(event.words for event in events[:MOST_EVENTS])
    rest = len(events) - MOST_EVENTS
    return head if rest <= 0 else f"{head}; {rest} more until {clock.at(events[-1].at_ms)}"


def _partitions_text(had: Sequence[tuple[TopicPartition, ...]]) -> str:
    """Those that it had first."""
    if not had:
        return ""
    return places(had[0]) if len(set(had)) == 1 else f"{places(had[0])} at first"
