"""The outcomes as a table: a line for each scenario and client."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import median

from tests.skips.outcome import CERTAIN, Outcome

HEAD = "| scenario | client | runs | 1,000+ told | 100-999 told | rows | info | above | out of bounds | s p50 | s max |"


def table_of(outcomes: Iterable[Outcome]) -> str:
    """Of all outcomes, and of each scenario with each client."""
    lines = [HEAD, "|---|---|---|---|---|---|---|---|---|---|---|"]
    known = sorted(outcomes, key=lambda each: (each.demand, each.scenario, each.client))
    for (scenario, client), same in groupby(known, key=lambda each: (each.scenario, each.client)):
        lines.append(_line(scenario, client, list(same)))
    for demand, same in groupby(known, key=lambda each: each.demand):
        lines.append(_line(f"all: {demand}", "", list(same)))
    return "\n".join(lines) + "\n"


def _line(scenario: str, client: str, outcomes: Sequence[Outcome]) -> str:
    passages = [(each.records, after) for outcome in outcomes for each, after in outcome.after_ms.items()]
    many = [after for records, after in passages if records >= CERTAIN]
    some = [after for records, after in passages if records < CERTAIN]
    seconds = [after / 1000 for _, after in passages if after is not None]
    values = [
        str(len(outcomes)),
        _share(many),
        _share(some),
        *[str(sum(outcome.most == each for outcome in outcomes)) for each in ("row", "information")],
        str(sum(outcome.most == "above" for outcome in outcomes)),
        str(sum(bool(outcome.out_of_bounds) for outcome in outcomes)),
        f"{median(seconds):.1f}" if seconds else "",
        f"{max(seconds):.1f}" if seconds else "",
    ]
    return f"| {' | '.join([scenario, client, *values])} |"


def _share(told: Sequence[int | None]) -> str:
    """How many of them were told.

    >>> _share([5, None]), _share([])
    ('1 of 2', '')
    """
    return f"{sum(after is not None for after in told)} of {len(told)}" if told else ""
