"""How exact the times and numbers of a report are, and what its recording does not show."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.history.report.facts import Departure, IncidentReport
from monitor.history.report.sentences import MOST_LINES
from monitor.messages.names import places, seconds
from monitor.messages.notification import utc
from monitor.model import KINDS, Era, TopicPartition


def notes(report: IncidentReport) -> Iterator[str]:
    """The sentences that concern this report."""
    if report.until_ms // 1_000 < report.asked_until_ms // 1_000:
        yield f"The recording reaches until {utc(report.until_ms)}; what happened later is not in this report."
    yield (
        f"Members, rebalances and commits have the times of their records. Findings and the lag were evaluated every "
        f"{seconds(report.step_ms)} and whenever members changed: what closed may have ended that much earlier, and "
        "the lag may have been higher in between. What lasted less than 1 s is left out of the timeline."
    )
    if len(report.timeline) == MOST_LINES:
        yield f"The timeline is cut after {MOST_LINES} lines; JSON has all facts."
    if KINDS[report.kind].era is Era.GENERATION and report.rebalances:
        yield (
            "The log of a classic group has the end of a rebalance. Its beginning is known only where a collector saw "
            "the rebalance in progress."
        )
    if any(each.departure is Departure.LEFT_OR_TIMED_OUT for each in report.left):
        yield (
            "The log does not show whether a member left or timed out. A member that is killed is missed only when its "
            "session expires: it can have stopped at any time since its last commit."
        )
    if report.rewinds:
        yield "If a partition's offset went back several times in one interval, only the newest is listed."
    unknown = {TopicPartition(row.topic, row.partition) for row in report.offsets if row.committed is None}
    if unknown:
        yield f"The lag does not include {places(unknown)} while there is no committed offset."
    if not KINDS[report.kind].commits_to_log and (report.left or report.hung):
        yield "The offsets of this group are polled, so the times of its commits are those of the polls."
