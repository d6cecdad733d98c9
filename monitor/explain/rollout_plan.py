"""How a rollout replaces the pods of a group: so many at a time, and how long a new one needs to join."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from monitor.detection.evaluation_input import QuestionError
from monitor.messages.formatting import age, counted
from monitor.messages.names import shown
from monitor.model import Value

TOGETHER_MS: Final = 10_000
"""What happens within this time may fall into one rebalance: members rejoin at a heartbeat (3 s by default in classic
groups, 5 s with KIP-848), and a Java client between two polls."""

START_MS: Final = 20_000
"""How long a new pod needs by default."""
DEFAULT: Final = "surge=1,start=20s"
ALL: Final = "all"
RECREATE: Final = "recreate"
_DURATION: Final = re.compile(r"(\d{1,6})(ms|s|m)?")
_UNITS_MS: Final = {"ms": 1, "s": 1_000, None: 1_000, "m": 60_000}
_FORM: Final = "surge=1,start=20s, surge=0,start=20s, surge=all,start=20s or recreate,start=20s"


class Rollout(Value):
    """How pods are replaced."""

    surge: int | None
    """So many new pods start before as many old ones stop; 0: an old one stops first; null: all pods at once."""
    start_ms: int
    """How long a new pod needs from its start until it joins (ms)."""
    is_recreated: bool = False
    """Whether all old pods stop before any new one starts."""

    def sentence(self) -> str:
        """How pods are replaced, in a sentence.

        >>> Rollout(2, 20_000).sentence()
        '2 new pods start before as many old pods stop; a new pod joins 20 s after its start.'
        """
        if self.is_recreated:
            order = "All old pods stop before the new ones start"
        elif self.surge == 0:
            order = "Each old pod stops before its new one starts"
        elif self.surge is None:
            order = "All new pods start before the old ones stop"
        else:
            verb = "starts" if self.surge == 1 else "start"
            order = f"{counted(self.surge, 'new pod')} {verb} before as many old pods stop"
        return f"{order}; a new pod joins {age(self.start_ms)} after its start."


class Step(Value):
    """Pods that join and leave in any order. ``is_apart``: the rebalances of before are over."""

    joins: int = 0
    leaves: int = 0
    is_apart: bool = False


def rollout_typed(text: str) -> Rollout:
    """A rollout as it is typed.

    Raises:
        QuestionError: it is something else.

    >>> rollout_typed("surge=2,start=20s")
    Rollout(surge=2, start_ms=20000, is_recreated=False)
    >>> rollout_typed("recreate,start=1m")
    Rollout(surge=None, start_ms=60000, is_recreated=True)
    """
    surge: int | None = 1
    start_ms, is_recreated = START_MS, False
    for part in text.split(","):
        key, _, value = part.strip().partition("=")
        if key == RECREATE and not value:
            surge, is_recreated = None, True
        elif key == "surge" and (value == ALL or re.fullmatch(r"\d{1,5}", value)):
            surge = None if value == ALL else int(value)
        elif key == "start" and (found := _DURATION.fullmatch(value)):
            start_ms = int(found[1]) * _UNITS_MS[found[2]]
        else:
            raise QuestionError(f"{shown(text)} is no rollout; give for example {_FORM}.")
    return Rollout(surge, start_ms, is_recreated)


def steps_of(rollout: Rollout, size: int) -> Iterator[Step]:
    """The steps by which so many pods are replaced.

    >>> [(step.joins, step.leaves) for step in steps_of(Rollout(2, 20_000), 3)]
    [(2, 2), (1, 1)]
    """
    is_apart = rollout.start_ms >= TOGETHER_MS
    if rollout.is_recreated:
        yield Step(leaves=size)
        yield Step(joins=size, is_apart=True)
        return
    if rollout.surge == 0:
        for _ in range(size):
            yield Step(leaves=1)
            yield Step(joins=1, is_apart=is_apart)
        return
    surge = size if rollout.surge is None else rollout.surge
    for first in range(0, size, surge):
        more = min(surge, size - first)
        yield Step(joins=more, leaves=more, is_apart=is_apart)
