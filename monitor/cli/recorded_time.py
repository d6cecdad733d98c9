"""For how long expectations were met, by a recording: in as many processes as there are processors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.cli.errors import SourceError
from monitor.cli.names import only_cluster
from monitor.cli.processes import are_worth_processes, count_workers, work_in_processes
from monitor.cli.render_verify import NO_TARGET, nothing_expected, share
from monitor.cli.sources.recording import Recording
from monitor.cli.sources.source import answering
from monitor.expectations.expectation import Expectations
from monitor.expectations.outcome import Check, GroupOutcome, Outcome, group_outcome, outcome_of
from monitor.expectations.verification import unknown_cluster
from monitor.history.delta_tables import DeltaRecording
from monitor.history.instants import read_span
from monitor.history.met_then import EntryThen, Marks, MetPlan, MetThen, judge_batch, met_then, plan_met
from monitor.messages.names import shown
from monitor.model.expectations import Met


class SpanQuestion(NamedTuple):
    """A recording, and since when; ``cluster`` None: its only one, ``group`` None: all that entries match."""

    folder: str
    since: str
    now_ms: int
    cluster: str | None
    group: str | None


def time_in_span(expectations: Expectations, asked: SpanQuestion) -> MetThen:
    """For how long each entry was met.

    Raises:
        SourceError: the recording cannot answer, the instant is none, or no entry is about the group.
    """
    with answering():
        span_ms = read_span(asked.since, "now", asked.now_ms)
        recording = DeltaRecording(asked.folder)
        cluster = asked.cluster or only_cluster(Recording(asked.folder))
        if asked.group is not None and expectations.of(cluster, asked.group) is None:
            raise SourceError(nothing_expected(cluster, asked.group))
        plan = plan_met(recording, expectations, cluster, span_ms, asked.group, count_workers())
        return met_then(plan, _batches(asked.folder, recording, plan))


def _batches(folder: str, recording: DeltaRecording, plan: MetPlan) -> Iterator[dict[str, Marks]]:
    count = len(plan.batches)
    if are_worth_processes(count):
        return work_in_processes(judge_batch, folder, plan, count)
    return (judge_batch(recording, plan, number) for number in range(count))


def as_outcome(found: MetThen) -> Outcome:
    """The objectives as the checks of a report. Without any, it says that, so that it is not empty."""
    groups = [_entry_outcome(found.cluster, each) for each in found.entries if each.slo]
    return outcome_of(groups or [unknown_cluster(found.cluster, NO_TARGET)], found.until_ms)


def _entry_outcome(cluster: str, entry: EntryThen) -> GroupOutcome:
    passed_ms = max(1, entry.time.passed_ms)
    parts = [share(part_ms, passed_ms) for part_ms in (entry.yes_ms, entry.no_ms, entry.unknown_ms)]
    percent = "" if entry.slo is None else f"{entry.slo.percent:g}%"
    sentence = f"It was met for {parts[0]} of the time, not met for {parts[1]}, unknown for {parts[2]}."
    check = Check("slo", entry.target or Met.UNKNOWN, f"{sentence} Expected: {percent}.")
    return group_outcome(cluster, shown(entry.groups), [check], entry.team)
