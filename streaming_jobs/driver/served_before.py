"""What a job served last of a cluster, kept beside its checkpoint, so the next run serves it until it has its own.

Without it a restart takes every series and every finding away for as long as Spark needs to start: an alert resolves
and fires again, and who looks at the page sees nothing. What is served again is marked stale, never ready.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from monitor.config import Settings
from monitor.metrics.specs import METRICS
from monitor.metrics.version import installed_version
from monitor.model import ClusterSnapshot
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.runtime.checkpoint import folder_of
from streaming_jobs.runtime.clock import now_ms

log = logging.getLogger(__name__)

FILE: Final = "groupwatch-served"
OLDEST_MS: Final = 3_600_000
"""What is older tells more of the past than of the present."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a file holds. ``made_by`` is the program and the settings that shaped the series."""

    made_by: str
    snapshot: ClusterSnapshot


_DECODER: Final = msgspec.msgpack.Decoder(_Kept)


def local_folder(path: str) -> Path | None:
    """The folder of a checkpoint on this machine; None: it is on another file system.

    >>> local_folder("/var/lib/groupwatch"), local_folder("file:///a%20b"), local_folder("hdfs://host/a")
    (PosixPath('/var/lib/groupwatch'), PosixPath('/a b'), None)
    """
    address = urlsplit(path)
    if not address.scheme:
        return Path(path)
    return Path(unquote(address.path)) if address.scheme == "file" and not address.netloc else None


def made_by(settings: Settings) -> str:
    """What the shape and the choice of the series depend on: other series must not come back with a restart."""
    chosen = [settings.metrics.model_dump_json(), settings.detection.model_dump_json(), str(settings.shard)]
    names = [spec.name for spec in METRICS]
    return hashlib.sha256(msgspec.json.encode([installed_version(), names, chosen])).hexdigest()


class ServedBefore:
    """A file for each cluster of a job, if its checkpoints are on this machine: ``root`` is where they are."""

    def __init__(self, root: str, made_by: str) -> None:
        self._root = local_folder(root) if root else None
        self._made_by = made_by

    def read(self, cluster: str, now_ms: int) -> ClusterSnapshot | None:
        """What was served last, not ready; None: nothing that is of use now. What is broken is not used."""
        file = self._file(cluster)
        if file is None or not file.exists():
            return None
        try:
            kept = _DECODER.decode(file.read_bytes())
        except (OSError, msgspec.DecodeError, ValueError) as error:
            log.info("Cluster %s: what was served before the restart cannot be read (%s)", cluster, error)
            return None
        found = kept.snapshot
        age_ms = found.age_ms(now_ms)
        if kept.made_by != self._made_by or found.cluster != cluster or age_ms is None or age_ms > OLDEST_MS:
            return None
        return found

    def keep(self, snapshot: ClusterSnapshot) -> None:
        """Keep what is served now, if it is of this run; a restart does not fail for want of it."""
        file = self._file(snapshot.cluster)
        if file is None or not snapshot.ready:
            return
        served = ClusterSnapshot(
            cluster=snapshot.cluster,
            evaluated_ms=snapshot.evaluated_ms,
            groups=snapshot.groups,
            blocks=snapshot.blocks,
            catalog_ms=snapshot.catalog_ms,
            clock_behind_ms=snapshot.clock_behind_ms,
            tells_findings=snapshot.tells_findings,
        )
        fresh = file.with_name(f"{FILE}.new")
        try:
            fresh.write_bytes(msgspec.msgpack.encode(_Kept(made_by=self._made_by, snapshot=served)))
            fresh.replace(file)
        except OSError as error:
            log.warning("Cluster %s: what is served cannot be kept for the next start (%s)", snapshot.cluster, error)

    def _file(self, cluster: str) -> Path | None:
        return None if self._root is None else self._root / folder_of(cluster) / FILE


def served_before(settings: Settings) -> ServedBefore:
    """What a job of these settings keeps."""
    return ServedBefore(settings.spark.checkpoint or "", made_by(settings))


def serve_again(settings: Settings, store: SnapshotStore) -> None:
    """Put into the store what a run of these settings served last: better than nothing until there is an evaluation."""
    kept = served_before(settings)
    for name in settings.watched_names:
        known = kept.read(name, now_ms())
        if known is not None:
            store.publish(known)
            log.info("Cluster %s: serving the last evaluation before the restart until it has a new one", name)
