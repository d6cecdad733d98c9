"""What happened to a group in a span of time: its rebalances and findings in order, and how its lag went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from monitor.detection.evaluate import judge
from monitor.detection.ownership.assignment_view import AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.explain.group import because, cost_of
from monitor.history.recorded import NotRecordedError
from monitor.history.replay import Recording
from monitor.history.walk import GroupWalk
from monitor.messages.formatting import counted, lasted
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.messages.units import unit_of
from monitor.model import KINDS, Finding, GroupState, GroupVerdict, Phase, Rebalance, Value

SHORTEST_STEP_MS: Final = 10_000
"""How far apart the instants are at least that a group is judged at beside those at which something happened to it."""

MOST_STEPS: Final = 720
MOST_ROWS: Final = 720_000
"""How many partitions are judged at the most, all instants together: of a group with many, there are fewer instants."""


PHASES: Final[Mapping[Phase, str]] = {
    Phase.EMPTY: "The group has no members anymore.",
    Phase.GONE: "The group was deleted.",
}
"""What is told when a group comes into a phase without members."""


class HappenedKind(StrEnum):
    """What an entry of a story is about."""

    REBALANCE = "rebalance"
    OPENED = "opened"
    CLOSED = "closed"
    GROUP = "group"


_ORDER: Final = (HappenedKind.GROUP, HappenedKind.REBALANCE, HappenedKind.CLOSED, HappenedKind.OPENED)
"""Of what happened at the same instant: causes come before effects."""


class Happened(Value):
    """Something that happened, in a sentence. Of a finding: its kind and reason as ``kind/reason``."""

    at_ms: int
    about: HappenedKind
    sentence: str
    finding: str | None = None


class LagThen(Value):
    """The lag of a group at an instant; None: not known."""

    at_ms: int
    lag: int | None


class GroupStory(Value):
    """What happened to a group from one instant to another.

    ``lag`` has one point a step, the oldest first, in ``unit``.
    """

    cluster: str
    group: str
    since_ms: int
    until_ms: int
    happened: tuple[Happened, ...] = ()
    lag: tuple[LagThen, ...] = ()
    unit: str = "record"


def tell_story(recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int) -> GroupStory | None:
    """What happened to a group, as far as it is recorded by now; None: it was not known in that time.

    It is judged every ten seconds (or at 720 instants, if those are further apart; of more than 1,000 partitions at
    fewer), and whenever something happened to its members. What came and went between two instants is not told.

    Raises:
        RecordingError: the recording cannot be read, or ends before that time.
    """
    until_ms = min(until_ms, recording.reach_ms(cluster))
    if until_ms <= since_ms:
        raise NotRecordedError(f"The recording of cluster {shown(cluster)} reaches until {utc(until_ms)}.")
    walk = GroupWalk(recording, cluster, group, since_ms, until_ms)
    teller, views = _Teller(), AssignmentViews()
    apart_ms = step_ms(since_ms, until_ms, walk.partitions)
    for at_ms, inputs in walk.inputs(_instants(walk, since_ms, until_ms, apart_ms)):
        if inputs is None:
            teller.take_absence(at_ms)
            continue
        topics = Topics(inputs.catalog)
        verdict = judge(inputs.group, topics, views.of(inputs.group, topics), inputs.now_ms, inputs.settings)
        teller.take(verdict, inputs.group, is_step=(at_ms - since_ms) % apart_ms == 0)
    if not teller.was_known:
        return None
    happened = sorted(
        (each for each in (*teller.happened, *teller.rebalances()) if since_ms <= each.at_ms <= until_ms),
        key=lambda each: (each.at_ms, _ORDER.index(each.about)),
    )
    return GroupStory(
        cluster=cluster,
        group=group,
        since_ms=since_ms,
        until_ms=until_ms,
        happened=tuple(happened),
        lag=tuple(teller.lag),
        unit=teller.unit,
    )


def step_ms(since_ms: int, until_ms: int, partitions: int = 1) -> int:
    """How far apart the instants are that a group with so many partitions is judged at.

    >>> step_ms(0, 60_000), step_ms(0, 86_400_000), step_ms(0, 86_400_000, partitions=10_000)
    (10000, 120000, 1200000)
    """
    steps = max(1, min(MOST_STEPS, MOST_ROWS // max(1, partitions)))
    return max(SHORTEST_STEP_MS, -(-(until_ms - since_ms) // steps))


def _instants(walk: GroupWalk, since_ms: int, until_ms: int, apart_ms: int) -> list[int]:
    steps = range(since_ms, until_ms + 1, apart_ms)
    happened = [at_ms for at_ms in walk.event_times if since_ms <= at_ms <= until_ms]
    most = max(1, MOST_ROWS // max(1, walk.partitions))
    return sorted({*steps, *happened[-most:], until_ms})


class _Teller:
    """Notes what changes from one verdict to the next. What is open at the first one has opened before."""

    def __init__(self) -> None:
        self.happened: list[Happened] = []
        self.lag: list[LagThen] = []
        self.was_known = False
        self.unit = "record"
        self._is_first = True
        self._phase: Phase | None = None
        self._open: dict[str, Finding] = {}
        self._group: GroupState | None = None
        self._rebalances: dict[tuple[int, int], Rebalance] = {}

    def take_absence(self, at_ms: int) -> None:
        """There is no such group at this instant."""
        self._note_phase(at_ms, Phase.GONE)
        self._is_first, self._open = False, {}

    def take(self, verdict: GroupVerdict, group: GroupState, *, is_step: bool) -> None:
        """The verdict at the next instant."""
        self._note_phase(verdict.evaluated_ms, group.phase)
        self.was_known, self._group, self.unit = True, group, unit_of(group.kind)
        self.happened += self._changes(verdict)
        self._is_first = False
        for rebalance in group.history:
            self._rebalances[rebalance.generation, rebalance.ended_ms or 0] = rebalance
        if is_step:
            self.lag.append(LagThen(verdict.evaluated_ms, verdict.lag))

    def _note_phase(self, at_ms: int, phase: Phase) -> None:
        before, self._phase = self._phase, phase
        if phase is before or self._is_first:
            return
        sentence = PHASES.get(phase) or ("The group has members." if before in (*PHASES, None) else None)
        if sentence is not None:
            self.happened.append(Happened(at_ms, HappenedKind.GROUP, sentence))

    def _changes(self, verdict: GroupVerdict) -> Iterator[Happened]:
        now = {f"{finding.kind}/{finding.reason}": finding for finding in verdict.findings}
        for name, finding in now.items():
            if name not in self._open:
                at_ms = finding.since_ms if self._is_first else verdict.evaluated_ms
                yield Happened(at_ms, HappenedKind.OPENED, finding.sentence, name)
        for name in self._open.keys() - now.keys():
            yield Happened(verdict.evaluated_ms, HappenedKind.CLOSED, "It is over.", name)
        self._open = now

    def rebalances(self) -> Iterable[Happened]:
        """The rebalances that were seen to end, as they were known last."""
        if self._group is None:
            return
        era = KINDS[self._group.kind].era
        for rebalance in self._rebalances.values():
            if rebalance.ended_ms is not None:
                took = lasted(max(1, rebalance.ended_ms - rebalance.started_ms))
                sentence = f"Rebalance to {era} {rebalance.generation}, {because(rebalance)}; it took {took}."
                yield Happened(rebalance.ended_ms, HappenedKind.REBALANCE, f"{sentence} {cost_of(rebalance)}")


def lag_sentence(story: GroupStory) -> str | None:
    """How the lag went; None: it is not known."""
    known = [point.lag for point in story.lag if point.lag is not None]
    if not known:
        return None
    first, most, last = (counted(lag, story.unit) for lag in (known[0], max(known), known[-1]))
    return f"The lag was {first} at first, at most {most}, and {last} at last."
