"""For how long expectations are met, kept in the checkpoint of a cluster: the counters go on after a restart."""

from __future__ import annotations

import logging
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

import msgspec

from monitor.expectations.accounts import ClusterAccounts, StoredAccounts
from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.met_time import VALID_MS, MetTime
from monitor.model import GroupSummary
from streaming_jobs.runtime.hadoop_files import FilesError

log = logging.getLogger(__name__)

FILES: Final = ("groupwatch-met-0.json", "groupwatch-met-1.json")
"""They are written in turns: one that is cut off leaves the other."""

READS: Final = 12
"""So many micro-batches try to read both files. Then one of them is enough."""


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
        self._lock = threading.Lock()
        """Of the accounts: micro-batches have one thread, and silence is noticed by another."""
        self._has_failed = False
        self._is_loaded = False
        self._reads = 0
        self._newest = 0
        """Which of the files holds what was stored last. It is not written before the other one is whole."""

    def load(self) -> None:
        """Go on from what the run before has stored. While it cannot be read, nothing counts; ``take`` tries again."""
        self._reads += 1
        found = [self._read(name) for name in FILES]
        errors = [each for each in found if isinstance(each, FilesError)]
        if errors and (len(errors) == len(FILES) or self._reads < READS):
            self._warn_once(f"cannot be read ({errors[0]})")
            return
        self._is_loaded = True
        self._has_failed = False
        self._newest = max(range(len(FILES)), key=lambda turn: _worth(found[turn]))
        newest = found[self._newest]
        if isinstance(newest, StoredAccounts):
            self._accounts = ClusterAccounts(self._cluster, newest, self._valid_ms)

    def _read(self, name: str) -> StoredAccounts | FilesError | None:
        """What a file holds; None: nothing of use. An error: it may hold something."""
        try:
            text = self._notes(name).read()
            return None if text is None else _decode(text, self._cluster)
        except FilesError as error:
            return error
        except (msgspec.DecodeError, ValueError) as error:
            log.warning("Cluster %s: %s cannot be used (%s)", self._cluster, name, error)
            return None

    def take(
        self, entries: EntriesOfCluster, groups: Iterable[GroupSummary] | None, missing: str | None, now_ms: int
    ) -> None:
        """Take what a micro-batch found; see :meth:`ClusterAccounts.observe`."""
        with self._lock:
            if not self._is_loaded:
                self.load()
            if self._is_loaded and self._accounts.observe(entries, groups, missing, now_ms):
                self._keep(now_ms)

    def take_silence(self, now_ms: int) -> None:
        """Count the time in which no micro-batch ends; see :meth:`ClusterAccounts.observe_silence`."""
        with self._lock:
            if self._accounts.observe_silence(now_ms):
                self._keep(now_ms)

    def _keep(self, now_ms: int) -> None:
        self._store(self._accounts.to_store(now_ms))
        self._accounts.show()

    def _store(self, stored: StoredAccounts) -> None:
        """A job does not fail for want of it; what it shows then may go back at its next start."""
        other = (self._newest + 1) % len(FILES)
        try:
            self._notes(FILES[other]).write(_encode(stored))
        except FilesError as error:
            self._warn_once(f"cannot be stored ({error})")
        else:
            self._newest = other
            self._has_failed = False

    def _warn_once(self, what: str) -> None:
        if not self._has_failed:
            log.warning("Cluster %s: the time of expectations %s", self._cluster, what)
        self._has_failed = True

    def shown_time(self, now_ms: int) -> Mapping[str, MetTime]:
        """The time of each entry, by its expression."""
        return self._accounts.shown_time(now_ms)


def _worth(found: StoredAccounts | FilesError | None) -> int:
    """The newer a file is, the more. One that cannot be read may hold something, so it is worth more than nothing."""
    if isinstance(found, StoredAccounts):
        return found.number
    return -1 if found is None else 0


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
