"""Which worker gets which files of tests: of `make test-jobs`, two may start Spark, and any other has the rest first.

A job computes more than it waits. What needs a broker or no server at all waits more than it computes, and fits beside
two jobs. Programs keep to a clock, so no third job runs beside them. After them there may be one: what a test of jobs
awaits has longer on a busy machine (tests.support.job_process.Patience).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadFileScheduling

CHOOSE_JOBS: Final = ("jobs", "jobs and not long")
"""What `make test-jobs` chooses by (pytest -m)."""

WITH_SPARK: Final = 2
"""How many workers may start it beside programs."""

STARTS_SPARK: Final = re.compile(r"\bmark\.spark\b")


def chooses_jobs(config: pytest.Config) -> bool:
    """Whether it is a run of jobs only."""
    return str(config.getoption("markexpr")) in CHOOSE_JOBS


@cache
def starts_spark(place: Path) -> bool:
    """Whether a file of tests has some that start it, by its text."""
    return STARTS_SPARK.search(place.read_text(encoding="utf-8")) is not None


class Places(list[str]):
    """The names of tests, each found at once: xdist looks for each of 15,000 from the first on, 10 s of CPU.

    >>> Places(["a", "b"]).index("b")
    1
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._places = {name: place for place, name in enumerate(self)}

    def index(self, name: str, *_: Any) -> int:
        """Where it is; names are unique."""
        return self._places[name]


class TwoWithSpark(LoadFileScheduling):
    """A worker gets whole files; in a run of jobs, two of the workers first those that start Spark, any other first
    those that do not. Once these have run and no program is left, every worker gets what there is.
    """

    programs: str = ""
    """What ``_split_scope`` gives for all tests that await programs."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._with_spark: set[Any] = set()

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Note what a worker has collected."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Places(self.registered_collections[node])

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Note it; a worker may have waited for the end of the programs, or for that of the whole run."""
        super().mark_test_complete(node, item_index, duration)
        if chooses_jobs(self.config):
            for other in self.nodes:
                if other is not node and other in self.registered_collections:  # one that has just begun has none
                    self._reschedule(other)

    def _assign_work_unit(self, node: Any) -> None:
        if chooses_jobs(self.config):
            is_with_spark = self._may_start_spark(node)
            fitting = [scope for scope, unit in self.workqueue.items() if self._starts_spark(unit) == is_with_spark]
            if not fitting and not is_with_spark and self._awaits_programs():
                return  # its last test waits with it: a worker runs that when it knows what follows
            if fitting:
                self.workqueue.move_to_end(fitting[0], last=False)
        super()._assign_work_unit(node)

    def _may_start_spark(self, node: Any) -> bool:
        """The place of a worker that has died is its successor's."""
        self._with_spark &= set(self.nodes)
        if len(self._with_spark) < WITH_SPARK:
            self._with_spark.add(node)
        return node in self._with_spark

    def _starts_spark(self, unit: Iterable[str]) -> bool:
        return any(starts_spark(self.config.rootpath / file) for file in {name.partition("::")[0] for name in unit})

    def _awaits_programs(self) -> bool:
        """Whether a test is left that awaits one."""
        works = (self.workqueue, *self.assigned_work.values())
        return any(not all(work[self.programs].values()) for work in works if self.programs in work)
