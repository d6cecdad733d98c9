"""The life of servers, jobs and programs: they run for the time of a ``with`` block, or from ``start`` to ``stop``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Lifecycle(ABC):
    """Starts with its ``with`` block and ends with it."""

    @abstractmethod
    def start(self) -> None:
        """Start; a class says until when this waits. If it raises, nothing is left that ``stop`` should end."""

    @abstractmethod
    def stop(self) -> None:
        """End what was started."""

    def close(self) -> None:
        """End for good, at the end of the block: ``stop``, unless a class can be started again after that."""
        self.stop()

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End for good."""
        self.close()
