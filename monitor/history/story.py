"""What happened to a group in a span of time: its rebalances and findings in order, and how its lag went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from monitor.explain.group import because, cost_of
from monitor.history.chronicle.values import Chronicle
from monitor.history.chronicle.writer import chronicle_of
from monitor.history.replay import Recording
from monitor.messages.formatting import lag_course, lasted
from monitor.messages.truncation import truncation_sentence
from monitor.messages.units import unit_of
from monitor.model import KINDS, FindingNews, Phase, TopicPartition, Value

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
    LOG = "log"


_ORDER: Final = (HappenedKind.LOG, HappenedKind.GROUP, HappenedKind.REBALANCE, HappenedKind.CLOSED, HappenedKind.OPENED)
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
    chronicle = chronicle_of(recording, cluster, group, since_ms, until_ms)
    return None if chronicle is None else story_of(chronicle)


def story_of(chronicle: Chronicle) -> GroupStory:
    """A chronicle in sentences."""
    happened = (*_logs(chronicle), *_phases(chronicle), *_rebalances(chronicle), *_findings(chronicle))
    return GroupStory(
        cluster=chronicle.cluster,
        group=chronicle.group,
        since_ms=chronicle.since_ms,
        until_ms=chronicle.until_ms,
        happened=tuple(sorted(happened, key=lambda each: (each.at_ms, _ORDER.index(each.about)))),
        lag=tuple(LagThen(point.at_ms, point.lag) for point in chronicle.points),
        unit=unit_of(chronicle.kind),
    )


def _logs(chronicle: Chronicle) -> Iterator[Happened]:
    for cut in chronicle.truncations:
        place = TopicPartition(cut.topic, cut.partition)
        yield Happened(cut.at_ms, HappenedKind.LOG, truncation_sentence(place, cut.before, cut.after))


def _phases(chronicle: Chronicle) -> Iterator[Happened]:
    for begun in chronicle.phases:
        sentence = PHASES.get(begun.phase) or ("The group has members." if begun.before in (*PHASES, None) else None)
        if sentence is not None:
            yield Happened(begun.at_ms, HappenedKind.GROUP, sentence)


def _rebalances(chronicle: Chronicle) -> Iterator[Happened]:
    era = KINDS[chronicle.kind].era
    for rebalance in chronicle.rebalances:
        if rebalance.ended_ms is not None:
            took = lasted(max(1, rebalance.ended_ms - rebalance.started_ms))
            sentence = f"Rebalance to {era} {rebalance.generation}, {because(rebalance)}; it took {took}."
            yield Happened(rebalance.ended_ms, HappenedKind.REBALANCE, f"{sentence} {cost_of(rebalance)}")


def _findings(chronicle: Chronicle) -> Iterator[Happened]:
    """What opened and closed. What was open at the first instant has opened before."""
    for span in chronicle.findings:
        if span.told.event is FindingNews.OPENED and not span.was_open:
            yield Happened(span.from_ms, HappenedKind.OPENED, span.sentence, span.name)
        if span.is_closed:
            yield Happened(span.until_ms, HappenedKind.CLOSED, "It is over.", span.name)


def lag_sentence(story: GroupStory) -> str | None:
    """How the lag went; None: it is not known."""
    return lag_course((point.lag for point in story.lag), story.unit)
