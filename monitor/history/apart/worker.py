"""The process that answers questions about the past for a job: ``python -m monitor.history.apart.worker FOLDER``.

It reads questions from its standard input and writes responses to its standard output. It ends with its standard input,
also in the middle of a question: the job has ended.
"""

from __future__ import annotations

import math
import os
import queue
import resource
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from monitor.history.apart.messages import (
    AnyResponse,
    Failed,
    Found,
    NotRecorded,
    Question,
    QuestionKind,
    TooMuchWork,
    TooSlow,
    Unreadable,
    read_question,
    write_message,
)
from monitor.history.past import RecordedPast
from monitor.history.recorded import NotRecordedError, RecordingError
from monitor.history.work_limit import (
    JOB_LIMIT,
    KILL_AFTER_S,
    MEMORY_BYTES,
    TooMuchWorkError,
    TooSlowError,
    memory_used_up,
)

WORN_BYTES: Final = 128 * 2**20
"""A process with more memory of its own ends after its response: it would keep most of that.

One that has answered a small question has 90 MB. Its 120 MB of libraries are files in the system's cache."""

READY: Final = Found(value=msgspec.Raw(b"\xc0"))
"""Written once the process takes queries."""


def main() -> None:
    """Answer until there are no more queries."""
    _set_limits()
    responses = _own_output()
    questions: queue.SimpleQueue[Question] = queue.SimpleQueue()
    import monitor.history.delta_tables  # noqa: F401, PLC0415 -- the first question need not wait for it

    threading.Thread(target=_read_questions, args=(questions,), daemon=True).start()
    past = RecordedPast(sys.argv[1], JOB_LIMIT)
    write_message(responses, READY)
    while not _is_worn():
        write_message(responses, _response(past, questions.get()))
    os._exit(0)


def _set_limits() -> None:
    """Limit the memory. A stop from the keyboard is for the job, and a core of half a gigabyte helps no one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ValueError, OSError):  # not every system has it
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_cpu() -> None:
    """End the process if the next question uses too much CPU time and never looks at it. It has used some before."""
    most_s = math.ceil(time.process_time() + JOB_LIMIT.most_cpu_s + KILL_AFTER_S)
    with suppress(ValueError, OSError):  # as above
        resource.setrlimit(resource.RLIMIT_CPU, (most_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _own_output() -> IO[bytes]:
    """The standard output, for responses only: what a library prints goes to the standard error."""
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(own, "wb")


def _read_questions(questions: queue.SimpleQueue[Question]) -> None:
    with suppress(msgspec.DecodeError, OSError):
        while (question := read_question(sys.stdin.buffer)) is not None:
            questions.put(question)
    os._exit(0)


def _response(past: RecordedPast, question: Question) -> AnyResponse:
    _limit_cpu()
    try:
        return Found(value=msgspec.Raw(msgspec.msgpack.encode(_ask(past, question))))
    except MemoryError:
        return TooMuchWork(sentences=memory_used_up(sys.argv[1]))
    except RecordingError as error:
        return _refusal(error)
    except BaseException as error:  # a panic of delta-rs is no Exception
        traceback.print_exc()
        return Failed(text=f"{type(error).__name__}: {error}")


def _refusal(error: RecordingError) -> AnyResponse:
    match error:
        case TooMuchWorkError():
            return TooMuchWork(sentences=str(error))
        case TooSlowError():
            return TooSlow(sentences=str(error))
        case NotRecordedError():
            return NotRecorded(sentence=str(error))
        case _:
            return Unreadable(sentence=str(error))


def _ask(past: RecordedPast, question: Question) -> Any:  # noqa: ANN401 -- it depends on the query
    cluster, group = question.cluster, question.group
    if question.kind is QuestionKind.INPUTS:
        return past.inputs(cluster, group, question.until_ms)
    return getattr(past, question.kind)(cluster, group, question.since_ms, question.until_ms)


def _is_worn() -> bool:
    """Whether the process has too much in memory now. The system's peak would at first be that of the job."""
    try:
        _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text(encoding="ascii").split())
    except OSError:  # not every system has it
        return False
    return (resident - shared) * resource.getpagesize() > WORN_BYTES


if __name__ == "__main__":
    main()
