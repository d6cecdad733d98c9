"""What a recording tells of any instant is what a job says that has read its logs up to then, however both were cut."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.history.cluster_then import ClusterThen
from monitor.history.held import HeldRecording, StateRow, base_of
from monitor.history.portions import BELIEVED_AHEAD_MS, PortionTimes, portion_number
from monitor.history.recorded import RecordedRow, RecordedSettings, decode_events, encode_settings
from monitor.history.replay import inputs_at
from monitor.history.walk import GroupWalk
from monitor.model import CommitRun, Entity, FindingKind, GroupState, GroupVerdict
from streaming_jobs.buckets.batch_context import BatchContext
from streaming_jobs.buckets.bucket import Bucket, EventRow
from streaming_jobs.buckets.judge import BucketEvaluator
from streaming_jobs.buckets.processor import changed_rows
from streaming_jobs.buckets.store import CachedBucket
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.ingest.decoding import EventChunk, EventsDecoder, OffsetsLogDecoder
from streaming_jobs.recording.chunk import RecordingChunk
from streaming_jobs.recording.delta import HELD
from streaming_jobs.recording.states import StateFold
from streaming_jobs.recording.upkeep import OF_ALL, OF_ONE, OF_PASSES
from tests.history.memory import MemoryRecording
from tests.streaming_jobs.recording.random_logs import (
    CLASSIC,
    CLUSTER,
    GROUPS_OF_ALL,
    MEMBERS,
    MODERN,
    START,
    Answer,
    Commits,
    Deletion,
    Generation,
    Pass,
    Pause,
    Sample,
    Step,
    Uncommit,
    Written,
    between,
    cuts,
    histories,
    written,
)
from tests.support.examples import example_count, is_nightly

EVERY_MS: Final = 60_000
HOUR: Final = 3_600_000
RULES: Final = DetectionRules(
    DetectionSettings(
        commit_silence_ms=20_000, handover_ms=10_000, rebalance_long_ms=20_000, storm_rebalances=3, lag_records=40
    )
)
"""Thresholds of seconds, so that a minute has many findings."""


END: Final = 2**62
"""Later than everything."""

Row = dict[str, Any]


def read(log: Sequence[Written], *, offsets_from: int, chunks: type[EventChunk]) -> Iterator[Row]:
    """A piece of the logs as the decoders of a job have it, each log in a chunk of its own."""
    decoders = OffsetsLogDecoder(CLUSTER, 1, chunks=chunks), EventsDecoder(CLUSTER, 1, chunks=chunks)
    for decoder, is_of_offsets in zip(decoders, (True, False), strict=True):
        own = [(offsets_from + place, each) for place, each in enumerate(log) if each.is_of_offsets is is_of_offsets]
        if own:
            columns = zip(*[(0, place, each.at_ms, each.key, each.value) for place, each in own], strict=True)
            names = ("partition", "offset", "timestamp_ms", "key", "value")
            types = (pa.int32(), pa.int64(), pa.int64(), pa.binary(), pa.binary())
            arrays = [pa.array(column, type) for column, type in zip(columns, types, strict=True)]
            for batch in decoder([pa.RecordBatch.from_arrays(arrays, names)]):
                yield from batch.to_pylist()


class Job:
    """What a job knows that has read its logs up to some record: the pure parts of a micro-batch."""

    def __init__(self) -> None:
        self._kept, self._judge = CachedBucket(Bucket(CLUSTER), loaded=0), BucketEvaluator(0, RULES)
        self._view, self._batch = ClusterView(CLUSTER), 0

    def take(self, log: Sequence[Written], first: int) -> None:
        """A micro-batch."""
        rows = [
            EventRow(row["position"], Entity(row["entity"]), row["name"], row["payload"])
            for row in read(log, offsets_from=first, chunks=EventChunk)
        ]
        self._kept.bucket.fold_all(reversed(rows), self._batch)  # a shuffle keeps no order
        context = BatchContext(run="r", batch=self._batch, now_ms=0, known=self._batch - 1, catalog="c")
        self._view.take([*changed_rows(0, self._kept, self._judge, context)])
        self._batch += 1

    def inputs(self, group: str, now_ms: int) -> GroupInputs | None:
        """What the next verdict on a group is made of."""
        state, catalog = self._view.group_state(group), self._view.catalog()
        if state is None or catalog is None:
            return None
        return only_concerned(GroupInputs(state, catalog, now_ms, RULES.of(CLUSTER, group)))


@dataclass(frozen=True)
class Portion:
    """Up to which record it has each log, by how much the machine's clock is ahead, and whether states follow it.

    ``is_retried``: the job was killed before it noted the portion, and makes it again; Delta Lake has it once.
    """

    offsets_end: int
    events_end: int
    ahead_ms: int
    has_states: bool = False
    is_retried: bool = False

    @property
    def is_even(self) -> bool:
        """Whether it has both logs up to one record: while it has not, no states are written."""
        return self.offsets_end == self.events_end


class Recorded(MemoryRecording):
    """A recording in memory, with the settings of the job, and the states after some of its portions."""

    def __init__(self, rows: Sequence[RecordedRow], states: Mapping[int, Sequence[StateRow]]) -> None:
        super().__init__(rows, [base_of(recorded_ms, known) for recorded_ms, known in states.items()])
        self._states = states

    def settings(self, _cluster: str, _at_ms: int) -> bytes:
        return encode_settings(RecordedSettings(RULES))

    def reach_ms(self, _cluster: str) -> int:
        return END

    def hold(self, at_ms: int) -> HeldRecording:
        """What is needed of all groups at an instant."""
        base_ms = max([recorded_ms for recorded_ms in self._states if recorded_ms <= at_ms], default=0)
        rows = [row for row in self.every_row if row.recorded_ms > base_ms]
        return HeldRecording(base_ms, self._states.get(base_ms, ()), rows, END, self.settings("", 0))


class Recorder:
    """Writes portions as streaming_jobs.recording does, and the states after some of them."""

    def __init__(self, log: Sequence[Written], events_from: int) -> None:
        self._log, self._events_from = log, events_from
        self._read = {True: 0, False: 0}
        self._newest_ms = self._states_ms = 0
        self.rows: list[RecordedRow] = []
        self.states: dict[int, list[StateRow]] = {}

    def write(self, portion: Portion) -> None:
        made = [
            *self._piece(portion.offsets_end, 0, is_of_offsets=True),
            *self._piece(portion.events_end, self._events_from, is_of_offsets=False),
        ]
        if not made:
            return
        read_ms = self._log[: max(portion.offsets_end, portion.events_end)][-1].at_ms + 500
        times = times_of(made, read_ms + portion.ahead_ms, self._newest_ms)
        number = self._newest_ms = portion_number(self._newest_ms, times, EVERY_MS)
        for row in made:
            place = Entity(row["entity"]), row["name"], row["position"]
            self.rows.append(RecordedRow(number, *place, row["events"]))
        if portion.has_states and portion.is_even and times.is_dated:
            since = [row for row in self.rows if row.recorded_ms > self._states_ms]
            self.states[number] = fold_states(number, self.states.get(self._states_ms, []), since)
            self._states_ms = number
        if portion.is_retried:
            self._newest_ms = portion_number(number, times, EVERY_MS)

    def _piece(self, end: int, offsets_from: int, *, is_of_offsets: bool) -> list[Row]:
        begin = self._read[is_of_offsets]
        self._read[is_of_offsets] = end
        own = [each for each in self._log[begin:end] if each.is_of_offsets is is_of_offsets]
        return list(read(own, offsets_from=begin + offsets_from, chunks=RecordingChunk))


def record(case: Case, log: Sequence[Written]) -> Recorded:
    """All portions."""
    recorder = Recorder(log, case.events_from)
    for portion in case.portions:
        recorder.write(portion)
    return Recorded(recorder.rows, recorder.states)


def times_of(made: Sequence[Row], clock_ms: int, newest_ms: int) -> PortionTimes:
    """As streaming_jobs.recording.portions has Spark find them."""
    latest = max(clock_ms, newest_ms) + BELIEVED_AHEAD_MS
    believed = [row["last_ms"] for row in made if row["last_ms"] <= latest]
    return PortionTimes(
        clock_ms=clock_ms, rows=len(made), beyond=len(made) - len(believed), last_ms=max(believed, default=None)
    )


def fold_states(recorded_ms: int, before: Sequence[StateRow], rows: Sequence[RecordedRow]) -> list[StateRow]:
    """The states after a portion, as streaming_jobs.recording.upkeep has Spark fold them."""
    of_all = [(r.recorded_ms, r.entity.value, r.name, r.position, r.events) for r in rows if r.entity in OF_ALL]
    held: dict[tuple[str, str], list[tuple]] = defaultdict(list)
    for row in rows:
        if row.entity in OF_ONE:
            held[row.entity.value, row.name].append(
                (row.recorded_ms, row.entity.value, row.name, row.position, row.events, None)
            )
    for known in before:
        held[known.entity, known.name].append((0, known.entity, known.name, 0, None, known.state))
    passes = tuple(known for known in before if known.entity in OF_PASSES)
    fold = StateFold(CLUSTER, recorded_ms, of_all, passes=passes)
    made = pd.concat([fold(pd.DataFrame(own, columns=[*HELD])) for own in held.values()])
    return [
        StateRow(entity, name, bytes(state))
        for entity, name, state in zip(made["entity"], made["name"], made["state"], strict=True)
        if state is not None
    ]


AHEAD: Final = st.sampled_from([0, 0, 0, 300, -300, 40_000, -90_000, 2 * HOUR, -2 * HOUR, 400 * 24 * HOUR])
"""By how much the machine's clock is ahead of the brokers'."""


@st.composite
def portions(draw: st.DrawFn, log: Sequence[Written]) -> list[Portion]:
    """Some portions: a backlog may be one, or some that are further with one log than with the other."""
    found, behind = [], 0
    for before, end in between(draw(cuts(len(log), 5))):
        is_last = end == len(log)
        other = end if is_last else draw(st.sampled_from([end, end, end, before]))
        found.append((end, max(behind, other)) if draw(st.booleans()) else (max(behind, other), end))
        behind = max(behind, min(found[-1]))
    ends = [(0, 0)]
    for offsets, events in found:
        ends.append((max(offsets, ends[-1][0]), max(events, ends[-1][1])))
    return [
        Portion(*each, draw(AHEAD), has_states=draw(st.booleans()), is_retried=draw(st.booleans())) for each in ends[1:]
    ]


class Case(NamedTuple):
    """What happened, how the recorder and the job cut their logs, and the instants that are compared."""

    happened: list[Step]
    portions: list[Portion]
    batches: list[int]
    instants: list[int]
    events_from: int

    @property
    def log(self) -> list[Written]:
        return written(self.happened)


@st.composite
def cases(draw: st.DrawFn, most_commits: int = 4) -> Case:
    happened = draw(histories(most_commits))
    log = written(happened)
    last = log[-1].at_ms - START
    places = draw(st.lists(st.integers(0, len(log) - 1), min_size=1, max_size=5))
    instants = {log[place].at_ms - START + draw(st.sampled_from([0, 0, -1, 700])) for place in places}
    return Case(
        happened,
        draw(portions(log)),
        draw(cuts(len(log), 12)),
        sorted(at for at in instants if 0 <= at <= last),
        draw(st.sampled_from([0, 10**6, -(10**6)])),
    )


def without_answers(group: GroupState) -> GroupState:
    """But for answers of brokers that do not count: it is open which of two logs is read first in a millisecond."""
    kept = tuple(replace(each, listed=None, listed_ms=0) for each in group.offsets)
    return replace(group, offsets=kept)


def job_at(log: Sequence[Written], case: Case) -> Iterator[tuple[int, Job]]:
    """The job at each instant: its micro-batches end there, and by chance in between.

    They also end where the two logs take turns about a group of which both tell: a micro-batch has one log after the
    other. A micro-batch may have many polls, as that of a job with a backlog has.
    """
    times = [each.at_ms - START for each in log]
    both = [(place, each.is_of_offsets) for place, each in enumerate(log) if each.is_of_logged_group]
    turns = [place for (_, before), (place, now) in pairwise(both) if now is not before]
    at: dict[int, list[int]] = defaultdict(list)
    for instant in case.instants:
        at[bisect_right(times, instant)].append(instant)
    job, first = Job(), 0
    for end in sorted({*at, *turns, *case.batches}):
        if end > first:
            job.take(log[first:end], first)
            first = end
        yield from ((START + instant, job) for instant in at[end])


def verdict_of(inputs: GroupInputs) -> GroupVerdict:
    return evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings)


def assert_same_past(case: Case) -> None:
    """All that is known of the group and its topics, and so the verdict.

    Within a run of commits that does not name all of them, the others are estimated, as docs/history.md says. There,
    only what needs no commit is exact.
    """
    log = case.log
    recorded = record(case, log)
    for instant, job in job_at(log, case):
        held = ClusterThen(recorded.hold(instant), CLUSTER, instant)
        for group in GROUPS_OF_ALL:
            said, past = job.inputs(group, instant), inputs_at(recorded, CLUSTER, group, instant)
            walk = GroupWalk(recorded, CLUSTER, group, START + case.instants[0], instant)
            assert walk.inputs_at(instant) == past
            alone = held.inputs(group)
            assert (None if alone is None else only_concerned(alone)) == past
            if said is None or past is None:
                assert said is past, (group, instant - START)
                continue
            assert past.catalog == said.catalog, (group, instant - START)
            if is_within_unnamed_commits(recorded, group, instant):
                assert exact(verdict_of(past)) == exact(verdict_of(said)), (group, instant - START)
                continue
            assert without_answers(past.group) == without_answers(said.group), (group, instant - START)
            assert verdict_of(past) == verdict_of(said), (group, instant - START)


def is_within_unnamed_commits(recorded: Recorded, group: str, instant: int) -> bool:
    """Whether a run of the group's commits goes on at the instant, and has commits of which it names no time."""
    events = [each.event for row in recorded.every_row if row.name == group for each in decode_events(row)]
    runs = [event for event in events if isinstance(event, CommitRun)]
    return any(
        run.first.committed_ms <= instant < run.points[-1].committed_ms
        and run.commits > len(run.points) + (run.first != run.points[0])
        for run in runs
    )


def test_within_a_run_that_does_not_name_all_of_its_commits_these_are_estimated():
    """Of 13 commits within 9 ms, the first and the newest ten are named: not the second, of the same millisecond."""
    happened: list[Step] = [Commits(MODERN, "t", (1,), 4, 1, 0)] * 3
    case = Case(happened, [Portion(32, 32, 0)], [32], [13], 0)
    past = inputs_at(record(case, case.log), CLUSTER, MODERN, START + 13)
    assert past is not None
    assert [each.commits for each in past.group.offsets] == [1, 1, 1]
    assert_same_past(case)


@settings(max_examples=example_count(1), derandomize=not is_nightly())
@given(cases())
def test_the_past_is_what_the_job_says_at_the_instant(case: Case):
    assert_same_past(case)


REBALANCES: Final = Sample("PreparingRebalance")
OTHER_OWNERS: Final = Generation(MEMBERS, (0, 1, 1), "range")
AHEAD_OF_A_LOG: Final[dict[str, list[Step]]] = {
    "a rebalance": [Pause(1_000), REBALANCES],
    "a rebalance that is over": [Pause(7_000), OTHER_OWNERS, Pause(7_000), REBALANCES, Sample(None)],
    "a rebalance of a group that was deleted": [Deletion(CLASSIC), OTHER_OWNERS, Pause(7_000), REBALANCES],
    "an answer to the first commits": [Pause(7_000), Answer(CLASSIC, 5)],
    "an answer to a commit behind a deletion": [
        Pause(7_000),
        Uncommit(CLASSIC, "t", 0),
        Commits(CLASSIC, "t", (0,), 1, 1, 1),
        Pause(7_000),
        Answer(CLASSIC, 5),
    ],
}
"""What happened last is what a collector saw, some seconds behind what the group's log has."""


@pytest.mark.parametrize("begun", [0, 20], ids=["of a new recording", "later"])
@pytest.mark.parametrize("what", AHEAD_OF_A_LOG)
def test_what_a_collector_saw_counts_where_a_portion_lacks_the_log_of_the_group(what: str, begun: int):
    """The first portion has so many records of both logs, the second the events to their end, the third the rest.

    A minute later nothing has happened but a poll of the topics, and states follow it.
    """
    happened = [*AHEAD_OF_A_LOG[what], Pause(60_000), Pass(("t", "u"), 0, 2)]
    seen = len(written(AHEAD_OF_A_LOG[what]))
    log = written(happened)
    ends = [(begun, begun), (begun, seen), (seen, seen), (len(log), len(log))]
    portions = [Portion(*each, 0, has_states=True) for each in ends]
    at = log[seen - 1].at_ms - START
    assert_same_past(Case(happened, portions, [], [at, at + 700, log[-1].at_ms - START], 0))


HOLE_MS: Final = 75_000
"""Between two commits of a partition that a recording names there is no more: the longest run."""


@settings(max_examples=example_count(0.2), derandomize=not is_nightly())
@given(cases(most_commits=90))
def test_with_more_commits_than_are_named_only_commits_are_estimated(case: Case):
    """And with them the lag. Who has what, and what is found of that, is exact."""
    log = case.log
    recorded = record(case, log)
    for instant, job in job_at(log, case):
        for group in (CLASSIC, MODERN):
            said, past = job.inputs(group, instant), inputs_at(recorded, CLUSTER, group, instant)
            if said is None or past is None:
                assert said is past, (group, instant - START)
                continue
            assert exact(verdict_of(past)) == exact(verdict_of(said)), (group, instant - START)
            for own, its in zip(past.group.offsets, said.group.offsets, strict=True):
                assert own.committed_ms <= instant
                assert abs(own.committed_ms - its.committed_ms) <= HOLE_MS, (group, instant - START)


def exact(verdict: GroupVerdict) -> tuple[Any, ...]:
    """What no commit is needed for."""
    owners = [(row.topic, row.partition, row.owners, row.expected, row.orphan) for row in verdict.partitions]
    findings = [
        (each.kind, each.reason, each.since_ms, each.partitions)
        for each in verdict.findings
        if each.kind is not FindingKind.LAG
    ]
    members = [each.member_id for each in verdict.members]
    return verdict.state, verdict.generation, verdict.generation_ms, verdict.rebalances, members, owners, findings


@pytest.mark.parametrize("ahead_ms", [0, 1, 591])
def test_what_the_broker_dates_later_than_a_verdict_begins_with_it_and_has_its_own_time_in_the_next_one(ahead_ms: int):
    """A micro-batch may have records that are dated later than it began. The past has the time of the record."""
    case = Case([Pause(20_000), Generation(MEMBERS, (0, 0, 2), "range")], [Portion(99, 99, 0)], [], [], 0)
    log = case.log
    stored_ms = log[-1].at_ms
    job = Job()
    job.take(log, 0)

    def begins(inputs: GroupInputs | None) -> set[int]:
        assert inputs is not None
        return {each.since_ms for each in verdict_of(inputs).findings}

    assert begins(job.inputs(CLASSIC, stored_ms - ahead_ms)) == {stored_ms - ahead_ms}
    assert begins(job.inputs(CLASSIC, stored_ms + 1_000)) == {stored_ms}
    assert begins(inputs_at(record(case, log), CLUSTER, CLASSIC, stored_ms)) == {stored_ms}
