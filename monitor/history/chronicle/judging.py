"""Judges a group through a span of time: at each step, at each event, and where its findings changed in between."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from monitor.detection.cluster_findings import findings_over
from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.group_summary import summary_of
from monitor.detection.ownership.assignment_view import AssignmentView, AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.findings.table import spec_of
from monitor.history.chronicle.grid import SECOND_MS, Steps, most_changes
from monitor.history.chronicle.old_ends import has_old_ends, without_lag
from monitor.history.walk import GroupWalk
from monitor.model import Catalog, Finding, GroupSummary, GroupVerdict
from monitor.model.cluster_findings import ClusterFinding


class Seen(NamedTuple):
    """What the verdict on a group was, what it was made of, and the view of its members.

    ``summary`` is the verdict as findings are compared by it, ``above`` are the findings of the cluster that concerned
    the group.
    """

    verdict: GroupVerdict
    inputs: GroupInputs
    view: AssignmentView
    summary: GroupSummary
    above: tuple[ClusterFinding, ...] = ()

    @property
    def catalog(self) -> Catalog:
        """The topics."""
        return self.inputs.catalog


class Judged(NamedTuple):
    """A group at an instant; ``seen`` None: there is no such group.

    ``is_asked``: the instant is there only as the query names it. Another query about the same time has other instants,
    so what is noted there must not depend on the query.
    """

    at_ms: int
    seen: Seen | None
    is_asked: bool = False


class Judge:
    """Gives the verdicts on a walk's group; instants come in order, or after those that the walk goes back to."""

    def __init__(self, walk: GroupWalk) -> None:
        self._walk = walk
        self._views = AssignmentViews()
        self._pass_apart_ms = walk.pass_apart_ms

    def at(self, at_ms: int, *, is_asked: bool = False) -> Judged:
        """The verdict at an instant."""
        inputs = self._walk.inputs_at(at_ms)
        if inputs is None:
            return Judged(at_ms, None, is_asked)
        topics = Topics(inputs.catalog)
        view = self._views.of(inputs.group, topics)
        verdict = judge(inputs.group, topics, view, inputs.now_ms, inputs.settings)
        if has_old_ends(verdict, inputs.catalog, self._pass_apart_ms):
            verdict = without_lag(verdict)
        summary = summary_of(verdict)
        above = findings_over(inputs.catalog, summary, at_ms)
        return Judged(at_ms, Seen(verdict, inputs, view, summary, above), is_asked)


def judged_instants(
    walk: GroupWalk, span_ms: tuple[int, int], steps: Steps, asked_ms: Collection[int]
) -> Iterator[Judged]:
    """The group at all instants of a span, in order.

    These are the steps from the one before the span to the one after it, the events of its members, and the first whole
    second after each change of its findings between two of these.

    Args:
        walk: the group.
        span_ms: the first and the last instant of the query.
        steps: the grid.
        asked_ms: further instants, whose findings do not count.
    """
    judging = _Judging(Judge(walk), walk, most_changes(walk.partitions))
    own = _own_instants(walk, span_ms, steps)
    extra = sorted(set(asked_ms).difference(own))
    before_ms = 0
    for at_ms in own:
        yield from judging.between([each for each in extra if before_ms < each < at_ms], at_ms)
        before_ms = at_ms
    yield from judging.between([each for each in extra if each > before_ms], None)


def _own_instants(walk: GroupWalk, span_ms: tuple[int, int], steps: Steps) -> list[int]:
    first_ms = max(steps.floor(span_ms[0]), walk.since_ms)
    last_ms = min(steps.ceiling(span_ms[1]), walk.until_ms)
    times = chain(walk.event_times, walk.further_times if steps.is_close else ())
    happened = sorted({at_ms for at_ms in times if first_ms <= at_ms <= last_ms})
    grid = range(steps.ceiling(first_ms), last_ms + 1, steps.apart_ms)
    return sorted({first_ms, *grid, *happened[-most_changes(walk.partitions) :], last_ms})


_ABSENT: Final = "absent"


class _Judging:
    """Goes from instant to instant, and back where the findings of two differ."""

    def __init__(self, judged: Judge, walk: GroupWalk, budget: int) -> None:
        self._judge = judged
        self._walk = walk
        self._budget = budget
        self._last: Judged | None = None

    def between(self, asked_ms: Sequence[int], at_ms: int | None) -> list[Judged]:
        """All instants after the last one up to the next one (None: there is none), in order."""
        found = [self._judge.at(each_ms, is_asked=True) for each_ms in asked_ms]
        if at_ms is None:
            return found
        now, last = self._judge.at(at_ms), self._last
        if last is not None and _state(last) != _state(now):
            found += self._changes(last, now)
        self._walk.mark()
        self._last = now
        return sorted([*found, now], key=_at_ms)

    def _changes(self, last: Judged, now: Judged) -> Iterator[Judged]:
        """The changes between two instants; most are at the second one, which is an event then."""
        close_ms = (now.at_ms - 1) // SECOND_MS * SECOND_MS
        if close_ms <= last.at_ms or not self._budget:
            return
        close = self._again(close_ms)
        if _state(close) != _state(last):
            yield from self._bisect(last, close)
            yield close

    def _bisect(self, low: Judged, high: Judged) -> Iterator[Judged]:
        middle_ms = (low.at_ms + high.at_ms) // 2 // SECOND_MS * SECOND_MS
        if middle_ms <= low.at_ms or not self._budget:
            return
        middle = self._again(middle_ms)
        if _state(low) != _state(middle):
            yield from self._bisect(low, middle)
            yield middle
        if _state(middle) != _state(high):
            yield from self._bisect(middle, high)

    def _again(self, at_ms: int) -> Judged:
        self._budget -= 1
        self._walk.go_back()
        return self._judge.at(at_ms)


def _state(judged: Judged) -> Hashable:
    """What is compared: the phase, the findings as they are reported, and those of the cluster."""
    if judged.seen is None:
        return _ABSENT
    verdict = judged.seen.verdict
    above = frozenset(each.name for each in judged.seen.above)
    return verdict.state, frozenset(map(_finding_state, verdict.findings)), above


def _finding_state(finding: Finding) -> Hashable:
    name = finding.kind, finding.reason
    return name if spec_of(*name).jitters else (*name, finding.partitions, finding.members, finding.cause)


def _at_ms(judged: Judged) -> int:
    return judged.at_ms
