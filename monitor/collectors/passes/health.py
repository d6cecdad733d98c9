"""How the passes of a collector go: counted by its own thread, read by any other."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from monitor.collectors.passes.known_source import KnownSource
from monitor.model import CollectorHealth


def _nothing() -> None:
    """Do nothing: the default of ``after_pass``."""


class PassCounter(ABC):
    """Base of collectors. What is public here is written by the collector's thread, and may be read from any."""

    def __init__(self, cluster: str, collector: str, name: str) -> None:
        """Nothing has been tried yet; for the names see :class:`monitor.model.CollectorHealth`."""
        self._cluster_name = cluster
        self._collector = collector
        self._own_name = name
        self.last_success_ms: int | None = None
        """When the newest complete pass was written."""
        self.problem: str | None = None
        """Why the newest pass failed or is incomplete, as a sentence; None after a complete one."""
        self.warning: str | None = None
        """What a complete pass has to say, in a sentence or several: all was read, but not all is as it should be."""
        self.source = KnownSource(cluster)
        """What is read, so that another one at its address is not taken for it."""
        self.has_made_topic = False
        """Whether it has created the events topic since the last query: what was read of an old one is gone."""
        self.failed_passes = 0
        """How many passes failed since the start."""
        self.complete_passes = 0
        """How many passes were written whole."""
        self.incomplete_passes = 0
        """How many passes were written though something did not answer."""
        self.pass_duration_ms: int | None = None
        """How long the newest pass took."""
        self.after_pass: Callable[[], None] = _nothing
        """Called by the collector's thread after each pass, whatever has come of it."""

    def set_identity(self, collector: str, name: str) -> None:
        """Take other names than those that it was made with."""
        self._collector, self._own_name = collector, name

    @abstractmethod
    def run(self, stop: threading.Event) -> None:
        """Make passes until ``stop``."""

    @property
    def written_passes(self) -> int:
        """How many passes wrote something new."""
        return self.complete_passes + self.incomplete_passes

    @property
    def has_begun(self) -> bool:
        """Whether a pass was written, complete or not: the events topic is there, and has something of this run."""
        return self.written_passes > 0

    def health(self) -> CollectorHealth:
        """All this as a value."""
        return CollectorHealth(
            cluster=self._cluster_name,
            collector=self._collector,
            name=self._own_name,
            complete=self.complete_passes,
            incomplete=self.incomplete_passes,
            failed=self.failed_passes,
            last_success_ms=self.last_success_ms,
            pass_ms=self.pass_duration_ms,
            problem=self.problem,
            warning=self.warning,
        )

    def _end_pass(self, began_s: float) -> None:
        """Take the time of a pass that began then, by ``time.monotonic``, and say that it has ended."""
        self.pass_duration_ms = int((time.monotonic() - began_s) * 1000)
        self.after_pass()
