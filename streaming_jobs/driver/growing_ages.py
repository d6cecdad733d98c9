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
UNREAD: Final = LONGEST_MS // LATE_MS
"""After so many pauses the ages are written although nobody has read them."""


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
        pause_s, reads, pauses = self._pause_s, self._store.process.reads, 0
        while not self._stopped.wait(pause_s):
            pauses += 1
            if self._store.process.reads == reads and pauses < UNREAD:
                continue
            reads, pauses, began_s = self._store.process.reads, 0, time.perf_counter()
            try:
                self._store.grow_ages()
            except Exception:  # they are tried again
                log.exception("The ages of the metrics could not be written")
            pause_s = max(self._pause_s, REST * (time.perf_counter() - began_s))
