"""Questions to a job about the past: another process answers, whose memory and time have limits, and which ends."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import termios
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.history.apart import past_process
from monitor.history.apart.messages import TooSlow
from monitor.history.apart.past_process import PastProcess
from monitor.history.past import RecordedPast
from monitor.history.recorded import (
    NotRecordedError,
    RecordedEvent,
    RecordedRow,
    RecordedSettings,
    RecordingError,
    encode_events,
)
from monitor.history.work_limit import JOB_LIMIT, TooMuchWorkError, TooSlowError
from monitor.messages.notification import utc
from monitor.model import Entity, GroupsListed
from monitor.model.group_choice import GroupChoice
from tests.history.folder import write_recording
from tests.history.incidents import START, killed, ms
from tests.history.test_work_limit import storm
from tests.support.job_process import eventually

LISTED = 5_000


def listing(minute: int) -> RecordedRow:
    """A minute of listings that name 5,000 groups every six seconds, each time others: 700 kB."""
    events = []
    for number in range(10):
        at_ms = ms(minute * 60 + 6 * number)
        names = tuple(f"batch-{minute}-{number}-{each}" for each in range(LISTED))
        events.append(RecordedEvent(at_ms, GroupsListed("c", "admin", at_ms, at_ms, names)))
    return RecordedRow(ms((minute + 1) * 60), Entity.LISTING, "", minute, encode_events(events))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cluster c has an incident, cluster storm what takes long, cluster listed what takes much memory."""
    found = tmp_path_factory.mktemp("past")
    rows = killed().recording().every_row
    write_recording(found, "c", rows, {START: RecordedSettings()})
    write_recording(found, "storm", [storm(minute) for minute in range(20)], {START: RecordedSettings()})
    listings = [listing(minute) for minute in range(60)]
    read = sum(len(row.events) for row in listings)
    assert read < 4 * JOB_LIMIT.most_bytes, "what is read is within the limit of bytes"
    write_recording(found, "listed", [*rows, *listings], {START: RecordedSettings()})
    return found


@pytest.fixture
def past(folder: Path) -> Iterator[PastProcess]:
    found = PastProcess(str(folder))
    yield found
    found.close()


def process_of(past: PastProcess) -> int | None:
    process = past._process
    return None if process is None else process.pid


def unread_bytes(past: PastProcess) -> int:
    """How much of a question its process has not read."""
    process = past._process
    assert process is not None
    assert process.stdin is not None
    return int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)), sys.byteorder)


def is_stopped(pid: int) -> bool:
    """Whether none of its threads can read a question."""
    stats = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    return {stat.rpartition(")")[2].split()[0] for stat in stats} == {"T"}


def is_there(pid: int) -> bool:
    """Whether it is there, and no zombie that waits for somebody to ask how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("question", ["chronicle", "report"])
def test_what_it_answers_is_what_the_recording_has(folder: Path, past: PastProcess, question: str):
    expected = getattr(RecordedPast(str(folder), limit=None), question)("c", "g", START, ms(170))
    assert expected is not None
    assert getattr(past, question)("c", "g", START, ms(170)) == expected


def test_an_instant_is_answered_as_well_and_a_group_that_was_not_there_is_none(folder: Path, past: PastProcess):
    expected = RecordedPast(str(folder), limit=None).inputs("c", "g", ms(90))
    assert expected is not None
    assert past.inputs("c", "g", ms(90)) == expected
    assert past.inputs("c", "nobody", ms(90)) is None


def test_one_process_answers_one_question_after_the_other(past: PastProcess):
    past.inputs("c", "g", ms(90))
    first = process_of(past)
    past.inputs("c", "g", ms(100))
    assert first is not None
    assert process_of(past) == first


def test_what_is_not_recorded_is_told_as_ever(tmp_path: Path, past: PastProcess):
    with pytest.raises(NotRecordedError, match="has no cluster other"):
        past.chronicle("other", "g", START, ms(60))
    nothing = PastProcess(str(tmp_path))
    with pytest.raises(RecordingError, match="There is no recording in"):
        nothing.days("c", "g", START, ms(60))
    nothing.close()


def test_of_a_group_that_is_left_out_it_is_said_and_of_before_it_is_answered(folder: Path):
    past = PastProcess(str(folder), groups=GroupChoice(deny=("g", "tmp-.*")))
    assert past.chronicle("c", "g", START, ms(170)) is not None
    with pytest.raises(NotRecordedError) as refused:
        past.inputs("c", "tmp-1", ms(90))
    assert str(refused.value) == (
        "Group tmp-1 of cluster c is not recorded: [history] allow_groups or deny_groups leaves it out."
    )
    past.close()


def test_a_question_that_takes_too_much_memory_is_refused_and_the_next_one_is_answered(past: PastProcess):
    """Without a limit it takes more than a gigabyte."""
    with pytest.raises(TooMuchWorkError):
        past.report("listed", "g", START, ms(3_500))
    assert process_of(past) is None
    assert past.inputs("c", "g", ms(90)) is not None


def test_a_machine_of_many_cores_is_answered_too(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Its libraries would start a thread for each core, and the stacks of 64 are more than the process may have."""
    for name in ("TOKIO_WORKER_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "64")
    past = PastProcess(str(folder))
    assert past.report("c", "g", START, ms(170)) is not None
    past.close()


def test_a_question_that_does_not_look_at_the_time_is_killed(folder: Path):
    past = PastProcess(str(folder), most_s=3)
    past.inputs("c", "g", ms(90))
    stopped = process_of(past)
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(TooSlowError, match=r"This question took 3 s, the job's limit\. The machine is busy"):
        past.inputs("c", "g", ms(90))
    assert not is_there(stopped)
    past.close()


def test_a_question_that_is_killed_names_the_limit_and_not_when_it_was_killed():
    refused = PastProcess("/data")._end_response(-signal.SIGKILL, took_s=47.5)
    assert isinstance(refused, TooSlow)
    assert refused.sentences.startswith("This question took 45 s, the job's limit. ")


def test_a_question_that_never_looks_at_its_cpu_time_is_ended_by_the_system(past: PastProcess):
    past.inputs("c", "g", ms(90))
    asked = process_of(past)
    assert asked is not None
    soft_s, _ = resource.prlimit(asked, resource.RLIMIT_CPU)
    assert JOB_LIMIT.most_cpu_s + 2 < soft_s < JOB_LIMIT.most_cpu_s + 10
    os.kill(asked, signal.SIGSTOP)
    eventually(lambda: is_stopped(asked), "the stop of all its threads")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(past.inputs, "c", "g", ms(90))
        eventually(lambda: unread_bytes(past) > 0, "the question")
        os.kill(asked, signal.SIGXCPU)
        os.kill(asked, signal.SIGCONT)
        with pytest.raises(TooMuchWorkError, match="This question used 8 s of CPU time"):
            answer.result()


def test_a_stop_of_the_job_ends_a_question(past: PastProcess):
    past.inputs("c", "g", ms(90))
    asked = process_of(past)
    assert asked is not None
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(past.report, "storm", "g", START, ms(1_190))
        past.close()
        assert str(answer.exception()) == "The job is ending."
    assert not is_there(asked)
    with pytest.raises(RecordingError, match=r"^The job is ending\.$"):
        past.inputs("c", "g", ms(90))


def test_a_process_that_was_killed_while_nobody_asked_is_replaced(past: PastProcess):
    past.inputs("c", "g", ms(90))
    before = process_of(past)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    eventually(lambda: not is_there(before), "the end of the process")
    assert past.inputs("c", "g", ms(90)) is not None


def test_a_process_that_ends_while_it_is_asked_is_replaced_too(past: PastProcess):
    """By the system, which needs memory: it may not have read the question, and the next one answers it."""
    past.inputs("c", "g", ms(90))
    before = process_of(past)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    assert past.inputs("c", "g", ms(90)) is not None


def test_a_process_that_nobody_asks_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(past_process, "IDLE_S", 0.1)
    past = PastProcess(str(folder))
    past.inputs("c", "g", ms(90))
    eventually(lambda: process_of(past) is None, "the end of the process")
    assert past.inputs("c", "g", ms(90)) is not None
    past.close()


JOB = """
    import sys, threading
    from monitor.history.apart.past_process import PastProcess
    past = PastProcess(sys.argv[1])
    past.inputs("c", "g", int(sys.argv[3]))
    if sys.argv[2] == "asking":
        threading.Thread(target=past.report, args=("storm", "g", int(sys.argv[3]) - 90_000, 2**50), daemon=True).start()
    print(past._process.pid, flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("meanwhile", ["idle", "asking"])
def test_the_process_ends_with_the_job_even_if_that_is_killed(folder: Path, meanwhile: str):
    command = [sys.executable, "-c", textwrap.dedent(JOB), str(folder), meanwhile, str(ms(90))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        worker = int(job.stdout.readline())
        assert is_there(worker)
        job.kill()
    eventually(lambda: not is_there(worker), "the end of the process", seconds=5)


def test_explain_says_which_instant_it_answers_for_and_what_it_was_made_from(folder: Path):
    command = ["explain", "c", "g", "--at", str(ms(90)), "--history", str(folder)]
    answer = CliRunner().invoke(app, command)
    first = answer.stdout.splitlines()[0]
    assert first.startswith(f"instant    {utc(ms(90))}, ")
    assert first.endswith(" ago, from the recording: from its first record on.")
    assert f'"evaluated_ms": {ms(90)}' in CliRunner().invoke(app, [*command, "--json"]).stdout
