"""How much work a question about the past may be: the job that answers it watches groups at the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from monitor.history.recorded import RecordingError
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import Value


class TooMuchWorkError(RecordingError):
    """A question that takes more work than it may. The text has the limit, how far it got, and what to ask instead."""


class TooSlowError(RecordingError):
    """A question that took too long, although it was little work by then. The text is as above."""


Check = Callable[[int | None], None]
"""Called again and again while a question is answered, with the instant (ms) that it has come to; None: it still reads.

Raises:
    TooMuchWorkError: it has used too much CPU time.
    TooSlowError: it has taken too long.
"""


class WorkLimit(Value):
    """How many bytes of events a question may read, its CPU time, and how long it may take. Times are in seconds.

    CPU time is what a question costs. On a busy machine, little of it takes long, so the other limit is generous.
    """

    most_bytes: int
    most_cpu_s: float
    most_s: float


JOB_LIMIT: Final = WorkLimit(most_bytes=16_000_000, most_cpu_s=8.0, most_s=45.0)
"""What a job answers; the commands wait a minute. How much memory follows from the events is for their writers to
choose: that has a limit of its own (monitor.history.apart)."""


KILL_AFTER_S: Final = 2.0
"""So long after the end of its time (of either kind) a question is ended: it looks at the time only now and then."""

MEMORY_BYTES: Final = 512 * 2**20
"""How much data a process that answers may have, 100 MB of its own included: up to 370 MB of it were in memory then."""


def no_check(at_ms: int | None) -> None:
    """There is no limit."""


def cpu_used_up(folder: str, most_s: float, got_to: int | None = None) -> str:
    """The refusal of a question that has used its CPU time and came to an instant (ms)."""
    reached = f"This question used {most_s:g} s of CPU time, the job's limit."
    return f"{reached}{_progress(got_to)} {_less(folder)}"


def time_used_up(folder: str, most_s: float, used_s: float | None = None, got_to: int | None = None) -> str:
    """The same of one that has used its time: of that, CPU time of ``used_s``, which may be unknown."""
    used = "." if used_s is None else f", and used {used_s:.1f} s of CPU time."
    return (
        f"This question took {most_s:g} s, the job's limit{used}{_progress(got_to)} "
        f"The machine is busy, or the storage of the recording is slow. "
        f"Try again later, or use the command with --history {shown(folder)}, which has no limit."
    )


def bytes_used_up(folder: str, most_bytes: int) -> str:
    """The same of one that reads too much. Bytes of topics and of listings count a quarter."""
    return (
        f"This question reads more than {most_bytes / 1e6:g} MB of events, the job's limit. "
        f"It has evaluated nothing yet. {_less(folder)}"
    )


def memory_used_up(folder: str) -> str:
    """The same of one that needs too much memory."""
    return f"This question needs more than {MEMORY_BYTES >> 20} MB of memory, the job's limit. {_less(folder)}"


JOB_ENDS: Final = "The job is ending."
"""Why a question has no answer whose process was ended because the job stops."""


def end_by_system(folder: str, signal_name: str) -> str:
    """The same of one whose process the system or a library has ended; mostly, it needed memory."""
    return (
        f"The process of this question ended with {signal_name}: mostly, it needs more memory than there is, "
        f"or than the job's limit of {MEMORY_BYTES >> 20} MB. {_less(folder)}"
    )


def _less(folder: str) -> str:
    return f"Ask about a shorter span, or use the command with --history {shown(folder)}, which has no limit."


def _progress(got_to: int | None) -> str:
    return "" if got_to is None else f" It got to {utc(got_to)}."
