"""The driver's JVM: started without a secret on its command line, heard, and ended.

PySpark starts it by ``spark-submit`` and would give it every property as an argument, which each user of the machine
can read. So the properties stand in a file of mode 600, and Java's own options in another one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from monitor.checks.targets import shown_property
from monitor.config.client import HIDDEN
from monitor.config.settings import ENVIRONMENT_PREFIX
from streaming_jobs.runtime.archives import PATH_VARIABLE, path_without_archives
from streaming_jobs.runtime.repeated_lines import RepeatedLines
from streaming_jobs.runtime.run_folder import RunFolder
from streaming_jobs.runtime.spark_network import LOOPBACK, is_local

log = logging.getLogger(__name__)

DRIVER_OPTIONS: Final = "spark.driver.extraJavaOptions"
SUBMIT_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"

PROPERTIES_FILE: Final = "spark.conf"
OPTIONS_FILE: Final = "java.options"
LOG4J_FILE: Final = "log4j2.properties"

LAST_LINES: Final = 20
"""How many lines of what a JVM wrote last are kept, for the sentence that says why it did not start."""

MAX_HELD_LINES: Final = 10_000
"""How many lines are held back while Spark starts."""

LOG4J: Final = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %-7p %c{1}: %m%n%ex
"""
"""What Spark logs, and how. Its own profile prints seven lines of advice at each start."""

NOISE: Final = re.compile(
    rb"Starting Streaming TransformWithState|Streaming TransformWithState\w* Python worker "
    rb"|WARNING: Using incubator modules|Setting default log level to |To adjust logging level use "
    rb"|Deleted \d+ files and directories in a total of \d+ directories"
)
"""Lines that PySpark's worker, Spark and Java print at every start, and Delta Lake after each vacuum. Some name our
code as if something were wrong."""


_GIVEN_UP: Final = re.compile(rb"Application has been killed\. Reason: (.*)")


class JvmNotStarted(Exception):  # noqa: N818 -- it reads as what happened
    """The JVM, or Spark in it, did not start; the text says why, in one sentence."""


class JvmOutput:
    """What the JVM and its Python workers write to their standard error, line by line, without noise and repetitions.

    The lines go to a file, or to this process's standard error; to that only once Spark has started (``release``), for
    a sentence says why it did not. Once the process is ending, or ``silence`` was called, they are only kept: what a
    JVM has to say while it is ended is no news.
    """

    def __init__(self, log_file: Path | None, is_ending: Callable[[], bool]) -> None:
        """Open the pipe.

        Args:
            log_file: where the lines go; None: to the standard error.
            is_ending: whether this process is to end.
        """
        self._log_file = log_file
        self._is_ending = is_ending
        self._silent = False
        self._held: list[bytes] | None = [] if log_file is None else None
        self._holding = threading.Lock()
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)
        reading, self.descriptor = os.pipe()
        self._thread = threading.Thread(target=self._read, args=(reading,), name="jvm-output", daemon=True)
        self._thread.start()

    def close_writing_end(self) -> None:
        """Call when the JVM has its own: the pipe then ends with the JVM."""
        os.close(self.descriptor)

    def release(self) -> None:
        """Spark has started: forward what was held back, and from now on every line."""
        with self._holding:
            held, self._held = self._held or [], None
            for line in held:
                self._forward(_standard_error(), line)

    def silence(self) -> None:
        """Forward no more lines."""
        self._silent = True

    def last_lines(self) -> str:
        """What was written last; waits a moment for a JVM that has just ended."""
        self._thread.join(1.0)
        return b"".join(self._last).decode("utf-8", "replace")

    def given_up(self) -> str | None:
        """Why Spark has ended itself, if it has logged that: a caller then learns only that it has ended."""
        with self._holding:
            lines = [*(self._held or self._last)]
        found = (_GIVEN_UP.search(line) for line in lines)
        return next((match[1].decode("utf-8", "replace").strip() for match in found if match), None)

    def _read(self, reading: int) -> None:
        with open(reading, "rb") as lines, self._target() as target:
            after_noise, repeated = False, RepeatedLines()
            for line in lines:
                is_noise = NOISE.match(line) is not None or (after_noise and not line.strip())
                after_noise = is_noise
                if not is_noise:
                    self._last.append(line)
                    written = repeated.take(line, time.monotonic())
                    if written is not None:
                        self._take(target, written)

    def _take(self, target: IO[bytes], line: bytes) -> None:
        with self._holding:
            if self._held is None:
                self._forward(target, line)
            elif len(self._held) < MAX_HELD_LINES:
                self._held.append(line)

    def _forward(self, target: IO[bytes], line: bytes) -> None:
        if self._silent or self._is_ending():
            log.debug("%s", line.decode("utf-8", "replace").rstrip())
            return
        with contextlib.suppress(OSError, ValueError):  # a full disk, or a terminal that is gone: the JVM must not wait
            target.write(line)
            target.flush()

    @contextmanager
    def _target(self) -> Iterator[IO[bytes]]:
        if self._log_file is None:
            yield _standard_error()
        else:
            with self._log_file.open("ab") as file:
                yield file


def _standard_error() -> IO[bytes]:
    return getattr(sys.stderr, "buffer", None) or open(os.devnull, "wb")  # noqa: PTH123 -- for life


class DriverJvm:
    """A JVM that this process has started, with what belongs to it. PySpark keeps one for a process."""

    def __init__(self, properties: Mapping[str, str], folder: RunFolder, output: JvmOutput) -> None:
        """Start it.

        Args:
            properties: all of Spark's, with those that count only before the start.
            folder: for its files.
            output: takes what it and its Python workers write.

        Raises:
            JvmNotStarted: it ended at once.
        """
        self.folder = folder
        self.output = output
        try:
            with _environment_for(properties, folder):
                # Delta Lake prints, too; what this process prints itself is the result of a command.
                streams = dict.fromkeys(("stdout", "stderr"), self.output.descriptor)
                # In a process group of its own: a signal to the group of this process is for this process to act upon.
                gateway: Any = launch_gateway(popen_kwargs=streams | {"process_group": 0})  # type: ignore[no-untyped-call]
        except PySparkRuntimeError:
            self.output.close_writing_end()
            raise JvmNotStarted(f"Spark's JVM ended while it started: {reason_in(self.output.last_lines())}") from None
        self.output.close_writing_end()
        self._process: subprocess.Popen[bytes] = gateway.proc
        SparkContext._ensure_initialized(gateway=gateway)

    def end(self, limit_s: float) -> None:
        """Wait for its end, and remove its folder. After so many seconds it is killed."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()  # the JVM lives as long as this pipe
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.kill()
        self.folder.close()

    def kill(self) -> None:
        """End it at once, as kill -9 does."""
        self.output.silence()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)


@contextmanager
def hide_secrets_in_errors(conf: Mapping[str, str]) -> Iterator[None]:
    """Raise a JvmNotStarted of the block with a text that repeats no value of these properties that may be a secret."""
    try:
        yield
    except JvmNotStarted as error:
        raise JvmNotStarted(f"{without_secrets(str(error), conf).rstrip('. ')}.") from None


def without_secrets(words: str, conf: Mapping[str, str]) -> str:
    """The words without the values of properties that may be secret.

    >>> without_secrets("Unrecognized option: -Dpassword=tiger", {"spark.driver.extraJavaOptions": "-Dpassword=tiger"})
    'Unrecognized option: [hidden]'
    >>> without_secrets("tiger is no number", {"spark.x.y": "lion,tiger"})
    '[hidden] is no number'
    """
    values = [value for key, value in conf.items() if shown_property(key, value) == HIDDEN]
    pieces = {piece for value in values for piece in (value, *re.split(r"[\s=:,;]+", value)) if len(piece) > 3}
    for piece in sorted(pieces, key=len, reverse=True):
        words = words.replace(piece, HIDDEN)
    return words


def reason_in(output: str) -> str:
    r"""The line of a JVM's output that says why it ended; the name of an exception only where it says more.

    >>> reason_in('Exception in thread "main" java.lang.IllegalArgumentException: Not allowed to set X\n\tat a.B')
    'Not allowed to set X'
    >>> reason_in("Invalid maximum heap size: -Xmxlots\nError: Could not create the Java Virtual Machine.")
    'Invalid maximum heap size: -Xmxlots'
    >>> reason_in("java.net.UnknownHostException: namenode")
    'UnknownHostException: namenode'
    >>> reason_in("")
    'it said nothing.'
    """
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith(("\t", " "))]
    failure = re.compile(r'(?:Exception in thread "[^"]*" |Caused by: )?[\w.$]*?(\w+(?:Exception|Error)): (.*)')
    matches = (failure.match(line) for line in lines)
    found = [match[2] if " " in match[2] else f"{match[1]}: {match[2]}" for match in matches if match]
    return found[-1] if found else lines[0] if lines else "it said nothing."


def properties_text(properties: Mapping[str, str]) -> str:
    r"""A file of Java properties, as Spark reads it (java.util.Properties).

    >>> print(properties_text({"spark.a b": " c\\d=e\nf", "spark.g": "ä"}), end="")
    spark.a\ b=\ c\\d=e\nf
    spark.g=ä
    """
    return "".join(f"{_escape(name, key=True)}={_escape(value)}\n" for name, value in properties.items())


def _escape(text: str, *, key: bool = False) -> str:
    special = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    in_key = {" ": "\\ ", "=": "\\=", ":": "\\:", "#": "\\#", "!": "\\!"} if key else {}
    escaped = "".join(({**special, **in_key}).get(char, char) for char in text)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def argument_file_text(options: str) -> str:
    r"""Java's options as a file that its launcher reads in place of them (``java @FILE``).

    >>> print(argument_file_text("-Da='b c' -Dd=\"e\\\\f\""), end="")
    "-Da=b c"
    "-Dd=e\\f"
    """
    quoted = (option.replace("\\", "\\\\").replace('"', '\\"') for option in shlex.split(options))
    return "".join(f'"{option}"\n' for option in quoted)


@contextmanager
def _environment_for(properties: Mapping[str, str], folder: RunFolder) -> Iterator[None]:
    """What the JVM inherits: the place of its properties, and none of groupwatch's own variables: some hold secrets.

    The Python processes that it starts itself leave PySpark's archives out.
    """
    file = folder.write(PROPERTIES_FILE, properties_text(properties))
    arguments = os.environ.get(SUBMIT_ARGUMENTS, "pyspark-shell")
    changes: dict[str, str | None] = {name: None for name in os.environ if name.upper().startswith(ENVIRONMENT_PREFIX)}
    changes[SUBMIT_ARGUMENTS] = f"--properties-file {shlex.quote(str(file))} --load-spark-defaults {arguments}"
    changes[PATH_VARIABLE] = path_without_archives()
    if is_local(properties["spark.master"]) and "SPARK_LOCAL_IP" not in os.environ:
        changes["SPARK_LOCAL_IP"] = LOOPBACK  # for what has no address of its own, such as Spark's page
    before = {name: os.environ.get(name) for name in changes}
    _set_variables(changes)
    try:
        yield
    finally:
        _set_variables(before)


def _set_variables(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
