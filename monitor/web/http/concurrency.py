"""Answers that take long take turns: a scrape waits for the others' slices of the interpreter, one of each thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException

Answer = TypeVar("Answer")

AT_ONCE: Final = 2
"""With so many being computed, a scrape is late by about 10 ms for each step that it takes on its way."""


MOST_WAITING: Final = 2
"""So many questions about the past wait for the one that is being answered. Further ones are refused at once: each
takes one of the places that all pages have together (monitor.web.http.limits)."""


class Turns:
    """Runs at most ``at_once`` functions at a time in threads; who comes later waits without holding a thread."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.CapacityLimiter] = WeakKeyDictionary()

    async def take(self, function: Callable[[], Answer]) -> Answer:
        """What the function gives, when its turn has come."""
        loop = asyncio.get_running_loop()
        limiter = self._limiters.get(loop)
        if limiter is None:
            limiter = self._limiters[loop] = anyio.CapacityLimiter(self._at_once)
        return await anyio.to_thread.run_sync(function, limiter=limiter)


class PastTurns:
    """Runs one question about the past at a time: it takes seconds, and memory. No page of now waits for it."""

    def __init__(self) -> None:
        self._turns = Turns(at_once=1)
        self._present = 0

    async def take(self, function: Callable[[], Answer]) -> Answer:
        """What the function gives, when its turn has come.

        Raises:
            HTTPException: 503, too many wait already.
        """
        if self._present > MOST_WAITING:
            sentence = "Other requests about the past are being answered; try again in a moment."
            raise HTTPException(503, sentence, {"Retry-After": "10"})
        self._present += 1
        try:
            return await self._turns.take(function)
        finally:
            self._present -= 1


class AllTurns(NamedTuple):
    """The turns of requests about now, and of those about the past."""

    now: Turns
    past: PastTurns

    async def take(self, function: Callable[[], Answer], *, is_past: bool = False) -> Answer:
        """What the function gives, when its turn has come."""
        return await (self.past.take(function) if is_past else self.now.take(function))
