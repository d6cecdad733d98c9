"""The sentences of a report, in the order of time. Names are shown as in monitor.messages.names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from monitor.history.chronicle import Chronicle, MemberThen, RewindThen
from monitor.history.report.facts import (
    Departure,
    FindingThen,
    IncidentReport,
    MemberHung,
    MemberJoined,
    MemberLeft,
    NotCommitted,
    OwnedTwice,
    ReportLine,
    Unowned,
)
from monitor.history.report.members import NOT_COMMITTING, identity, namesakes
from monitor.history.report.rebalances import rebalance_sentence
from monitor.history.story import PHASES
from monitor.history.tables import day_of
from monitor.messages.formatting import age, clock_time, counted, grouped, lasted
from monitor.messages.names import LISTED, places, seconds, shown
from monitor.messages.notification import utc
from monitor.model import KINDS, FindingKind, PartitionId, Phase

MOST_LINES: Final = 500
"""A timeline with more lines is cut: JSON has all facts."""

TOLD_BY_FACTS: Final = frozenset(
    {
        FindingKind.ORPHANED,
        FindingKind.UNATTENDED,
        FindingKind.DEAD_MEMBER,
        FindingKind.DOUBLE_OWNED,
        FindingKind.RETENTION,
    }
)
"""Findings of which the timeline has the facts, with better times."""

REASONS: Final = {
    "no_members": "the group had no members",
    "grew": "the topic grew, and the members had older metadata",
    "pending": "the partitions were handed over",
    "rebalancing": "the coordinator had yet to assign partitions",
    "unsubscribed": "no member subscribes to the topic",
}
"""Why partitions had no owner. Other reasons are told by the sentence of their finding."""


class Wording:
    """Tells the facts of a report."""

    def __init__(self, report: IncidentReport, chronicle: Chronicle) -> None:
        self._report = report
        self._chronicle = chronicle
        self._alike = namesakes(chronicle)
        self._one_day = day_of(report.since_ms) == day_of(report.until_ms)
        self._members = {member.member_id: member for member in chronicle.members}

    def clock(self, at_ms: int) -> str:
        """An instant: with its date, unless the whole report is of one day."""
        is_that_day = self._one_day and day_of(at_ms) == day_of(self._report.since_ms)
        return clock_time(at_ms) if is_that_day else utc(at_ms)

    def who(self, member: MemberThen) -> str:
        """A member as a person looks for it; with its id where others there look the same."""
        name = shown(member.client_id or member.member_id)
        own = member.instance_id or (member.member_id if member.member_id in self._alike else None)
        more = f" ({shown(own)})" if own is not None and member.client_id and own != member.client_id else ""
        return f"{name}{more} at {shown(member.host)}" if member.host else f"{name}{more}"

    def identity(self, member: MemberThen) -> tuple[str, ...]:
        """By what a member is the same after a restart."""
        return identity(member, self._alike)

    def people(self, members: Sequence[MemberThen]) -> str:
        """Members, the first ten of them by name."""
        head = ", ".join(self.who(member) for member in members[:LISTED])
        return head if len(members) <= LISTED else f"{head} and {len(members) - LISTED} more"

    def timeline(self) -> tuple[ReportLine, ...]:
        """All that happened, in the order of time; at the same instant causes come before effects."""
        lines = [
            *self._topics(),
            *self._departures(),
            *self._arrivals(),
            *self._phases(),
            *self._rebalances(),
            *self._commits(),
            *(ReportLine(each.from_ms, self.missing_owner(each)) for each in self._report.unowned if not each.is_brief),
            *(ReportLine(each.from_ms, self._owned_twice(each)) for each in self._report.owned_twice),
            *self._rewinds(),
            *(ReportLine(each.at_ms, self._loss(each.records)) for each in self._report.lost),
            *self._findings(),
            *self._lag(),
        ]
        return tuple(sorted(lines, key=attrgetter("at_ms"))[:MOST_LINES])

    # --- members ---

    def _departures(self) -> Iterator[ReportLine]:
        for at_ms, group in groupby(self._report.left, attrgetter("at_ms")):
            left = list(group)
            for each in left[:LISTED]:
                yield ReportLine(at_ms, self.departure(each))
            if len(left) > LISTED:
                yield ReportLine(at_ms, f"{counted(len(left) - LISTED, 'more member')} left or timed out.")

    def departure(self, each: MemberLeft) -> str:
        """That a member went, what it had, and what is known of why."""
        name, had = self.who(each.member), f"It had {places(each.partitions)}." if each.partitions else ""
        match each.departure:
            case Departure.REPLACED:
                return f"{name} restarted as a static member and kept its partitions."
            case Departure.TIMED_OUT:
                head = f"{name} timed out or was removed: a static member does not leave when it closes."
            case Departure.LEFT:
                head = f"{name} left."
            case _:
                head = f"{name} left or timed out: the log does not show which."
        return " ".join(part for part in (head, had, self._last_sign(each)) if part)

    def _last_sign(self, each: MemberLeft) -> str:
        if each.last_commit_ms is None:
            return ""
        session_ms, silent_ms = each.member.session_ms, each.at_ms - each.last_commit_ms
        sign = f"Its last commit was {lasted(max(1, silent_ms))} earlier, at {self.clock(each.last_commit_ms)}"
        return f"{sign}; its session timeout is {seconds(session_ms)}." if session_ms else f"{sign}."

    def _arrivals(self) -> Iterator[ReportLine]:
        for at_ms, group in groupby(self._report.joined, attrgetter("at_ms")):
            came = list(group)
            yield ReportLine(at_ms, f"{self.people([each.member for each in came])} joined{_again(came)}.")

    def hung(self, each: MemberHung) -> str:
        """That a member committed nothing, from when to when."""
        name, of = self.who(each.member), places(each.partitions) if each.partitions else "its partitions"
        until = self._until(each.from_ms, each.until_ms, each.is_over)
        head = f"{name} committed nothing in {of} {until}, although there was lag."
        match each.reason:
            case "unnoticed":
                why = "Other members went on, so it hung or was gone: its session had not expired."
            case "no_answer":
                why = "Other members went on, and it did not respond to requests."
            case _ if each.reason == NOT_COMMITTING:
                why = "It stayed in the group."
            case _:
                why = "Other members went on, and it stayed in the group: it hung, or stopped committing."
        return f"{head} {why}"

    def _until(self, from_ms: int, until_ms: int | None, is_over: bool) -> str:
        """From when to when, and for how long."""
        end_ms = self._report.until_ms if until_ms is None else until_ms
        took = lasted(max(1, end_ms - from_ms))
        start = f"from {self.clock(from_ms)}"
        if is_over:
            return f"{start} to {self.clock(end_ms)} ({took})"
        return f"{start} until at least {self.clock(end_ms)} ({took})"

    def _phases(self) -> Iterator[ReportLine]:
        for begun in self._chronicle.phases:
            sentence = PHASES.get(begun.phase)
            if begun.before is Phase.EMPTY and begun.phase is not Phase.GONE:
                sentence = "The group has members again."
            if sentence is not None:
                yield ReportLine(begun.at_ms, sentence)

    def _rebalances(self) -> Iterator[ReportLine]:
        for each in self._report.rebalances:
            yield ReportLine(each.at_ms, rebalance_sentence(each, KINDS[self._report.kind].era))

    # --- partitions ---

    def missing_owner(self, each: Unowned) -> str:
        """That partitions had no owner, from when to when."""
        until = self._until(each.from_ms, each.until_ms, each.is_over)
        why = f": {REASONS[each.reason]}" if each.reason in REASONS else ""
        return f"{places(each.partitions)} had no owner {until}{why}."

    def _owned_twice(self, each: OwnedTwice) -> str:
        owners = self.people([self._members.get(name, MemberThen(name)) for name in each.owners])
        until = self._until(each.from_ms, each.until_ms, each.is_over)
        return f"{places(each.partitions)} had {len(each.owners)} owners {until}: {owners}."

    def _commits(self) -> Iterator[ReportLine]:
        for each in self._report.hung:
            yield ReportLine(each.from_ms, self.hung(each))
        for gap in self._report.not_committed:
            if not any(set(gap.partitions) <= set(each.partitions) for each in self._report.hung):
                yield ReportLine(gap.from_ms, self.not_committed(gap))

    def not_committed(self, each: NotCommitted) -> str:
        """That partitions were not committed, from when to when."""
        were = "was" if len(each.partitions) == 1 else "were"
        until = self._until(each.from_ms, each.until_ms, each.until_ms is not None)
        text = f"{places(each.partitions)} {were} not committed {until}."
        if each.records is None:
            return text
        return f"{text} {counted(each.records, self._report.unit)} had accumulated by then."

    def _rewinds(self) -> Iterator[ReportLine]:
        for each in self._report.rewinds:
            yield ReportLine(each.at_ms, self.rewind(each))

    def rewind(self, each: RewindThen) -> str:
        """That a committed offset went back, and which records are delivered again by that."""
        count = counted(each.before - each.after, self._report.unit)
        span = f"offsets {grouped(each.after)} to {grouped(each.before - 1)}"
        return (
            f"The committed offset of {_partition(each.topic, each.partition)} went back from {grouped(each.before)} "
            f"to {grouped(each.after)}: {count} ({span}) are delivered again."
        )

    def _loss(self, records: int | None) -> str:
        count = "Records" if records is None else f"At most {counted(records, self._report.unit)}"
        return f"{count} were removed by retention before the group had committed them."

    def _topics(self) -> Iterator[ReportLine]:
        for each in self._report.topics:
            if each.after == 0:
                sentence = f"Topic {shown(each.topic)} was gone (found at this instant)."
            else:
                verb = "grew" if each.after > each.before else "was found with fewer partitions:"
                sentence = f"Topic {shown(each.topic)} {verb} from {each.before} to {each.after} partitions."
            yield ReportLine(each.at_ms, sentence)

    # --- findings and lag ---

    def _findings(self) -> Iterator[ReportLine]:
        for each in self._report.findings:
            if not self._is_told(each):
                yield ReportLine(max(each.since_ms, self._report.since_ms), self.finding(each))

    def _is_told(self, finding: FindingThen) -> bool:
        is_hung = (finding.kind, finding.reason) == (FindingKind.LAG, NOT_COMMITTING) and bool(self._report.hung)
        return finding.kind in TOLD_BY_FACTS or is_hung

    def finding(self, each: FindingThen) -> str:
        """A finding with its times. It is known to be over with the next evaluation."""
        return f"{each.sentence} This lasted {self._until(each.since_ms, each.until_ms, each.is_over)}."

    def _lag(self) -> Iterator[ReportLine]:
        lag, unit = self._report.lag, self._report.unit
        if lag.peak is None or not lag.rose:
            return
        oldest = f"; its oldest record was {age(lag.peak_oldest_ms)} old" if lag.peak_oldest_ms else ""
        yield ReportLine(lag.peak_ms, f"The lag was {counted(lag.peak, unit)}, the most that was seen{oldest}.")
        if lag.caught_up_ms is not None:
            text = f"The group had caught up: its lag was {counted(lag.caught_up_lag or 0, unit)}"
            is_late = lag.caught_up_lag and lag.caught_up_oldest_ms is not None
            text += f", the oldest {age(lag.caught_up_oldest_ms or 0)} old." if is_late else "."
            yield ReportLine(lag.caught_up_ms, text)


def _again(came: Iterable[MemberJoined]) -> str:
    return " again" if all(each.is_back for each in came) else ""


def _partition(topic: str, partition: PartitionId) -> str:
    return f"partition {shown(str(partition))} of {shown(topic)}"
