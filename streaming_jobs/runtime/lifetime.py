"""How long a command runs: until its work is done or fails, until a signal stops it, or until it has to be given up.

The work is in a thread of its own. The main thread only waits and acts upon signals, so that nothing is broken off in
the middle by an exception out of nowhere, and a process whose work hangs can still be ended.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

log = logging.getLogger(__name__)

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

POLL_S: Final = 0.2

END_LIMIT_S: Final = 45.0
"""How long the work may take to end in good order after a signal: a micro-batch, then Spark. Then it is cut off."""

FAILED_CODE: Final = 1


class JobFailed(Exception):  # noqa: N818 -- it reads as what happened
    """The job cannot go on; the text says why, and a restart may heal it."""


class Stopped(BaseException):
    """A signal stopped the command while it was still starting. No handler of errors catches this."""


class Lifetime:
    """Shared by the main thread and the work: what ends the command."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        """Set after a signal to stop."""
        self._told_to_stop = False
        self.given_up: str | None = None
        """Why the work is hopeless, in a sentence, once it is."""
        self._cut_offs: list[Callable[[], None]] = []

    @property
    def is_over(self) -> bool:
        """Whether a signal to stop has come; true a moment before ``stopping`` is set."""
        return self._told_to_stop or self.stopping.is_set()

    def go_on(self) -> None:
        """To be called between the steps of a start.

        Raises:
            Stopped: a signal to stop has come.
        """
        if self.is_over:
            raise Stopped

    def progress(self, line: str) -> None:
        """Log a step of a start, unless a signal to stop has come. Raises like ``go_on``."""
        self.go_on()
        log.info("%s", line)

    def at_cut_off(self, action: Callable[[], None]) -> None:
        """Have this done if the work does not end in good order; it must not wait for anything."""
        self._cut_offs.append(action)

    def give_up(self, sentence: str) -> None:
        """End the command with code 1, whatever the work is waiting for. From any thread."""
        self.given_up = sentence

    def run(self, work: Callable[[Lifetime], None]) -> None:
        """Do the work; return when it is done, or has ended because of a signal to stop.

        Must be called in the main thread. A second signal never breaks off the ending.

        Raises:
            Exception: what the work raises, unless a signal to stop has come.
        """
        errors: list[BaseException] = []
        thread = threading.Thread(target=self._do, args=(work, errors), name="work", daemon=True)
        with self._signals():
            thread.start()
            self._await(thread)
        if errors and not self.is_over:
            raise errors[0]

    def _do(self, work: Callable[[Lifetime], None], errors: list[BaseException]) -> None:
        try:
            work(self)
        except Stopped:
            pass
        except BaseException as error:
            log.debug("the work ended", exc_info=error)
            errors.append(error)

    def _await(self, thread: threading.Thread) -> None:
        told_s: float | None = None
        while thread.is_alive():
            thread.join(POLL_S)
            if self._told_to_stop:
                self.stopping.set()
            if self.given_up is not None:
                self._cut_off(FAILED_CODE, f"groupwatch stopped: {self.given_up}")
            if self.stopping.is_set():
                told_s = time.monotonic() if told_s is None else told_s
                if time.monotonic() - told_s > END_LIMIT_S:
                    self._cut_off(0, f"groupwatch did not shut down within {END_LIMIT_S:.0f} s and is terminated")

    def _cut_off(self, code: int, sentence: str) -> None:
        """End the process here. What is committed is in the checkpoint, and the rest is read again."""
        for action in self._cut_offs:
            try:
                action()
            except Exception:
                log.debug("at the end", exc_info=True)
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()
        logging.shutdown()
        os._exit(code)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._stop) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # Not the event: its lock is not reentrant, and a second signal may come while the first one is handled.
        self._told_to_stop = True
