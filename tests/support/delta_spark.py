"""Programs of tests on recordings, by one Spark with Delta Lake in a process of its own: other tests have it without.

A start takes 12 s of CPU, and what a JVM does first costs several times what it costs later.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

ROOT: Final = Path(__file__).parents[2]
PROCESS: Final = "tests.support.delta_session"


class Done(NamedTuple):
    """What a program gave, and what it logged."""

    value: Any
    log: str


class DeltaSpark:
    """The process, started when a program is first asked for; ended with the ``with`` block.

    ``module`` is what runs in it; where it has ended by itself, it is started again.
    """

    def __init__(self, module: str = PROCESS) -> None:
        self._module = module
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 -- as long as this

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()
        self._said.close()

    def _let_go(self) -> None:
        """Await its end, which the end of its input brings about, and close the pipes to it."""
        if self._process is not None:
            self._process.communicate(timeout=60)
            self._process = None

    def run(self, module: str, *arguments: object) -> Done:
        """Run the function ``run`` of a module: it gets the session, and takes and gives what JSON can hold.

        Raises AssertionError with its traceback if it failed.
        """
        asked = json.dumps([module, arguments]) + "\n"
        answer = self._answer(asked) or self._answer(asked)  # the first time it may just have ended, as idle
        assert answer, f"no answer of {module}: {self._last_words()}"
        failure, value, log = json.loads(answer)
        assert failure is None, f"{failure}\n{log[-3_000:]}"
        return Done(value, log)

    def _answer(self, asked: str) -> str:
        """A line; an empty one if the process has ended."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(asked)
            process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            self._let_go()
        return line

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            self._let_go()
        if self._process is None:
            command = [sys.executable, "-m", self._module]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=self._said, text=True, start_new_session=True
            )
        return self._process

    def _last_words(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace")[-3_000:]
