"""The time, as a test of doctor wants it."""

from __future__ import annotations


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_ms = 1_795_650_000_000

    def __call__(self) -> int:
        return self.now_ms

    def wait(self, seconds: float) -> None:
        self.now_ms += int(seconds * 1000)
