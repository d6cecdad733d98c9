"""Ages on /metrics grow between two evaluations: every five seconds while they are read, else twice a minute."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from monitor.metrics.age_instants import LATE_MS, LONGEST_MS
from streaming_jobs.driver.snapshot_store import SnapshotStore

log = logging.getLogger(__name__)

REST: Final = 20
"""So many times longer than the texts took is the pause after them: of a million partitions they take seconds."""
LONGEST_S: Final = LONGEST_MS / 1000
"""The longest pause, also while the metrics are not read."""
READ_S: Final = 300.0
"""Who has read so lately will read again: a scrape a minute is usual, and a push of metrics as well."""


class GrowingAges:
    """Writes the ages of a store again every few seconds, in a thread, until it is stopped."""

    def __init__(self, store: SnapshotStore, stopped: threading.Event, pause_s: float = LATE_MS / 1000) -> None:
        self._store = store
        self._stopped = stopped
        self._pause_s = pause_s

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="growing-ages", daemon=True).start()

    def _run(self) -> None:
        pause_s, reads = self._pause_s, self._store.process.reads
        read_s, written_s = -READ_S, time.monotonic()
        while not self._stopped.wait(pause_s):
            now_s = time.monotonic()
            if self._store.process.reads != reads:
                reads, read_s = self._store.process.reads, now_s
            if now_s - read_s > READ_S and now_s - written_s < LONGEST_S:
                continue
            written_s = now_s
            try:
                self._store.grow_ages()
            except Exception:  # they are tried again
                log.exception("The ages of the metrics could not be written")
            pause_s = min(max(self._pause_s, REST * (time.monotonic() - now_s)), LONGEST_S)
