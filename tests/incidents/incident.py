"""What an incident is: something that happens to one group of one cluster, and what groupwatch finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.incidents.crew import Crew


@dataclass(frozen=True)
class Incident:
    """Something that happens to a group.

    Attributes:
        group: The group; its name says nothing about the cause.
        finding: As ``kind/reason``; it tells the cause.
        cluster: Where it happens.
        stage: Begins it, and returns soon.
    """

    group: str
    finding: str
    cluster: str
    stage: Callable[[Crew], None]
