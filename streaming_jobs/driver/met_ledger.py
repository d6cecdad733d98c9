"""For how long expectations are met, kept in the checkpoint of a cluster: the counters go on after a restart."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

import msgspec

from monitor.expectations.accounts import ClusterAccounts, StoredAccounts
from monitor.expectations.expectation import Expectations
from monitor.expectations.met_time import VALID_MS, MetTime
from monitor.model import GroupSummary
from streaming_jobs.runtime.hadoop_files import FilesError

log = logging.getLogger(__name__)

FILES: Final = ("groupwatch-met-0.json", "groupwatch-met-1.json")
"""They are written in turns: one that is cut off leaves the other."""


class KeptText(Protocol):
    """A small text that is kept from run to run, as streaming_jobs.runtime.hadoop_files.Note is."""

    def read(self) -> str | None:
        """The text; None: there is none. Raises FilesError."""

    def write(self, text: str) -> None:
        """Keep this. Raises FilesError."""


class _Kept(msgspec.Struct, frozen=True):
    """What a file holds; ``checksum`` is a CRC-32."""

    checksum: int
    accounts: msgspec.Raw


_FILES: Final = msgspec.json.Decoder(_Kept)
_ACCOUNTS: Final = msgspec.json.Decoder(StoredAccounts)


class MetLedger:
    """Counts the micro-batches of a cluster. Any thread may ask what is shown.

    ``notes``: texts by their names. ``valid_ms``: how far apart two micro-batches may be.
    """

    def __init__(self, cluster: str, notes: Callable[[str], KeptText], valid_ms: int = VALID_MS) -> None:
        self._cluster = cluster
        self._notes = notes
        self._valid_ms = valid_ms
        self._accounts = ClusterAccounts(cluster, valid_ms=valid_ms)
        self._has_failed = False

    def load(self) -> None:
        """Go on from what the run before has stored."""
        found = [stored for name in FILES if (stored := self._read(name)) is not None]
        if found:
            newest = max(found, key=lambda each: each.number)
            self._accounts = ClusterAccounts(self._cluster, newest, self._valid_ms)

    def _read(self, name: str) -> StoredAccounts | None:
        try:
            text = self._notes(name).read()
            return None if text is None else _decode(text, self._cluster)
        except (FilesError, msgspec.DecodeError, ValueError) as error:
            log.warning("Cluster %s: %s cannot be used (%s)", self._cluster, name, error)
            return None

    def take(
        self, expectations: Expectations, groups: Iterable[GroupSummary] | None, missing: str | None, now_ms: int
    ) -> None:
        """Take what a micro-batch found; see :meth:`ClusterAccounts.observe`."""
        if self._accounts.observe(expectations, groups, missing, now_ms):
            self._store(self._accounts.to_store(now_ms))
            self._accounts.show()

    def _store(self, stored: StoredAccounts) -> None:
        """A job does not fail for want of it; what it shows then may go back at its next start."""
        try:
            self._notes(FILES[stored.number % len(FILES)]).write(_encode(stored))
        except FilesError as error:
            if not self._has_failed:
                log.warning("Cluster %s: the time of expectations cannot be stored (%s)", self._cluster, error)
            self._has_failed = True
        else:
            self._has_failed = False

    def shown_time(self, now_ms: int) -> Mapping[str, MetTime]:
        """The time of each entry, by its expression."""
        return self._accounts.shown_time(now_ms)


def _encode(stored: StoredAccounts) -> str:
    body = msgspec.json.encode(stored)
    return msgspec.json.encode(_Kept(zlib.crc32(body), msgspec.Raw(body))).decode()


def _decode(text: str, cluster: str) -> StoredAccounts | None:
    """What was stored; None: it is of another cluster.

    Raises:
        msgspec.DecodeError, ValueError: it is cut off or damaged.
    """
    kept = _FILES.decode(text)
    if zlib.crc32(kept.accounts) != kept.checksum:
        raise ValueError("its checksum differs")
    stored = _ACCOUNTS.decode(kept.accounts)
    return stored if stored.cluster == cluster else None
