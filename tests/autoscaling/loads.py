"""Six loads, as functions of the part of a run that has passed: records a second in each partition, and what happens.

Their numbers are for pods of 200 records a second (``times.CAPACITY``) and twelve partitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PARTITIONS: Final = 12
MINUTES: Final = 10.0
"""About as long a run takes; 50 minutes of a cluster (``times.FASTER``)."""

HOT_PARTITION: Final = 0
POISONED_PARTITION: Final = 1


class Fault(StrEnum):
    """What happens besides records."""

    POISON = "a record kills its consumer"
    BROKER = "the broker is down"
    GROUPWATCH = "groupwatch is stopped"


@dataclass(frozen=True)
class Incident:
    """A fault, and the parts of the run at which it begins and is over."""

    fault: Fault
    since: float
    until: float


@dataclass(frozen=True)
class Load:
    """Records a second of each partition, by the part of the run (0 to 1), and what happens besides."""

    name: str
    total: Callable[[float], float]
    hot: Callable[[float], float] = lambda _: 0.0
    """Further records a second, all in the hot partition."""
    incidents: tuple[Incident, ...] = ()
    skew: float = 0.0

    def rates(self, part: float) -> tuple[float, ...]:
        """Records a second in each partition."""
        even = [self.total(part) * weight for weight in weights(PARTITIONS, self.skew)]
        even[HOT_PARTITION] += self.hot(part)
        return tuple(even)


def weights(partitions: int, skew: float) -> tuple[float, ...]:
    """The share of each partition, by Zipf's law: the n-th has the weight of 1 / n to the power of the skew.

    >>> weights(4, 0.0), [round(each, 3) for each in weights(3, 1.0)]
    ((0.25, 0.25, 0.25, 0.25), [0.545, 0.273, 0.182])
    """
    raw = [1 / (number + 1) ** skew for number in range(partitions)]
    return tuple(each / sum(raw) for each in raw)


def between(since: float, until: float, inside: float, outside: float) -> Callable[[float], float]:
    """One value from one part of the run to another, and one before and after.

    >>> [between(0.2, 0.4, 7.0, 1.0)(part) for part in (0.1, 0.2, 0.3, 0.4)]
    [1.0, 7.0, 7.0, 1.0]
    """
    return lambda part: inside if since <= part < until else outside


def constant(value: float) -> Callable[[float], float]:
    """The same value always."""
    return lambda _: value


def _sine(part: float) -> float:
    """Two days: from 200 to 1200 records a second, which are one pod and six."""
    return 700.0 - 500.0 * math.cos(4 * math.pi * part)


_STEP: Final = between(0.15, 0.55, 1_100.0, 300.0)
"""From two pods to six, and back."""

LOADS: Final = {
    load.name: load
    for load in (
        Load("step", _STEP),
        Load("sine", _sine),
        Load("hot-key", constant(400.0), hot=between(0.2, 0.5, 280.0, 0.0)),
        Load("poison", constant(500.0), incidents=(Incident(Fault.POISON, 0.2, 0.5),)),
        Load(
            "broker-restart",
            constant(600.0),
            incidents=(Incident(Fault.BROKER, 0.3, 0.32), Incident(Fault.BROKER, 0.6, 0.65)),
        ),
        Load("groupwatch-stopped", _STEP, incidents=(Incident(Fault.GROUPWATCH, 0.45, 0.65),)),
    )
}
"""The hot partition gets more than a pod can read, so further pods do not help. groupwatch is away while the
step falls: without a number its pods stay, and cost.
"""
