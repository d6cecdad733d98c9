"""A micro-batch ends when the next one has a reason, and not before."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from monitor.collectors.passes.unchanged import UnchangedPolls
from monitor.readiness.next_batch import JOIN_MS, LONGEST_PAUSE_MS, BatchSchedule
from monitor.readiness.warm_up import LogPosition
from streaming_jobs.driver.batch_gate import BatchGate, Unread
from streaming_jobs.runtime.clock import monotonic_ms
from tests.support.job_process import eventually

POSITION = LogPosition(read={0: 1}, events_read={0: 10})
LONG_S = 60
FAR_MS = 3_600_000


@dataclass
class Log:
    """A log whose news are told by hand."""

    has_news: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)
    unread: Unread = Unread.GROUPS
    is_closed: bool = False
    events_end: int | None = None
    """Where the events end: one who has read so far has no news of them. None: there is more."""

    def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
        assert position.read == POSITION.read
        self.asked.set()
        if not self.has_news.wait(limit_ms / 1000):
            return None
        if self.unread is Unread.EVENTS and position.events_read[0] == self.events_end:
            return None
        return self.unread

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Held:
    """A gate that holds in a thread of its own."""

    gate: BatchGate
    thread: threading.Thread

    def ends(self) -> bool:
        self.thread.join(LONG_S)
        return not self.thread.is_alive()


def held(
    log: Log,
    *,
    spacing_ms: int = 0,
    due_in_ms: int | None = None,
    confirmed: list[int] | None = None,
    unchanged: UnchangedPolls | None = None,
) -> Held:
    """Polls that found nothing new may wait if they are given."""
    polls = UnchangedPolls() if unchanged is None else unchanged
    gate = BatchGate(BatchSchedule(spacing_ms), log, ([] if confirmed is None else confirmed).append, polls)
    gate.begin(monotonic_ms())
    gate.begin(monotonic_ms())  # the second of two that follow each other
    due_ms = None if due_in_ms is None else monotonic_ms() + due_in_ms
    may_wait = {"polls_may_wait": unchanged is not None}
    thread = threading.Thread(target=gate.hold, args=(POSITION, due_ms), kwargs=may_wait, daemon=True)
    thread.start()
    return Held(gate, thread)


def test_news_ends_the_wait():
    log = Log()
    one = held(log)
    assert log.asked.wait(LONG_S)
    assert one.gate.is_holding
    log.has_news.set()
    assert one.ends()
    assert not one.gate.is_holding


def test_events_of_collectors_wait_for_each_other():
    """A poll is written piece by piece, and must not cost a micro-batch for each piece."""
    log = Log(unread=Unread.EVENTS)
    log.has_news.set()
    one = held(log)
    assert one.ends()
    assert JOIN_MS <= one.gate.held_ms < LONGEST_PAUSE_MS


def polls(first: int, end: int) -> UnchangedPolls:
    noted = UnchangedPolls()
    noted.note(first, end)
    return noted


def test_a_poll_that_found_nothing_new_ends_no_wait():
    log = Log(unread=Unread.EVENTS, events_end=14)
    log.has_news.set()
    one = held(log, unchanged=polls(10, 14))
    one.thread.join(3 * JOIN_MS / 1000)
    assert one.gate.is_holding
    log.unread = Unread.GROUPS
    assert one.ends()


@pytest.mark.parametrize("events_end", [15, 1000])
def test_what_follows_on_such_a_poll_ends_it(events_end):
    """Another writer's event, or a poll that found something."""
    log = Log(unread=Unread.EVENTS, events_end=events_end)
    log.has_news.set()
    assert held(log, unchanged=polls(10, 14)).ends()


def test_such_a_poll_behind_an_event_that_was_not_read_ends_it():
    log = Log(unread=Unread.EVENTS, events_end=14)
    log.has_news.set()
    assert held(log, unchanged=polls(11, 14)).ends()


def test_such_a_poll_ends_it_where_it_may_change_a_verdict():
    log = Log(unread=Unread.EVENTS, events_end=14)
    log.has_news.set()
    one = held(log)
    one.gate.unchanged.note(10, 14)
    assert one.ends()


def test_what_is_due_ends_it_although_such_a_poll_waits():
    log = Log(unread=Unread.EVENTS, events_end=14)
    log.has_news.set()
    one = held(log, unchanged=polls(10, 14), due_in_ms=50)
    assert one.ends()
    assert one.gate.held_ms < LONGEST_PAUSE_MS


def test_what_is_due_ends_it_without_news():
    one = held(Log(), due_in_ms=50)
    assert one.ends()
    assert 50 <= one.gate.held_ms < LONGEST_PAUSE_MS


def test_what_is_overdue_waits_for_nothing_but_the_spacing():
    log = Log()
    one = held(log, due_in_ms=-FAR_MS)
    assert one.ends()
    assert one.gate.held_ms < LONGEST_PAUSE_MS


def test_under_load_micro_batches_keep_their_distance():
    """News is not even asked for."""
    log = Log()
    log.has_news.set()
    one = held(log, spacing_ms=FAR_MS)
    assert not log.asked.wait(0.5)
    assert one.gate.is_holding
    one.gate.open()
    assert one.ends()


@pytest.mark.parametrize("spacing_ms", [0, FAR_MS])
def test_a_stop_ends_it(spacing_ms):
    log = Log()
    one = held(log, spacing_ms=spacing_ms)
    one.gate.open()
    assert one.ends()
    assert one.gate.is_open
    one.gate.close()
    assert log.is_closed


def test_a_wait_proves_nothing_and_a_poll_that_found_nothing_new_confirms_the_evaluation():
    """Otherwise a cluster whose brokers are away would seem to be evaluated as long as a micro-batch is held."""
    confirmed: list[int] = []
    one = held(Log(), spacing_ms=10 * JOIN_MS, confirmed=confirmed)
    one.thread.join(JOIN_MS / 1000)
    assert one.gate.is_holding
    one.gate.open()
    assert one.ends()
    assert confirmed == []

    log = Log(unread=Unread.EVENTS, events_end=14)
    log.has_news.set()
    began_ms = monotonic_ms()
    one = held(log, unchanged=polls(10, 14), confirmed=confirmed)
    eventually(lambda: confirmed, "the confirmation")
    assert one.gate.is_holding
    one.gate.open()
    assert one.ends()
    assert began_ms <= confirmed[0] <= monotonic_ms()


def test_a_poll_that_found_nothing_new_confirms_nothing_while_commits_are_unread():
    """After a stall both wait. The verdicts are as old as the commits then, and the next micro-batch reads them."""

    class Both(Log):
        def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
            return Unread.EVENTS if position.events_read[0] == 10 else Unread.GROUPS

    confirmed: list[int] = []
    one = held(Both(), unchanged=polls(10, 14), confirmed=confirmed)
    assert one.ends()
    assert confirmed == []
