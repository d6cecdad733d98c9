"""What a collector has to say, in the log: once each time that it is another thing."""

from __future__ import annotations

import logging

from monitor.collectors.passes.health import PassCounter

log = logging.getLogger(__name__)


class CollectorLog:
    """To be called after each pass: says what is wrong with a collector or what its pass warns of, and when it is over.

    Belongs to the collector's thread.
    """

    def __init__(self, collector: PassCounter) -> None:
        """The code that found a problem before has logged it already."""
        self._collector = collector
        self._told = collector.problem

    def __call__(self) -> None:
        """See the class."""
        said = self._collector.problem or self._collector.warning
        if said == self._told:
            return
        if said is not None:
            log.warning("%s", said)
        else:
            log.info("%s can be read again", self._collector.health().name)
        self._told = said
