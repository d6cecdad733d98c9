"""What the processes of a run of CI take, and what they leave behind.

All of them have the variable CI_RUN_OF_GROUPWATCH of the run in their environment. A job takes variables that begin
with GROUPWATCH_ from its JVM.

``python .ci/watch_processes.py memory FOLDER``: until it is ended, looks every few seconds how much memory they have
together, and keeps the most in ``FOLDER/memory_mb``. Shared pages count once.
``python .ci/watch_processes.py left FOLDER``: exit code 1, and a line for each, if one of them still runs, or if
something is left in TMPDIR but pytest's folder; also if they had more than MOST_MB.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

RUN: Final = "CI_RUN_OF_GROUPWATCH"
PAUSE_S: Final = 3.0
MOST_MB: Final = 8_192
MEMORY: Final = "memory_mb"
_PSS: Final = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def processes_of(run: str) -> Iterator[Path]:
    """The folders in /proc of the processes of a run, without this one and those that have started it."""
    mark = f"{RUN}={run}".encode()
    own = {*ancestors(os.getpid())}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if int(folder.name) not in own and mark in (folder / "environ").read_bytes().split(b"\0"):
                yield folder


def ancestors(pid: int) -> Iterator[int]:
    """A process and those that have started it."""
    while pid > 0:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def memory_mb(run: str) -> int:
    """How much memory they have together, in MB."""
    found = 0
    for folder in processes_of(run):
        with contextlib.suppress(OSError):
            pss = _PSS.search((folder / "smaps_rollup").read_text())
            found += int(pss[1]) if pss else 0
    return found // 1024


def watch_memory(folder: Path, run: str) -> None:
    """Keep the most, for ever."""
    most = 0
    while True:
        now = memory_mb(run)
        if now > most:
            most = now
            (folder / MEMORY).write_text(str(most))
        time.sleep(PAUSE_S)


def leftovers(folder: Path, run: str) -> Iterator[str]:
    """A line for each thing that is not as it has to be."""
    for process in processes_of(run):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
            if command:  # what has ended and is not waited for yet has none
                yield f"still runs: {process.name} {command}"
    for entry in sorted(Path(tempfile.gettempdir()).iterdir()):
        if not entry.name.startswith("pytest-of-"):
            yield f"left in {entry.parent}: {entry.name}"
    most = int((folder / MEMORY).read_text()) if (folder / MEMORY).exists() else 0
    if most > MOST_MB:
        yield f"the processes had {most} MB together, more than {MOST_MB}"


def main() -> int:
    """As the module says."""
    what, folder, run = sys.argv[1], Path(sys.argv[2]), os.environ[RUN]
    if what == "memory":
        watch_memory(folder, run)
    found = [*leftovers(folder, run)]
    for line in found:
        sys.stdout.write(f"{line}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
