"""groupwatch's own log on the standard error: lines for a person, or a JSON object on each line for a log store.

A message may contain names that others chose, but never a credential: the code that logs does not have those at hand,
and the loggers of clients, which do, are off.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import threading
from datetime import UTC, datetime
from enum import StrEnum
from typing import IO, Final

from monitor.cli.answering import now_ms
from monitor.model.escaping import escaped_lines

OWN_LOGGERS: Final = ("monitor", "streaming_jobs")

OWN_FIELDS: Final = ("cluster", "group")
"""What a record may have in ``extra``: the names of a cluster and of a group that it is about."""

_CLUSTER_FIRST: Final = "Cluster %s"
"""A message that begins so has the name of its cluster as its first argument, and needs it in no ``extra``."""

_FROM_SPARK: Final = re.compile(r"\S+ \S+ (DEBUG|INFO|WARN|ERROR) ")
"""The start of a line of Spark's log: date, time, level."""


class LogFormat(StrEnum):
    """What a line of the log is."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least level of groupwatch's own records that are logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def log_to_terminal(level: LogLevel = LogLevel.INFO, form: LogFormat = LogFormat.TEXT) -> None:
    """Send the log of this process to its standard error. With JSON, all else that is written there becomes JSON too.

    Of other loggers, warnings are logged.
    """
    standard_error = sys.stderr
    handler = logging.StreamHandler(standard_error)
    handler.setFormatter(JsonLines() if form is LogFormat.JSON else _LogLines())
    handler.addFilter(_has_a_logger)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level.upper())
    # Clients' own loggers repeat every refused connection, which our log reports in one sentence.
    for name in ("kafka", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if form is LogFormat.JSON:
        sys.stderr = json_standard_error(standard_error)


class _LogLines(logging.Formatter):
    """A record as lines. Text from a cluster or a client forges none: a further line of a record is set in."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return escaped_lines(super().format(record), indent="    ")


class JsonLines(logging.Formatter):
    r"""A record as a JSON object of one line, in ASCII: no name sends a control to a terminal or ends the line.

    >>> record = logging.LogRecord("monitor.x", logging.WARNING, "x.py", 1, "Cluster %s: a\nb", ("eu",), None)
    >>> record.created = 1.5
    >>> line = JsonLines().format(record)
    >>> line.count("\n"), json.loads(line)["time"], json.loads(line)["cluster"]
    (0, '1970-01-01T00:00:01.500Z', 'eu')
    """

    def format(self, record: logging.LogRecord) -> str:
        """See the class."""
        named = _named_cluster(record)
        named |= {name: getattr(record, name) for name in OWN_FIELDS if hasattr(record, name)}
        trace = {"exception": self.formatException(record.exc_info)} if record.exc_info else {}
        level = record.levelname.lower()
        return _json_line(record.created, level, record.name, {**named, "message": record.getMessage(), **trace})


def _named_cluster(record: logging.LogRecord) -> dict[str, str]:
    """The cluster that a message names first, if it does."""
    if isinstance(record.msg, str) and record.msg.startswith(_CLUSTER_FIRST) and isinstance(record.args, tuple):
        return {"cluster": str(record.args[0])}
    return {}


def json_standard_error(standard_error: IO[str]) -> io.TextIOWrapper:
    """A stream that writes each line that it is given as a JSON object: Spark's, Python's, and a command's last one."""
    stream = _JsonStream(standard_error)
    return io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", write_through=True)


class _JsonStream(io.BufferedIOBase):
    """Takes bytes. Several threads may write whole lines."""

    name = "<stderr>"

    def __init__(self, target: IO[str]) -> None:
        self._target = target
        self._begun = b""
        self._lock = threading.Lock()

    def writable(self) -> bool:
        return True

    def write(self, given: bytes, /) -> int:  # type: ignore[override] # any buffer, in the stub
        taken = bytes(given)
        with self._lock:
            *lines, self._begun = (self._begun + taken).split(b"\n")
            for line in lines:
                self._write_line(line.decode("utf-8", "backslashreplace").rstrip())
        return len(taken)

    def _write_line(self, line: str) -> None:
        if not line:
            return
        found = _FROM_SPARK.match(line)
        level = "error" if found is None else found[1].lower().replace("warn", "warning")
        self._target.write(f"{_json_line(now_ms() / 1000, level, 'stderr', {'message': line})}\n")
        self._target.flush()


def _json_line(at_s: float, level: str, logger: str, more: dict[str, str]) -> str:
    """One object. The time is ISO 8601 with milliseconds, in UTC."""
    time = datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"time": time, "level": level, "logger": logger, **more})


def _has_a_logger(record: logging.LogRecord) -> bool:
    """Py4J logs by the root logger, with stack traces, that the JVM has ended; nothing of ours logs by it."""
    return record.name != logging.root.name
