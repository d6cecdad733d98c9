"""Processes with many real consumers each, which take commands and tell events, a line of JSON each."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

PATIENCE_S: Final = 60

Event = dict[str, Any]


class Consumers:
    """A process with consumers. What it tells is kept; ``await_event`` finds what was told since it last looked.

    Its first line of input is where to find the broker. It ends with its input.
    """

    def __init__(
        self, bootstrap: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None
    ) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            encoding="utf-8",
            env=None if environment is None else os.environ | environment,
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

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def ended(self) -> int | None:
        """The exit code of one that has ended: a negative one is a signal."""
        return self._process.poll()

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
            self._told.wait_for(lambda: found() is not None or self.ended is not None, PATIENCE_S)
            event = found()
        if event is None:
            raise AssertionError(f"not told within {PATIENCE_S} s: {wanted}; the process said: {self.last_words()}")
        return event

    def events(self, *kinds: str) -> list[Event]:
        """All events of these kinds so far; of all kinds, if none is named."""
        with self._told:
            return [event for event in self._events if not kinds or event["event"] in kinds]

    def failures(self) -> list[Event]:
        """Consumers that failed."""
        return self.events("failed")

    def last_words(self) -> str:
        """The beginning of what it wrote to standard error."""
        self._said.seek(0)
        return self._said.read()[:2000].decode("utf-8", "replace")

    def kill_9(self) -> None:
        """End it without a chance to say goodbye."""
        self._process.kill()
        self._process.wait(30)
        self._reader.join(30)
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what it had not read yet

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        with self._writing:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._told:
                self._events.append(json.loads(line))
                self._told.notify_all()
        with self._told:
            self._told.notify_all()
