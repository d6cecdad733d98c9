"""What happened to a group in a span of time: its rebalances and findings in order, and how its lag went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from monitor.history.chronicle.values import Chronicle
from monitor.history.chronicle.writer import chronicle_of
from monitor.history.replay import Recording
from monitor.history.report.rebalances import rebalance_sentence, rebalances_then
from monitor.history.work_limit import Check, no_check
from monitor.messages.formatting import age, lag_range, lasted
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
    """When it happened (ms since the epoch)."""
    about: HappenedKind
    """What it is about: a rebalance, a finding that opened or closed, the group itself, or a log that went back."""
    sentence: str
    finding: str | None = None
    """The kind and reason of the finding."""


class LagThen(Value):
    """The lag of a group at an instant."""

    at_ms: int
    """The instant (ms since the epoch)."""
    lag: int | None


class GroupStory(Value):
    """What happened to a group from one instant to another.

    Regular instants: see :func:`accuracy`.
    """

    cluster: str
    group: str
    since_ms: int
    """The beginning of the span (ms since the epoch)."""
    until_ms: int
    """Its end (ms since the epoch)."""
    happened: tuple[Happened, ...] = ()
    """What happened, the oldest first."""
    lag: tuple[LagThen, ...] = ()
    """The lag at regular instants, at the first and the last one, and when it was highest; the oldest first."""
    unit: str = "record"
    """The unit of the lag."""
    step_ms: int = 0
    """How far apart the regular instants are (ms): a finding that lasted less may be missing. Findings have their times
    to the second."""


def tell_story(  # noqa: PLR0913, PLR0917 -- as GroupWalk
    recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int, check: Check = no_check
) -> GroupStory | None:
    """What happened to a group, as far as it is recorded by now; None: it was not known in that time.

    It is judged every ten seconds (or at 720 instants, if those are further apart; of more than 1,000 partitions at
    fewer), and whenever something happened to its members; see :func:`accuracy`.

    Raises:
        RecordingError: the recording cannot be read, ends before that time, or this takes too long by ``check``.
    """
    chronicle = chronicle_of(recording, cluster, group, since_ms, until_ms, check)
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
        lag=_lags(chronicle),
        unit=unit_of(chronicle.kind),
        step_ms=chronicle.step_ms,
    )


def accuracy(step_ms: int, *, has_every_poll: bool = True) -> str:
    """How exact a story is whose group was judged so often; not ``has_every_poll``: its peak is that of the steps.

    >>> accuracy(10_000)[-58:], accuracy(60_000, has_every_poll=False)[-31:]
    ('The highest lag is that of all recorded polls and commits.', 'The lag is sampled every 1 min.')
    """
    step = age(step_ms)
    findings = "Findings have their times to the second; "
    if not has_every_poll:
        return f"{findings}one that lasted less than {step} may be missing. The lag is sampled every {step}."
    peak = "The highest lag is that of all recorded polls and commits."
    return f"{findings}one that lasted less than {step} may be missing. {peak}"


def _lags(chronicle: Chronicle) -> tuple[LagThen, ...]:
    highest = [] if chronicle.peak is None else [chronicle.peak]
    lags = {point.at_ms: point.lag for point in (*chronicle.points, *highest)}
    return tuple(LagThen(at_ms, lags[at_ms]) for at_ms in sorted(lags))


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
    """In the sentences of a report: the log of a classic group has no beginning of a rebalance, so none is claimed."""
    era, unit = KINDS[chronicle.kind].era.value, unit_of(chronicle.kind)
    for rebalance in rebalances_then(chronicle):
        yield Happened(rebalance.at_ms, HappenedKind.REBALANCE, rebalance_sentence(rebalance, era, unit))


def _findings(chronicle: Chronicle) -> Iterator[Happened]:
    """What opened and closed. What was open at the first instant has opened before."""
    since_ms: dict[str, int] = {}
    for span in chronicle.findings:
        known_ms = since_ms[span.told.id] = min(span.told.since_ms, since_ms.get(span.told.id, span.told.since_ms))
        if span.told.event is FindingNews.OPENED and not span.was_open:
            yield Happened(span.from_ms, HappenedKind.OPENED, span.sentence, span.name)
        if span.is_closed:
            del since_ms[span.told.id]
            yield Happened(span.until_ms, HappenedKind.CLOSED, _over(span.until_ms - known_ms), span.name)


def _over(lasted_ms: int) -> str:
    """That a finding is over, and how long it was true.

    >>> _over(70_000)
    'It is over: it lasted 1 min 10 s.'
    """
    return f"It is over: it lasted {lasted(max(1, lasted_ms))}."


def lag_sentence(story: GroupStory) -> str | None:
    """How the lag went; None: it is not known."""
    return lag_range((point.lag for point in story.lag), story.unit)
