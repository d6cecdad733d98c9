"""Partitions that cannot be read because their leader does not answer: since when, and until when."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from monitor.collectors.kafka.leader_table import Place
from monitor.model import Outage, Value

OUTAGE_MS: Final = 3_000
"""How long a partition must have been silent for clients to have noticed it."""


class Silence(Value, frozen=True):
    """A partition that cannot be read: why, as the start of a sentence, and since when (ms since the epoch)."""

    reason: str
    since_ms: int


class SilenceHistory:
    """The partitions that are silent, and the newest outage of each that is over. Any thread may read it."""

    def __init__(self) -> None:
        self._silent: dict[Place, Silence] = {}
        self._over: dict[Place, Outage] = {}

    @property
    def silent(self) -> Mapping[Place, Silence]:
        """The partitions whose leader did not respond last. They are not read."""
        return dict(self._silent)

    def outages(self, topic: str) -> dict[int, Outage]:
        """The newest outage of each partition of a topic that was silent.

        Silences of less than OUTAGE_MS are not kept as outages: a leader that moves is away for a second or two.
        """
        now = {place: Outage(began_ms=silence.since_ms) for place, silence in self.silent.items()}
        return {place[1]: outage for place, outage in sorted({**self._over, **now}.items()) if place[0] == topic}

    def note(self, answered: Collection[Place], silent: Mapping[Place, str], now_ms: int, unread_ms: int) -> None:
        """Keep what is silent, each since it first was.

        Args:
            answered: the partitions whose leader answered.
            silent: those whose leader did not, each with the reason.
            now_ms: the time (ms since the epoch).
            unread_ms: since when a partition is not read that turns out to be silent now.
        """
        known = {place: silence for place, silence in self._silent.items() if place not in answered}
        for place, reason in silent.items():
            since_ms = known[place].since_ms if place in known else unread_ms
            known[place] = Silence(reason=reason, since_ms=since_ms)
        for place, silence in self._silent.items():
            if place in answered and now_ms - silence.since_ms >= OUTAGE_MS:
                self._over[place] = Outage(began_ms=silence.since_ms, ended_ms=now_ms)
        self._silent = known
