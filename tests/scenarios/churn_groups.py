"""Healthy groups of all assignors whose members come, go and restart all the time: nothing is wrong with them.

What is true for a moment in a rebalance may be told, but never as something old: ``GRACE`` says how old, and why.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from monitor.model import Value
from tests.scenarios.hearing import Hearing, now_ms
from tests.scenarios.judging import Spell, spells_of
from tests.scenarios.settings import (
    CLASSIC,
    COMMIT_SILENCE_S,
    COOPERATIVE_ASSIGNOR,
    END_SIGHTS_S,
    KIP_848,
    MORTAL,
    RANGE_ASSIGNOR,
    ROUNDROBIN,
    SESSION_S,
    STICKY,
)
from tests.support.crowd import Crowd

SLOWEST_S: Final = 10
"""What a rebalance of healthy members may take on a busy machine until its end is told: heartbeats (1 s each), a poll
(0.2 s), a pass of the collector (1 s), a micro-batch, and waiting. 5.7 s were seen on a quiet one."""


class Grace(Value):
    """How old a finding of a healthy group may grow, in seconds, and why."""

    kind: str
    reason: str
    most_s: float
    why: str


GRACE: Final = (
    Grace("orphaned", "pending", SESSION_S + SLOWEST_S, "handed over; if its former owner goes, after its session"),
    Grace(
        "orphaned",
        "rebalancing",
        SESSION_S + SLOWEST_S,
        "KIP-848: the broker has yet to choose targets without who is gone; what waited for it is as old as that wait",
    ),
    Grace(
        "lag",
        "not_committing",
        COMMIT_SILENCE_S + END_SIGHTS_S + SESSION_S,
        "a static member that is gone is missed after its session; nothing younger than the silence is told",
    ),
    Grace(
        "dead_member",
        "silent",
        COMMIT_SILENCE_S + END_SIGHTS_S + SESSION_S,
        "the same, where the other members go on",
    ),
)
"""A kind that is not here must not be told at all."""

TOPICS: Final = {"churn.t": 12, "churn.u": 12}
"""For one to four members, 12 partitions of a topic are always as even as 24 of both."""
MOST_MEMBERS: Final = 4
MOST_RESTARTS: Final = 4
"""Of one static member: five replacements of an id in a row are a restart loop, which is no health
(rebalance/static_replacements)."""
SERVER_RANGE: Final = KIP_848 | {"group.remote.assignor": "range"}


@dataclass
class Healthy:
    """A group and its living members by name, with their instance ids."""

    name: str
    props: Mapping[str, str]
    static: bool = False
    members: dict[str, str | None] = field(default_factory=dict)


def healthy_groups() -> list[Healthy]:
    """One of each assignor, and static ones."""
    return [
        Healthy("churn-range", RANGE_ASSIGNOR),
        Healthy("churn-roundrobin", CLASSIC | {"partition.assignment.strategy": ROUNDROBIN}),
        Healthy("churn-sticky", CLASSIC | {"partition.assignment.strategy": STICKY}),
        Healthy("churn-cooperative", COOPERATIVE_ASSIGNOR),
        Healthy("churn-uniform", KIP_848),
        Healthy("churn-kip848-range", SERVER_RANGE),
        Healthy("churn-static-range", RANGE_ASSIGNOR | MORTAL, static=True),
        Healthy("churn-static-uniform", KIP_848, static=True),
    ]


class Churn:
    """A thread that lets members of healthy groups join, leave and restart, as a seed says."""

    topics: Final = TOPICS

    def __init__(self, seed: int, crowd: Crowd, every_s: float = 0.5) -> None:
        self._chance = random.Random(seed)
        self._crowd = crowd
        self._every_s = every_s
        self._groups = healthy_groups()
        self._started = 0
        self._restarts: Counter[str | None] = Counter()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.done: Counter[str] = Counter()
        self.error: Exception | None = None

    @property
    def groups(self) -> list[str]:
        """Their names."""
        return [group.name for group in self._groups]

    def set_up(self) -> None:
        """Two members in each group."""
        since = self._crowd.seen()
        for group in self._groups:
            for _ in range(2):
                self._join(group)
        for group in self._groups:
            for name in group.members:
                self._crowd.await_event(since, "assigned", name=name)

    def start(self) -> None:
        """Let it begin."""
        self._thread.start()

    def stop(self) -> None:
        """Let it end; members stay.

        Raises:
            Exception: what went wrong in its thread.
        """
        self._stopping.set()
        self._thread.join(120)
        if self.error is not None:
            raise self.error

    def report(self, hearing: Hearing, late_s: float) -> dict[str, Any]:
        """How often what was done, the oldest age of each finding, and those that grew too old (see Pace.late_s)."""
        spells = [(group, spell) for group in self.groups for spell in spells_of(hearing.of(group))]
        return {
            "done": dict(self.done),
            "oldest_s": oldest_s(spells),
            "told": len(spells),
            "late_s": late_s,
            "too_old": [line for group, spell in spells for line in too_old(group, spell, late_s)],
            "sentences": {
                group: [f"{told.at_ms} {told.event} {told.sentence}" for told in hearing.of(group)]
                for group, spell in spells
                if too_old(group, spell, late_s)
            },
        }

    def _run(self) -> None:
        try:
            while not self._stopping.wait(self._chance.uniform(0.5, 1.5) * self._every_s):
                group = self._chance.choice(self._groups)
                action = self._chance.choice([self._join, self._leave, self._restart])
                if action(group):
                    self.done[action.__name__.removeprefix("_")] += 1
        except Exception as error:
            self.error = error

    def _join(self, group: Healthy) -> bool:
        if len(group.members) >= MOST_MEMBERS:
            return False
        self._started += 1
        self._start(group, f"{group.name}-{self._started}" if group.static else None)
        return True

    def _start(self, group: Healthy, instance: str | None) -> None:
        self._started += 1
        name = f"{group.name}.{self._started}"
        props = dict(group.props) | {"group.id": group.name} | ({"group.instance.id": instance} if instance else {})
        self._crowd.tell("start", name=name, props=props, topics=list(TOPICS))
        group.members[name] = instance

    def _leave(self, group: Healthy) -> bool:
        """Never the last one; a static member is missed only after its session."""
        if len(group.members) < 2:
            return False
        self._close(group, self._chance.choice(list(group.members)))
        return True

    def _restart(self, group: Healthy) -> bool:
        names = [name for name, instance in group.members.items() if self._restarts[instance] < MOST_RESTARTS]
        if len(group.members) < 2 or not names:
            return False
        name = self._chance.choice(names)
        instance = group.members[name]
        if instance is not None:
            self._restarts[instance] += 1
        self._start(group, self._close(group, name))
        return True

    def _close(self, group: Healthy, name: str) -> str | None:
        since = self._crowd.seen()
        self._crowd.tell("close", name=name)
        self._crowd.await_event(since, "closed", name=name)
        return group.members.pop(name)


def oldest_s(spells: Iterable[tuple[str, Spell]]) -> dict[str, float]:
    """The oldest age that each kind of finding had, in seconds."""
    oldest: dict[str, float] = {}
    for _, spell in spells:
        key = f"{spell.kind}/{spell.reason}"
        oldest[key] = max(oldest.get(key, 0.0), spell.age_ms(now_ms()) / 1000)
    return {key: round(age, 1) for key, age in sorted(oldest.items())}


def too_old(group: str, spell: Spell, late_s: float) -> list[str]:
    """Why a finding of a healthy group is a false alarm; nothing if it is none. ``late_s`` prolongs the grace."""
    age_s = spell.age_ms(now_ms()) / 1000
    limits = [grace for grace in GRACE if (grace.kind, grace.reason) == (spell.kind, spell.reason)]
    what = f"{group}: {spell.kind}/{spell.reason} at {spell.opened_ms}, {age_s:.1f} s old"
    if not limits:
        return [f"{what}, must never be told"]
    return [f"{what}, at most {each.most_s:g} s: {each.why}" for each in limits if age_s > each.most_s + late_s]
