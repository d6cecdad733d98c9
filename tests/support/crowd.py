"""Real consumers of the Java client, many in one process that can be killed: see Crowd.java."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from tests.support.java_program import jars_of_kafka, java_command

PATIENCE_S: Final = 60
_PROGRAM: Final = Path(__file__).parent / "Crowd.java"
_NEEDED: Final = frozenset(
    {"kafka-clients", "slf4j-api", "jackson-annotations", "jackson-core", "jackson-databind", "lz4-java", "snappy-java"}
)

Event = dict[str, Any]


class Crowd:
    """A JVM with consumers. What it tells is kept; ``await_event`` finds what was told since it last looked."""

    def __init__(self, bootstrap: str) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the process
        options = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        command = java_command(_PROGRAM, options=options, jars=jars_of_kafka(_NEEDED))
        self._jvm = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, encoding="utf-8"
        )
        self._events: list[Event] = []
        self._told = threading.Condition()
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._write(bootstrap)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill_9()

    def tell(self, do: str, **more: Any) -> None:
        """Tell it to do something."""
        self._write(json.dumps({"do": do, **more}))

    def seen(self) -> int:
        """A place in what it has told: now."""
        with self._told:
            return len(self._events)

    def await_event(self, since: int, what: str, **fields: Any) -> Event:
        """The first event of this kind with these fields that was told after that place."""
        wanted = {"event": what, **fields}

        def found() -> Event | None:
            return next((event for event in self._events[since:] if wanted.items() <= event.items()), None)

        with self._told:
            self._told.wait_for(lambda: found() is not None or self._jvm.poll() is not None, PATIENCE_S)
            event = found()
        if event is None:
            raise AssertionError(f"not told within {PATIENCE_S} s: {wanted}; the JVM said: {self._last_words()}")
        return event

    def failures(self) -> list[Event]:
        """Consumers that failed."""
        with self._told:
            return [event for event in self._events if event["event"] == "failed"]

    def kill_9(self) -> None:
        """End it without a chance to say goodbye."""
        self._jvm.kill()
        self._jvm.wait(30)
        self._reader.join(30)
        for pipe in (self._jvm.stdin, self._jvm.stdout, self._said):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what it had not read yet

    def _write(self, line: str) -> None:
        assert self._jvm.stdin is not None
        with self._writing:
            self._jvm.stdin.write(line + "\n")
            self._jvm.stdin.flush()

    def _read(self) -> None:
        assert self._jvm.stdout is not None
        for line in self._jvm.stdout:
            with self._told:
                self._events.append(json.loads(line))
                self._told.notify_all()
        with self._told:
            self._told.notify_all()

    def _last_words(self) -> str:
        self._said.seek(0)
        return self._said.read()[:2000].decode("utf-8", "replace")
