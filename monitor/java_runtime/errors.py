"""What can go wrong with the embedded servers. Every message is a sentence that says what to do or where to look."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_ERROR: Final = re.compile(r"^(?!\tat ).*(\b(ERROR|FATAL)\b|\blevel=error\b|Exception|Error\b)")

_LAST_LINES: Final = 8


class EmbeddedError(Exception):
    """Base of all errors of this package."""


class JavaNotFound(EmbeddedError):  # noqa: N818 - the name says what happened, as FileNotFoundError's base sentence does
    """No Java of a usable version was found."""


class ProgramNotFound(EmbeddedError):  # noqa: N818 - as above
    """A program is not installed; the message says which package of Debian brings it."""


class JarsNotResolved(EmbeddedError):  # noqa: N818 - as above
    """Ivy could not fetch the jars of a coordinate. ``log_file`` has all of its output."""

    def __init__(self, message: str, log_file: Path) -> None:
        super().__init__(f"{message}; see {log_file}")
        self.log_file = log_file


class LoggedFailure(EmbeddedError):  # noqa: N818 - as above
    """Something failed that writes a log: ``log_file``; the message ends with the log's last lines."""

    def __init__(self, message: str, log_file: Path) -> None:
        super().__init__(f"{message}; see {log_file}\n{last_lines(log_file)}".rstrip())
        self.log_file = log_file


class BrokerFailed(LoggedFailure):
    """The embedded broker did not start."""


class WorkloadFailed(LoggedFailure):
    """The demo's workload ended or did not become healthy in time."""


class ServerFailed(LoggedFailure):
    """An embedded server did not start."""


class ClientsFailed(LoggedFailure):
    """A JVM with clients did not start, ended, or failed at one of its commands."""


def last_lines(log_file: Path) -> str:
    """What a log says last, for an error message: at most eight lines, indented, empty if there is no such file.

    Lines that speak of an error, if there are any: a server that gives up says much more while it closes.
    """
    try:
        lines = log_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    telling = [line for line in lines if _ERROR.search(line)] or lines
    return "\n".join(f"  {line[:400]}" for line in telling[-_LAST_LINES:])
