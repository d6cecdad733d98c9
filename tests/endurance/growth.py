"""Whether what was counted has grown between two times, of each role and in each respect."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.endurance.census import ProcessCount, Role, of_role

Census = tuple[ProcessCount, ...]

PROCESSES: Final = "processes"
RESPECTS: Final = ("descriptors", "sockets", "threads", "memory_mb")


@dataclass(frozen=True)
class Allowance:
    """By how much the most of any process of a role may have grown; ``processes`` is how many more there may be."""

    descriptors: int
    sockets: int
    threads: int
    memory_mb: int
    processes: int = 0


def most(counts: Census, role: Role, respect: str) -> int:
    """The most that a process of a role has in one respect, or how many processes the role has; 0: there is none."""
    found = of_role(counts, role)
    return len(found) if respect == PROCESSES else max((getattr(each, respect) for each in found), default=0)


def grown(before: Sequence[Census], after: Sequence[Census], allowed: Mapping[Role, Allowance]) -> list[str]:
    """What has grown by more than it may, a line each; the medians of the counts of both times are compared.

    A single count would meet a connection that lasts for a moment, or a JVM that is about to start a program.
    """
    return [*_grown(before, after, allowed)]


def _grown(before: Sequence[Census], after: Sequence[Census], allowed: Mapping[Role, Allowance]) -> Iterator[str]:
    for role, allowance in allowed.items():
        for respect in (PROCESSES, *RESPECTS):
            first, last = (median_most(counts, role, respect) for counts in (before, after))
            if last - first > (may := getattr(allowance, respect)):
                yield f"{role} {respect}: {first:g} -> {last:g}, and {may} more are allowed"


def median_most(counts: Sequence[Census], role: Role, respect: str) -> float:
    """The median of what several counts say, of those in which there is such a process; 0: it was in none."""
    found = [most(each, role, respect) for each in counts if of_role(each, role)]
    return statistics.median(found) if found else 0
