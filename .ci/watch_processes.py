"""What the processes of a run of CI take, and what they leave behind.

All of them have the variable CI_RUN_OF_GROUPWATCH of the run in their environment. A job takes variables that begin
with GROUPWATCH_ from its JVM.

``python .ci/watch_processes.py watch FOLDER``: until it is ended, looks every few seconds how much memory they have
together, and keeps the most in ``FOLDER/memory_mb``; shared pages count once. ``FOLDER/cpu.tsv`` has the CPU seconds of
what each file of tests has started: unlike times they are the same beside neighbours, and a run that is cut off has
them, too.
``python .ci/watch_processes.py left FOLDER [SECONDS]``: a line for each of them that still runs, and for what is left
in TMPDIR but pytest's folder. Exit code 1 if there is any after so many seconds. Exit code 2, and a line, if nothing is
left, but they had more than MOST_MB.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

RUN: Final = "CI_RUN_OF_GROUPWATCH"
PAUSE_S: Final = 3.0
GRACE_S: Final = 20.0
"""How long what was told to end may take for it, with its temporary files."""
MOST_MB: Final = 8_192
MEMORY: Final = "memory_mb"
CPU: Final = "cpu.tsv"
BY_NO_TEST: Final = "pytest itself, and what no test has started"
_TEST: Final = re.compile(rb"(?:^|\0)PYTEST_CURRENT_TEST=([^:\0]+)::")
"""Pytest sets it for what a test starts; a worker does not see its own."""
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
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


def memory_mb(processes: Iterable[Path]) -> int:
    """How much memory they have together, in MB."""
    found = 0
    for folder in processes:
        with contextlib.suppress(OSError):
            pss = _PSS.search((folder / "smaps_rollup").read_text())
            found += int(pss[1]) if pss else 0
    return found // 1024


class CpuSeconds:
    """What processes have computed, by the file of tests that has started them; their last seconds may be missing."""

    def __init__(self) -> None:
        self._ticks: dict[tuple[str, str], tuple[str, int]] = {}
        """By process and its start, as numbers of processes come again: the file, and the ticks of its CPU."""

    def look(self, processes: Iterable[Path]) -> None:
        """Note what they have computed by now."""
        for folder in processes:
            with contextlib.suppress(OSError, IndexError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                key = (folder.name, fields[19])
                file = self._ticks[key][0] if key in self._ticks else file_of(folder)
                self._ticks[key] = (file, int(fields[11]) + int(fields[12]))

    def table(self) -> str:
        """A line for each file: seconds, a tab, its name; the most first."""
        ticks: dict[str, int] = {}
        for file, computed in self._ticks.values():
            ticks[file] = ticks.get(file, 0) + computed
        rows = sorted(ticks.items(), key=lambda row: -row[1])
        return "".join(f"{computed / _TICKS_A_SECOND:.1f}\t{file}\n" for file, computed in rows)


def file_of(process: Path) -> str:
    """The file of tests that has started a process."""
    found = _TEST.search((process / "environ").read_bytes())
    return BY_NO_TEST if found is None else found[1].decode(errors="replace")


def replace(file: Path, text: str) -> None:
    """Write a file at one stroke: whoever ends this process, or reads meanwhile, finds all of it."""
    written = file.with_suffix(".new")
    written.write_text(text, encoding="utf-8")
    written.replace(file)


def watch(folder: Path, run: str) -> None:
    """Keep the most memory, and the CPU seconds, for ever."""
    most, seconds = 0, CpuSeconds()
    while True:
        processes = [*processes_of(run)]
        most = max(most, memory_mb(processes))
        replace(folder / MEMORY, str(most))
        seconds.look(processes)
        replace(folder / CPU, seconds.table())
        time.sleep(PAUSE_S)


def leftovers(run: str) -> Iterator[str]:
    """A line for each process that still runs, and for each file that nobody has removed."""
    for process in processes_of(run):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
            if command:  # what has ended and is not waited for yet has none
                yield f"still runs: {process.name} {command}"
    for entry in sorted(Path(tempfile.gettempdir()).iterdir()):
        if not entry.name.startswith("pytest-of-"):
            yield f"left in {entry.parent}: {entry.name}"


def leftovers_in_the_end(run: str, grace_s: float) -> list[str]:
    """The same, once there are none or so many seconds are over."""
    until = time.monotonic() + grace_s
    while (found := [*leftovers(run)]) and time.monotonic() < until:
        time.sleep(0.2)
    return found


def excess(folder: Path) -> Iterator[str]:
    """A line if the processes had too much memory."""
    most = int((folder / MEMORY).read_text()) if (folder / MEMORY).exists() else 0
    if most > MOST_MB:
        yield f"the processes had {most} MB together, more than {MOST_MB}"


def main() -> int:
    """As the module says."""
    what, folder, run = sys.argv[1], Path(sys.argv[2]), os.environ[RUN]
    if what == "watch":
        watch(folder, run)
    grace_s = float(sys.argv[3]) if len(sys.argv) > 3 else GRACE_S
    left, more = leftovers_in_the_end(run, grace_s), [*excess(folder)]
    for line in (*left, *more):
        sys.stdout.write(f"{line}\n")
    return 1 if left else 2 if more else 0


if __name__ == "__main__":
    sys.exit(main())
