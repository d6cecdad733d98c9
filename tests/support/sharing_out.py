"""Which worker gets which files of tests: of `make test-jobs`, two may start Spark, and any other has the rest.

A job computes more than it waits, so a third one would keep both cores from the other two. What needs a broker or no
server at all waits more than it computes, and fits beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadFileScheduling

CHOOSE_JOBS: Final = ("jobs", "jobs and not long")
"""What `make test-jobs` chooses by (pytest -m)."""

WITH_SPARK: Final = 2
"""How many workers may start it."""

STARTS_SPARK: Final = re.compile(r"\bmark\.spark\b")


def chooses_jobs(config: pytest.Config) -> bool:
    """Whether it is a run of jobs only."""
    return str(config.getoption("markexpr")) in CHOOSE_JOBS


@cache
def starts_spark(place: Path) -> bool:
    """Whether a file of tests has some that start it, by its text."""
    return STARTS_SPARK.search(place.read_text(encoding="utf-8")) is not None


class TwoWithSpark(LoadFileScheduling):
    """A worker gets whole files; in a run of jobs, two of the workers first those that start Spark, any other none."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._with_spark: set[Any] = set()

    def _assign_work_unit(self, node: Any) -> None:
        if chooses_jobs(self.config):
            is_with_spark = self._may_start_spark(node)
            fitting = [scope for scope, unit in self.workqueue.items() if self._starts_spark(unit) == is_with_spark]
            if not fitting and not is_with_spark:
                node.shutdown()  # two others are still at work
                return
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
