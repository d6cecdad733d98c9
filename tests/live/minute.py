"""What is left of the minute of tests.live.test_live, and how it crosses from the process that had it."""

from __future__ import annotations

import base64
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from monitor.model import GroupState, Rebalance
from monitor.tracking.group import fold_group
from tests.support.crowd import Event

SEEDS: Final = (1, 2, 3)
UNDER_WAY = {"PreparingRebalance", "CompletingRebalance"}
"""States of a classic group that are not in the log."""

Log = dict[str, list[tuple[int, object]]]


@dataclass(frozen=True)
class Minute:
    """What is left of it: the marks during it and at its end, what was done how often, the log, failed consumers."""

    during: list[Event]
    done: Counter[str]
    final: dict[str, Event]
    log: Log
    failures: list[Event]

    def marks(self) -> list[Event]:
        """All marks that can be compared."""
        return [mark for mark in [*self.during, *self.final.values()] if comparable(mark)]

    def states(self, group: str) -> Iterator[GroupState | None]:
        """The group after each of its records."""
        state = None
        for _, event in self.log[group]:
            state = fold_group("c", group, state, [event])
            yield state

    def rebalances(self, group: str) -> set[Rebalance]:
        """Every rebalance of a group, also those that its state keeps no longer."""
        return {rebalance for state in self.states(group) if state is not None for rebalance in state.history}


def report_of(minute: Minute) -> dict[str, Any]:
    """The minute as JSON has it."""
    return {"pickled": base64.b64encode(pickle.dumps(minute)).decode()}


def minute_of(report: dict[str, Any]) -> Minute:
    """The minute of a report."""
    minute = pickle.loads(base64.b64decode(report["pickled"]))
    assert isinstance(minute, Minute)
    return minute


def comparable(mark: Event) -> bool:
    return mark["log_end"] == mark["log_end_after"] and mark["describe"].get("state") not in UNDER_WAY
