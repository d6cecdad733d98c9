"""The batches of a recording, worked on in as many processes as there are processors."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import Any, Final, TypeVar, cast

from monitor.history.delta_tables import DeltaRecording

Plan = TypeVar("Plan")
Result = TypeVar("Result")

MOST_WORKERS: Final = 4
"""Each needs a few hundred megabytes."""


def count_workers() -> int:
    """How many processes may work at once."""
    return min(MOST_WORKERS, count_processors())


def count_processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def are_worth_processes(batches: int) -> bool:
    """Whether there is enough to do for more processes than this one."""
    return batches > 1 and count_workers() > 1


def work_in_processes(
    work: Callable[[DeltaRecording, Plan, int], Result], folder: str, plan: Plan, batches: int
) -> Iterator[Result]:
    """What comes of each batch, in their order. ``work`` takes the recording, the plan and the number of a batch."""
    with get_context("spawn").Pool(min(count_workers(), batches), _start_worker, (work, folder, plan)) as pool:
        yield from cast("Iterator[Result]", pool.imap(_work, range(batches)))


_Work = Callable[[DeltaRecording, Any, int], object]

_worker: list[tuple[_Work, DeltaRecording, object]] = []
"""In a process that works: what it does, the recording and the plan."""


def _start_worker(work: _Work, folder: str, plan: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    _worker.append((work, DeltaRecording(folder), plan))


def _work(number: int) -> object:
    work, recording, plan = _worker[0]
    return work(recording, plan, number)
