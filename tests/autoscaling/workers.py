"""A thread whose failure is not lost."""

from __future__ import annotations

from abc import abstractmethod

from tests.support.background import Background


class Worker(Background):
    """Works until a ``with`` block ends. What it could not do is raised by ``check``."""

    def __init__(self) -> None:
        super().__init__()
        self._failure: Exception | None = None

    def check(self) -> None:
        """Raise what ended the thread, if anything did."""
        if self._failure is not None:
            raise AssertionError(f"{type(self).__name__} has failed") from self._failure

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:
            self._failure = error

    @abstractmethod
    def _work(self) -> None:
        """Return soon after ``_stopping`` is set."""
