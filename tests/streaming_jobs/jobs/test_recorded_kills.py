"""Kill -9 of a job that records, twenty times under load, and of its upkeep: nothing is lost or there twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.history.delta_tables import DeltaRecording
from monitor.history.recorded import RecordedEvent, decode_events
from monitor.history.replay import fold_group_rows, inputs_at
from monitor.model import CommitRun, Entity, GroupState, MembershipStored, OffsetCommitted, PassCompleted, TopicObserved
from tests.benchmarks.offsets_log import LOG_PARTITIONS, Crowd, filling
from tests.chaos.faults import kill_all
from tests.chaos.witness import place_in, text_at
from tests.streaming_jobs.jobs.test_recording import CLUSTER, END, GROUP, Members, WithoutStates, copied, produced
from tests.support.clients import admin, commit
from tests.support.job_process import JobProcess, eventually, processes_of
from tests.support.progress import say

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(3_600)]

KILLS: Final = 20
UPKEEP_KILLS: Final = 6
SEED: Final = 25
COMMITS_S: Final = 2_000
CROWD: Final = Crowd(groups=100, partitions=10, members=3, topics=10, group_name="crowd", beside=GROUP)
GROUPS: Final = (GROUP, *(f"{CROWD.group_name}-{number}" for number in range(CROWD.groups)))
LOG: Final = "__consumer_offsets"
EVENTS_TOPIC: Final = "groupwatch.events"
CATCH_UP_S: Final = 600
STARTING_S: Final = 15.0
"""Within this time after its start a job is killed that is to be hit while it starts."""

A_DAY_LATER: Final = ("--days-later", "1")

Ends = dict[str, int]


@dataclass
class Recording:
    """A job's recording on a disk, and where its query stood."""

    folder: Path

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoints" / CLUSTER

    def newest(self, kind: str) -> int:
        """The newest micro-batch that was planned (``offsets``) or has ended (``commits``); -1: none."""
        return max((int(file.name) for file in self.checkpoint.glob(f"{kind}/[0-9]*")), default=-1)

    def written(self) -> int:
        """The newest micro-batch whose rows are in the table; -1: none, or there is no table yet."""
        try:
            table = DeltaTable(str(self.folder / "events"))
        except TableNotFoundError:
            return -1
        query = json.loads((self.checkpoint / "metadata").read_text())["id"]
        version = table.transaction_version(query)
        return -1 if version is None else version

    def ends(self) -> Ends:
        """How far the offsets log has been read by the micro-batches that have ended, partition by partition."""
        planned = self.checkpoint / "offsets" / str(self.newest("commits"))
        if not planned.exists():
            return {}
        sources = [json.loads(line) for line in planned.read_text().splitlines() if line.startswith("{")]
        found: Ends = next((source[LOG] for source in sources if LOG in source), {})
        return found

    def files(self) -> set[Path]:
        """The files of the events, also those that no log names yet."""
        return set(self.folder.glob("events/cluster=*/day=*/*.parquet"))


@dataclass
class Killed:
    """The recordings of a job that was killed and of one that was not, and where the kills hit."""

    kafka: EmbeddedKafka
    disturbed: Recording
    undisturbed: Recording
    hits: Counter[str] = field(default_factory=Counter)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    """One job was killed all the time, the other one was not."""
    folder = tmp_path_factory.mktemp("kills")
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS)))
        create_topics(kafka)
        job, other = (job_of(kafka, folder / name, every_s) for name, every_s in (("killed", 1), ("other", 5)))
        found = Killed(kafka, Recording(job.folder / "history"), Recording(other.folder / "history"))
        members = Members(kafka)
        members.join()
        with job:
            with filling(kafka, CROWD, 1_000_000, COMMITS_S), produced(kafka):
                kill_again_and_again(found, job, members)
                members.close()
            ends = log_ends(kafka)
            await_end(found.disturbed, ends)
        with other:  # afterwards: two cores have enough to do with one
            await_end(found.undisturbed, ends)
        yield found


def await_end(recording: Recording, ends: Ends) -> None:
    """Until all of the offsets log is recorded."""
    eventually(lambda: recording.ends() == ends, f"the end of the log in {recording.folder}", CATCH_UP_S)


def create_topics(kafka: EmbeddedKafka) -> None:
    with admin(kafka.bootstrap_servers) as client:
        client.create_topics([NewTopic(name, CROWD.partitions, 1) for name in (*CROWD.topic_names, "orders")])
        client.wait_for_topics([*CROWD.topic_names, "orders"])
    commit(kafka.bootstrap_servers, "first", "orders", {0: 0})  # the offsets log exists from now on


def job_of(kafka: EmbeddedKafka, folder: Path, every_s: int) -> JobProcess:
    folder.mkdir()
    table = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 5.0}
    return JobProcess(folder, {CLUSTER: table}, history={"folder": str(folder / "history"), "every_s": every_s})


def kill_again_and_again(killed: Killed, job: JobProcess, members: Members) -> None:
    """Members come and go, also while nobody watches; every fourth kill hits a start, every fifth is of the upkeep."""
    chance = random.Random(SEED)
    for number in range(KILLS):
        is_start = number % 4 == 3
        if is_start:
            time.sleep(chance.uniform(0.5, STARTING_S))  # an instant by chance
        else:
            await_writing(killed.disturbed, after=chance.randrange(4))
            time.sleep(chance.uniform(0.0, 1.0))  # an instant by chance
        if number % 2:
            job.kill_9()
        else:
            job.kill_all()
        killed.hits["in a start" if is_start else where_it_hit(killed.disturbed)] += 1
        say(f"kill {number + 1}: {dict(killed.hits)}")
        members.join() if number % 2 else members.leave()
        if number % 5 == 4:
            kill_upkeep(killed.disturbed.folder, chance.uniform(4, 14))
            keep_up(killed.disturbed.folder)
        job.start()


def await_writing(recording: Recording, after: int) -> None:
    """Until so many micro-batches more have ended, and a file of events has then appeared that was not there.

    The commit of that file is about to come, or has just come. Without any end between, nothing would ever be recorded.
    """
    ended = recording.newest("commits") + after
    eventually(lambda: recording.newest("commits") >= ended, "the end of a micro-batch of the recording")
    files = len(recording.files())
    eventually(lambda: len(recording.files()) > files, "a new file of events")


def where_it_hit(recording: Recording) -> str:
    """What was on the disk of the micro-batch that a kill ended."""
    planned, ended = recording.newest("offsets"), recording.newest("commits")
    if planned == ended:
        return "between micro-batches"
    return "after the table's commit" if recording.written() == planned else "before the table's commit"


def keep_up_command(folder: Path, *later: str) -> list[str]:
    return [sys.executable, "-m", "tests.streaming_jobs.recording.keep_up", str(folder), CLUSTER, *later]


def keep_up(folder: Path, *later: str) -> None:
    done = subprocess.run(keep_up_command(folder, *later), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]


def kill_upkeep(folder: Path, after_s: float, *later: str) -> bool:
    """Start it, and kill it after a while with all that it has started; whether it had ended before."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        keep_up_command(folder, *later), stdout=quiet, stderr=quiet, start_new_session=True
    ) as process:
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            kill_all(processes_of(process.pid))
            return False
    return True


# --- what the logs have -----------------------------------------------------------------------------------------------


def read_log(kafka: EmbeddedKafka, topic: str) -> Iterator[Any]:
    """All records of a topic, by Kafka's own client."""
    consumer = KafkaConsumer(**kafka.client_settings(), exclude_internal_topics=False)
    try:
        places = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
        consumer.assign(places)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(places)
        while any(consumer.position(place) < end for place, end in ends.items()):
            for records in consumer.poll(1_000, max_records=10_000).values():
                yield from records
    finally:
        consumer.close()


def log_ends(kafka: EmbeddedKafka) -> Ends:
    consumer = KafkaConsumer(**kafka.client_settings(), exclude_internal_topics=False)
    try:
        ends = consumer.end_offsets([TopicPartition(LOG, number) for number in range(LOG_PARTITIONS)])
        return {str(place.partition): end for place, end in ends.items()}
    finally:
        consumer.close()


@dataclass
class InLog:
    """How often each partition of a group was committed, and when last; how many generations each group had."""

    commits: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    generations: Counter[str] = field(default_factory=Counter)

    def add(self, key: bytes, value: bytes | None) -> None:
        """A record: by the documentation of its key (int16 2 and a group: its metadata)."""
        place = place_in(key)
        if value is None:
            return
        if place is not None:
            self.commits[place] += 1
        elif key[:2] == b"\x00\x02":
            self.generations[text_at(key, 2)[0]] += 1


@pytest.fixture(scope="module")
def in_log(killed: Killed) -> InLog:
    found = InLog()
    for record in read_log(killed.kafka, LOG):
        if record.key is not None:
            found.add(record.key, record.value)
    return found


def events_of(recording: Recording, entity: Entity, names: Iterable[str]) -> Iterator[RecordedEvent]:
    for row in DeltaRecording(str(recording.folder)).rows(CLUSTER, 0, END, [(entity, name) for name in names]):
        yield from decode_events(row)


@pytest.mark.parametrize("which", ["disturbed", "undisturbed"])
def test_every_commit_and_every_generation_of_the_log_is_recorded_once(killed: Killed, in_log: InLog, which: str):
    recorded = InLog()
    for each in events_of(getattr(killed, which), Entity.GROUP, [*GROUPS, "first"]):
        match each.event:
            case CommitRun() as run:
                recorded.commits[run.group, run.topic, int(run.partition)] += run.commits
            case OffsetCommitted() as one:
                recorded.commits[one.group, one.topic, int(one.partition)] += 1
            case MembershipStored() as stored:
                recorded.generations[stored.group] += 1
    say(f"{which}: {in_log.commits.total()} commits, {in_log.generations.total()} generations; {dict(killed.hits)}")
    assert recorded.commits == in_log.commits
    assert recorded.generations == in_log.generations
    assert in_log.commits.total() > 100_000
    assert in_log.generations[GROUP] > KILLS


@pytest.mark.parametrize("which", ["disturbed", "undisturbed"])
def test_every_poll_of_the_topics_is_recorded_once(killed: Killed, which: str):
    recording: Recording = getattr(killed, which)
    passes = [each.event for each in events_of(recording, Entity.PASS, [""])]
    seen = [each.event for each in events_of(recording, Entity.TOPIC, CROWD.topic_names)]
    until_ms = max(each.pass_ms for each in passes if isinstance(each, PassCompleted))
    recorded: Counter[tuple[str | None, int]] = Counter()
    for event in (*passes, *seen):
        if isinstance(event, PassCompleted | TopicObserved):
            recorded[getattr(event, "topic", None), event.pass_ms] += 1
    assert without_later(recorded, until_ms) == without_later(polls_in_log(killed.kafka), until_ms)


def polls_in_log(kafka: EmbeddedKafka) -> Counter[tuple[str | None, int]]:
    """The polls of the crowd's topics (and of none: the ends of passes), as JSON has them."""
    found: Counter[tuple[str | None, int]] = Counter()
    for record in read_log(kafka, EVENTS_TOPIC):
        event = json.loads(record.value)
        if event["event"] == "passcompleted" or event.get("topic") in CROWD.topic_names:
            found[event.get("topic"), event["pass_ms"]] += 1
    return found


def without_later(polls: Counter[tuple[str | None, int]], until_ms: int) -> Counter[tuple[str | None, int]]:
    """Those of before the last pass: what follows was under way when the job ended."""
    return Counter({poll: count for poll, count in polls.items() if poll[1] < until_ms})


def test_every_group_is_as_in_the_undisturbed_recording(killed: Killed):
    found = [final_states(recording) for recording in (killed.disturbed, killed.undisturbed)]
    assert found[0].keys() == found[1].keys() == set(GROUPS)
    assert [group for group in GROUPS if found[0][group] != found[1][group]] == []


def final_states(recording: Recording) -> dict[str, GroupState | None]:
    source = DeltaRecording(str(recording.folder))
    rows = source.rows(CLUSTER, 0, END, [(Entity.GROUP, group) for group in GROUPS])
    return {
        group: fold_group_rows(CLUSTER, group, None, [row for row in rows if row.name == group], END)
        for group in GROUPS
    }


def test_the_kills_hit_the_writing_of_many_portions(killed: Killed):
    assert killed.hits.total() == KILLS
    assert killed.hits["before the table's commit"] + killed.hits["after the table's commit"] > KILLS // 3
    assert killed.disturbed.newest("commits") > KILLS


# --- upkeep -----------------------------------------------------------------------------------------------------------


def test_an_upkeep_that_was_killed_changes_no_answer(killed: Killed, tmp_path: Path):
    """Killed in its start, in the writing of states, and while files are put together; at last it comes to its end."""
    copy, chance = copied(killed.disturbed.folder, tmp_path / "history"), random.Random(SEED)
    began = time.monotonic()
    keep_up(copied(killed.disturbed.folder, tmp_path / "other" / "history").folder, *A_DAY_LATER)
    took_s = time.monotonic() - began
    ended = [kill_upkeep(copy.folder, chance.uniform(0.4, 1.0) * took_s, *A_DAY_LATER) for _ in range(UPKEEP_KILLS)]
    say(f"upkeep took {took_s:.1f} s; of {UPKEEP_KILLS} kills, {sum(ended)} came too late")
    keep_up(copy.folder, *A_DAY_LATER)
    kept, without = DeltaRecording(str(copy.folder)), WithoutStates(str(killed.disturbed.folder))
    reach_ms = kept.reach_ms(CLUSTER)
    assert kept.base(CLUSTER, reach_ms, [(Entity.GROUP, GROUP)]).group(GROUP) is not None
    for at_ms in sorted({reach_ms, *(reach_ms - chance.randrange(400_000) for _ in range(10))}):
        for group in (GROUP, *chance.sample(GROUPS, 3)):
            assert inputs_at(kept, CLUSTER, group, at_ms) == inputs_at(without, CLUSTER, group, at_ms)
    states = DeltaTable(str(copy.folder / "states")).to_pyarrow_table(columns=["recorded_ms", "entity", "name"])
    assert max(Counter(map(str, states.to_pylist())).values()) == 1


def test_the_states_that_were_written_between_the_kills_are_there_once(killed: Killed):
    table = DeltaTable(str(killed.disturbed.folder / "states"))
    rows = Counter(map(str, table.to_pyarrow_table(columns=["recorded_ms", "entity", "name"]).to_pylist()))
    assert max(rows.values()) == 1
    assert sum(f"'{GROUP}'" in row for row in rows) > KILLS // 10
