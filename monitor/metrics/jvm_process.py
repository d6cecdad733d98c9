"""What the system says of the driver's JVM: its file descriptors and threads, where there is ``/proc``.

prometheus_client tells the same of this process. A leak in the JVM, which has the connections and files of Spark, would
stay unseen until the job ends of it. Nothing is asked of the JVM itself: it may hang.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec

PROC: Final = Path("/proc")
_LIMIT: Final = "Max open files"
_THREADS: Final = "Threads:"


class JvmProcess(Collector):
    """Reads the folder of a process for each collection; gives nothing of one that has ended or is not known."""

    def __init__(self, proc: Path = PROC) -> None:
        """No process is known yet. ``proc``: where the folders of processes are."""
        self._proc = proc
        self.pid: int | None = None
        """The process to tell of."""

    def collect(self) -> Iterator[Metric]:
        """The families of ``specs.OF_THE_JVM`` that have a value."""
        if self.pid is None:
            return
        place = self._proc / str(self.pid)
        try:
            values = {
                specs.JVM_OPEN_FDS: open_descriptors(place),
                specs.JVM_MAX_FDS: descriptor_limit((place / "limits").read_text(encoding="utf-8")),
                specs.JVM_THREADS: threads((place / "status").read_text(encoding="utf-8", errors="replace")),
            }
        except OSError:
            return
        yield from (_gauge(spec, value) for spec, value in values.items() if value is not None)


def _gauge(spec: MetricSpec, value: int) -> Metric:
    return GaugeMetricFamily(spec.name, spec.help, value)


def open_descriptors(place: Path) -> int:
    """How many descriptors a process has open, by its folder.

    Raises:
        OSError: it has ended, or this user may not see them.
    """
    return sum(1 for _ in (place / "fd").iterdir())


def descriptor_limit(limits: str) -> int | None:
    r"""The soft limit in the text of a process's ``limits``; None: there is none.

    >>> descriptor_limit("Max processes  10  20  processes\nMax open files  20000  20000  files")
    20000
    >>> descriptor_limit("Max open files  unlimited  unlimited  files") is None
    True
    """
    words = next((line.removeprefix(_LIMIT).split() for line in limits.splitlines() if line.startswith(_LIMIT)), [])
    return int(words[0]) if words and words[0].isdecimal() else None


def threads(status: str) -> int | None:
    r"""How many threads the text of a process's ``status`` names; None: it does not say.

    >>> threads("Name:  java\nThreads:  278")
    278
    """
    line = next((line for line in status.splitlines() if line.startswith(_THREADS)), None)
    return None if line is None else int(line.removeprefix(_THREADS))
