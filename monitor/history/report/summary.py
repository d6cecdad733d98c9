"""The three sentences at the head of a report: what happened, what it did, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from monitor.history.report.facts import Departure, IncidentReport, MemberLeft
from monitor.history.report.members import NOT_COMMITTING
from monitor.history.report.sentences import Wording
from monitor.messages.formatting import age, counted, lasted
from monitor.messages.names import places, shown
from monitor.model import TopicPartition
from monitor.model.findings import Severity, rank

MOST_CAUSES: Final = 2


def summarize(report: IncidentReport, wording: Wording) -> tuple[str, ...]:
    """What happened to which members when, what it did, and how it ended."""
    return (_causes(report, wording), _effects(report), _end(report, wording))


# --- what happened ----------------------------------------------------------------------------------------------------


def _causes(report: IncidentReport, wording: Wording) -> str:
    """The first causes in the order of their weight."""
    found = [text for text in _each_cause(report, wording) if text][:MOST_CAUSES] or _worst_finding(report, wording)
    if not found:
        return (
            f"Nothing happened to group {shown(report.group)} from {wording.clock(report.since_ms)} to "
            f"{wording.clock(report.until_ms)}."
        )
    return " ".join(f"{text}." for text in found)


def _each_cause(report: IncidentReport, wording: Wording) -> Iterator[str]:
    gone = _hung_and_gone(report, wording)
    yield gone or _hung(report, wording)
    yield "" if gone else _departures(report, wording)
    if report.deleted_ms is not None:
        yield f"The group was deleted at {wording.clock(report.deleted_ms)}"
    yield _rewound(report, wording)
    for each in report.topics:
        now = f"from {each.before} to {each.after} partitions"
        verb = "was deleted (found" if not each.after else f"grew {now} (seen"
        yield f"Topic {shown(each.topic)} {verb} at {wording.clock(each.at_ms)})"
    yield _arrivals(report, wording)


def _hung_and_gone(report: IncidentReport, wording: Wording) -> str:
    """One member that hung until it was removed."""
    if len(report.hung) != 1 or len(report.left) != 1:
        return ""
    hung, left = report.hung[0], report.left[0]
    if hung.member.member_id != left.member.member_id or left.at_ms < hung.from_ms:
        return ""
    verb = "hung or died" if hung.reason == "unnoticed" else "hung or stopped committing"
    since, at = wording.clock(hung.from_ms), wording.clock(left.at_ms)
    return f"{wording.who(hung.member)} {verb} at {since}, and left or timed out at {at}"


def _hung(report: IncidentReport, wording: Wording) -> str:
    if not report.hung:
        return ""
    first = min(report.hung, key=attrgetter("from_ms"))
    names = wording.people([each.member for each in report.hung])
    until_ms = max(each.until_ms for each in report.hung)
    until = "to" if all(each.is_over for each in report.hung) else "until at least"
    verb = "hung or stopped committing"
    if any(each.reason == "unnoticed" for each in report.hung):
        verb = "hung or died, and committed nothing"
    if all(each.reason == NOT_COMMITTING for each in report.hung):
        verb = "stayed in the group and committed nothing"
    return f"{names} {verb} from {wording.clock(first.from_ms)} {until} {wording.clock(until_ms)}"


def _departures(report: IncidentReport, wording: Wording) -> str:
    """One member by name; several by their number."""
    if not report.left:
        return ""
    first, last = report.left[0], report.left[-1]
    if len(report.left) == 1:
        return _one_departure(first, wording)
    newest = {wording.identity(each.member): each for each in report.left}
    people = [each.member for each in newest.values()]
    back = sum(each.back_ms is not None for each in newest.values())
    span = f"from {wording.clock(first.at_ms)} to {wording.clock(last.at_ms)}"
    if first.at_ms == last.at_ms:
        span = f"at {wording.clock(first.at_ms)}"
    if len(people) == 1:
        return f"{wording.who(first.member)} left or timed out {len(report.left)} times {span}"
    verb = "left or timed out" if any(each.departure is not Departure.LEFT for each in report.left) else "left"
    again = f", and {'all' if back == len(people) else back} of them came back" if back else ""
    if all(each.departure is Departure.REPLACED for each in report.left):
        return f"{counted(len(report.left), 'static member')} restarted {span} without a rebalance"
    return f"{counted(len(people), 'member')} {verb} {span}{again}: {wording.people(people)}"


def _one_departure(each: MemberLeft, wording: Wording) -> str:
    name, at = wording.who(each.member), wording.clock(each.at_ms)
    match each.departure:
        case Departure.REPLACED:
            return f"{name} restarted at {at} as a static member, without a rebalance"
        case Departure.LEFT:
            text = f"{name} left at {at}"
        case Departure.TIMED_OUT:
            text = f"{name} timed out or was removed at {at}"
        case _:
            sign = f" (last commit at {wording.clock(each.last_commit_ms)})" if each.last_commit_ms is not None else ""
            text = f"{name} left or timed out at {at}{sign}"
    return text if each.back_ms is None else f"{text} and was back at {wording.clock(each.back_ms)}"


def _rewound(report: IncidentReport, wording: Wording) -> str:
    if not report.rewinds:
        return ""
    where = {TopicPartition(each.topic, each.partition) for each in report.rewinds}
    return f"Committed offsets of {places(where)} went back at {wording.clock(report.rewinds[0].at_ms)}"


def _arrivals(report: IncidentReport, wording: Wording) -> str:
    if not report.joined or report.left:
        return ""
    first, last = report.joined[0].at_ms, report.joined[-1].at_ms
    span = f"at {wording.clock(first)}"
    if first != last:
        span = f"from {wording.clock(first)} to {wording.clock(last)}"
    return f"{wording.people([each.member for each in report.joined])} joined {span}"


def _worst_finding(report: IncidentReport, wording: Wording) -> list[str]:
    """Where nothing else is known to have happened."""
    found = [each for each in report.findings if each.severity is not Severity.INFO]
    if not found:
        return []
    worst = min(found, key=lambda each: rank(each.kind, each.reason))
    return [f"From {wording.clock(worst.since_ms)}: {worst.sentence.rstrip('.')}"]


# --- what it did ------------------------------------------------------------------------------------------------------


def _effects(report: IncidentReport) -> str:
    found = [text for text in _each_effect(report) if text]
    if not found:
        return "No partition was without an owner for a second, and no record is known to be read again or lost."
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in found)


def _each_effect(report: IncidentReport) -> Iterator[str]:
    yield from _disturbed_partitions(report)
    twice = {place for each in report.owned_twice for place in each.partitions}
    yield f"{places(twice)} had several owners" if twice else ""
    yield _moves(report)
    if report.lag.rose and report.lag.peak is not None:
        yield f"the lag rose from {report.lag.before or 0:,} to at least {counted(report.lag.peak, report.unit)}"
    if report.redelivered:
        yield f"{counted(report.redelivered, report.unit)} were delivered again"
    lost = max([each.records or 0 for each in report.lost], default=0)
    yield f"up to {counted(lost, report.unit)} were lost" if lost else ""


def _disturbed_partitions(report: IncidentReport) -> Iterator[str]:
    """Those without an owner, and those without commits; of each the longest time of one."""
    without_owner = [each for each in report.unowned if not each.is_brief]
    orphans = {place for each in without_owner for place in each.partitions}
    silent = {place for each in report.not_committed for place in each.partitions}
    owner_ms = max([each.until_ms - each.from_ms for each in without_owner], default=0)
    commit_ms = max([each.longest_ms for each in report.not_committed], default=0)
    had_none = f"had no owner for up to {lasted(owner_ms)}"
    stopped = f"{'was' if len(silent) == 1 else 'were'} not committed for up to {lasted(commit_ms)}"
    if orphans and orphans == silent:
        yield f"{places(orphans)} {had_none}, and {stopped}"
        return
    yield f"{places(orphans)} {had_none}" if orphans else ""
    yield f"{places(silent)} {stopped}" if silent else ""


def _moves(report: IncidentReport) -> str:
    moved, avoidable = (sum(getattr(each, name) for each in report.rebalances) for name in ("moved", "avoidable"))
    paused_ms = sum(each.pause_ms for each in report.rebalances)
    if not moved and not paused_ms:
        return ""
    times = counted(len(report.rebalances), "rebalance")
    text = f"{times} moved {counted(moved, 'partition') if moved else 'no partition'}"
    text += f" ({avoidable} avoidable)" if avoidable else ""
    return f"{text} and paused partitions for {lasted(paused_ms)} in total" if paused_ms else text


# --- how it ended -----------------------------------------------------------------------------------------------------


def _end(report: IncidentReport, wording: Wording) -> str:
    if report.deleted_ms is not None and report.deleted_ms >= max(report.points[-1].at_ms, report.lag.peak_ms):
        return "The group no longer exists."
    still_open = [each for each in report.findings if not each.is_over and each.severity is not Severity.INFO]
    text = f"{_caught_up(report, wording)}."
    if still_open:
        names = ", ".join(f"{each.kind}/{each.reason}" for each in still_open)
        return f"{text} {counted(len(still_open), 'finding')} {_is(still_open)} still open ({names})."
    return text


def _is(things: Sequence[object]) -> str:
    return "is" if len(things) == 1 else "are"


def _caught_up(report: IncidentReport, wording: Wording) -> str:
    lag = report.lag
    if lag.last is None:
        return "The lag is not known"
    last = f"{counted(lag.last, report.unit)} at {wording.clock(lag.last_ms)}"
    if not lag.rose:
        return f"The lag did not rise: it was {last}"
    if lag.caught_up_ms is None:
        return f"The group has not caught up: its lag was {last}"
    after_ms = lag.caught_up_ms - (report.began_ms or lag.peak_ms)
    text = f"The group had caught up by {wording.clock(lag.caught_up_ms)}, {age(after_ms)} after the incident began"
    return f"{text}. But its lag rose again, and was {last}" if lag.rose_again else text
