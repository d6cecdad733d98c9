"""What a person sees of an answer that takes long: a line on the terminal, which goes away with the answer."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

Found = TypeVar("Found")

PATIENCE_S: Final = 2.0
"""What is quicker than this shows nothing."""

CLEAR: Final = "\r\x1b[K"
"""Empties the line of a terminal."""


def wait_for(answer: Callable[[], Found], subject: str) -> Found:
    """An answer; while it takes long, a line on stderr says so and for how long, if that is a terminal."""
    with _line(subject):
        return answer()


@contextmanager
def _line(subject: str) -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    shower = threading.Thread(target=_show, args=(subject, done), daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()


def _show(subject: str, done: threading.Event) -> None:
    start_s = time.monotonic()
    if done.wait(PATIENCE_S):
        return
    while True:
        sys.stderr.write(f"{CLEAR}Waiting for {subject}: {time.monotonic() - start_s:.0f} s")
        sys.stderr.flush()
        if done.wait(1.0):
            break
    sys.stderr.write(CLEAR)
    sys.stderr.flush()
