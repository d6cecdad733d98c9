"""The time of all entries about a cluster, from one micro-batch to the next, and what of it may be shown.

A counter of Prometheus must not go back, which would look like a start from 0. So what is shown was stored first.

A rule sees a counter grow only between two samples. So a run first shows what the one before has shown. Once Prometheus
has that, the run shows the time in between, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from monitor.expectations.checks import NOT_THERE
from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.met_time import VALID_MS, MetAccount, MetTime
from monitor.model import GroupSummary, Value
from monitor.model.expectations import Met

STORE_EVERY_MS: Final = 15_000
"""How much time of a run is lost at most when it is killed: it then counts as unknown."""

HOLD_MS: Final = 60_000
"""For how long a run shows what the one before has shown, from its first scrape on: Prometheus scrapes more often."""


class StoredAccounts(Value):
    """What is stored, by the expressions of the entries. ``number`` grows from one time to the next.

    ``held`` is what is shown of an entry, while that is less.
    """

    cluster: str
    number: int
    accounts: dict[str, MetAccount]
    held: dict[str, MetTime] = msgspec.field(default_factory=dict)


class ClusterAccounts:
    """Counts for one cluster. One thread observes; any may ask what is shown."""

    def __init__(self, cluster: str, stored: StoredAccounts | None = None, valid_ms: int = VALID_MS) -> None:
        """Go on from what an earlier run stored; the time since then is unknown.

        ``valid_ms`` is how far apart two micro-batches may be: the age from which on an evaluation is late.
        """
        self._cluster = cluster
        self._valid_ms = valid_ms
        self._number = 0 if stored is None else stored.number
        self._accounts = {} if stored is None else {key: each.after_restart() for key, each in stored.accounts.items()}
        self._stored_ms = 0
        self._held: dict[str, MetTime] = (
            {} if stored is None else {key: each.time for key, each in stored.accounts.items()} | stored.held
        )
        self._first_look_ms: int | None = None
        self._silence_ms = 0
        """Until when silence was counted. A micro-batch that began before it may end after it."""
        self._shown = self._as_shown()

    def observe(
        self, entries: EntriesOfCluster, groups: Iterable[GroupSummary] | None, missing: str | None, now_ms: int
    ) -> bool:
        """Take what was found at an instant; whether it should be stored, and shown, now.

        Args:
            entries: those about the cluster; others are dropped.
            groups: the groups of the cluster. None: it is not known now how they are.
            missing: why there may be other groups, as a sentence; None: there are none.
            now_ms: the instant (ms since the epoch).
        """
        now_ms, self._silence_ms = max(now_ms, self._silence_ms), 0
        met = dict.fromkeys(entries.entries, Met.UNKNOWN) if groups is None else _outcomes(entries, groups, missing)
        counted = {key: each for key, each in met.items() if each is not None or key in self._accounts}
        before, self._accounts = self._accounts, {}
        for key, each in counted.items():
            account = before.get(key)
            found = Met.UNKNOWN if each is None else each
            self._accounts[key] = (
                MetAccount(now_ms, found) if account is None else account.observe(now_ms, found, self._valid_ms)
            )
        return before.keys() != counted.keys() or self._is_due(now_ms)

    def observe_silence(self, now_ms: int) -> bool:
        """Count time in which nothing was observed as unknown; whether it should be stored, and shown, now."""
        if not any(now_ms - each.at_ms > self._valid_ms for each in self._accounts.values()):
            return self._has_held(now_ms)
        self._accounts = {key: each.observe(now_ms, Met.UNKNOWN) for key, each in self._accounts.items()}
        self._silence_ms = now_ms
        return True

    def _is_due(self, now_ms: int) -> bool:
        return not 0 <= now_ms - self._stored_ms < STORE_EVERY_MS or self._has_held(now_ms)

    def _has_held(self, now_ms: int) -> bool:
        """Whether Prometheus has seen what the run before has shown, and should now see more."""
        first_ms = self._first_look_ms
        return bool(self._held) and first_ms is not None and not 0 <= now_ms - first_ms < HOLD_MS

    def to_store(self, now_ms: int) -> StoredAccounts:
        """What is to be stored. Show it afterwards."""
        self._number += 1
        self._stored_ms = now_ms
        is_over = self._has_held(now_ms)
        self._held = {} if is_over else {key: each for key, each in self._held.items() if key in self._accounts}
        return StoredAccounts(self._cluster, self._number, dict(self._accounts), self._held)

    def show(self) -> None:
        """Show what was to be stored last."""
        self._shown = self._as_shown()

    def shown_time(self, now_ms: int) -> Mapping[str, MetTime]:
        """The time of each entry, for a scrape at this instant."""
        if self._first_look_ms is None:
            self._first_look_ms = now_ms
        return self._shown

    def _as_shown(self) -> dict[str, MetTime]:
        return {key: self._held.get(key, each.time) for key, each in self._accounts.items()}


def _outcomes(entries: EntriesOfCluster, groups: Iterable[GroupSummary], missing: str | None) -> dict[str, Met | None]:
    """What was found of each entry; None: a job that does not see all groups sees none of it."""
    found = {
        each.group: Met.UNKNOWN if each.expectations is None else each.expectations.met
        for each in groups
        if each.state not in NOT_THERE
    }
    met: dict[str, Met | None] = {**entries.outcomes(found, missing)}
    if missing is not None:
        there = {expression for group in found for expression in entries.of(group)}
        met = {key: each if key in there else None for key, each in met.items()}
    return met
