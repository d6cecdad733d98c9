"""The number of members that a group needs, in its verdict: what a job makes of the entries ``[[scale]]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

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
from monitor.scaling.notes import ScaleNote, decode_note, encode_note, look_at
from monitor.scaling.shares import ShareTable
from monitor.scaling.signal import LATEST_FOR_MS, ScaleCase, Signal, judge_scaling


@dataclass(slots=True)
class _Known:
    """The newest note on a group, and its bytes; the shares are those of ``view``."""

    note: ScaleNote
    data: bytes
    view: AssignmentView | None = None
    table: ShareTable | None = None

    def shares(self, inputs: GroupInputs, view: AssignmentView) -> ShareTable:
        """Who would own what, worked out once while members and partitions stay."""
        if self.table is None or self.view is not view:
            self.view, self.table = view, ShareTable(inputs, view.ownership.owners)
        return self.table


@dataclass(slots=True)
class Scaler:
    """Says how many members groups need, and remembers what it takes. For one thread.

    ``seeds`` are the notes of others, by the groups' names, before this one saw them.
    """

    seeds: Mapping[str, bytes] = field(default_factory=dict)
    _known: dict[str, _Known] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)

    def changed_notes(self, groups: Iterable[str], *, is_whole: bool) -> Iterator[tuple[str, bytes]]:
        """The notes on these groups, by their names: those that have changed since the last call.

        ``is_whole``: all, also on those that were not evaluated, as their broker is away.
        """
        notes = [(name, self._note_on(name)) for name in groups if is_whole or name in self._changed]
        self._changed.clear()
        yield from [(name, data) for name, data in notes if data]

    def _note_on(self, group: str) -> bytes:
        known = self._known.get(group)
        return self.seeds.get(group, b"") if known is None else known.data

    def begin_again(self, notes: Mapping[str, bytes]) -> None:
        """Go on from the notes of others: what this one remembers is of an earlier time. Shares stay as they were."""
        self.seeds = notes
        for name, known in self._known.items():
            data = notes.get(name, b"")
            if data != known.data:
                known.data, known.note = data, decode_note(data) if data else ScaleNote()
        self._changed.clear()

    def miss(self, group: str, since_ms: int, now_ms: int) -> None:
        """The group has not been evaluated since an instant. After a while, no number of before counts."""
        if now_ms - since_ms > LATEST_FOR_MS and self._note_on(group):
            known = self._entry_on(group)
            if known.note != (left := known.note.after_gap()):
                known.note, known.data = left, encode_note(left)
                self._changed.add(group)

    def keep_only(self, groups: AbstractSet[str]) -> None:
        """Forget all other groups: one that comes back is new."""
        if not self.seeds.keys() <= groups:
            self.seeds = {name: note for name, note in self.seeds.items() if name in groups}
        for name in self._known.keys() - groups:
            del self._known[name]

    def with_scaling(
        self, judged: Judged, group: GroupState, topics: Topics, view: AssignmentView, target: ScaleTarget
    ) -> Judged:
        """The verdict with the number of members that the group needs, and until when both hold."""
        known, now_ms = self._entry_on(group.group), judged.verdict.evaluated_ms
        shares = known.shares(GroupInputs(group, topics.catalog, now_ms), view)
        look = look_at(judged.verdict, group, topics, target)
        signal = known.note.newest_signal(look, now_ms)
        if signal is None:
            case = ScaleCase(view.named(group), judged.verdict, topics, view.ownership.owners, shares, target)
            signal = _signal(case, known.note.memory)
            known.note = ScaleNote.of(signal, look, now_ms)
            known.data = encode_note(known.note)
            self._changed.add(group.group)
        verdict = _with_finding(replace(judged.verdict, scaling=signal.scaling), signal, group)
        return judged.with_addition(verdict, signal.until_ms)

    def _entry_on(self, group: str) -> _Known:
        known = self._known.get(group)
        if known is None:
            data = self.seeds.get(group, b"")
            known = self._known[group] = _Known(decode_note(data) if data else ScaleNote(), data)
        return known


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
