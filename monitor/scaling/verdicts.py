"""The number of members that a group needs, in its verdict: what a job makes of the entries ``[[scale]]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
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

LOOKED_MS: Final = 15_000
"""A busy group is evaluated each second. So long its number is not made again, unless a pass has seen new ends."""
HELD_MS: Final = 5_000
"""As commits end some holds, a number that is held is made again so soon."""

_NOTHING: Final = ScaleMemory()
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

    def go_on(self, memory: ScaleMemory) -> None:
        """Go on from another memory; the shares are as they were."""
        if memory != self.memory:
            self.memory, self.signal = memory, None

    def newest_signal(self, look: _Look, now_ms: int) -> Signal | None:
        """The signal of a moment ago, with until when it holds; None: it has to be made again."""
        if self.signal is None or look != self.look:
            return None
        until_ms = self.looked_ms + (LOOKED_MS if self.signal.scaling.hold is None else HELD_MS)
        if self.signal.until_ms is not None:
            until_ms = min(until_ms, self.signal.until_ms)
        return replace(self.signal, until_ms=until_ms) if self.looked_ms <= now_ms < until_ms else None


@dataclass(slots=True)
class Scaler:
    """Says how many members groups need, and remembers what it takes. For one thread.

    ``seeds`` are what others remembered of groups before this one saw them.
    """

    seeds: Mapping[str, ScaleMemory] = field(default_factory=dict)
    _known: dict[str, _Remembered] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)

    def changed_memories(self, groups: Iterable[str], *, is_whole: bool) -> Iterator[tuple[str, ScaleMemory]]:
        """What is remembered of these groups, by their names: of those where it has changed since the last call.

        ``is_whole``: of all, also of those that were not evaluated, as their broker is away.
        """
        known = [(name, self._memory_of(name)) for name in groups if is_whole or name in self._changed]
        self._changed.clear()
        yield from [(name, memory) for name, memory in known if memory is not None]

    def _memory_of(self, group: str) -> ScaleMemory | None:
        known = self._known.get(group)
        return self.seeds.get(group) if known is None else known.memory

    def begin_again(self, memories: Mapping[str, ScaleMemory]) -> None:
        """Go on from what another one remembered last: what this one remembers is of an earlier time."""
        self.seeds = memories
        for name, known in self._known.items():
            known.go_on(memories.get(name, _NOTHING))
        self._changed.clear()

    def keep_only(self, groups: AbstractSet[str]) -> None:
        """Forget all other groups."""
        for name in self._known.keys() - groups:
            del self._known[name]

    def with_scaling(
        self, judged: Judged, group: GroupState, topics: Topics, view: AssignmentView, target: ScaleTarget
    ) -> Judged:
        """The verdict with the number of members that the group needs, and until when both hold."""
        known = self._known.get(group.group)
        if known is None:
            known = self._known[group.group] = _Remembered(self.seeds.get(group.group, _NOTHING))
        if known.table is None or known.view is not view:
            known.view = view
            inputs = GroupInputs(group, topics.catalog, judged.verdict.evaluated_ms)
            known.table, known.signal = ShareTable(inputs, view.ownership.owners), None
        look, now_ms = _look_of(judged.verdict, topics, target), judged.verdict.evaluated_ms
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


def _look_of(verdict: GroupVerdict, topics: Topics, target: ScaleTarget) -> _Look:
    found = tuple([(each.kind, each.reason) for each in verdict.findings])
    away = verdict.missed_brokers, verdict.topics_without_leader
    return target, topics.catalog.pass_ms, found, verdict.rebalancing_since_ms, verdict.lag is None, len(verdict.members), away


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
