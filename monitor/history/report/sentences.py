"""The sentences of a report, in the order of time. Names are shown as in monitor.messages.names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Final

from monitor.detection.rules.skipped import FEWEST
from monitor.history.chronicle.values import Chronicle, MemberThen, RewindThen, SkipThen, TopicChanged
from monitor.history.report.facts import (
    Departure,
    IncidentReport,
    MemberHung,
    MemberLeft,
    NotCommitted,
    OwnedTwice,
    ReportLine,
)
from monitor.history.report.members import NOT_COMMITTING
from monitor.history.report.partitions import is_with_its_log
from monitor.history.report.people import People
from monitor.history.report.rebalances import (
    delay_of,
    is_quiet,
    moves_of,
    quiet_sentence,
    rebalance_lines,
    rebalance_numbers,
)
from monitor.history.report.restarts import Restart, folded_restarts
from monitor.history.report.times import Clock, duration_text, time_between
from monitor.messages.formatting import counted, grouped
from monitor.messages.names import LISTED, partition, places, seconds, shown
from monitor.messages.rewinds import CAUSES
from monitor.messages.truncation import truncation_sentence
from monitor.messages.units import unit_of
from monitor.model import KINDS, FindingKind, Phase, RewindCause, TopicPartition
from monitor.model.jumps import SkipCause

MOST_LINES: Final = 500
"""A timeline with more lines is cut: JSON has all facts."""

BACKLOG: Final = "backlog reached"

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

GONE: Final = {
    Departure.LEFT: "left",
    Departure.LEFT_OR_TIMED_OUT: "left or timed out",
    Departure.LIKELY_TIMED_OUT: "most likely timed out",
    Departure.TIMED_OUT: "timed out or was removed",
    Departure.REPLACED: "restarted (static member)",
}
"""How a member went."""

REASONS: Final = {
    "no_members": "the group had no members",
    "grew": "the topic grew, and the members had older metadata",
    "pending": "the partitions were handed over",
    "rebalancing": "the coordinator had yet to assign partitions",
    "unsubscribed": "no member subscribes to the topic",
}
"""Why partitions had no owner. Other reasons are in the sentence of their finding."""


PHASES: Final[Mapping[Phase, str]] = {
    Phase.EMPTY: "The group has no members anymore.",
    Phase.GONE: "The group was deleted.",
}
"""The sentence for a group that comes into a phase without members."""


def truncation_lines(chronicle: Chronicle) -> Iterator[ReportLine]:
    """The logs of the group that went back."""
    for cut in chronicle.truncations:
        place = TopicPartition(cut.topic, cut.partition)
        yield ReportLine(cut.at_ms, truncation_sentence(place, cut.before, cut.after))


def rewind_lines(chronicle: Chronicle) -> Iterator[ReportLine]:
    """The commits that went back."""
    for each in chronicle.rewinds:
        yield ReportLine(each.at_ms, _rewind_words(each, chronicle))


def _rewind_words(each: RewindThen, chronicle: Chronicle) -> str:
    """The sentence that an offset went back, and which records are delivered again: not all if the log was cut."""
    count = counted(each.before - each.after, unit_of(chronicle.kind))
    span = f"offsets {grouped(each.after)} to {grouped(each.before - 1)}"
    where = partition(TopicPartition(each.topic, each.partition))
    head = f"The committed offset of {where} went back from {grouped(each.before)} to {grouped(each.after)}"
    if is_with_its_log(each, chronicle.truncations):
        return f"{head}, as its log did: the records there before are gone."
    head += CAUSES[each.cause]
    if each.cause is RewindCause.OUT_OF_ORDER:
        return f"{head}: {count} ({span}) are delivered again, unless the commits arrived out of order."
    return f"{head}: {count} ({span}) are delivered again."


def is_told(skip: SkipThen) -> bool:
    """Whether a line names the skip: every consumer that restarts reads a few records at once."""
    return skip.cause is SkipCause.RETENTION or skip.at_most >= FEWEST


def skip_words(each: SkipThen) -> str:
    """The sentence that a commit passed records, and how many of them were not read."""
    where = partition(TopicPartition(each.topic, each.partition))
    went, most = f"from {grouped(each.before)} to {grouped(each.after)}", counted(each.at_most, "record")
    match each.cause:
        case SkipCause.RETENTION if each.at_least:
            why = f"Retention removed records in {where} before the group read them"
            bounds = f"At least {grouped(each.at_least)} and at most {most} were not read."
            return f"{why}: its committed offset went {went}. {bounds}"
        case SkipCause.RETENTION:
            first = f"Retention removed records in {where} before the group committed them"
            unknown = f"The group had read them, or missed up to {most}: commits do not tell."
            return f"{first}: its committed offset went {went}. {unknown}"
        case SkipCause.NEW_PARTITION:
            head = f"The first commit in {where}, which is new, passed {most}."
        case SkipCause.DELETED:
            head = (
                f"The committed offset of {where} had been deleted, or had expired. The first commit then went {went}."
            )
        case _:
            head = f"After a rebalance, the first commit in {where} went {went}."
    return f"{head} The group read these records, or skipped them: commits do not tell."


def phase_lines(chronicle: Chronicle) -> Iterator[ReportLine]:
    """The lines that the group lost its last member, was deleted, or has members after that."""
    for begun in chronicle.phases:
        if begun.phase in PHASES:
            yield ReportLine(begun.at_ms, PHASES[begun.phase])
        elif begun.before in PHASES and begun.phase not in {Phase.UNSEEN, Phase.OFFSETS_ONLY}:
            again = " again" if begun.before is Phase.EMPTY else ""
            yield ReportLine(begun.at_ms, f"The group has members{again}.")


def topic_words(each: TopicChanged) -> str:
    """The words for a topic with another number of partitions, or one that is gone: when that was found.

    >>> [topic_words(TopicChanged(0, "t", 2, after)) for after in (3, 0)]
    ['Topic t grew from 2 to 3 partitions', 'Topic t was no longer there']
    """
    if each.after == 0:
        return f"Topic {shown(each.topic)} was no longer there"
    verb = "grew" if each.after > each.before else "was found with fewer partitions:"
    return f"Topic {shown(each.topic)} {verb} from {each.before} to {each.after} partitions"


class Wording:
    """Puts the facts of a report into words."""

    def __init__(self, report: IncidentReport, chronicle: Chronicle) -> None:
        self._report = report
        self._chronicle = chronicle
        self._clock = Clock(report.since_ms, report.until_ms)
        self._folded = folded_restarts(report)
        self.people = People(report)

    def clock(self, at_ms: int) -> str:
        """An instant: with its date, unless the whole report is of one day."""
        return self._clock.at(at_ms)

    def span(self, first_ms: int, last_ms: int) -> str:
        """From when to when something happened, or at which instant."""
        first, last = self.clock(first_ms), self.clock(last_ms)
        return f"at {first}" if first_ms == last_ms else f"from {first} to {last}"

    def who(self, member: MemberThen) -> str:
        """A member as a person looks for it; with its id where others there look the same."""
        return self.people.who(member)

    def timeline(self) -> tuple[ReportLine, ...]:
        """All that happened, in the order of time; at the same instant causes come before effects."""
        lines = [
            *(ReportLine(each.at_ms, f"{topic_words(each)}.") for each in self._report.topics),
            *truncation_lines(self._chronicle),
            *(ReportLine(each.left.at_ms, self.restart(each)) for each in self._folded),
            *self._departures(),
            *self._arrivals(),
            *phase_lines(self._chronicle),
            *self._rebalances(),
            *self._commits(),
            *self._missing_owners(),
            *(ReportLine(each.from_ms, self._owned_twice(each)) for each in self._report.owned_twice),
            *rewind_lines(self._chronicle),
            *(ReportLine(each.at_ms, skip_words(each)) for each in self._report.skips if is_told(each)),
            *(ReportLine(each.at_ms, self._loss(each.records)) for each in self._report.lost),
            *self._findings(),
            *self._lag(),
        ]
        return tuple(sorted(lines, key=attrgetter("at_ms"))[:MOST_LINES])

    # --- members ---

    def restart(self, each: Restart) -> str:
        """One restart of several, with what followed from it."""
        left = each.left
        took = time_between(left.at_ms, each.back_ms)
        parts = [f"{self.who(left.member)} {GONE[left.departure]}, and rejoined {took} later."]
        if left.partitions:
            parts.append(f"It had {places(left.partitions)}.")
        if each.rebalances:
            era = KINDS[self._report.kind].era.value
            parts.append(f"{rebalance_numbers(each.rebalances, era)} {moves_of(each.rebalances)}.")
            parts.append(delay_of(each.rebalances, self._report.unit))
        without_owner = [span for span in each.unowned if not span.is_brief]
        if without_owner:
            longest = max(without_owner, key=lambda span: span.until_ms - span.from_ms)
            where = places({place for span in without_owner for place in span.partitions})
            took = time_between(longest.from_ms, longest.until_ms)
            most = f"for {took}" if len(without_owner) == 1 else f"for up to {took}"
            parts.append(f"{where} had no owner {most} (from {self.clock(longest.from_ms)}).")
        return " ".join(part for part in parts if part)

    def _departures(self) -> Iterator[ReportLine]:
        folded = {id(each.left) for each in self._folded}
        others = (each for each in self._report.left if id(each) not in folded)
        for at_ms, group in groupby(others, attrgetter("at_ms")):
            left = list(group)
            for each in left[:LISTED]:
                yield ReportLine(at_ms, self.departure(each))
            if len(left) > LISTED:
                yield ReportLine(at_ms, f"{counted(len(left) - LISTED, 'more member')} left or timed out.")

    def departure(self, each: MemberLeft) -> str:
        """The sentence that a member went, what it had, and what is known of why."""
        if each.departure is Departure.REPLACED:
            return f"{self.who(each.member)} restarted as a static member and kept its partitions."
        head = f"{self.who(each.member)} {GONE[each.departure]}"
        head += ": a static member does not leave when it closes." if each.departure is Departure.TIMED_OUT else "."
        had = f"It had {places(each.partitions)}." if each.partitions else ""
        return " ".join(part for part in (head, had, self._last_sign(each), self._return(each)) if part)

    def _last_sign(self, each: MemberLeft) -> str:
        if each.last_commit_ms is None:
            return ""
        silent, session_ms = time_between(each.last_commit_ms, each.at_ms), each.member.session_ms
        sign = f"Its last commit was {silent} earlier, at {self.clock(each.last_commit_ms)}"
        return f"{sign}; its session timeout is {seconds(session_ms)}." if session_ms else f"{sign}."

    def _return(self, each: MemberLeft) -> str:
        if each.back_ms is not None:
            return f"It rejoined at {self.clock(each.back_ms)}."
        return f"It did not rejoin by {self.clock(self._report.until_ms)}."

    def _arrivals(self) -> Iterator[ReportLine]:
        folded = {(each.back_ms, self.people.identity(each.left.member)) for each in self._folded}
        joined = [each for each in self._report.joined if (each.at_ms, self.people.identity(each.member)) not in folded]
        for at_ms, group in groupby(joined, attrgetter("at_ms")):
            came = list(group)
            verb = "rejoined" if all(each.is_back for each in came) else "joined"
            yield ReportLine(at_ms, f"{self.people.names([each.member for each in came])} {verb}.")

    def hung(self, each: MemberHung) -> str:
        """The sentence that a member committed nothing, from when to when."""
        name, of = self.who(each.member), places(each.partitions) if each.partitions else "its partitions"
        until = self._until(each.from_ms, each.until_ms, each.is_over)
        head = f"{name} had no commits in {of} {until}, although there was lag."
        match each.reason:
            case "unnoticed":
                why = "Other members kept committing, so it hung or was gone: its session had not expired."
            case "no_answer":
                why = "Other members kept committing, and it did not respond to requests."
            case _ if each.reason == NOT_COMMITTING:
                why = "It stayed in the group."
            case _:
                why = "Other members kept committing, and it stayed in the group: it hung, or stopped committing."
        return f"{head} {why}"

    def _until(self, from_ms: int, until_ms: int | None, is_over: bool) -> str:
        """From when to when, and for how long."""
        end_ms = self._report.until_ms if until_ms is None else until_ms
        took, start = time_between(from_ms, end_ms), f"from {self.clock(from_ms)}"
        if is_over:
            return f"{start} to {self.clock(end_ms)} ({took})"
        return f"{start} until at least {self.clock(end_ms)} ({took})"

    def _rebalances(self) -> Iterator[ReportLine]:
        """Those that moved nothing and follow one another in one line."""
        era, folded = KINDS[self._report.kind].era.value, {id(own) for each in self._folded for own in each.rebalances}
        for quiet, group in groupby((each for each in self._report.rebalances if id(each) not in folded), is_quiet):
            found = list(group)
            if quiet and len(found) > 1:
                yield ReportLine(found[0].at_ms, quiet_sentence(found, era, self.clock(found[-1].at_ms)))
                continue
            yield from rebalance_lines(found, self._report.kind)

    # --- partitions ---

    def _missing_owners(self) -> Iterator[ReportLine]:
        folded = {id(own) for each in self._folded for own in each.unowned}
        for each in self._report.unowned:
            if not each.is_brief and id(each) not in folded:
                until = self._until(each.from_ms, each.until_ms, each.is_over)
                why = f": {REASONS[each.reason]}" if each.reason in REASONS else ""
                yield ReportLine(each.from_ms, f"{places(each.partitions)} had no owner {until}{why}.")

    def _owned_twice(self, each: OwnedTwice) -> str:
        owners = self.people.names([self.people.member(name) for name in each.owners])
        until = self._until(each.from_ms, each.until_ms, each.is_over)
        return f"{places(each.partitions)} had {len(each.owners)} owners {until}: {owners}."

    def _commits(self) -> Iterator[ReportLine]:
        for each in self._report.hung:
            yield ReportLine(each.from_ms, self.hung(each))
        for gap in self._report.not_committed:
            if not any(set(gap.partitions) <= set(each.partitions) for each in self._report.hung):
                yield ReportLine(gap.from_ms, self.not_committed(gap))

    def not_committed(self, each: NotCommitted) -> str:
        """The sentence that partitions had no commits, from when to when."""
        until = self._until(each.from_ms, each.until_ms, each.until_ms is not None)
        text = f"{places(each.partitions)} had no commits {until}"
        if each.records is None:
            return f"{text}."
        return f"{text}; the {BACKLOG} {counted(each.records, self._report.unit)}."

    def _loss(self, records: int | None) -> str:
        count = "Records" if records is None else f"At most {counted(records, self._report.unit)}"
        return f"{count} were removed by retention before the group had committed them."

    # --- findings and lag ---

    def _findings(self) -> Iterator[ReportLine]:
        """Those that the facts do not tell, with their times. One is known to be over with the next evaluation."""
        for each in self._report.cluster_findings:
            until = self._until(each.since_ms, each.until_ms, each.is_over)
            yield ReportLine(max(each.since_ms, self._report.since_ms), f"{each.sentence} This lasted {until}.")
        for each in self._report.findings:
            is_hung = (each.kind, each.reason) == (FindingKind.LAG, NOT_COMMITTING) and bool(self._report.hung)
            is_skip = each.kind == FindingKind.SKIPPED and any(map(is_told, self._report.skips))
            if each.kind not in TOLD_BY_FACTS and not is_hung and not is_skip:
                until = self._until(each.since_ms, each.until_ms, each.is_over)
                yield ReportLine(max(each.since_ms, self._report.since_ms), f"{each.sentence} This lasted {until}.")

    def _lag(self) -> Iterator[ReportLine]:
        lag, unit = self._report.lag, self._report.unit
        if lag.peak is None or not lag.rose:
            return
        oldest = f"; its oldest record was {duration_text(lag.peak_oldest_ms)} old" if lag.peak_oldest_ms else ""
        yield ReportLine(lag.peak_ms, f"Peak lag: about {counted(lag.peak, unit)} in the whole group{oldest}.")
        if lag.recovered_ms is not None:
            yield ReportLine(lag.recovered_ms, "The group had caught up, for the time being.")
        if lag.caught_up_ms is not None:
            text = f"The group had caught up: its lag was {counted(lag.caught_up_lag or 0, unit)}"
            is_late = lag.caught_up_lag and lag.caught_up_oldest_ms is not None
            text += f", the oldest {duration_text(lag.caught_up_oldest_ms or 0)} old." if is_late else "."
            yield ReportLine(lag.caught_up_ms, text)
