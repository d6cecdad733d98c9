"""The members that left, joined or hung, a row for each, with all by which a person can find them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from monitor.history.chronicle import MemberThen
from monitor.history.report.facts import Departure, IncidentReport
from monitor.messages.client_libraries import library_name
from monitor.messages.names import places, shown
from monitor.messages.notification import utc
from monitor.model import Certainty, TopicPartition, Value

HEADINGS: Final = ("event", "member", "client id", "host", "instance id", "library", "partitions")

MOST_ROWS: Final = 200
"""A table with more rows is cut."""

DEPARTURES: Final = {
    Departure.LEFT: "left",
    Departure.LEFT_OR_TIMED_OUT: "left or timed out",
    Departure.TIMED_OUT: "timed out or was removed",
    Departure.REPLACED: "restarted (static member)",
}


class MemberRow(Value):
    """What happened to a member, and who it is; "" is not known, or none."""

    at_ms: int
    event: str
    member_id: str
    client_id: str
    host: str
    instance_id: str
    library: str
    partitions: str


def member_rows(report: IncidentReport) -> list[MemberRow]:
    """The rows in the order of time, at most 200."""
    return sorted(_rows(report), key=lambda row: row.at_ms)[:MOST_ROWS]


def _rows(report: IncidentReport) -> Iterator[MemberRow]:
    for gone in report.left:
        yield _row(gone.member, gone.at_ms, DEPARTURES[gone.departure], gone.partitions)
    for came in report.joined:
        yield _row(came.member, came.at_ms, "joined again" if came.is_back else "joined")
    for hung in report.hung:
        yield _row(hung.member, hung.from_ms, "committed nothing", hung.partitions)


def _row(member: MemberThen, at_ms: int, event: str, had: tuple[TopicPartition, ...] = ()) -> MemberRow:
    is_known = member.library.certainty is not Certainty.UNKNOWN
    likely = "probably " if member.library.certainty is Certainty.LIKELY else ""
    return MemberRow(
        at_ms=at_ms,
        event=f"{utc(at_ms)} {event}",
        member_id=shown(member.member_id),
        client_id=shown(member.client_id),
        host=shown(member.host),
        instance_id=shown(member.instance_id or ""),
        library=f"{likely}{library_name(member.library)}" if is_known else "",
        partitions=places(had) if had else "",
    )
