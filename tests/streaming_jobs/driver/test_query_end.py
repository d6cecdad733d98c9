"""A query that is told to end takes back the plan of the micro-batch that it does not begin, if the plan is its own."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from monitor.collectors.passes.unchanged import UnchangedPolls
from monitor.readiness.next_batch import BatchSchedule
from monitor.readiness.warm_up import LogPosition
from streaming_jobs.driver.batch_gate import BatchGate, Unread
from streaming_jobs.driver.publisher import MicroBatchPublisher, QueryEndingError


class NoLog:
    """A log that nobody writes to."""

    def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
        return None

    def close(self) -> None:
        pass


def plans_taken_back(batch_id: int, *, begun: bool) -> list[int]:
    """Those that a publisher takes back whose query was told to end before this micro-batch."""
    gate = BatchGate(BatchSchedule(1_000), NoLog(), lambda now_ms: None, UnchangedPolls())
    gate.open()
    taken: list[int] = []
    publisher = object.__new__(MicroBatchPublisher)  # of all that it needs for a micro-batch, nothing is looked at here
    publisher.gate, publisher.begun = gate, threading.Event()
    publisher.logs = cast(Any, SimpleNamespace(forget_plan=taken.append))
    if begun:
        publisher.begun.set()
    with pytest.raises(QueryEndingError):
        publisher(cast(Any, None), batch_id)
    return taken


def test_a_query_takes_back_what_it_planned_itself():
    assert plans_taken_back(9, begun=True) == [9]


def test_the_first_plan_of_a_query_stays_for_it_may_be_of_a_run_that_was_killed():
    """That run may have stored state for it; Spark would read that of a snapshot in place of what it reads anew."""
    assert plans_taken_back(9, begun=False) == []
