"""How a bucket is kept in Spark's state, and in the memory of a Python worker.

The state has the bucket as of some micro-batch (``base``) and what has changed since (``recent``, a row for each
micro-batch), so that a micro-batch writes what it changed and not the whole bucket. When as much is recent as is in
the base, the base is written again. ``mark`` names those micro-batches.

A worker keeps the buckets that it has seen. Spark gives a bucket to any worker, so the mark shows whether what is kept
is still true; if others have changed the bucket since, the recent rows bring it up to date. What is kept only saves
time: the state is the truth, and it is Spark's, with its checkpoints and its retries.

Base and recent rows are lists: they grow by rows, and a list is written in half the time of a value of the same 4 MB
(PySpark 4.2.0 and 4.1.1; docs/performance.md). The mark is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from streaming_jobs.buckets.bucket import Bucket, Entry, pack_entries, unpack_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import ListState, StatefulProcessorHandle, ValueState

ROW_BYTES: Final = 4_000_000
"""About how large a row of the base may be."""

LEAST_RECENT_BYTES: Final = 1_000_000
"""Below this, the base is not written again."""


@dataclass(slots=True)
class CachedBucket:
    """A bucket as of micro-batch ``batch``, whose base was written in micro-batch ``base``."""

    bucket: Bucket
    base: int = -1
    batch: int = -1
    base_bytes: int = 0
    recent_bytes: int = 0
    loaded: int = -1
    """The micro-batch in which it was loaded as a whole: what had changed before is not known."""


class BucketStore:
    """The state of the bucket whose turn it is, in Spark."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._mark: ValueState = handle.getValueState("mark", "base LONG, batch LONG")
        self._base: ListState = handle.getListState("base", "payload BINARY")
        self._recent: ListState = handle.getListState("recent", "batch LONG, payload BINARY")

    def load_newest(self, kept: CachedBucket | None, cluster: str, batch: int) -> CachedBucket:
        """The bucket as the state has it. ``kept`` is what this worker remembers of it, and is used if it can be."""
        mark = self._mark.get()
        if mark is None:
            return CachedBucket(Bucket(cluster), loaded=batch)  # new: what this micro-batch makes of it is its base
        base, newest = int(mark[0]), int(mark[1])
        if kept is not None and kept.base == base and kept.batch <= newest:
            if kept.batch < newest:
                self._catch_up(kept, newest)
            return kept
        found = CachedBucket(Bucket(cluster), base=base, batch=newest, loaded=batch)
        for (payload,) in self._base.get():
            found.base_bytes += len(payload)
            found.bucket.load(unpack_entries(bytes(payload)), base)
        found.batch = base
        self._catch_up(found, newest)
        return found

    def _catch_up(self, kept: CachedBucket, newest: int) -> None:
        recent = 0
        for changed, payload in self._recent.get():
            recent += len(payload)
            if changed > kept.batch:
                kept.bucket.load(unpack_entries(bytes(payload)), int(changed))
        kept.recent_bytes, kept.batch = recent, newest

    def save(self, kept: CachedBucket, batch: int) -> None:
        """Write what the micro-batch changed."""
        changed = kept.bucket.changes_since(batch - 1)
        if not changed:
            return
        if kept.base < 0:
            self._write_base(kept, batch)
            return
        row = pack_entries(changed)
        kept.recent_bytes += len(row)
        if kept.recent_bytes > max(kept.base_bytes, LEAST_RECENT_BYTES):
            self._write_base(kept, batch)
            return
        self._recent.appendList([(batch, row)])
        self._mark.update((kept.base, batch))
        kept.batch = batch

    def _write_base(self, kept: CachedBucket, batch: int) -> None:
        rows = list(_split_into_rows(kept.bucket))
        self._base.put([(row,) for row in rows])
        if self._recent.exists():
            self._recent.clear()
        self._mark.update((batch, batch))
        kept.base = kept.batch = batch
        kept.base_bytes, kept.recent_bytes = sum(map(len, rows)), 0


def _split_into_rows(bucket: Bucket) -> Iterator[bytes]:
    """The whole bucket as rows; at least one."""
    part: list[Entry] = []
    size = 0
    for entry in bucket.entries(bucket.states):
        part.append(entry)
        size += len(entry.state or b"")
        if size > ROW_BYTES:
            yield pack_entries(part)
            part, size = [], 0
    yield pack_entries(part)
