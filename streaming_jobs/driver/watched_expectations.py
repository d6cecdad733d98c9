"""The file of expectations in a running job: read when it changes, and kept as it was while it has mistakes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from monitor.config import ConfigError
from monitor.config.expectations import load_expectations
from monitor.detection.cluster_findings import AbsentGroups
from monitor.expectations.entries import EntriesOfCluster, Unread
from monitor.expectations.expectation import Expectations
from monitor.expectations.missing_groups import MissingGroups
from monitor.messages.formatting import counted
from monitor.model import GroupSummary, Shard, Value
from monitor.model.expectations import ExpectationsHealth
from streaming_jobs.buckets.batch_context import BatchContext
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.met_ledger import MetLedger

log = logging.getLogger(__name__)

PARTIAL: Final = "This job does not see all groups of the cluster now."

_Signature = tuple[int, ...] | None


class KnownExpectations(Value):
    """The newest usable content of the file. ``key`` is another one whenever that is, ``encoded`` is for executors."""

    expectations: Expectations
    key: str
    encoded: bytes
    health: ExpectationsHealth = ExpectationsHealth()


class WatchedExpectations:
    """The file of expectations. ``newest`` may be called by any thread, and reads the file only if it has changed."""

    def __init__(self, file: Path) -> None:
        """Read the file for the first time.

        Raises:
            ConfigError: it cannot be used; a sentence for each mistake.
        """
        self._file = file
        self._lock = threading.Lock()
        self._by_cluster: dict[str, ClusterExpectations] = {}
        self._read = _signature(file)
        self._known = _known_content(load_expectations(file))

    def newest(self) -> KnownExpectations:
        """The newest content that can be used. If the file cannot be used now, its health says so."""
        with self._lock:
            now = _signature(self._file)
            if now != self._read:
                self._read = now  # before the file is: what is written meanwhile is read next time
                self._known = self._content()
            return self._known

    def for_cluster(self, cluster: str, catalogs: CatalogServer) -> ClusterExpectations:
        """What is the same for a cluster in all runs of its query."""
        found = self._by_cluster.get(cluster)
        if found is None:
            found = self._by_cluster[cluster] = ClusterExpectations(cluster, self, catalogs)
        return found

    def _content(self) -> KnownExpectations:
        before = self._known
        try:
            found = _known_content(load_expectations(self._file))
        except ConfigError as error:
            used = f"{self._file} cannot be used, so the job goes by the expectations that it read before."
            problem = " ".join([used, *error.problems])
            log.warning("%s", problem)
            return msgspec.structs.replace(before, health=ExpectationsHealth(problem=problem))
        if found.key != before.key or before.health.problem is not None:
            entries = len(found.expectations.entries)
            log.info("%s was read again: it has %s", self._file, counted(entries, "expectation"))
        return found


class ClusterExpectations:
    """What one cluster's groups are compared with in its micro-batches, and which of them are missing."""

    def __init__(self, cluster: str, watched: WatchedExpectations, catalogs: CatalogServer) -> None:
        self._cluster = cluster
        self._watched = watched
        self._catalogs = catalogs
        self._missing = MissingGroups()
        self.met: MetLedger | None = None
        """Counts for how long they are met."""
        self.known = watched.newest()
        """The content by which the newest micro-batch evaluates."""
        self._offer()

    def serve(self) -> str:
        """The key of the newest content, which executors can fetch, for the next micro-batch."""
        before, self.known = self.known, self._watched.newest()
        if before.key != self.known.key:
            self._offer()
        return self.known.key

    def _offer(self) -> None:
        self._entries = EntriesOfCluster(self.known.expectations, self._cluster)
        self._catalogs.put(f"{self._cluster}/expectations", self.known.key, self.known.encoded)

    def absent(self, groups: Iterable[GroupSummary] | None, now_ms: int) -> AbsentGroups | None:
        """The groups that should exist and do not. ``groups`` are all of the cluster; None: some are not known."""
        return self._missing.update(self._entries, groups, now_ms)

    def count(self, groups: Iterable[GroupSummary] | None, batch: BatchContext, shard: Shard) -> None:
        """Count the time until a micro-batch. ``groups`` None: how they are is not known now."""
        if self.met is not None:
            missing = Unread(PARTIAL) if batch.unread else None if shard.is_all else PARTIAL
            self.met.take(self._entries, groups, missing, batch.now_ms)


def _known_content(expectations: Expectations) -> KnownExpectations:
    """The content for executors, too.

    Raises:
        ConfigError: it has a value that cannot be sent to them.
    """
    try:
        encoded = msgspec.msgpack.encode(expectations)
    except (OverflowError, ValueError) as error:
        raise ConfigError(f"The expectations have a value that cannot be used ({error}).") from error
    return KnownExpectations(expectations, blake2b(encoded, digest_size=16).hexdigest(), encoded)


def _signature(file: Path) -> _Signature:
    """What differs once the file is another one, or its permissions are; None: it cannot be found."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
