"""How much work a question about the past may be: the job that answers it watches groups at the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from monitor.history.recorded import RecordingError
from monitor.model import Value


class TooMuchWorkError(RecordingError):
    """A question that takes more work than it may; the text is one sentence that says what to ask instead."""

    def __init__(self) -> None:
        super().__init__(
            "This is too much work for the job: ask about a shorter time, or use the command with --history FOLDER."
        )


Check = Callable[[], None]
"""Called again and again while a question is answered.

Raises:
    TooMuchWorkError: it has taken too long.
"""


class WorkLimit(Value):
    """How many bytes of events a question may read, and how long it may take in seconds."""

    most_bytes: int
    most_s: float


JOB_LIMIT: Final = WorkLimit(most_bytes=16_000_000, most_s=8.0)
"""What a job answers. How much memory follows from the events is for their writers to choose: that has a limit of its
own (monitor.history.apart)."""


def no_check() -> None:
    """There is no limit."""
