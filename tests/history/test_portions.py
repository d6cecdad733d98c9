"""A recording under a clock that is set forward and back: each answer is what the log said at that instant."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from monitor.history.portions import PortionTimes, next_number, portion_number
from monitor.history.recorded import RecordedEvent, RecordedRow, encode_events
from monitor.history.replay import Base, group_at
from monitor.model import Entity, Member, MembershipStored
from tests.history.memory import MemoryRecording

BEGIN = 1_795_313_640_000
MINUTE, HOUR, YEAR = 60_000, 3_600_000, 365 * 86_400_000
EVERY = MINUTE

STEPS = {
    "right": (0,),
    "ahead by 5 h until the third portion": (5 * HOUR, 5 * HOUR, 5 * HOUR, 0),
    "a year ahead at the start": (YEAR, YEAR, YEAR, YEAR, 0),
    "set back by 30 min": (0, 0, 0, -30 * MINUTE),
    "set back by a day, then right": (0, 0, -24 * HOUR, -24 * HOUR, -24 * HOUR, 0),
    "forward and back": (0, 2 * HOUR, -HOUR // 2, 3 * HOUR, -HOUR, 0),
    "a year ahead in the middle": (0, 0, 0, YEAR, YEAR, YEAR, 0),
}
"""By how much the machine's clock is ahead of the brokers' at each portion; the last one stays."""


def generation(number: int, at_ms: int) -> RecordedEvent:
    members = (Member(member_id=f"m{number}", client_id="m"),)
    return RecordedEvent(
        at_ms, MembershipStored("g", number, "consumer", "range", "m", stored_ms=at_ms, members=members)
    )


def shuffled_steps() -> Iterator[tuple[int, ...]]:
    chance = random.Random(39)
    for _ in range(20):
        yield tuple([chance.choice((0, -HOUR // 2, -5 * HOUR, HOUR, 5 * HOUR, YEAR)) for _ in range(12)])


@pytest.mark.parametrize("ahead", [*STEPS.values(), *shuffled_steps()], ids=str)
def test_each_instant_has_the_generation_that_the_log_had(ahead: tuple[int, ...]):
    rows: list[RecordedRow] = []
    times: list[int] = []
    newest = 0
    for number in range(30):
        at_ms = BEGIN + number * EVERY
        clock_ms = at_ms + 2_000 + (ahead[number] if number < len(ahead) else ahead[-1])
        portion = PortionTimes(clock_ms=clock_ms, rows=1, beyond=0, last_ms=at_ms)
        newest = portion_number(newest, portion, EVERY)
        rows.append(RecordedRow(newest, Entity.GROUP, "g", number, encode_events([generation(number, at_ms)])))
        times.append(at_ms)
    numbers = [row.recorded_ms for row in rows]
    assert all(earlier < later for earlier, later in pairwise(numbers))
    assert all(at_ms <= number <= at_ms + EVERY for at_ms, number in zip(times, numbers, strict=True))
    bases = [states_after(rows[: count + 1]) for count in range(0, 30, 7)]
    recording = MemoryRecording(rows, bases)
    for number, at_ms in enumerate(times):
        for instant in (at_ms, at_ms + EVERY - 1):
            found = group_at(recording, "c", "g", instant)
            assert found is not None
            assert found.generation == number


def states_after(rows: list[RecordedRow]) -> Base:
    state = group_at(MemoryRecording(rows), "c", "g", 2**62)
    assert state is not None
    return Base(recorded_ms=rows[-1].recorded_ms, states={(Entity.GROUP, "g"): state})


def test_a_portion_without_believed_times_follows_the_one_before():
    forged = PortionTimes(clock_ms=BEGIN, rows=1, beyond=1, last_ms=None)
    assert portion_number(BEGIN + HOUR, forged, EVERY) == BEGIN + HOUR + 1
    assert not forged.is_dated
    assert PortionTimes(clock_ms=BEGIN, rows=4, beyond=1, last_ms=BEGIN).is_dated


def test_marks_by_a_clock_that_was_set_back_still_come_later():
    assert next_number(BEGIN + 5 * HOUR, BEGIN) == BEGIN + 5 * HOUR + 1
