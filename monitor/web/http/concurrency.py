"""Answers that take long take turns: a scrape waits for the others' slices of the interpreter, one of each thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

Answer = TypeVar("Answer")

AT_ONCE: Final = 2
"""With so many being computed, a scrape is late by about 10 ms for each step that it takes on its way."""


class Turns:
    """Runs at most AT_ONCE functions at a time in threads; who comes later waits without holding a thread."""

    def __init__(self) -> None:
        self._limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.CapacityLimiter] = WeakKeyDictionary()

    async def take(self, function: Callable[[], Answer]) -> Answer:
        """What the function gives, when its turn has come."""
        loop = asyncio.get_running_loop()
        limiter = self._limiters.get(loop)
        if limiter is None:
            limiter = self._limiters[loop] = anyio.CapacityLimiter(AT_ONCE)
        return await anyio.to_thread.run_sync(function, limiter=limiter)
