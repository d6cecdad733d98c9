"""Ctrl-C and SIGTERM, so that everything that was started is ended in good order."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn, Self

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """While the block lasts, both signals end it in good order.

    Until ``arm()`` they raise KeyboardInterrupt, so that a long start can be broken off; after it they set
    ``stopping``, which the main loop waits for. A second signal never breaks off the ending.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._interrupt) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def arm(self) -> None:
        """Call after Spark has started: it puts a handler of its own in the place of SIGINT's."""
        for number in _SIGNALS:
            signal.signal(number, self._stop)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        self.arm()
        raise KeyboardInterrupt

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping.set()
