"""The three sentences at the head of a report: what happened, what it did, and how it ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Final

from monitor.charts.values import TimeRange
from monitor.findings.table import rank
from monitor.history.report.facts import Departure, FindingThen, IncidentReport, MemberHung, MemberLeft
from monitor.history.report.incidents import CALM_MS, incident_part, incident_ranges, long_findings, missing_parts
from monitor.history.report.members import NOT_COMMITTING
from monitor.history.report.rebalances import moves_of
from monitor.history.report.restarts import is_one_at_a_time, restart_departures
from monitor.history.report.sentences import GONE, Wording, topic_words
from monitor.history.report.times import duration_text, time_between
from monitor.messages.formatting import NO_OWN_LAG, age, counted
from monitor.messages.kind_words import finding_words
from monitor.messages.names import places, shown_group
from monitor.messages.rebalances import partition_seconds
from monitor.model import TopicPartition
from monitor.model.findings import Severity

MOST_CAUSES: Final = 2
MOST_INCIDENTS: Final = 10
RISE_MS: Final = 60_000
"""A lag that rises later after the incident began may have another cause."""

FEWEST_ROLLING: Final = 2
"""Fewer members that restart are no rolling restart."""


def summarize(report: IncidentReport, wording: Wording) -> tuple[str, ...]:
    """What happened to which members when, what it did, and how it ended; of several incidents, each on its own."""
    incidents = incident_ranges(report)
    if len(incidents) > 1:
        return tuple(_several(report, incidents, wording))
    return (_causes(report, wording), _effects(report, wording), _end(report, wording))


# --- several incidents ------------------------------------------------------------------------------------------------


def _several(report: IncidentReport, incidents: Sequence[TimeRange], wording: Wording) -> Iterator[str]:
    """How many there were, each with its time, cause and effect, and the state at the end.

    What lasted through several of them, and what is only counted for the whole span, has sentences of its own.
    """
    count = len(incidents)
    yield (
        f"{count} incidents, at least {age(CALM_MS)} apart. Facts are listed by incident; one cause may be behind "
        "several."
    )
    worst = _worst(long_findings(report))
    if worst is not None:
        yield f"For most of the time, {_times(worst, wording)}: {worst.sentence.rstrip('.')}."
    for number, each in enumerate(incidents[:MOST_INCIDENTS], 1):
        part, when = incident_part(report, each), wording.span(each.since_ms, each.until_ms)
        causes = " ".join(f"{text}." for text in _cause_texts(part, wording)) or "Its cause is not known."
        effects = [text for text in _part_effects(part, each, wording) if text]
        did = "".join(f" {text[0].upper()}{text[1:]}." for text in effects)
        yield f"Incident {number} of {count}, {when}: {causes}{did}"
    if count > MOST_INCIDENTS:
        yield f"{counted(count - MOST_INCIDENTS, 'more incident')}: the timeline has them."
    again = _redelivered_text(report)
    if again:
        yield f"In the whole time, {again}."
    state = "Over" if report.is_over else f"Ongoing at {wording.clock(report.until_ms)}"
    yield " ".join(f"{text}." for text in (state, _last_lag(report, wording), _still_open(report)) if text)


def _part_effects(part: IncidentReport, incident: TimeRange, wording: Wording) -> Iterator[str]:
    yield from _disturbed_partitions(part)
    twice = {place for each in part.owned_twice for place in each.partitions}
    yield f"{places(twice)} had several owners" if twice else ""
    yield from _moves(part)
    lags = [point for point in part.points if point.lag is not None and point.at_ms >= incident.since_ms]
    highest = max(lags, key=lambda point: point.lag or 0, default=None)
    if highest is not None and highest.lag:
        yield f"the largest sampled lag was {counted(highest.lag, part.unit)} at {wording.clock(highest.at_ms)}"
    yield _lost_text(part)


# --- what happened ----------------------------------------------------------------------------------------------------


def _causes(report: IncidentReport, wording: Wording) -> str:
    """The first causes in the order of their weight."""
    found = _cause_texts(report, wording)
    if not found:
        missing = missing_parts(report)
        if missing:
            spans = ", ".join(wording.span(each.since_ms, each.until_ms) for each in missing)
            return f"No event of group {shown_group(report.group)} is recorded. Nothing of it is recorded {spans}."
        return (
            f"Nothing happened to group {shown_group(report.group)} from {wording.clock(report.since_ms)} to "
            f"{wording.clock(report.until_ms)}."
        )
    return " ".join(f"{text}." for text in found)


def _cause_texts(report: IncidentReport, wording: Wording) -> list[str]:
    return [text for text in _each_cause(report, wording) if text][:MOST_CAUSES] or _worst_finding(report, wording)


def _each_cause(report: IncidentReport, wording: Wording) -> Iterator[str]:
    yield from (_fault_sentence(each, wording) for each in report.cluster_findings[:1])
    gone = _hung_and_gone(report, wording)
    yield gone or _hung(report, wording)
    yield "" if gone else _departures(report, wording)
    if report.deleted_ms is not None:
        yield f"The group was deleted at {wording.clock(report.deleted_ms)}"
    yield _truncations_text(report, wording)
    yield _rewound(report, wording)
    for each in report.topics:
        yield f"{topic_words(each)} (seen at {wording.clock(each.at_ms)})"
    yield _arrivals(report, wording)


def _fault_sentence(each: FindingThen, wording: Wording) -> str:
    """What was wrong with the cluster itself, so that no member of the group is to blame."""
    return f"A fault of the cluster, {_times(each, wording)}: {each.sentence.rstrip('.')}"


def _times(each: FindingThen, wording: Wording) -> str:
    until = "to" if each.is_over else "until at least"
    return f"from {wording.clock(each.since_ms)} {until} {wording.clock(each.until_ms)}"


def _hung_and_gone(report: IncidentReport, wording: Wording) -> str:
    """One member that hung until it was removed."""
    if len(report.hung) != 1 or len(report.left) != 1:
        return ""
    hung, left = report.hung[0], report.left[0]
    if hung.member.member_id != left.member.member_id or left.at_ms < hung.from_ms:
        return ""
    since, at = wording.clock(hung.from_ms), wording.clock(left.at_ms)
    back = "" if left.back_ms is None else f" It rejoined at {wording.clock(left.back_ms)}"
    text = f"{_some(1, left.members)} {_hung_verb([hung])} and was gone {time_between(hung.from_ms, left.at_ms)} later"
    text += f": {wording.who(hung.member)} had its last commit at {since}, and {GONE[left.departure]} at {at}"
    return f"{text}.{back}" if back else text


def _some(count: int, members: int) -> str:
    """How many members of how many.

    >>> _some(1, 2), _some(2, 2), _some(1, 1), _some(1, 0)
    ('1 member of 2', 'All 2 members', 'The only member', '1 member')
    """
    if count == members:
        return f"All {count} members" if count > 1 else "The only member"
    return f"{counted(count, 'member')} of {members:,}" if members >= count else counted(count, "member")


def _members_at(report: IncidentReport, at_ms: int) -> int:
    return next((point.members for point in reversed(report.points) if point.at_ms <= at_ms), 0)


def _hung_verb(hung: Sequence[MemberHung]) -> str:
    if any(each.reason == "unnoticed" for each in hung):
        return "hung or died"
    if all(each.reason == NOT_COMMITTING for each in hung):
        return "stayed in the group and had no commits"
    return "hung or stopped committing"


def _hung(report: IncidentReport, wording: Wording) -> str:
    """For how long; of several times apart, how often and for how long at most: between them, members committed."""
    if not report.hung:
        return ""
    times = _times_apart(report.hung)
    from_ms, until_ms = times[-1]
    members = {wording.people.identity(each.member): each.member for each in report.hung}
    names = wording.people.names(list(members.values()))
    some = f"{_some(len(members), _members_at(report, times[0][0]))} {_hung_verb(report.hung)}"
    is_over = all(each.is_over for each in report.hung)
    least, until = ("", "to") if is_over else ("at least ", "until at least")
    span = f"from {wording.clock(from_ms)} {until} {wording.clock(until_ms)}"
    if len(times) == 1:
        return f"{some} for {least}{time_between(from_ms, until_ms)}: {names}, {span}"
    longest = max(times, key=lambda each: each[1] - each[0])
    most = f"{len(times)} times, for up to {time_between(*longest)} each"
    return f"{some} {most}: {names}, the first time at {wording.clock(times[0][0])}, the last time {span}"


def _times_apart(hung: Sequence[MemberHung]) -> list[tuple[int, int]]:
    """From when to when some member hung, in the order of time; what overlaps or touches is one time."""
    times: list[tuple[int, int]] = []
    for each in sorted(hung, key=attrgetter("from_ms")):
        if times and each.from_ms <= times[-1][1]:
            times[-1] = times[-1][0], max(times[-1][1], each.until_ms)
        else:
            times.append((each.from_ms, each.until_ms))
    return times


def _departures(report: IncidentReport, wording: Wording) -> str:
    """One member by name; several by their number."""
    if not report.left:
        return ""
    if all(each.departure is Departure.REPLACED for each in report.left):
        return _static_restarts(report.left, wording)
    left = [each for each in report.left if each.departure is not Departure.REPLACED]
    if len(left) == 1:
        return _one_departure(left[0], wording)
    newest = {wording.people.identity(each.member): each for each in left}
    if len(newest) == 1:
        return _one_member(left, wording)
    names = wording.people.names([each.member for each in newest.values()])
    if restart_departures(report):
        return f"{_restart_verdict(left, len(newest), wording)}: {names}"
    back = sum(each.back_ms is not None for each in newest.values())
    again = f"{'all' if back == len(newest) else back} of them rejoined" if back else "none of them rejoined"
    some = _some(len(newest), left[0].members)
    return f"{some} {_went(left)} {wording.span(left[0].at_ms, left[-1].at_ms)}, and {again}: {names}"


def _went(left: Sequence[MemberLeft]) -> str:
    """How all of them went, or what is true of all."""
    ways = {each.departure for each in left}
    return GONE[ways.pop()] if len(ways) == 1 else GONE[Departure.LEFT_OR_TIMED_OUT]


def _static_restarts(left: Sequence[MemberLeft], wording: Wording) -> str:
    span = wording.span(left[0].at_ms, left[-1].at_ms)
    if len(left) == 1:
        return f"{wording.who(left[0].member)} restarted {span} as a static member, without a rebalance"
    return f"{counted(len(left), 'static member')} restarted {span} without a rebalance"


def _restart_verdict(left: Sequence[MemberLeft], members: int, wording: Wording) -> str:
    last_ms = max(each.back_ms or each.at_ms for each in left)
    span = wording.span(left[0].at_ms, last_ms)
    if members == len(left) and members >= FEWEST_ROLLING and is_one_at_a_time(left):
        of = f"all {members:,}" if members == left[0].members else f"{members:,} of {left[0].members:,}"
        return f"Rolling restart of {of} members, one at a time, {span}"
    text = f"{counted(members, 'member')} left and rejoined {span}"
    return text if members == len(left) else f"{text} ({len(left):,} times in total)"


def _one_member(left: Sequence[MemberLeft], wording: Wording) -> str:
    """One member that went several times."""
    span, last_ms = wording.span(left[0].at_ms, left[-1].at_ms), left[-1].back_ms
    text = f"{wording.who(left[0].member)} {_went(left)} {len(left)} times {span}"
    if last_ms is None:
        return f"{text}, and did not rejoin after the last time"
    return f"{text}, and rejoined each time, the last time at {wording.clock(last_ms)}"


def _one_departure(each: MemberLeft, wording: Wording) -> str:
    name, at, some = wording.who(each.member), wording.clock(each.at_ms), _some(1, each.members)
    sign = ""
    if each.is_uncertain and each.last_commit_ms is not None:
        sign = f" (last commit at {wording.clock(each.last_commit_ms)})"
    if each.back_ms is not None:
        took = time_between(each.at_ms, each.back_ms)
        way = f"{GONE[each.departure]} at {at}{sign} and rejoined at {wording.clock(each.back_ms)}"
        return f"{some} was away for {took}: {name} {way}"
    if each.departure in {Departure.LIKELY_TIMED_OUT, Departure.TIMED_OUT}:
        return f"{some} was lost: {name} {GONE[each.departure]} at {at}{sign}"
    return f"{some} {GONE[each.departure]}: {name} at {at}{sign}"


def _truncations_text(report: IncidentReport, wording: Wording) -> str:
    if not report.truncations:
        return ""
    where = {TopicPartition(each.topic, each.partition) for each in report.truncations}
    gone = counted(sum(each.before - each.after for each in report.truncations), "record")
    at = wording.clock(report.truncations[0].at_ms)
    return f"The end of {places(where)} went back, found at {at}: at least {gone} are gone"


def _rewound(report: IncidentReport, wording: Wording) -> str:
    if not report.rewinds:
        return ""
    where = {TopicPartition(each.topic, each.partition) for each in report.rewinds}
    return f"Committed offsets of {places(where)} went back at {wording.clock(report.rewinds[0].at_ms)}"


def _arrivals(report: IncidentReport, wording: Wording) -> str:
    if not report.joined or report.left:
        return ""
    span = wording.span(report.joined[0].at_ms, report.joined[-1].at_ms)
    return f"{wording.people.names([each.member for each in report.joined])} joined {span}"


def _worst_finding(report: IncidentReport, wording: Wording) -> list[str]:
    """Where nothing else is known to have happened."""
    worst = _worst([each for each in report.findings if each.severity is not Severity.INFO])
    return [] if worst is None else [f"From {wording.clock(worst.since_ms)}: {worst.sentence.rstrip('.')}"]


def _worst(findings: Sequence[FindingThen]) -> FindingThen | None:
    return min(findings, key=lambda each: rank(each.kind, each.reason), default=None)


# --- what it did ------------------------------------------------------------------------------------------------------


def _effects(report: IncidentReport, wording: Wording) -> str:
    found = [text for text in _each_effect(report, wording) if text]
    if not found and missing_parts(report):
        return "What is not recorded may have had effects."
    if not found:
        return "No partition was without an owner for a second, and no record is known to be read again or lost."
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in found)


def _each_effect(report: IncidentReport, wording: Wording) -> Iterator[str]:
    yield from _disturbed_partitions(report)
    twice = {place for each in report.owned_twice for place in each.partitions}
    yield f"{places(twice)} had several owners" if twice else ""
    yield from _moves(report)
    yield _peak(report, wording)
    yield _redelivered_text(report)
    yield _lost_text(report)


def _redelivered_text(report: IncidentReport) -> str:
    """How many records the group got again; "" if none. They are counted for the whole span, not for an incident."""
    return f"{counted(report.redelivered, report.unit)} were delivered again" if report.redelivered else ""


def _lost_text(report: IncidentReport) -> str:
    lost = max([each.records or 0 for each in report.lost], default=0)
    return f"up to {counted(lost, report.unit)} were lost" if lost else ""


def _peak(report: IncidentReport, wording: Wording) -> str:
    """How high the lag was, compared with the minutes before; "" if it is not known, or nothing happened."""
    lag = report.lag
    if lag.peak is None or report.began_ms is None:
        return ""
    before, at = lag.before or 0, wording.clock(lag.peak_ms)
    text = f"peak lag: about {counted(lag.peak, report.unit)}"
    if lag.rose:
        return f"{text} at {at} (before: {_at_most(before)})"
    if lag.peak <= before:
        return f"{text}; it stayed at its usual level (before: {_at_most(before)})" if lag.peak else "no lag was seen"
    text += f" at {at} (before: {_at_most(before)})"
    return text if lag.oldest_ms is None else f"{text}; no record was older than {duration_text(lag.oldest_ms)}"


def _at_most(count: int) -> str:
    return f"at most {count:,}" if count else "0"


def _disturbed_partitions(report: IncidentReport) -> Iterator[str]:
    """Those without an owner, and those without commits; of each the longest time of one."""
    without_owner = [each for each in report.unowned if not each.is_brief]
    orphans = {place for each in without_owner for place in each.partitions}
    silent = {place for gap in report.not_committed for place in gap.partitions}
    silent |= {place for hung in report.hung for place in hung.partitions}
    longest = max(without_owner, key=lambda each: each.until_ms - each.from_ms, default=None)
    had_none = "" if longest is None else f"had no owner for up to {time_between(longest.from_ms, longest.until_ms)}"
    slowest = max(_silences(report), key=itemgetter(0), default=None)
    stopped = "" if slowest is None else f"had no commits for up to {slowest[1]}"
    if orphans and orphans == silent:
        yield f"{places(orphans)} {had_none}, and {stopped}"
        return
    yield f"{places(orphans)} {had_none}" if orphans else ""
    yield f"{places(silent)} {stopped}" if silent else ""


def _silences(report: IncidentReport) -> Iterator[tuple[int, str]]:
    """How long partitions had no commits, with the text: that of the timeline, where it is of a single partition."""
    for each in report.hung:
        yield each.until_ms - each.from_ms, time_between(each.from_ms, each.until_ms)
    for gap in report.not_committed:
        until_ms = report.until_ms if gap.until_ms is None else gap.until_ms
        is_single = until_ms - gap.from_ms == gap.longest_ms
        yield gap.longest_ms, time_between(gap.from_ms, until_ms) if is_single else duration_text(gap.longest_ms)


def _moves(report: IncidentReport) -> Iterator[str]:
    """What the rebalances moved, and how much later than usual partitions were committed."""
    paused_ms = sum(each.pause_ms for each in report.rebalances)
    if report.rebalances and (paused_ms or any(each.moved for each in report.rebalances)):
        yield f"{counted(len(report.rebalances), 'rebalance')} {moves_of(report.rebalances)}"
    if paused_ms and not report.not_committed and not report.hung:
        yield f"commits were delayed by {partition_seconds(paused_ms)} in total (estimate, summed over partitions)"


# --- how it ended -----------------------------------------------------------------------------------------------------


def _end(report: IncidentReport, wording: Wording) -> str:
    if report.deleted_ms is not None and report.deleted_ms >= max(report.points[-1].at_ms, report.lag.peak_ms):
        return "The group no longer exists."
    if report.began_ms is None:
        return f"{_last_lag(report, wording)}."
    state = "Over" if report.is_over else f"Ongoing at {wording.clock(report.until_ms)}"
    parts = [text for text in (_members_end(report, wording), _caught_up(report, wording), _still_open(report)) if text]
    return " ".join(f"{text}." for text in (state, *parts))


def _members_end(report: IncidentReport, wording: Wording) -> str:
    """Who is back, who is not, and how large the group is."""
    return " ".join(f"{text}." for text in _members_then(report, wording)).rstrip(".")


def _last_commit(last: MemberHung, times: int, report: IncidentReport, wording: Wording) -> str:
    """That a member committed again; of several times, the last one."""
    at = wording.clock(last.until_ms)
    when = f"at {at}" if times == 1 else f"{times} times, the last time at {at}"
    if any(last.from_ms < known.at_ms <= last.until_ms for known in report.rebalances):
        return f"The partitions of {wording.who(last.member)} were committed again {when}"
    return f"{wording.who(last.member)} committed again {when}, without a rebalance"


def _members_then(report: IncidentReport, wording: Wording) -> Iterator[str]:
    gone = {wording.people.identity(each.member): each for each in report.left}
    recovered: defaultdict[object, list[MemberHung]] = defaultdict(list)
    for each in report.hung:
        if each.is_committed and wording.people.identity(each.member) not in gone:
            recovered[wording.people.identity(each.member)].append(each)
    for times in recovered.values():
        yield _last_commit(max(times, key=attrgetter("until_ms")), len(times), report, wording)
    away = sum(each.back_ms is None for each in gone.values())
    if away:
        yield f"{'The member' if len(gone) == away == 1 else counted(away, 'member')} did not rejoin"
    elif gone:
        yield "The member rejoined" if len(gone) == 1 else f"All {len(gone)} members rejoined"
    first, last = report.first_members, report.last_members
    if first != last:
        yield f"The group went from {counted(first, 'member')} to {last:,}"
    elif last:
        yield f"The group has {counted(last, 'member')}, as before"


def _still_open(report: IncidentReport) -> str:
    own = [each for each in report.findings if each.severity is not Severity.INFO]
    found = [each for each in (*report.cluster_findings, *own) if not each.is_over]
    if not found:
        return ""
    names = ", ".join(finding_words(each.name) for each in found)
    return f"{counted(len(found), 'finding')} {'is' if len(found) == 1 else 'are'} still open ({names})"


def _last_lag(report: IncidentReport, wording: Wording) -> str:
    lag = report.lag
    if report.is_connect:
        return NO_OWN_LAG.removesuffix(".")
    if lag.last is None:
        return "The lag is not known"
    return f"The lag was {counted(lag.last, report.unit)} at {wording.clock(lag.last_ms)}"


def _caught_up(report: IncidentReport, wording: Wording) -> str:
    lag = report.lag
    if lag.last is None or not lag.rose:
        return _last_lag(report, wording)
    last = f"{counted(lag.last, report.unit)} at {wording.clock(lag.last_ms)}"
    rose = f"The lag rose at {wording.clock(lag.rose_ms or lag.peak_ms)}"
    if lag.recovered_ms is not None:
        peak = f"It rose again to its peak at {wording.clock(lag.peak_ms)}"
        rose = f"{rose}, and the group had caught up by {_recovery(report, lag.recovered_ms, wording)}. {peak}"
    if lag.caught_up_ms is None:
        return f"{rose}, and the group has not caught up: its lag was {last}"
    end = wording.clock(lag.caught_up_ms) if lag.recovered_ms else _recovery(report, lag.caught_up_ms, wording)
    text = f"{rose}, and the group had caught up by {end}"
    return f"{text}. But its lag rose again, and was {last}" if lag.rose_again else text


def _recovery(report: IncidentReport, at_ms: int, wording: Wording) -> str:
    """When the group had caught up; with how long that took, if its lag rose when the incident began."""
    began_ms, rose_ms = report.began_ms or 0, report.lag.rose_ms or 0
    is_close = 0 <= rose_ms - began_ms <= RISE_MS
    took = f", {time_between(began_ms, at_ms)} after the incident began" if is_close else ""
    return f"{wording.clock(at_ms)}{took}"
