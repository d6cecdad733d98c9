"""The number of members that a group needs, in its verdict: what a job makes of the entries ``[[scale]]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from monitor.detection.evaluate import Judged
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.catalog_view import Topics
from monitor.findings.capacity import TooMuchForOne
from monitor.findings.observation import Observation
from monitor.findings.sentences import sentence_of
from monitor.findings.table import by_rank
from monitor.messages.names import shown
from monitor.model import Finding, FindingKind, GroupState, GroupVerdict
from monitor.model.scaling import ScaleMemory, ScaleTarget, Scaling
from monitor.scaling.shares import ShareTable
from monitor.scaling.signal import ScaleCase, Signal, judge_scaling

LOOKED_MS: Final = 5_000
"""A busy group is evaluated each second, and autoscalers ask each 15 s: so long a number is not made again."""

_Look = tuple[object, ...]
"""What makes a number be made again at once."""


@dataclass(slots=True)
class _Remembered:
    """What is remembered of a group; the shares are those of ``view``, and the signal is of ``looked_ms``."""

    memory: ScaleMemory
    view: AssignmentView | None = None
    table: ShareTable | None = None
    looked_ms: int = 0
    look: _Look = ()
    signal: Signal | None = None

    def newest_signal(self, look: _Look, now_ms: int) -> Signal | None:
        """The signal of a moment ago, with until when it holds; None: it has to be made again."""
        again_ms = self.looked_ms + LOOKED_MS
        if self.signal is None or look != self.look or not self.looked_ms <= now_ms < again_ms:
            return None
        due_ms = self.signal.until_ms
        return replace(self.signal, until_ms=again_ms if due_ms is None else min(due_ms, again_ms))


@dataclass(slots=True)
class Scaler:
    """Says how many members groups need, and remembers what it takes. For one thread.

    ``seeds`` are what others remembered of groups before this one saw them.
    """

    seeds: Mapping[str, ScaleMemory] = field(default_factory=dict)
    _known: dict[str, _Remembered] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)

    def changed_memories(self, *, is_whole: bool) -> Iterator[tuple[str, ScaleMemory]]:
        """What is remembered of groups, by their names: of those where it has changed since the last call.

        ``is_whole``: of all.
        """
        names = self._known.keys() if is_whole else self._changed
        yield from [(name, self._known[name].memory) for name in sorted(names)]
        self._changed.clear()

    def begin_again(self, memories: Mapping[str, ScaleMemory]) -> None:
        """Go on from what another one remembered last: what this one remembers is of an earlier time."""
        self.seeds = memories
        self._known.clear()
        self._changed.clear()

    def forget(self, group: str) -> None:
        """The group is gone."""
        self._known.pop(group, None)
        self._changed.discard(group)

    def with_scaling(
        self, judged: Judged, group: GroupState, topics: Topics, view: AssignmentView, target: ScaleTarget
    ) -> Judged:
        """The verdict with the number of members that the group needs, and until when both hold."""
        known = self._known.get(group.group)
        if known is None:
            known = self._known[group.group] = _Remembered(self.seeds.get(group.group, ScaleMemory()))
        if known.table is None or known.view is not view:
            known.view = view
            inputs = GroupInputs(group, topics.catalog, judged.verdict.evaluated_ms)
            known.table, known.signal = ShareTable(inputs, view.ownership.owners), None
        look, now_ms = _look_of(judged.verdict, target), judged.verdict.evaluated_ms
        signal = known.newest_signal(look, now_ms)
        if signal is None:
            case = ScaleCase(view.named(group), judged.verdict, topics, view.ownership.owners, known.table, target)
            signal = known.signal = _signal(case, known.memory)
            known.look, known.looked_ms = look, now_ms
        if signal.memory != known.memory:
            known.memory = signal.memory
            self._changed.add(group.group)
        verdict = _with_finding(replace(judged.verdict, scaling=signal.scaling), signal, group)
        return judged.with_addition(verdict, signal.until_ms)


def _look_of(verdict: GroupVerdict, target: ScaleTarget) -> _Look:
    found = tuple([(each.kind, each.reason) for each in verdict.findings])
    away = verdict.missed_brokers, verdict.topics_without_leader
    return target, found, verdict.rebalancing_since_ms, verdict.lag is None, len(verdict.members), away


def _signal(case: ScaleCase, memory: ScaleMemory) -> Signal:
    """The number; a fault in it leaves the verdict as it is, and the number unknown."""
    try:
        return judge_scaling(case, memory)
    except Exception as error:  # the number is an addition: findings do not depend on it
        sentence = f"The number cannot be calculated ({type(error).__name__}: {shown(str(error))})."
        return Signal(Scaling(case.target.target_ms, sentence, members=len(case.group.members)), memory, None)


def _with_finding(verdict: GroupVerdict, signal: Signal, group: GroupState) -> GroupVerdict:
    """The verdict with a finding about partitions that no number of members is enough for."""
    if not signal.crowded:
        return verdict
    found = Observation(
        kind=FindingKind.CAPACITY,
        reason="one_partition",
        since_ms=signal.memory.crowded_ms,
        evidence=TooMuchForOne(),
        partitions=signal.crowded,
    )
    made = Finding(
        kind=found.kind,
        reason=found.reason,
        since_ms=found.since_ms,
        sentence=sentence_of(found, group),
        partitions=found.partitions,
    )
    return replace(verdict, findings=by_rank((*verdict.findings, made)))


def scale_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those of these findings that depend on what is remembered of a group."""
    return tuple([each for each in findings if each.kind is FindingKind.CAPACITY])
