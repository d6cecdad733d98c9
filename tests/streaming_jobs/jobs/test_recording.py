"""A job that records: every record of the logs once, whatever is killed, and the past as the job had shown it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from deltalake import DeltaTable
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from msgspec.structs import astuple

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.history.backtest.trial import GroupTrial, try_rules
from monitor.history.chronicle.grid import Steps
from monitor.history.chronicle.writer import COSTS_KNOWN_MS, write_chronicle
from monitor.history.delta_tables import DeltaRecording
from monitor.history.instants import instant_text
from monitor.history.recorded import RecordingError, decode_events
from monitor.history.replay import Base, inputs_at
from monitor.history.sql.told import rows_of
from monitor.history.tables import EVALUATED, RECORDED, TOLD, Table
from monitor.history.walk import GroupWalk
from monitor.messages.notification import utc
from monitor.model import CommitRun, Entity, MembershipStored, OffsetCommitted
from monitor.protocol.offsets_topic import decode_record
from monitor.snapshot_file import find_inputs
from monitor.tracking.cluster_fold import Key
from streaming_jobs.recording.evaluation import CHUNK_MS, STEPS_MS
from tests.history.memory import tell_story
from tests.support.delta_spark import DeltaSpark
from tests.support.job_process import JobProcess, eventually, running
from tests.support.small_disk import fill, small_disk

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(900)]

CLUSTER, GROUP = "live", "payments"
EVERY_S = 10
STORY_STEP_S: Final = 10
"""How far apart the points of a story are (monitor.history.chronicle.grid.step_ms)."""
LATE_MS = 4_000
"""How much later than it happened a job may know something: a trigger, a poll of the topics every two seconds, and a
busy machine."""

END: Final = 2**62
"""Later than everything."""

STORM: Final = 5
"""So many rebalances are a finding, or there would be none."""

EARLY_MS = 1_000
"""A verdict has the time at which its micro-batch began, which then plans to read what is logged by that later time."""

LATE = (*range(0, LATE_MS + 1, 250), *range(-250, -EARLY_MS - 1, -250))

OWN: tuple[Entity, str] = (Entity.GROUP, GROUP)


class Members:
    """Real members of the group, which come and go one by one."""

    def __init__(self, kafka: EmbeddedKafka) -> None:
        self._settings = kafka.client_settings()
        self._running: list[tuple[threading.Thread, threading.Event]] = []

    def join(self) -> None:
        leave = threading.Event()
        thread = threading.Thread(target=self._consume, args=(leave,), daemon=True)
        thread.start()
        self._running.append((thread, leave))

    def leave(self) -> None:
        thread, leave = self._running.pop(0)
        leave.set()
        thread.join(30)

    def close(self) -> None:
        while self._running:
            self.leave()

    def _consume(self, leave: threading.Event) -> None:
        consumer = KafkaConsumer(
            "orders",
            group_id=GROUP,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=500,
            session_timeout_ms=10_000,
            **self._settings,
        )
        while not leave.is_set():
            consumer.poll(200)
        consumer.close()


@contextmanager
def produced(kafka: EmbeddedKafka) -> Iterator[None]:
    """Records keep coming."""
    stopping = threading.Event()

    def produce() -> None:
        producer = KafkaProducer(**kafka.client_settings())
        while not stopping.wait(0.2):
            producer.send("orders", b"x")
        producer.close(timeout=30)

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(30)


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(BrokerSettings()) as broker:
        client = KafkaAdminClient(**broker.client_settings())
        client.create_topics([NewTopic("orders", 6, 1)])
        client.wait_for_topics(["orders"])
        client.close()
        yield broker


class Recorded:
    """What is left of the job: its recording, and what it had shown at some instants."""

    def __init__(self, folder: Path) -> None:
        self.job: JobProcess
        self.folder = folder / "history"
        self.shown: list[GroupInputs] = []

    @property
    def recording(self) -> DeltaRecording:
        return DeltaRecording(str(self.folder))

    def take(self) -> None:
        lines = self.job.get(f"/api/v1/snapshot/{CLUSTER}/{GROUP}").encode().splitlines(keepends=True)
        self.shown.append(find_inputs(lines, CLUSTER, GROUP))

    def has(self, at_ms: int) -> bool:
        """Whether what happened at this instant is recorded, and readers are told so. It reads all of the recording."""
        try:
            rows = self.recording.rows(CLUSTER, 0, END, [(Entity.PASS, "")])
            is_reached = self.recording.reach_ms(CLUSTER) > at_ms
        except RecordingError:
            return False
        return is_reached and any(event.at_ms > at_ms for row in rows for event in decode_events(row))


@pytest.fixture(scope="module")
def recorded(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """A job watched members come and go, was killed on the way, and is still there."""
    folder = tmp_path_factory.mktemp("recording")
    found, chance, members = Recorded(folder), random.Random(25), Members(kafka)
    table = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 2.0}
    history = {"folder": str(found.folder), "every_s": EVERY_S}
    detection = {"storm_rebalances": STORM}
    job = JobProcess(folder, {CLUSTER: table}, history=history, detection=detection)
    found.job = job
    members.join()
    with produced(kafka), running(job):
        eventually(lambda: found.has(0), "the first records of the recording", pause_s=1.0)
        for number in range(5):
            members.join()
            _look(found.take, 8, chance)
            if number == 2:
                job.kill_9()
                members.join()  # while nobody watches
                job.start()
                job.await_ready()
            members.leave()
            _look(found.take, 8, chance)
        members.close()
        eventually(lambda: job.group(CLUSTER, GROUP)["lag"] > 0, "lag, because nobody reads")
        _look(found.take, STORY_STEP_S * 3, chance)
        now_ms = time.time_ns() // 1_000_000
        eventually(lambda: found.has(now_ms), "all that happened in the recording", pause_s=1.0)
        yield found


def _look(take: Callable[[], None], times: int, chance: random.Random) -> None:
    for _ in range(times):
        time.sleep(chance.uniform(0.1, 0.9))  # instants by chance: nothing is awaited
        take()


def logged(kafka: EmbeddedKafka) -> list[Any]:
    """What the offsets log tells of the group, read by Kafka's own client from beginning to end."""
    consumer = KafkaConsumer(**kafka.client_settings(), exclude_internal_topics=False)
    places = [TopicPartition("__consumer_offsets", n) for n in consumer.partitions_for_topic("__consumer_offsets")]
    consumer.assign(places)
    consumer.seek_to_beginning()
    ends = consumer.end_offsets(places)
    events = []
    while any(consumer.position(place) < end for place, end in ends.items()):
        for records in consumer.poll(1_000).values():
            for record in records:
                event = decode_record(record.key, record.value, record.timestamp)
                if getattr(event, "group", None) == GROUP:
                    events.append(event)
    consumer.close()
    return events


def test_every_generation_and_every_commit_is_recorded_once(recorded: Recorded, kafka: EmbeddedKafka):
    """No hole and no double row, by comparison with the log itself: a kill came between."""
    rows = recorded.recording.rows(CLUSTER, 0, END, [OWN])
    events = [recorded_event.event for row in rows for recorded_event in decode_events(row)]
    in_log = logged(kafka)
    generations = Counter(event for event in events if isinstance(event, MembershipStored))
    assert generations == Counter(event for event in in_log if isinstance(event, MembershipStored))
    assert len(generations) > 12
    commits: Counter[int] = Counter()
    for event in events:
        if isinstance(event, CommitRun):
            commits[event.partition] += event.commits
        elif isinstance(event, OffsetCommitted):
            commits[event.partition] += 1
    assert commits == Counter(event.partition for event in in_log if isinstance(event, OffsetCommitted))


def test_the_past_is_as_the_job_had_shown_it(recorded: Recorded):
    """What was known is what had happened a moment before: a job cannot know it sooner than its logs are read."""
    first, last = recorded.shown[0].now_ms, recorded.shown[-1].now_ms
    walk = GroupWalk(recorded.recording, CLUSTER, GROUP, first - LATE_MS, last + EARLY_MS)
    instants = {shown.now_ms - late_ms for shown in recorded.shown for late_ms in LATE}
    walked = {at_ms: walk.inputs_at(at_ms) for at_ms in sorted(instants)}
    then = {at_ms: told(inputs) if inputs else () for at_ms, inputs in walked.items()}
    unlike = [
        (shown.now_ms, told(shown))
        for shown in recorded.shown
        if not any(
            told_by(then[at_ms], shown.now_ms) == told(shown) for at_ms in (shown.now_ms - late_ms for late_ms in LATE)
        )
    ]
    assert unlike == []
    assert len(recorded.shown) > 90


def test_an_instant_alone_is_as_it_is_in_a_walk(recorded: Recorded):
    at_ms = recorded.shown[len(recorded.shown) // 2].now_ms
    walked = GroupWalk(recorded.recording, CLUSTER, GROUP, at_ms, at_ms).inputs_at(at_ms)
    assert inputs_at(recorded.recording, CLUSTER, GROUP, at_ms) == walked


def told(inputs: GroupInputs) -> tuple[Any, ...]:
    """Generation, owners, expected owners and findings; commits and ends move in every moment."""
    verdict = evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings)
    owners = tuple((row.topic, row.partition, row.owners, row.expected, row.orphan) for row in verdict.partitions)
    findings = tuple((each.kind.value, each.reason, each.since_ms, each.partitions) for each in verdict.findings)
    return verdict.generation, verdict.rebalances, owners, findings


def told_by(told: tuple[Any, ...], now_ms: int) -> tuple[Any, ...]:
    """The same as of a verdict at this instant: no finding begins later.

    A job may read a record that its broker dated later than the micro-batch began. It says of that that it begins now,
    and at the next verdict when it did; a recording always has the time of the record.
    """
    if not told:
        return ()
    *rest, findings = told
    return (*rest, tuple((kind, reason, min(since_ms, now_ms), places) for kind, reason, since_ms, places in findings))


def test_the_story_has_every_generation(recorded: Recorded, kafka: EmbeddedKafka):
    first, last = recorded.shown[0].now_ms, recorded.shown[-1].now_ms
    story = tell_story(recorded.recording, CLUSTER, GROUP, first, last)
    assert story is not None
    stored = [event for event in logged(kafka) if isinstance(event, MembershipStored)]
    expected = {event.generation for event in stored if first <= event.stored_ms <= last}
    sentences = [each.sentence for each in story.happened if each.about == "rebalance"]
    told = [re.match(r"Rebalance to generation (\d+)[ :]", sentence) for sentence in sentences]
    assert {int(each[1]) for each in told if each is not None} == expected
    assert None not in told
    assert max(point.lag or 0 for point in story.lag) > 0


NO_OTHERS: Final = DetectionRules(DetectionSettings(storm_rebalances=STORM, connection_expiry_ms=1))
"""Other thresholds that make no difference here: they are RocketMQ's. The groups are judged twice all the same."""


def test_a_backtest_finds_what_the_job_had_found_and_no_other(recorded: Recorded):
    first, last = recorded.shown[0].now_ms - LATE_MS, recorded.shown[-1].now_ms
    trial = GroupTrial(step_ms=250)
    try_rules(trial, GroupWalk(recorded.recording, CLUSTER, GROUP, first, last), NO_OTHERS, first, last)
    pairs = trial.findings(last)
    assert [pair for pair in [*pairs, *trial.alerts(last)] if pair.before != pair.after] == []
    episodes = [pair.before for pair in pairs if pair.before is not None]

    def found(at_ms: int) -> set[str]:
        return {each.name for each in episodes if each.from_ms <= at_ms < each.until_ms}

    shown = {each.now_ms: {f"{kind}/{reason}" for kind, reason, *_ in told(each)[-1]} for each in recorded.shown}
    unlike = {at_ms: names for at_ms, names in shown.items() if not any(found(at_ms - late) == names for late in LATE)}
    assert unlike == {}
    assert any(shown.values()), "there were findings to find"


def test_the_command_backtest_reads_the_thresholds_and_the_folder_of_the_job(recorded: Recorded):
    """With its own configuration nothing differs; with the default of storms there is none."""
    span = ["--since", str(recorded.shown[0].now_ms), "--until", str(recorded.shown[-1].now_ms)]
    command = [sys.executable, "-m", "monitor.cli", "backtest", "--config", str(recorded.job.config), "--json", *span]
    same, other = (
        subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | more)
        for more in ({}, {"GROUPWATCH_DETECTION__STORM_REBALANCES": "20"})
    )
    ((of_same,), (of_other,)) = json.loads(same.stdout), json.loads(other.stdout)
    assert (of_same["judged"], of_same["findings"]) == (0, [])
    assert of_same["groups"] == of_other["groups"] == of_other["judged"]
    storms = next(row for row in of_other["findings"] if row["name"] == "rebalance/storm")
    assert (storms["before"], storms["after"], storms["fewer"]) == (1, 0, 1)


@pytest.mark.parametrize(
    "command",
    [
        ("explain", CLUSTER, GROUP),
        ("what-if", CLUSTER, GROUP, "--without", "nobody"),
        ("snapshot", CLUSTER, GROUP),
        ("history", CLUSTER, GROUP),
        ("report", CLUSTER, GROUP),
    ],
    ids=lambda command: command[0],
)
def test_the_commands_answer_from_the_folder_as_the_job_does(recorded: Recorded, command: tuple[str, ...]):
    at_ms = recorded.shown[len(recorded.shown) // 2].now_ms
    is_of_span = command[0] in {"history", "report"}
    span = ["--since", str(at_ms), "--until", str(at_ms + 5_000)] if is_of_span else ["--at", str(at_ms)]
    answers = [
        subprocess.run(
            [sys.executable, "-m", "monitor.cli", *command, *span, *source], capture_output=True, text=True, check=False
        )
        for source in (["--url", recorded.job.url], ["--history", str(recorded.folder)])
    ]
    by_job, by_folder = answers
    said = [re.sub(r"^(instant .* UTC), [^,]* ago", r"\1", each.stdout) for each in answers]
    assert (by_job.returncode, said[0]) == (by_folder.returncode, said[1])
    if command[0] == "what-if":
        assert "has no member nobody" in by_folder.stderr
        assert "has no member nobody" in by_job.stderr
    else:
        assert (by_folder.returncode, by_folder.stderr) == (0, "")
        assert GROUP in by_folder.stdout


def without_times(page: str) -> str:
    """A page without the elements around its times."""
    return re.sub("</?time[^>]*>", "", page)


def test_the_pages_show_the_same_as_the_api(recorded: Recorded):
    """The group at an instant, and all its rebalances on the timeline, each as a link to its instant."""
    first, at_ms, last = (recorded.shown[place].now_ms for place in (0, len(recorded.shown) // 2, -1))
    then = json.loads(recorded.job.get(f"/api/v1/groups/{CLUSTER}/{GROUP}?at={at_ms}"))
    page = without_times(recorded.job.get(f"/groups/{CLUSTER}/{GROUP}?at={at_ms}"))
    assert f"This page shows the group at {utc(at_ms)}" in page
    assert f"<dt>Generation</dt><dd>{then['generation']}, " in page
    story = json.loads(recorded.job.get(f"/api/v1/history/{CLUSTER}/{GROUP}?since={first}&until={last}"))
    timeline = without_times(recorded.job.get(f"/timeline/{CLUSTER}/{GROUP}?since={first}&until={last}"))
    for event in story["happened"]:
        assert (
            f'<a href="/groups/{CLUSTER}/{GROUP}?at={instant_text(event["at_ms"])}">{utc(event["at_ms"])}</a>'
            in timeline
        )


def test_an_instant_before_the_group_and_one_that_is_none_are_told_in_a_sentence(recorded: Recorded):
    for at, status, sentence in (
        ("2001-01-01", 404, "No group named payments was known in cluster live at 2001-01-01 00:00:00 UTC."),
        ("soon", 400, "soon is no instant: give "),
        ("2101-01-01", 400, "2101-01-01 is in the future."),
    ):
        path = f"/api/v1/groups/{CLUSTER}/{GROUP}?at={at}"
        assert recorded.job.status(path) == status
        assert json.loads(recorded.job.get_any(path))["error"].startswith(sentence)


def test_the_metrics_say_that_it_records(recorded: Recorded):
    assert recorded.job.metrics().value("groupwatch_recording_up", cluster=CLUSTER) == 1


# --- upkeep -----------------------------------------------------------------------------------------------------------


class Upkeep(Protocol):
    """Keeps a recording up; the newest portion of which there are states then."""

    def __call__(self, folder: Path, complete_ms: int = 0, days_later: int | None = None) -> int: ...


@pytest.fixture(scope="module")
def keep_up(delta_spark: DeltaSpark) -> Upkeep:
    def keep_up(folder: Path, complete_ms: int = 0, days_later: int | None = None) -> int:
        program = "tests.streaming_jobs.recording.keep_up"
        return int(delta_spark.run(program, str(folder), CLUSTER, complete_ms, days_later).value)

    return keep_up


class WithoutStates(DeltaRecording):
    """Answers by events alone, as if no states had been kept."""

    def base(self, cluster: str, at_ms: int, keys: Collection[Key]) -> Base:
        return Base()


def copied(folder: Path, to: Path) -> Recorded:
    """The recording as it is. A table's log comes first: what it names is there by then. One may have no row yet."""
    for table in RECORDED:
        if not (folder / table.name / "_delta_log").exists():
            continue
        shutil.copytree(folder / table.name / "_delta_log", to / table.name / "_delta_log")
        shutil.copytree(folder / table.name, to / table.name, dirs_exist_ok=True, ignore=lambda *_: ["_delta_log"])
    found = Recorded(to.parent)
    found.folder = to
    return found


@pytest.mark.long  # a second Spark beside the job: 157 s; test_same_past.py folds states, too
def test_states_are_written_beside_a_running_job_and_change_nothing(recorded: Recorded, keep_up: Upkeep):
    recorded_ms = keep_up(recorded.folder)
    at_ms = recorded_ms + 1_000
    eventually(lambda: recorded.has(at_ms), "what happened since", pause_s=1.0)
    with_states, without = recorded.recording, WithoutStates(str(recorded.folder))
    base = with_states.base(CLUSTER, at_ms, [OWN])
    assert (base.recorded_ms, base.states.keys()) == (recorded_ms, {OWN})
    assert with_states.rows(CLUSTER, recorded_ms, at_ms, [OWN]) != without.rows(CLUSTER, 0, at_ms, [OWN])
    then = [inputs_at(recording, CLUSTER, GROUP, at_ms) for recording in (with_states, without)]
    assert then[0] is not None
    assert then[0] == then[1]


@pytest.fixture(scope="module")
def ended(recorded: Recorded) -> Recorded:
    """The same without its job, which takes half a core: the rest asks only what it has left."""
    recorded.job.stop()
    return recorded


def count_files(table: Path) -> int:
    return len(DeltaTable(str(table)).file_uris())


def test_old_days_go(ended: Recorded, keep_up: Upkeep, tmp_path: Path):
    copy = copied(ended.folder, tmp_path / "history")
    assert copy.recording.rows(CLUSTER, 0, END, [OWN]) != []
    keep_up(copy.folder, days_later=31)
    assert copy.recording.rows(CLUSTER, 0, END, [OWN]) == []
    assert copy.recording.settings(CLUSTER, END) is not None, "by what groups are judged is recorded at a start only"


@pytest.mark.long  # all tables once more with Spark
def test_small_files_of_the_day_before_are_put_together(ended: Recorded, keep_up: Upkeep, tmp_path: Path):
    copy = copied(ended.folder, tmp_path / "history")
    before, rows = (
        len(DeltaTable(str(copy.folder / "events")).file_uris()),
        len(copy.recording.rows(CLUSTER, 0, END, [OWN])),
    )
    keep_up(copy.folder, days_later=1)
    assert count_files(copy.folder / "events") < before
    assert len(copy.recording.rows(CLUSTER, 0, END, [OWN])) == rows


# --- tables for SQL ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evaluated(ended: Recorded, keep_up: Upkeep, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The recording as it is, evaluated until the end of the ten minutes in which it ends, and once more."""
    copy = copied(ended.folder, tmp_path_factory.mktemp("evaluated") / "history")
    keep_up(copy.folder, copy.recording.reach_ms(CLUSTER) + CHUNK_MS + COSTS_KNOWN_MS)
    return copy


def rows_in(folder: Path, table: Table) -> Counter[tuple[object, ...]]:
    """The rows of a table, as often as they are there."""
    if not (folder / table.name).exists():
        return Counter()
    found = DeltaTable(str(folder / table.name)).to_pyarrow_table(columns=[column.name for column in table.columns])
    return Counter(tuple(row.values()) for row in found.to_pylist())


def test_the_tables_have_what_the_recording_tells(evaluated: Recorded):
    """Spark's rows are those of the group's chronicle, ten minutes after ten minutes, each once."""
    chunks = sorted(row[2:4] for row in rows_in(evaluated.folder, EVALUATED))
    expected: dict[Table, Counter[tuple[object, ...]]] = {table: Counter() for table in TOLD}
    for since_ms, until_ms in chunks:
        walk = GroupWalk(evaluated.recording, CLUSTER, GROUP, since_ms, until_ms + COSTS_KNOWN_MS)
        chronicle = write_chronicle(walk, since_ms, until_ms, steps=Steps(STEPS_MS[0], partitions_every_ms=60_000))
        assert chronicle is not None
        for table, rows in rows_of(chronicle):
            expected[table].update(map(astuple, rows))
    assert {table: rows_in(evaluated.folder, table) for table in TOLD} == expected
    assert {table.name for table in TOLD if expected[table]} >= {"rebalances", "member_changes", "partition_minutes"}


# --- a full disk ------------------------------------------------------------------------------------------------------


@pytest.mark.long  # a job and a recording of its own; test_checkpoint.py and the chaos of the suite fill a disk, too
def test_a_full_disk_stops_the_recording_and_not_the_watching(kafka: EmbeddedKafka, tmp_path: Path):
    table = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 2.0}
    with small_disk(tmp_path / "disk") as disk:
        job = JobProcess(tmp_path, {CLUSTER: table}, history={"folder": str(disk / "history"), "every_s": 2})
        with running(job):
            found = Recorded(disk.parent)
            found.folder = disk / "history"
            eventually(lambda: found.has(0), "the first records of the recording", pause_s=1.0)
            fill(disk / "filler")
            job.await_metric("groupwatch_recording_up", 0, cluster=CLUSTER)
            (condition,) = json.loads(job.get("/api/v1/clusters"))
            assert condition["warning"].startswith(f"Nothing is recorded in {disk}/history: the disk is full (")
            assert condition["warning"].endswith("Groups are watched as ever.")
            full_ms = time.time_ns() // 1_000_000
            eventually(lambda: evaluated_ms(job) > full_ms, "an evaluation since")
            assert (job.status("/readyz"), job.metrics().value("groupwatch_up", cluster=CLUSTER)) == (200, 1)
            (disk / "filler").unlink()
            job.await_metric("groupwatch_recording_up", 1, cluster=CLUSTER)
            eventually(lambda: found.has(full_ms), "what happened while the disk was full", pause_s=1.0)


def evaluated_ms(job: JobProcess) -> float:
    (condition,) = json.loads(job.get("/api/v1/clusters"))
    return float(condition["evaluated_ms"])
