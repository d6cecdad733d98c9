"""What a run came to, and which demands that violates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from monitor.model import Value
from tests.skips.oracle import INFORMATION, ROW, Passage, Row, Told, out_of_bounds, told_after_ms
from tests.skips.play import Play
from tests.skips.scenarios import Demand, Scenario

CERTAIN: Final = 1_000
"""Each passage of so many records has to be told."""
MOSTLY: Final = 100
"""Of those with so many records, LEAST_SHARE; a row of their partition suffices (decision 0077)."""
LEAST_SHARE: Final = 0.95
LATEST_MS: Final = 8_000


class Outcome(Value):
    """What is true of a group, and what was told.

    ``rows`` are of the end of all runs. ``error``: the run could not be played to its end. ``read``: so many offsets
    have its consumers noted.
    """

    name: str
    scenario: str
    demand: Demand
    client: str
    size: int
    passages: tuple[Passage, ...]
    told: tuple[Told, ...]
    rows: tuple[Row, ...]
    error: str = ""
    read: int = 0

    @property
    def after_ms(self) -> dict[Passage, int | None]:
        """How long after its commit each passage was told, of those that are not too small."""
        return {each: told_after_ms(each, self.told) for each in self.passages if each.records >= MOSTLY}

    @property
    def accusations(self) -> list[str]:
        """The reasons above information that were told."""
        return sorted({told.reason for told in self.told} - INFORMATION)

    @property
    def most(self) -> str:
        """The gravest that was told: above information, information, a row, or nothing (empty)."""
        if self.accusations:
            return "above"
        reasons = {told.reason for told in self.told}
        return "information" if reasons - {ROW} else ROW if reasons else ""

    @property
    def out_of_bounds(self) -> list[str]:
        """Where the truth is not within the bounds."""
        return out_of_bounds(self.passages, self.rows)

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        known: dict[str, Any] = msgspec.to_builtins(self)
        return known


def outcome_of(scenario: Scenario, play: Play, error: str) -> Outcome:
    """What is known of a run by now."""
    return Outcome(
        play.name,
        scenario.name,
        scenario.demand,
        play.client,
        play.size,
        tuple(play.passages()),
        tuple(play.told()),
        tuple(play.rows()),
        error,
        play.read(),
    )


def violations(outcomes: Sequence[Outcome], latest_ms: int = LATEST_MS) -> list[str]:
    """The demands that are not met."""
    return [
        *_failed(outcomes),
        *_accused(outcomes),
        *_beyond(outcomes),
        *_untold(outcomes, latest_ms),
        *_unseen(outcomes),
    ]


def _failed(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.error:
            yield f"{outcome.name} could not be played: {outcome.error[:200]}"


def _accused(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.demand is Demand.NO_ACCUSATION and outcome.accusations:
            yield f"{outcome.name}: {outcome.accusations} told of a healthy group"


def _beyond(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        for line in outcome.out_of_bounds:
            yield f"{outcome.name}: {line}"


def _untold(outcomes: Sequence[Outcome], latest_ms: int) -> Iterator[str]:
    known = [
        (outcome, passage, after)
        for outcome in outcomes
        if outcome.demand is Demand.TOLD
        for passage, after in outcome.after_ms.items()
    ]
    for outcome, passage, after in known:
        if after is None and passage.records >= CERTAIN:
            yield f"{outcome.name}: {passage.records} records of partition {passage.partition} were not told"
        elif after is not None and after > latest_ms:
            yield f"{outcome.name}: told {after / 1000:.1f} s after the commit"
    told = [after is not None for _, _, after in known]
    if sum(told) < LEAST_SHARE * len(told):
        yield f"{sum(told)} of {len(told)} passages of at least {MOSTLY} records were told"


def _unseen(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What proves nothing: logs of consumers without a record, and clients that were to skip records and did not."""
    for outcome in outcomes:
        if not outcome.read and not outcome.error:
            yield f"{outcome.name}: its consumers noted no record"
    skipping = [outcome for outcome in outcomes if outcome.demand is Demand.TOLD]
    for client in sorted({outcome.client for outcome in skipping}):
        if not any(outcome.after_ms for outcome in skipping if outcome.client == client):
            yield f"no consumer of {client} passed {MOSTLY} records unread"
