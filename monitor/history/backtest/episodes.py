"""Episodes of findings and alerts, and how those with other thresholds differ from those that there were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from monitor.model import Finding, Value


class Episode(Value):
    """A finding or an alert of a group, from its start to its end.

    ``name`` is the kind and reason of a finding (``lag/behind``), or the name of an alert. ``finding`` is the kind and
    reason that an alert is about, if it is about findings. ``was_open``: it was there already when the backtest starts.
    ``is_closed``: it ended at ``until_ms``; else the backtest ends there.
    """

    name: str
    from_ms: int
    until_ms: int
    sentence: str
    finding: str = ""
    was_open: bool = False
    is_closed: bool = False

    @property
    def lasted_ms(self) -> int:
        """For how long it was there, as far as the backtest shows it."""
        return self.until_ms - self.from_ms


def finding_name(finding: Finding) -> str:
    """The kind and reason of a finding."""
    return f"{finding.kind.value}/{finding.reason}"


class FindingFollower:
    """Follows the findings of a group from verdict to verdict. Those of the same kind and reason are the same."""

    def __init__(self) -> None:
        self._open: dict[str, Episode] = {}
        self._ended: list[Episode] = []
        self._is_first = True

    @property
    def names(self) -> frozenset[str]:
        """The findings that are open."""
        return frozenset(self._open)

    def take(self, at_ms: int, findings: Iterable[Finding]) -> None:
        """The findings at the next instant."""
        now = {finding_name(finding): finding for finding in findings}
        for name in self._open.keys() - now.keys():
            self._ended.append(_until(self._open.pop(name), at_ms, is_closed=True))
        for name in now.keys() - self._open.keys():
            self._open[name] = Episode(name, at_ms, at_ms, now[name].sentence, was_open=self._is_first)
        self._is_first = False

    def episodes(self, until_ms: int) -> list[Episode]:
        """All of them, those that are open until this instant."""
        return [*self._ended, *(_until(each, until_ms) for each in self._open.values())]


def _until(episode: Episode, at_ms: int, *, is_closed: bool = False) -> Episode:
    return Episode(
        name=episode.name,
        from_ms=episode.from_ms,
        until_ms=at_ms,
        sentence=episode.sentence,
        finding=episode.finding,
        was_open=episode.was_open,
        is_closed=is_closed,
    )


class Change(StrEnum):
    """How an episode with other thresholds differs from the one that there was."""

    MORE = "more"
    """There was none."""
    FEWER = "fewer"
    """There would have been none."""
    SOONER = "sooner"
    LATER = "later"
    LONGER = "longer"
    """It would have ended later."""
    SHORTER = "shorter"
    """It would have ended sooner."""


class Pair(NamedTuple):
    """An episode as it was, and as it would have been; None: there was none, or there would have been none."""

    before: Episode | None
    after: Episode | None

    @property
    def changes(self) -> Mapping[Change, int]:
        """How the two differ, each with by how much (ms). Of one that is alone, for how long it was there."""
        before, after = self
        if before is None or after is None:
            alone = before or after
            change = Change.MORE if before is None else Change.FEWER
            return {} if alone is None else {change: alone.lasted_ms}
        start_ms, end_ms = after.from_ms - before.from_ms, after.until_ms - before.until_ms
        starts = {Change.SOONER if start_ms < 0 else Change.LATER: abs(start_ms)} if start_ms else {}
        ends = {Change.SHORTER if end_ms < 0 else Change.LONGER: abs(end_ms)} if end_ms else {}
        return {**starts, **ends}


def pair_episodes(before: Iterable[Episode], after: Iterable[Episode]) -> list[Pair]:
    """The episodes of a group with those of the same name at the same time, in the order of their starts.

    Each has one partner at most: the first that overlaps and has none yet.
    """
    pairs: list[Pair] = []
    ours = _by_name(before)
    for key, theirs in _by_name(after).items():
        pairs += _pairs(ours.pop(key, []), theirs)
    pairs += [Pair(each, None) for alone in ours.values() for each in alone]
    return sorted(pairs, key=_start)


def _pairs(before: list[Episode], after: list[Episode]) -> Iterator[Pair]:
    rest = list(before)
    for episode in after:
        partner = next((each for each in rest if _overlap(each, episode)), None)
        if partner is not None:
            rest.remove(partner)
        yield Pair(partner, episode)
    for episode in rest:
        yield Pair(episode, None)


def _overlap(one: Episode, other: Episode) -> bool:
    return one.from_ms <= other.until_ms and other.from_ms <= one.until_ms


def _by_name(episodes: Iterable[Episode]) -> dict[tuple[str, str], list[Episode]]:
    found: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in sorted(episodes, key=lambda each: each.from_ms):
        found[episode.name, episode.finding].append(episode)
    return found


def _start(pair: Pair) -> tuple[int, str]:
    return min((each.from_ms, each.name) for each in pair if each is not None)
