"""What a job served last of a cluster, kept beside its checkpoint, so the next run serves it until it has its own.

Without it a restart takes every series and every finding away for as long as Spark needs to start: an alert resolves
and fires again, and who looks at the page sees nothing. What is served again is marked stale, never ready.
"""

from __future__ import annotations

import hashlib
import logging
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from monitor.config import Settings
from monitor.metrics.specs import METRICS, SCALE_FAMILIES
from monitor.metrics.version import installed_version
from monitor.model import ClusterSnapshot
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.runtime.checkpoint import folder_of
from streaming_jobs.runtime.clock import now_ms

log = logging.getLogger(__name__)

FILE: Final = "groupwatch-served"
OLDEST_MS: Final = 3_600_000
"""What is older shows more of the past than of the present."""
AHEAD_MS: Final = 60_000
"""What was evaluated later than this from now has another clock's time."""
_ADDRESS: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(//(?P<host>[^/]*))?(?P<path>/.*)")


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """What a file holds. ``made_by`` is the program and the settings that shaped the series, ``checksum`` a CRC-32."""

    made_by: str
    checksum: int
    snapshot: msgspec.Raw


_DECODER: Final = msgspec.msgpack.Decoder(_Kept)
_SNAPSHOTS: Final = msgspec.msgpack.Decoder(ClusterSnapshot)


def local_folder(path: str) -> Path | None:
    """The folder of a checkpoint on this machine; None: it is on another file system.

    Hadoop takes a path as it is: nothing in it is quoted (``org.apache.hadoop.fs.Path``).

    >>> local_folder("/var/lib/groupwatch"), local_folder("file:///a%20b"), local_folder("hdfs://host/a")
    (PosixPath('/var/lib/groupwatch'), PosixPath('/a%20b'), None)
    """
    found = _ADDRESS.fullmatch(path)
    if found is None:
        return Path(path)
    return Path(found["path"]) if found["scheme"] == "file" and not found["host"] else None


def made_by(settings: Settings) -> str:
    """What the shape and the choice of the series depend on: other series must not come back with a restart."""
    clusters = sorted((each.name, each.bootstrap_servers) for each in settings.clusters.values())
    chosen = [settings.metrics.model_dump_json(), settings.detection.model_dump_json(), str(settings.shard), clusters]
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
        if file is None:
            return None
        try:
            found = self._decode(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, ValueError) as error:
            log.info("Cluster %s: what was served before the restart cannot be read (%s)", cluster, error)
            return None
        return found if found is not None and found.cluster == cluster and _is_recent(found, now_ms) else None

    def _decode(self, data: bytes) -> ClusterSnapshot | None:
        """What was kept, if the same program with the same settings kept it.

        Raises:
            msgspec.DecodeError, ValueError: the bytes are not what was written.
        """
        kept = _DECODER.decode(data)
        if kept.made_by != self._made_by:
            return None
        if zlib.crc32(kept.snapshot) != kept.checksum:
            raise ValueError("its checksum differs")
        return _SNAPSHOTS.decode(kept.snapshot)

    def keep(self, snapshot: ClusterSnapshot) -> None:
        """Keep what is served now, if it is of this run; a restart does not fail for want of it."""
        file = self._file(snapshot.cluster)
        if file is None or not snapshot.ready:
            return
        served = ClusterSnapshot(
            cluster=snapshot.cluster,
            evaluated_ms=snapshot.evaluated_ms,
            groups=snapshot.groups,
            blocks=tuple([each for each in snapshot.blocks if each.family not in SCALE_FAMILIES]),
            catalog_ms=snapshot.catalog_ms,
            clock_behind_ms=snapshot.clock_behind_ms,
            tells_findings=snapshot.tells_findings,
            ended=snapshot.ended,
        )
        fresh = file.with_name(f"{FILE}.new")
        try:
            fresh.write_bytes(self._encode(served))
            fresh.replace(file)
        except (OSError, ValueError) as error:
            log.warning("Cluster %s: what is served cannot be kept for the next start (%s)", snapshot.cluster, error)
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def forget(self, cluster: str) -> None:
        """Drop what was kept: there is an evaluation of this run, and after a crash the old one must not come back."""
        file = self._file(cluster)
        if file is not None:
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def _encode(self, snapshot: ClusterSnapshot) -> bytes:
        body = msgspec.msgpack.encode(snapshot)
        return msgspec.msgpack.encode(_Kept(self._made_by, zlib.crc32(body), msgspec.Raw(body)))

    def _file(self, cluster: str) -> Path | None:
        return None if self._root is None else self._root / folder_of(cluster) / FILE


def _is_recent(found: ClusterSnapshot, now_ms: int) -> bool:
    age_ms = found.age_ms(now_ms)
    if age_ms is None or found.evaluated_ms is None:
        return False
    return age_ms <= OLDEST_MS and found.evaluated_ms + found.clock_behind_ms <= now_ms + AHEAD_MS


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
