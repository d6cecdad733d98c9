"""The original assignors, alive: a JVM with Kafka's jars that answers one case after another.

The Java sources are beside this file.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from tests.support.java_program import jars_of_kafka, java_command

Case = dict[str, Any]
Answer = dict[str, Any]

_SOURCES: Final = Path(__file__).parent
_NEEDED: Final = frozenset(
    {
        *("kafka-clients", "kafka-group-coordinator", "kafka-group-coordinator-api"),
        *("kafka-coordinator-common", "kafka-server-common", "kafka-share-coordinator", "slf4j-api"),
        *("jackson-annotations", "jackson-core", "jackson-databind"),
    }
)


class OriginalFailed(Exception):  # noqa: N818 - as monitor.java_runtime.errors
    """The JVM ended before it answered; the message has what it said last."""


class Original:
    """A running JVM; use it as a context manager. Its process ends with the block, or when this process ends."""

    def __init__(
        self,
        kafka_clients: Path | None = None,
        heap: str = "2g",
        program: str = "Oracle",
        jars: Sequence[Path] | None = None,
    ) -> None:
        """``kafka_clients``: the jar of another version, for a comparison. ``program``: the class that answers.

        ``jars`` are what the program needs, if it is something else than the broker's.
        """
        self._jars = [*([kafka_clients] if kafka_clients else []), *(jars or jars_of_kafka(_NEEDED))]
        self._heap = heap
        self._program = program
        self._jvm: subprocess.Popen[str] | None = None
        self._said: IO[str] | None = None

    def __enter__(self) -> Original:
        """Start the JVM; it compiles while the first case is on its way."""
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")
        self._jvm = subprocess.Popen(
            self._command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, encoding="utf-8"
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the JVM: by the end of its input, or at once if something went wrong."""
        assert self._jvm is not None
        if kind is not None:
            self._jvm.kill()
        self._jvm.communicate()
        assert self._said is not None
        self._said.close()

    def ask(self, case: Case) -> Answer:
        """The answer in the form of a vector: ``{"expected": ...}`` or ``{"error": "Class: message"}``."""
        answer = self.send({key: case[key] for key in ("assignor", "input", "in_order") if key in case})
        return {key: answer[key] for key in ("expected", "error") if key in answer}

    def send(self, request: dict[str, Any]) -> dict[str, Any]:
        """The JVM's answer to any request (see Oracle.java, Records.java)."""
        assert self._jvm is not None
        assert self._jvm.stdin is not None
        assert self._jvm.stdout is not None
        try:
            self._jvm.stdin.write(json.dumps(request) + "\n")
            self._jvm.stdin.flush()
        except BrokenPipeError:
            line = ""
        else:
            line = self._jvm.stdout.readline()
        if not line:
            raise OriginalFailed(f"the JVM ended; it said: {self._last_words()}")
        return json.loads(line)

    def _last_words(self) -> str:
        assert self._said is not None
        self._said.seek(0)
        return self._said.read()[-2000:]

    def _command(self) -> list[str]:
        options = [
            *(f"-Xmx{self._heap}", "-XX:+UseSerialGC"),
            "-XX:-OmitStackTraceInFastThrow",  # else an exception that is thrown often comes without its message
        ]
        return java_command(_SOURCES / f"{self._program}.java", options=options, jars=self._jars)
