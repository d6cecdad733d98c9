"""The time of all entries about a cluster, from one micro-batch to the next, and what of it may be shown.

A counter of Prometheus must not go back, which would look like a start from 0. So what is shown was stored first, or is
unknown time that the next observation counts as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectations
from monitor.expectations.met_time import VALID_MS, MetAccount, MetTime
from monitor.model import GroupSummary, Phase, Value
from monitor.model.expectations import Met

STORE_EVERY_MS: Final = 15_000
"""How much time of a run is lost at most when it is killed: it then counts as unknown.

It is shorter than what an observation is valid for. So unknown time that was shown is stored with the next one.
"""

NOT_THERE: Final = frozenset({Phase.GONE, Phase.UNSEEN})
"""In these states there is no such group."""


class StoredAccounts(Value):
    """What is stored, by the expressions of the entries. ``number`` grows from one time to the next."""

    cluster: str
    number: int
    accounts: dict[str, MetAccount]


class _Shown(Value):
    """What is shown: the time that was stored, and until when it is known what is observed."""

    time: dict[str, MetTime] = msgspec.field(default_factory=dict)
    newest: dict[str, MetAccount] = msgspec.field(default_factory=dict)


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
        self._of: tuple[Expectations, EntriesOfCluster] | None = None
        self._shown = self._as_shown()

    def observe(
        self, expectations: Expectations, groups: Iterable[GroupSummary] | None, missing: str | None, now_ms: int
    ) -> bool:
        """Take what was found at an instant; whether it should be stored, and shown, now.

        Args:
            expectations: the entries; those that are no more are dropped.
            groups: the groups of the cluster. None: it is not known now how they are.
            missing: why there may be other groups, as a sentence; None: there are none.
            now_ms: the instant (ms since the epoch).
        """
        entries = self._entries(expectations)
        met = dict.fromkeys(entries.entries, Met.UNKNOWN) if groups is None else _outcomes(entries, groups, missing)
        counted = {key: each for key, each in met.items() if each is not None or key in self._accounts}
        before, self._accounts = self._accounts, {}
        for key, each in counted.items():
            account = before.get(key)
            found = Met.UNKNOWN if each is None else each
            self._accounts[key] = (
                MetAccount(now_ms, found) if account is None else account.observe(now_ms, found, self._valid_ms)
            )
        is_due = before.keys() != counted.keys() or not 0 <= now_ms - self._stored_ms < STORE_EVERY_MS
        if not is_due:
            self._shown = _Shown(self._shown.time, dict(self._accounts))
        return is_due

    def to_store(self, now_ms: int) -> StoredAccounts:
        """What is to be stored. Show it afterwards."""
        self._number += 1
        self._stored_ms = now_ms
        return StoredAccounts(self._cluster, self._number, dict(self._accounts))

    def show(self) -> None:
        """Show what was to be stored last."""
        self._shown = self._as_shown()

    def shown_time(self, now_ms: int) -> Mapping[str, MetTime]:
        """The time of each entry: time in which nothing is observed is unknown."""
        shown = self._shown
        return {
            key: time.plus(Met.UNKNOWN, shown.newest[key].unobserved_ms(now_ms, self._valid_ms))
            for key, time in shown.time.items()
        }

    def _as_shown(self) -> _Shown:
        return _Shown({key: each.time for key, each in self._accounts.items()}, dict(self._accounts))

    def _entries(self, expectations: Expectations) -> EntriesOfCluster:
        if self._of is None or self._of[0] is not expectations:
            self._of = expectations, EntriesOfCluster(expectations, self._cluster)
        return self._of[1]


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
