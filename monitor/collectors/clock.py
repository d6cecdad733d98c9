"""The clock of the machine that a collector runs on."""

from __future__ import annotations

import time


def wall_clock_ms() -> int:
    """Now, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
