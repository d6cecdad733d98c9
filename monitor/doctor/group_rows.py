"""The table of the groups: what a first look wants to see of each, whether it has a finding or not."""

from __future__ import annotations

from typing import Final

from monitor.model import GroupVerdict, Phase, Value

REBALANCING: Final = "rebalancing"


class GroupRow(Value):
    """A group in numbers. None: not known.

    ``kind`` and ``state`` are those of the API. ``partitions`` are those that its members subscribe to or that it has
    committed; ``lag`` is in records, and ``lag_at_least`` is its lower bound where uncommitted partitions hide it.
    ``lag_ms`` is the age of the oldest record of the lag, ``lag_at_least_ms`` how old that is at least.
    """

    group: str
    kind: str | None
    state: str
    members: int | None = None
    partitions: int | None = None
    lag: int | None = None
    lag_ms: int | None = None
    lag_at_least_ms: int | None = None
    lag_at_least: int | None = None


def group_row(verdict: GroupVerdict) -> GroupRow:
    """The row of a group that was judged."""
    return GroupRow(
        group=verdict.group,
        kind=verdict.kind,
        state=verdict.state.value,
        members=None if verdict.state is Phase.OFFSETS_ONLY else len(verdict.members),
        partitions=len(verdict.partitions),
        lag=verdict.lag,
        lag_ms=verdict.lag_ms,
        lag_at_least_ms=verdict.lag_at_least_ms,
        lag_at_least=verdict.lag_at_least,
    )


def rebalancing_row(group: str) -> GroupRow:
    """The row of a group that rebalances. Meanwhile, brokers return neither its subscriptions nor its owners."""
    return GroupRow(group=group, kind=None, state=REBALANCING)
