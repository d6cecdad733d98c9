"""For how long each entry of a file of expectations would have been met in a recorded span of time.

A group is judged each minute, and whenever something happened to its members; where that differs from the instant
before, each ten seconds in between. What was found at an instant holds until the next one. Time is unknown where no
collector polled the cluster, or where that was not recorded soon, because the job did not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple, Protocol

from monitor.expectations.checks import NOT_THERE, check_group
from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectation, Expectations, Objective
from monitor.expectations.met_time import MetTime
from monitor.expectations.outcome import combine
from monitor.history.backtest.cluster import USUAL_BYTES, BatchRecording, Part, batch_bytes, group_batches, span_parts
from monitor.history.backtest.trial import FINE_STEP_MS, PARTITIONS_A_STEP, STEP_MS
from monitor.history.chronicle.judging import Judge
from monitor.history.chronicle.old_ends import OLD_ENDS_MS
from monitor.history.recorded import NotRecordedError, RecordedPasses
from monitor.history.walk import GroupWalk
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import Value
from monitor.model.expectations import Met

PARTIAL: Final = "A recording may have been made of some groups only."
LATEST_MS: Final = 300_000
"""The end of a span that is not recorded yet is left out if it is shorter: the recording is written each minute."""


class SpanRecording(BatchRecording, Protocol):
    """A recording that also knows when collectors read the cluster."""

    def passes(self, cluster: str, since_ms: int, until_ms: int) -> Sequence[RecordedPasses]:
        """The passes that happened between two instants, in order."""


class MetPlan(NamedTuple):
    """Which groups are judged in which parts of the span, a batch at a time, in any order.

    ``group``: the only one to be judged; None: all that entries match.
    """

    expectations: Expectations
    cluster: str
    since_ms: int
    until_ms: int
    parts: tuple[Part, ...]
    batches: tuple[tuple[str, ...], ...]
    measured: tuple[tuple[int, int], ...]
    group: str | None = None


Marks = list[tuple[int, Met | None]]
"""Since when a group was as expected, was not, or cannot be judged; None: there was no such group."""


class EntryThen(Value, omit_defaults=False):
    """For how long an entry was met. ``target`` says whether its objective would have been; None: it has none."""

    groups: str
    team: str | None
    yes_ms: int
    no_ms: int
    unknown_ms: int
    slo: Objective | None
    target: Met | None

    @property
    def time(self) -> MetTime:
        """The three as one value."""
        return MetTime(self.yes_ms, self.no_ms, self.unknown_ms)


class MetThen(Value, omit_defaults=False):
    """The entries about a cluster in a span of time; ``met`` is that of all objectives, unknown if there is none."""

    cluster: str
    met: Met
    since_ms: int
    until_ms: int
    entries: tuple[EntryThen, ...]


def plan_met(  # noqa: PLR0913, PLR0917 -- what the plan is of
    recording: SpanRecording,
    expectations: Expectations,
    cluster: str,
    span_ms: tuple[int, int],
    group: str | None,
    workers: int = 1,
) -> MetPlan:
    """The plan for a span that so many workers do; ``group`` None: all groups that entries match.

    Raises:
        RecordingError: the recording cannot be read, or has nothing of that span.
    """
    since_ms, until_ms = span_ms
    reach_ms, begin_ms = recording.reach_ms(cluster), recording.begin_ms(cluster)
    if not since_ms < reach_ms or not begin_ms < until_ms:
        raise NotRecordedError(f"The recording of cluster {shown(cluster)} is of {utc(begin_ms)} to {utc(reach_ms)}.")
    if until_ms - reach_ms <= LATEST_MS:
        until_ms = min(until_ms, reach_ms)
    first_ms, last_ms = max(since_ms, begin_ms), min(until_ms, reach_ms)
    sizes = recording.group_sizes(cluster, first_ms, last_ms)
    entries = EntriesOfCluster(expectations, cluster)
    chosen = {name: size or USUAL_BYTES for name, size in sizes.items() if group in {None, name} and entries.of(name)}
    return MetPlan(
        expectations=expectations,
        cluster=cluster,
        since_ms=since_ms,
        until_ms=until_ms,
        parts=tuple(span_parts(recording, cluster, first_ms, last_ms)),
        batches=tuple(group_batches(chosen, batch_bytes(chosen, last_ms - first_ms, workers))),
        measured=measured_spans(recording.passes(cluster, first_ms, last_ms), last_ms),
        group=group,
    )


def measured_spans(passes: Sequence[RecordedPasses], until_ms: int) -> tuple[tuple[int, int], ...]:
    """When the cluster was watched: from a pass on, until the next ones are missing.

    >>> measured_spans([RecordedPasses(0, 50, 60), RecordedPasses(60, 110, 120)], 100_000)
    ((0, 100000),)
    """
    recorded = sorted({each.recorded_ms for each in passes})
    usual_ms = median([later - earlier for earlier, later in pairwise(recorded)] or [0])
    pauses = [later.first_ms - earlier.last_ms for earlier, later in pairwise(passes)]
    holds_ms = max(OLD_ENDS_MS, round(2 * median(pauses or [0])))
    latest_ms = OLD_ENDS_MS + 2 * usual_ms
    spans: list[tuple[int, int]] = []
    for each in passes:
        if each.recorded_ms - each.first_ms > latest_ms:  # the job did not run: it has read a backlog
            continue
        end_ms = min(each.last_ms + holds_ms, until_ms)
        if spans and each.first_ms <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end_ms)
        elif each.first_ms < end_ms:
            spans.append((each.first_ms, end_ms))
    return tuple(spans)


def judge_batch(recording: SpanRecording, plan: MetPlan, number: int) -> dict[str, Marks]:
    """The groups of a batch through the span.

    Raises:
        RecordingError: the recording cannot be read.
    """
    followers = {group: _Follower(plan.expectations.of(plan.cluster, group)) for group in plan.batches[number]}
    for part in plan.parts:
        held = recording.hold(plan.cluster, part.since_ms, part.until_ms, sorted(followers))
        for group, follower in followers.items():
            follower.follow(GroupWalk(held, plan.cluster, group, part.since_ms, part.until_ms))
    return {group: follower.marks for group, follower in followers.items()}


class _Follower:
    """Follows a group from one part of the span to the next."""

    def __init__(self, expected: Expectation | None) -> None:
        self._expected = expected
        self._taken_ms: int | None = None
        self.marks: Marks = []

    def follow(self, walk: GroupWalk) -> None:
        judge = Judge(walk)
        for at_ms in _instants(walk):
            walk.mark()
            met = self._judge_at(judge, at_ms)
            if self._taken_ms is not None and met is not self.marks[-1][1]:
                walk.go_back()
                for between_ms in range(_next(self._taken_ms, FINE_STEP_MS), at_ms, FINE_STEP_MS):
                    self._take(between_ms, self._judge_at(judge, between_ms))
            self._take(at_ms, met)

    def _take(self, at_ms: int, met: Met | None) -> None:
        self._taken_ms = at_ms
        if not self.marks or self.marks[-1][1] is not met:
            self.marks.append((at_ms, met))

    def _judge_at(self, judge: Judge, at_ms: int) -> Met | None:
        if self._expected is None:
            return None
        try:
            seen = judge.at(at_ms).seen
        except Exception:  # a rule that fails on this group
            return Met.UNKNOWN
        if seen is None or seen.verdict.state in NOT_THERE:
            return None
        return check_group(self._expected, seen.verdict).met


def _instants(walk: GroupWalk) -> list[int]:
    apart_ms = STEP_MS * max(1, -(-walk.partitions // PARTITIONS_A_STEP))
    happened = [at_ms for at_ms in walk.event_times if walk.since_ms <= at_ms <= walk.until_ms]
    return sorted({walk.since_ms, *range(_next(walk.since_ms, apart_ms), walk.until_ms + 1, apart_ms), *happened})


def _next(at_ms: int, apart_ms: int) -> int:
    return (at_ms // apart_ms + 1) * apart_ms


def met_then(plan: MetPlan, batches: Iterable[Mapping[str, Marks]]) -> MetThen:
    """The entries about the cluster, or about the one group, from what was found in the batches."""
    marks = {group: own for batch in batches for group, own in batch.items()}
    cluster = EntriesOfCluster(plan.expectations, plan.cluster)
    matching: dict[str, list[Marks]] = {expression: [] for expression in cluster.entries}
    for group, own in marks.items():
        for expression in cluster.of(group):
            matching[expression].append(own)
    without = cluster.outcomes({}, PARTIAL)
    chosen = cluster.entries if plan.group is None else cluster.of(plan.group)
    entries = tuple(
        [
            _entry(cluster.entries[expression], _time(plan, matching[expression], without[expression]))
            for expression in chosen
        ]
    )
    targets = [each.target for each in entries if each.target is not None]
    return MetThen(plan.cluster, combine(targets), plan.since_ms, plan.until_ms, entries)


def _entry(entry: Expectation, time: MetTime) -> EntryThen:
    slo = entry.slo
    target = None if slo is None else target_of(slo, time)
    return EntryThen(entry.groups, entry.team, time.yes_ms, time.no_ms, time.unknown_ms, slo, target)


def target_of(slo: Objective, time: MetTime) -> Met:
    """Whether an objective was met: not if even unknown time as good would not be enough; unknown if it decides.

    >>> slo = Objective(99.0, 30)
    >>> target_of(slo, MetTime(99, 1, 0)), target_of(slo, MetTime(98, 1, 1)), target_of(slo, MetTime(98, 2, 0))
    (<Met.YES: 'yes'>, <Met.UNKNOWN: 'unknown'>, <Met.NO: 'no'>)
    """
    most_ms = slo.budget * time.passed_ms
    if time.no_ms > most_ms:
        return Met.NO
    return Met.YES if time.passed_ms and time.no_ms + time.unknown_ms <= most_ms else Met.UNKNOWN


def _time(plan: MetPlan, groups: Sequence[Marks], without: Met) -> MetTime:
    """The time of an entry: between two changes of its groups, or of whether the cluster was watched."""
    time, at_ms, is_measured = MetTime(), plan.since_ms, False
    now: Counter[Met | None] = Counter()
    for next_ms, change in sorted(_changes(plan, groups), key=lambda each: each[0]):
        met = _worst(now, without) if is_measured else Met.UNKNOWN
        until_ms = min(max(next_ms, at_ms), plan.until_ms)
        time, at_ms = time.plus(met, until_ms - at_ms), until_ms
        is_measured = change(now, is_measured)
    return time


def _worst(now: Counter[Met | None], without: Met) -> Met:
    there = [met for met, count in now.items() if count and met is not None]
    return combine(there) if there else without


_Change = Callable[["Counter[Met | None]", bool], bool]


def _changes(plan: MetPlan, groups: Sequence[Marks]) -> Iterator[tuple[int, _Change]]:
    """Each instant at which something changes, and what; the last is the end of the span."""
    for own in groups:
        before: Met | None = None
        for at_ms, met in own:
            yield at_ms, _group_change(before, met)
            before = met
    for since_ms, until_ms in plan.measured:
        yield since_ms, lambda _now, _is: True
        yield until_ms, lambda _now, _is: False
    yield plan.until_ms, lambda _now, is_measured: is_measured


def _group_change(before: Met | None, after: Met | None) -> _Change:
    def change(now: Counter[Met | None], is_measured: bool) -> bool:
        now[before] -= 1
        now[after] += 1
        return is_measured

    return change
