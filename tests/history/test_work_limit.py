"""A question to a job about the past reads so many bytes and takes so long at the most; else it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.history.past import RecordedPast
from monitor.history.recorded import RecordedEvent, RecordedRow, RecordedSettings, encode_events
from monitor.history.work_limit import JOB_LIMIT, TooMuchWorkError, TooSlowError, WorkLimit, cpu_used_up, time_used_up
from monitor.model import Entity, Member, MembershipStored, TopicPartitions
from tests.history.folder import write_recording
from tests.history.incidents import START, ms

GENERATION_S = 3
MEMBERS = 100


def storm(minute: int, members: int = MEMBERS) -> RecordedRow:
    """A minute in which all members come back under other ids every three seconds."""
    events = [generation(minute * 60 + second, members) for second in range(0, 60, GENERATION_S)]
    return RecordedRow(ms((minute + 1) * 60), Entity.GROUP, "g", minute, encode_events(events))


def generation(second: int, members: int) -> RecordedEvent:
    found = tuple(
        Member(
            member_id=f"app-{number}-{second:040}",
            client_id=f"app-{number}",
            host=f"/10.0.0.{number}",
            topics=("t",),
            assigned=(TopicPartitions("t", (number,)),),
            user_data=bytes(200),
        )
        for number in range(members)
    )
    stored = MembershipStored("g", second, "consumer", "range", found[0].member_id, ms(second), found)
    return RecordedEvent(ms(second), stored)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half an hour of a storm: more than 16 MB of events."""
    found = tmp_path_factory.mktemp("storm")
    rows = [storm(minute) for minute in range(30)]
    assert sum(len(row.events) for row in rows) > JOB_LIMIT.most_bytes
    write_recording(found, "c", rows, {START: RecordedSettings()})
    return found


@pytest.mark.parametrize("question", ["report", "chronicle"])
def test_a_span_with_too_many_events_is_refused_before_they_are_all_read(folder: Path, question: str):
    with pytest.raises(TooMuchWorkError) as refused:
        getattr(RecordedPast(str(folder)), question)("c", "g", START, ms(1_800))
    assert str(refused.value) == (
        "This question reads more than 16 MB of events, the job's limit. It has evaluated nothing yet. "
        f"Ask about a shorter span, or use the command with --history {folder}, which has no limit."
    )


def test_an_instant_to_which_too_many_events_lead_is_refused(folder: Path):
    with pytest.raises(TooMuchWorkError):
        RecordedPast(str(folder)).inputs("c", "g", ms(1_790))


@pytest.mark.parametrize("question", ["report", "chronicle"])
def test_a_question_that_uses_too_much_cpu_time_is_refused(folder: Path, question: str):
    past = RecordedPast(str(folder), WorkLimit(most_bytes=JOB_LIMIT.most_bytes, most_cpu_s=0, most_s=600))
    with pytest.raises(TooMuchWorkError) as refused:
        getattr(past, question)("c", "g", START, ms(60))
    assert str(refused.value) == (
        "This question used 0 s of CPU time, the job's limit. "
        f"Ask about a shorter span, or use the command with --history {folder}, which has no limit."
    )


def test_a_question_that_takes_long_on_a_busy_machine_is_not_called_much_work(folder: Path):
    past = RecordedPast(str(folder), WorkLimit(most_bytes=JOB_LIMIT.most_bytes, most_cpu_s=600, most_s=0))
    with pytest.raises(TooSlowError, match="The machine is busy, or the storage of the recording is slow") as refused:
        past.report("c", "g", START, ms(60))
    assert not isinstance(refused.value, TooMuchWorkError)


def test_a_refusal_has_the_limit_the_work_and_the_instant_that_it_came_to():
    assert cpu_used_up("/data", 8.0, START) == (
        "This question used 8 s of CPU time, the job's limit. It got to 2026-11-22 02:14:00 UTC. "
        "Ask about a shorter span, or use the command with --history /data, which has no limit."
    )
    assert time_used_up("/data", 45.0, 1.234, START) == (
        "This question took 45 s, the job's limit, and used 1.2 s of CPU time. It got to 2026-11-22 02:14:00 UTC. "
        "The machine is busy, or the storage of the recording is slow. "
        "Try again later, or use the command with --history /data, which has no limit."
    )


def test_the_commands_have_no_limit(folder: Path):
    inputs = RecordedPast(str(folder), limit=None).inputs("c", "g", ms(1_790))
    assert inputs is not None
    assert inputs.group.generation == 1_788


def test_a_short_span_of_a_storm_is_answered(folder: Path):
    """A minute of it: twenty generations, each with others than before, of which the first is in the span's start."""
    past = RecordedPast(str(folder), WorkLimit(most_bytes=JOB_LIMIT.most_bytes, most_cpu_s=600, most_s=600))
    found = past.report("c", "g", START, ms(60))
    assert found is not None
    assert len(found.left) == MEMBERS * 20
