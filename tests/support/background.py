"""A thread that works beside a test until a ``with`` block ends."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Self


class Background(ABC):
    """Runs ``_run`` in a thread while a ``with`` block lasts. ``_run`` returns soon after ``_stopping`` is set."""

    join_s = 30.0
    """How long its end is awaited."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(self.join_s)

    @abstractmethod
    def _run(self) -> None:
        """What the thread does."""
