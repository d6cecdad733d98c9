"""How exact the times and numbers of a report are, and what its recording does not show."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.history.report.facts import IncidentReport
from monitor.history.report.sentences import BACKLOG, MOST_LINES
from monitor.history.report.times import Clock
from monitor.messages.formatting import age
from monitor.messages.names import places
from monitor.model import KINDS, Era, TopicPartition


def notes(report: IncidentReport) -> Iterator[str]:
    """The sentences that concern this report."""
    if report.until_ms // 1_000 < report.asked_until_ms // 1_000:
        until = Clock(report.since_ms, report.until_ms).at(report.until_ms)
        yield f"The recording reaches until {until}; what happened later is not in this report."
    yield (
        f"Members, rebalances and commits have the times of their records. {accuracy(report.step_ms)} The group was "
        f"evaluated every {age(report.step_ms)} and whenever its members changed. What lasted less than 1 s is left "
        "out of the timeline and the findings."
    )
    yield (
        "The lag is that of the whole group, up to the log end offsets of the last poll. Commits that the recording "
        "does not name count as spread evenly, so the real peak may differ. "
        '"Before" means up to 5 minutes before the incident. The lag rose when it was above that, and its '
        "oldest record was older than then and than 5 s."
    )
    if any(BACKLOG in line.sentence for line in report.timeline):
        yield (
            "A backlog counts the records between the last commit before a gap and the first one after it, in the "
            "named partitions. It includes records that no poll had seen, so it can exceed the peak lag."
        )
    if any(each.pause_ms for each in report.rebalances):
        yield (
            "Delays of commits by a rebalance are estimated: how much later than usual partitions were committed "
            "around it, summed over them (2 partitions for 10 s are 20 partition-seconds). Partitions that did not "
            "move count as well."
        )
    yield from _membership(report)
    if report.rewinds:
        yield "If a partition's offset went back several times in one interval, only the newest is listed."
    unknown = {TopicPartition(row.topic, row.partition) for row in report.offsets if row.committed is None}
    if unknown:
        yield f"The lag does not include {places(unknown)} while there is no committed offset."
    if not KINDS[report.kind].commits_to_log and (report.left or report.hung):
        yield "The offsets of this group are polled, so the times of its commits are those of the polls."
    if len(report.timeline) == MOST_LINES:
        yield f"The timeline is cut after {MOST_LINES} lines; JSON has all facts."


def accuracy(step_ms: int, *, has_every_poll: bool = True) -> str:
    """How exact a story is whose group was judged so often; not ``has_every_poll``: its peak is that of the steps.

    >>> accuracy(10_000)[-58:], accuracy(60_000, has_every_poll=False)[-31:]
    ('The highest lag is that of all recorded polls and commits.', 'The lag is sampled every 1 min.')
    """
    step = age(step_ms)
    peak = "The highest lag is that of all recorded polls and commits."
    lag = peak if has_every_poll else f"The lag is sampled every {step}."
    return f"Findings have their times to the second; one that lasted less than {step} may be missing. {lag}"


def _membership(report: IncidentReport) -> Iterator[str]:
    if KINDS[report.kind].era is Era.GENERATION and report.rebalances:
        yield (
            "The log of a classic group has the end of a rebalance. Its start is known only where a collector saw the "
            "rebalance in progress."
        )
    if any(each.is_uncertain for each in report.left):
        yield (
            "The log does not show whether a member left or timed out. A killed member is only noticed when its "
            "session expires: it may have stopped at any time since its last commit."
        )
