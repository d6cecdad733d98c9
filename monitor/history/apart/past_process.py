"""The recording in a folder, read by another process: a question cannot take the memory of the job, nor its time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Final

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.apart.messages import (
    AnyResponse,
    Failed,
    Found,
    NotRecorded,
    Question,
    QuestionKind,
    TooMuchWork,
    TooSlow,
    found_value,
    read_response,
    write_message,
)
from monitor.history.chronicle.values import Chronicle
from monitor.history.recorded import NotRecordedError, RecordingError
from monitor.history.report.facts import IncidentReport
from monitor.history.work_limit import (
    JOB_ENDS,
    JOB_LIMIT,
    KILL_AFTER_S,
    TooMuchWorkError,
    TooSlowError,
    cpu_used_up,
    end_by_system,
    time_used_up,
)
from monitor.messages.names import shown
from monitor.model.group_choice import ALL, GroupChoice

WORKER: Final = "monitor.history.apart.worker"
START_S: Final = 60.0
"""How long the start of the process may take; it is 0.7 s of CPU."""
FEW_THREADS: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
"""For numpy, Arrow, delta-rs and the C library."""
IDLE_S: Final = 60.0
"""After so long without a question the process is ended."""


class PastProcess:
    """Questions to the recording in a folder, for a job: monitor.history.past.RecordedPast in a process of its own.

    The process starts with the first question. A question that takes too much memory or CPU time ends it and raises
    TooMuchWorkError, one that takes too long TooSlowError; the next question starts another one. It ends with this
    process, however that ends.
    """

    def __init__(self, folder: str, most_s: float = JOB_LIMIT.most_s, groups: GroupChoice = ALL) -> None:
        """Start nothing yet. ``groups`` are recorded: of another one that is not found, the reason is known.

        A question may take ``most_s``; KILL_AFTER_S later its process is killed.
        """
        self._folder = folder
        self._groups = groups
        self._most_s = most_s
        self._kill_s = most_s + KILL_AFTER_S
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._idle = threading.Timer(IDLE_S, self._end_idle)
        self._is_closed = False

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        """See :meth:`monitor.history.past.RecordedPast.inputs`."""
        found: GroupInputs | None = self._ask(Question(QuestionKind.INPUTS, cluster, group, at_ms))
        return found

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """See :meth:`monitor.history.past.RecordedPast.chronicle`."""
        found: Chronicle | None = self._ask(Question(QuestionKind.CHRONICLE, cluster, group, until_ms, since_ms))
        return found

    def days(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """See :meth:`monitor.history.past.RecordedPast.days`."""
        found: Chronicle | None = self._ask(Question(QuestionKind.DAYS, cluster, group, until_ms, since_ms))
        return found

    def report(self, cluster: str, group: str, since_ms: int, until_ms: int) -> IncidentReport | None:
        """See :meth:`monitor.history.past.RecordedPast.report`."""
        found: IncidentReport | None = self._ask(Question(QuestionKind.REPORT, cluster, group, until_ms, since_ms))
        return found

    def close(self) -> None:
        """End the process, also in the middle of a question; none is answered from now on."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._turn:
            self._end()

    def _ask(self, question: Question) -> Any:  # noqa: ANN401 -- it depends on the query
        with self._turn:
            self._idle.cancel()
            try:
                response = self._response(question)
            finally:
                self._idle = _timer(IDLE_S, self._end_idle)
        match response:
            case Found():
                found = found_value(question.kind, response)
                if found is None and not self._groups.has(question.group):
                    raise NotRecordedError(_left_out_sentence(question))
                return found
            case TooMuchWork(sentences=sentences):
                raise TooMuchWorkError(sentences)
            case TooSlow(sentences=sentences):
                raise TooSlowError(sentences)
            case NotRecorded(sentence=sentence):
                raise NotRecordedError(sentence)
            case Failed(text=text):
                raise RuntimeError(text)
            case unreadable:
                raise RecordingError(unreadable.sentence)

    def _response(self, question: Question) -> AnyResponse:
        """The response of the process. If an existing one ends, a new one gets the query, as it may be unread."""
        for process in (self._running(), None):
            asked, asked_s = process or self._start(), time.monotonic()
            response = _exchange(asked, question, self._kill_s)
            code = asked.wait() if response is None else 0
            took_s = time.monotonic() - asked_s
            if response is None or isinstance(response, TooMuchWork | TooSlow):
                self._end()
            if response is not None:
                return response
            if process is None or took_s >= self._kill_s or code == -signal.SIGXCPU:
                break
        return self._end_response(code, took_s)

    def _end_response(self, code: int, took_s: float) -> AnyResponse:
        """The response for a process that ended without one, after so long.

        Raises:
            RecordingError: it did not take too much, or the job ends.
        """
        if self._is_closed:
            raise RecordingError(JOB_ENDS)
        if code == -signal.SIGXCPU:
            return TooMuchWork(cpu_used_up(self._folder, JOB_LIMIT.most_cpu_s))
        if took_s >= self._kill_s:
            return TooSlow(time_used_up(self._folder, self._most_s))
        if code < 0:  # by itself or the system for want of memory
            return TooMuchWork(end_by_system(self._folder, signal.Signals(-code).name))
        raise _end_error(code)

    def _end_idle(self) -> None:
        with self._turn:
            self._end()

    def _end(self) -> None:
        """Leave nothing of the process. The caller has the turn."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                _pipe(pipe).close()
        process.wait()

    def _running(self) -> subprocess.Popen[bytes] | None:
        process = self._process
        if process is not None and process.poll() is not None:
            self._end()
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        """A process that takes queries.

        Raises:
            RecordingError: there is none.
        """
        command = [sys.executable, "-P", "-m", WORKER, self._folder]
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
        except OSError as error:
            raise RecordingError(f"No process can be started to read the recording: {error.strerror}.") from error
        self._process = process
        if self._is_closed:
            process.kill()
        with _killed_after(process, START_S):
            is_ready = read_response(_pipe(process.stdout)) is not None
        if not is_ready:
            code = process.wait()
            self._end()
            raise RecordingError(JOB_ENDS) if self._is_closed else _end_error(code)
        return process


def _left_out_sentence(question: Question) -> str:
    return (
        f"Group {shown(question.group)} of cluster {shown(question.cluster)} is not recorded: "
        "[history] allow_groups or deny_groups leaves it out."
    )


def _end_error(code: int) -> RecordingError:
    return RecordingError(f"The process that reads the recording has ended (exit code {code}).")


def _environment() -> dict[str, str]:
    """That of this process, so the other one imports the same modules. It needs none of groupwatch's variables.

    By default its libraries start a thread for each core, whose stacks count as its data: with 24 cores too much.
    """
    places = os.pathsep.join(place or os.curdir for place in sys.path)
    own = {name: value for name, value in os.environ.items() if not name.startswith("GROUPWATCH_")}
    return {**own, **FEW_THREADS, "PYTHONPATH": places}


def _exchange(process: subprocess.Popen[bytes], question: Question, most_s: float) -> AnyResponse | None:
    """The response; None: the process has ended."""
    with _killed_after(process, most_s), suppress(OSError):
        write_message(_pipe(process.stdin), question)
        return read_response(_pipe(process.stdout))
    return None


@contextmanager
def _killed_after(process: subprocess.Popen[bytes], limit_s: float) -> Iterator[None]:
    """Kill it unless the block ends in time. Behind the block, it is dead or it is not killed anymore."""
    killed = threading.Event()

    def kill() -> None:
        killed.set()
        process.kill()

    timer = _timer(limit_s, kill)
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if killed.is_set():
            process.wait()


def _timer(limit_s: float, function: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(limit_s, function)
    timer.daemon = True
    timer.start()
    return timer


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the process was started with pipes"
    return pipe
