"""What a collector has to say, in the log: when it is another thing, and seldom if it comes and goes."""

from __future__ import annotations

import logging

from monitor.collectors.passes.health import PassCounter
from monitor.readiness.repeated_warning import RepeatedWarning
from streaming_jobs.runtime.clock import monotonic_ms

log = logging.getLogger(__name__)


class CollectorLog:
    """To be called after each pass: says what is wrong with a collector or what its pass warns of, and when it is over.

    Belongs to the collector's thread.
    """

    def __init__(self, collector: PassCounter) -> None:
        """The code that found a problem before has logged it already."""
        self._collector = collector
        self._warnings = RepeatedWarning()
        if collector.problem is not None:
            self._warnings.line(collector.problem, monotonic_ms())

    def __call__(self) -> None:
        """See the class."""
        said = self._collector.problem or self._collector.warning
        health = self._collector.health()
        extra = {"cluster": health.cluster}
        if said is None:
            if self._warnings.end():
                log.info("%s can be read again", health.name, extra=extra)
        elif (line := self._warnings.line(said, monotonic_ms())) is not None:
            log.warning("%s", line, extra=extra)
