"""What is remembered of groups whose members are counted, kept in the checkpoint of a cluster.

How fast members read is seen only while they have lag, so a job that forgot it at each restart might not know it for
days. Executors get what is kept here once they have nothing of their own.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Mapping
from typing import Final
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from monitor.model.scaling import ScaleMemory
from monitor.scaling.notes import ScaleNote, decode_note, encode_note
from monitor.scaling.signal import LATEST_FOR_MS
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.met_ledger import KeptText
from streaming_jobs.runtime.hadoop_files import FilesError

log = logging.getLogger(__name__)

FILE: Final = "groupwatch-scale.json"
STORED_EVERY_MS: Final = 60_000


class _Stored(msgspec.Struct, frozen=True):
    """What the file holds. ``checksum`` is a CRC-32 of the memories; these are of ``stored_ms``."""

    cluster: str
    stored_ms: int
    checksum: int
    memories: msgspec.Raw


_FILES: Final = msgspec.json.Decoder(_Stored)
_MEMORIES: Final = msgspec.json.Decoder(dict[str, ScaleMemory])


class ScaleLedger:
    """Keeps what is remembered of the groups of one cluster, and offers it to executors. For one thread."""

    def __init__(self, cluster: str, note: KeptText, catalogs: CatalogServer) -> None:
        self._cluster = cluster
        self._note = note
        self._catalogs = catalogs
        self._known: Mapping[str, bytes] = {}
        self._stored: Mapping[str, int] = {}
        """The stored numbers."""
        self._stored_ms = 0
        self._key = ""
        self._has_failed = False

    def load(self, now_ms: int) -> None:
        """Take over what the run before has stored. What was enough then says nothing of the time since."""
        try:
            text = self._note.read()
            found = {} if text is None else _decode(text, self._cluster, now_ms)
        except (FilesError, msgspec.DecodeError, ValueError) as error:
            log.warning(
                "Cluster %s: %s cannot be used (%s); the speed of members is unknown", self._cluster, FILE, error
            )
            found = {}
        self._known = {name: encode_note(ScaleNote(memory)) for name, memory in found.items()}
        self._offer()

    @property
    def key(self) -> str:
        """The key by which executors fetch what is known: another one in each cluster and run."""
        return self._key

    def take(self, notes: Mapping[str, bytes], now_ms: int) -> None:
        """Take the notes of the executors, which are those on all groups that there are, and offer them at once.

        They are stored once a minute, so that their numbers stay current, and as soon as one is higher.
        """
        changed = {name: note for name, note in notes.items() if note != self._known.get(name)}
        latest = {name: decode_note(note).memory.latest or 0 for name, note in changed.items()}
        is_higher = any(each > self._stored.get(name, 0) for name, each in latest.items())
        if changed or notes.keys() != self._known.keys():
            self._known = dict(notes)
            self._offer()
        if self._known and (is_higher or now_ms - self._stored_ms >= STORED_EVERY_MS):
            self._store(now_ms)

    def _store(self, now_ms: int) -> None:
        self._stored_ms = now_ms
        memories = {name: decode_note(note).memory for name, note in self._known.items()}
        self._stored = {name: each.latest for name, each in memories.items() if each.latest is not None}
        try:
            self._note.write(_encode(self._cluster, memories, now_ms))
            self._has_failed = False
        except FilesError as error:
            if not self._has_failed:
                log.warning("Cluster %s: how fast members read cannot be stored (%s)", self._cluster, error)
            self._has_failed = True

    def _offer(self) -> None:
        self._key = f"scale-{uuid4().hex}"
        self._catalogs.put(f"{self._cluster}/scale", self.key, msgspec.msgpack.encode(self._known))


def _encode(cluster: str, memories: Mapping[str, ScaleMemory], now_ms: int) -> str:
    body = msgspec.json.encode(memories)
    return msgspec.json.encode(_Stored(cluster, now_ms, zlib.crc32(body), msgspec.Raw(body))).decode()


def _decode(text: str, cluster: str, now_ms: int) -> dict[str, ScaleMemory]:
    """The memories of a file; none if it is of another cluster.

    Raises:
        msgspec.DecodeError, ValueError: it is cut off or damaged.
    """
    stored = _FILES.decode(text)
    if zlib.crc32(stored.memories) != stored.checksum:
        raise ValueError("its checksum differs")
    if stored.cluster != cluster:
        return {}
    is_fresh = 0 <= now_ms - stored.stored_ms <= LATEST_FOR_MS
    found = _MEMORIES.decode(stored.memories)
    return {name: _still_valid(each, is_fresh=is_fresh) for name, each in found.items()}


def _still_valid(memory: ScaleMemory, *, is_fresh: bool) -> ScaleMemory:
    """What still counts of a memory that another run had."""
    return replace(memory, since_ms=0, enough=(), latest=memory.latest if is_fresh else None)
