"""What a failed query means: its innermost cause in one line, and whether it can heal.

Failures cross from the executors, and from Python to the JVM and back, as text: stack traces in stack traces. So text
is what is looked at. docs/decisions/0009-damaged-checkpoints.md has what Spark says of every kind of damage.
"""

from __future__ import annotations

import re
from typing import Final

REBUILD: Final = "start once with --rebuild, which moves the folder aside and reads the log again from the beginning"

LONGEST_CAUSE: Final = 500

_NAMES_A_CAUSE: Final = re.compile(r"(?:Caused by: |: )?([\w.$]+(?:Error|Exception)\b.*)")

_DISK_FULL: Final = re.compile(r"No space left on device|Disk quota exceeded|DSQuotaExceededException")

_NO_DESCRIPTORS: Final = re.compile(r"Too many open files")
"""EMFILE (24) and ENFILE (23), as Java and Python both have them from the system (strerror(3))."""

_NO_THREADS: Final = re.compile(r"unable to create (?:new )?native thread|can't start new thread")
"""Java's OutOfMemoryError, and Python's RuntimeError, for EAGAIN of pthread_create(3)."""

_STATE_VERSION: Final = re.compile(r"\bStateVersionError\b")
"""Another version of groupwatch wrote the state."""

_SILENT_SOURCE: Final = re.compile(r"\bSilentSourceError\b")
"""Spark reads nothing of a log that is not empty."""

_EXECUTOR_GONE: Final = re.compile(
    r"RejectedExecutionException: Task org\.apache\.spark\.executor\.|on a stopped SparkContext"
    r"|SparkContext was shut down"
)
"""A local master has one executor and starts no other: it takes no task any more."""

_STATE_CORRUPT: Final = re.compile(r"\bStateCorruptError\b")
"""Spark gave the bytes back, and they are no state of ours."""

_FETCH_TIMEOUT: Final = re.compile(
    r"Cannot fetch record for offset|org\.apache\.kafka\.common\.errors\.TimeoutException|KAFKA_DATA_LOSS.*TIMEOUT"
)
"""What a task of Spark's Kafka source ends with if a broker does not answer it in time."""

_READING_A_CHECKPOINT: Final = re.compile(
    r"execution\.streaming\.(?:runtime\.StreamMetadata\$\.read|state\.OperatorStateMetadata"
    r"|checkpointing\.(?:HDFSMetadataLog|OffsetSeq|CommitLog))"
    r"|kafka010\.JsonUtils"
    r"|CANNOT_LOAD_STATE_STORE|STDS_FAILED_TO_READ"
)

_UNREADABLE: Final = re.compile(
    r"EOFException|Stream is corrupted|ChecksumException|ZipException|MalformedInputException|com\.fasterxml\.jackson"
    r"|MALFORMED_LOG_FILE|Failed to read log file|AssertionError|IllegalArgumentException|NumberFormatException"
    r"|NullPointerException|STDS_FAILED_TO_READ|UNEXPECTED_FILE_SIZE|UNEXPECTED_VERSION|CANNOT_READ_|INVALID_CHANGE_LOG"
    r"|RocksDBException: (?:Corruption|.*magic number)|NoSuchFileException"
    r"|FileNotFoundException: .*(?:does not exist|\(No such file or directory\))"
)
"""What a file says that was read and is not as it was written. No answer and no permission are not among these."""

_WRITTEN_BY_ANOTHER: Final = re.compile(r"CONCURRENT_STREAM_LOG_UPDATE|SparkConcurrentModificationException")
"""A file is there that only the next micro-batch may write. No other job can have: this one holds the checkpoint."""


def trace_of(error: BaseException) -> str:
    """All that is known of a failure: if it came from the JVM, the stack traces of all its causes."""
    return str(getattr(error, "_stackTrace", None) or error)


def cause_of(error: BaseException) -> str:
    """The innermost cause of a failure in one line: Spark wraps it many times over, with stack traces between."""
    trace = trace_of(error)
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    causes = [found[1] for line in lines if (found := _NAMES_A_CAUSE.match(line))]
    return (causes[-1] if causes else lines[0] if lines else type(error).__name__)[:LONGEST_CAUSE]


def fatal_sentence(error: BaseException, checkpoint: str) -> str | None:
    """Why starting the query again cannot heal the failure, and what to do; None: it may heal.

    Args:
        error: what ended the query.
        checkpoint: the path of its checkpoint.
    """
    cause, trace = cause_of(error), trace_of(error)
    if _SILENT_SOURCE.search(trace):
        return cause
    if (exhausted := _exhausted_limit(trace)) is not None:
        return f"{exhausted} ({cause}). No restart of the query can heal that."
    if _STATE_VERSION.search(trace):
        return (
            f"the checkpoint {checkpoint} is of another version of groupwatch ({cause}). Go back to that version, or"
            f" {REBUILD}."
        )
    if _spark_takes_no_tasks(error):
        return f"Spark accepts no more tasks ({cause}). Start groupwatch again."
    if _checkpoint_is_damaged(error):
        return f"the checkpoint {checkpoint} is damaged ({cause}). To go on, {REBUILD}."
    return None


def _exhausted_limit(trace: str) -> str | None:
    """What the process has used up, and the limit to raise; None: nothing that a failure names."""
    if _NO_DESCRIPTORS.search(trace):
        return "groupwatch has no file descriptors left: the limit of open files (ulimit -n, LimitNOFILE) is reached"
    if _NO_THREADS.search(trace):
        return (
            "groupwatch can start no more threads: the limit of processes and threads (ulimit -u, TasksMax, pids.max)"
            " or of memory is reached"
        )
    return None


def _spark_takes_no_tasks(error: BaseException) -> bool:
    """Whether Spark itself has ended, as far as tasks go: only another process can go on."""
    return _EXECUTOR_GONE.search(trace_of(error)) is not None


def is_disk_full(error: BaseException) -> bool:
    """Whether a file system had no room left. That may heal, and damages nothing."""
    return _DISK_FULL.search(trace_of(error)) is not None


def is_fetch_timeout(error: BaseException) -> bool:
    """Whether the tasks of a micro-batch waited too long for a broker. That heals, or is planned otherwise."""
    return _FETCH_TIMEOUT.search(trace_of(error)) is not None


def _checkpoint_is_damaged(error: BaseException) -> bool:
    """Whether a file of the checkpoint is missing or not what was once written: it stays so at every restart."""
    trace = trace_of(error)
    if _DISK_FULL.search(trace):
        return False
    unreadable = _READING_A_CHECKPOINT.search(trace) and _UNREADABLE.search(trace)
    return bool(unreadable or _STATE_CORRUPT.search(trace) or _WRITTEN_BY_ANOTHER.search(trace))
