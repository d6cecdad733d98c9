"""What a job tells in its findings topic, heard while it is told, and what it costs."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.scenarios.scenario import Told
from tests.scenarios.stage import short
from tests.support.background import Background
from tests.support.findings_reader import FindingsReader
from tests.support.job_process import JobProcess, process_fields

IDLE_S: Final = 3.0
"""How long from one evaluation to the next is no sign of a busy machine."""
EVALUATED: Final = re.compile(r"^groupwatch_last_evaluation_timestamp_seconds\{[^}]*\} (\S+)$", re.MULTILINE)


class Hearing(FindingsReader):
    """A thread that reads the findings topic from its beginning on."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self._heard: dict[str, list[Told]] = defaultdict(list)
        self._listening = threading.Lock()

    def of(self, group: str) -> tuple[Told, ...]:
        """What has been told of a group by now, in its order."""
        with self._listening:
            return tuple(self._heard[group])

    def groups(self) -> set[str]:
        """Of which groups something was told."""
        with self._listening:
            return {group for group, told in self._heard.items() if told}

    def _note(self, record: dict[str, Any]) -> None:
        with self._listening:
            self._heard[record["group"]].append(told(record))


class Pace(Background):
    """A thread that looks how long a job takes from one evaluation to the next."""

    def __init__(self, job: JobProcess) -> None:
        super().__init__()
        self._job = job
        self._evaluated_s: list[float] = []

    @property
    def longest_s(self) -> float:
        """The longest time from one evaluation to the next."""
        return max((after - before for before, after in pairwise(self._evaluated_s)), default=0.0)

    @property
    def late_s(self) -> float:
        """How much later than on an idle machine something may have been told.

        It may take an evaluation to see a pass of the collector, one to see the log, and one under way.
        """
        return late_s(self.longest_s)

    @property
    def late_by_now_s(self) -> float:
        """The same, if the next evaluation were now."""
        since_s = time.time() - self._evaluated_s[-1] if self._evaluated_s else 0.0
        return late_s(max(self.longest_s, since_s))

    def _run(self) -> None:
        while not self._stopping.wait(1.0):
            with suppress(OSError):
                at_s = evaluated_s(self._job)
                if at_s is not None and at_s not in self._evaluated_s[-1:]:
                    self._evaluated_s.append(at_s)


def evaluated_s(job: JobProcess) -> float | None:
    """When groups were judged last. The only line that is read: to parse all of /metrics takes long."""
    found = EVALUATED.search(job.get("/metrics"))
    return float(found[1]) if found else None


def late_s(gap_s: float) -> float:
    """What a gap between evaluations may delay.

    >>> late_s(2.0), late_s(5.0)
    (0.0, 6.0)
    """
    return round(3 * max(0.0, gap_s - IDLE_S), 1)


def told(record: dict[str, Any]) -> Told:
    """A record of the findings topic, as a scenario sees it."""
    return Told(
        event=record["event"],
        kind=record["kind"],
        reason=record["reason"],
        at_ms=record["at_ms"],
        since_ms=record["since_ms"],
        sentence=record["sentence"],
        partitions={short(record["group"], each["topic"]): tuple(each["partitions"]) for each in record["partitions"]},
    )


def cpu_seconds() -> dict[str, float]:
    """CPU that this process and all below it have used, by what they are. Of those that ended, their parent tells."""
    ticks = os.sysconf("SC_CLK_TCK")
    used: dict[str, float] = defaultdict(float)
    for pid, values in _processes_below():
        used[_what(pid)] += sum(map(int, values[11:13])) / ticks
        used["ended"] += sum(map(int, values[13:15])) / ticks
    return {what: round(seconds, 1) for what, seconds in used.items()}


def memory_mb() -> dict[str, int]:
    """The memory that this process and all below it have now, by what they are."""
    page = os.sysconf("SC_PAGE_SIZE")
    held: dict[str, int] = defaultdict(int)
    for pid, values in _processes_below():
        held[_what(pid)] += int(values[21]) * page
    return {what: size >> 20 for what, size in held.items()}


def _processes_below() -> Iterator[tuple[int, list[str]]]:
    """This process and all below it, with the fields of their stat files."""
    fields = {int(stat.parent.name): process_fields(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    return ((pid, values) for pid, values in fields.items() if values and _is_below(pid, fields))


def _is_below(pid: int, fields: dict[int, list[str]]) -> bool:
    while pid != os.getpid():
        values = fields.get(pid)
        if not values:
            return False
        pid = int(values[1])
    return True


def _what(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "ended"
    named = {"kafka.Kafka": "broker", "Crowd": "consumers", "SparkSubmit": "job's JVM", "monitor.cli": "job"}
    named |= {"worker_daemon": "job's workers"}
    named |= {"clients-go": "members in Go", "members.js": "members in Node", "members.py": "members in Python"}
    return next((what for word, what in named.items() if word in command), "this program")


def now_ms() -> int:
    """By the machine's clock, which broker and job have, too."""
    return int(time.time() * 1000)
