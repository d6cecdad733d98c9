"""Checkpoints of real queries: owned by one job, fitting their layout, damaged, begun anew, on a full disk.

One Spark session writes a checkpoint, and copies of it are put into every state. viewfs stands for file systems without
locks: Hadoop's own, with a scheme of its own, over a folder of this machine.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import pytest
from pyspark.sql import SparkSession

from monitor.collectors.configured import ConfiguredCollectors
from monitor.config import Settings, detection_rules
from monitor.config.settings import ClusterSettings, DetectionOptions, SparkSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.java_runtime.jars import spark_kafka_jars
from monitor.readiness import trigger_lag
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.served_before import ServedBefore
from streaming_jobs.driver.shared import SharedEvaluation
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.cluster_watch import ClusterWatch, layout_of
from streaming_jobs.jobs.watch_targets import WatchList, WatchTarget
from streaming_jobs.runtime import checkpoint_lock
from streaming_jobs.runtime.checkpoint import (
    FILE_MANAGER_KEY,
    LAYOUT_FILE,
    LOCAL_FILE_MANAGER,
    Checkpoint,
    CheckpointError,
    Layout,
)
from streaming_jobs.runtime.checkpoint_lock import CheckpointLocked, Lease, Owner
from streaming_jobs.runtime.hadoop_files import HadoopFiles
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.clients import commit, create_topic
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, JobProcess, eventually
from tests.support.small_disk import fill, small_disk

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    # PySpark leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

VIEW: Final = "spark.hadoop.fs.viewfs.mounttable.elsewhere.link./data"
RAW: Final = {"spark.hadoop.fs.raw.impl": "org.apache.hadoop.fs.RawLocalFileSystem"}
"""HDFS and S3 have no checksum files beside their files; Hadoop's file system for a disk has."""

SNAPSHOTS: Final = {
    "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
}
LAYOUT: Final = Layout(cluster="test", buckets=4, events_topic="groupwatch.events")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture(scope="module")
def spark(folder: Path) -> Iterator[SparkSession]:
    conf = SNAPSHOTS | RAW | {VIEW: f"raw://{folder}/view", DRIVER_JVM: BRIEF_JVM}
    session = create_session("local[2]", 2, spark_kafka_jars(), conf, folder / "spark.log")
    yield session
    stop_session(session)
    gc.collect()  # so that what PySpark left open is found here, and not in the tests of another file


@pytest.fixture(scope="module")
def written(spark: SparkSession, broker: EmbeddedKafka, folder: Path) -> Path:
    """The root of a checkpoint with state in snapshots and in changes after them; nobody has it any more."""
    create_topic(broker.bootstrap_servers, "watched", 1)
    commit(broker.bootstrap_servers, "watching", "watched", {0: 0})
    root = folder / "written"
    with watching(spark, broker, root):
        eventually(lambda: newest(root / "test/state/0/0", ".zip") > 1, "a snapshot of the state")
        snapshot = newest(root / "test/state/0/0", ".zip")
        eventually(lambda: newest(root / "test/commits") > snapshot, "micro-batches after the snapshot")
    return root


def version(root: Path) -> int:
    """The version of the state that the next micro-batch begins with."""
    return newest(root / "test/commits") + 1


def watched_cluster(cluster: ClusterSettings) -> WatchTarget:
    settings = Settings(clusters={cluster.name: cluster})
    return WatchList(settings, ConfiguredCollectors(settings)).cluster_target(cluster)


@contextmanager
def watching(
    spark: SparkSession, broker: EmbeddedKafka, root: Path, store: SnapshotStore | None = None, **chosen: float
) -> Iterator[ClusterWatch]:
    """A watch of the broker on this checkpoint, running."""
    cluster = ClusterSettings(name="test", bootstrap_servers=broker.bootstrap_servers, collect_interval_s=0.5)
    settings = SparkSettings(**{"checkpoint": str(root), "buckets": 4, "trigger_s": 0.2, **chosen})
    with closing(CatalogServer("127.0.0.1")) as catalogs:
        shared = SharedEvaluation(detection_rules(DetectionOptions()), catalogs, ServedBefore(str(root), "test"))
        watch = ClusterWatch(spark, watched_cluster(cluster), settings, shared, store or SnapshotStore(["test"]))
        try:
            watch.claim(rebuild=False)
            watch.start()
            yield watch
        finally:
            watch.stop()


@pytest.fixture(scope="module")
def watched(spark: SparkSession, broker: EmbeddedKafka) -> Callable[[Path], AbstractContextManager[ClusterWatch]]:
    return partial(watching, spark, broker)


def newest(folder: Path, suffix: str = "") -> int:
    """The number of the newest file of a log; -1 without one."""
    numbers = [file.name.removesuffix(suffix) for file in folder.glob(f"*{suffix}")]
    return max((int(number) for number in numbers if number.isdigit()), default=-1)


def newest_file(folder: Path, suffix: str = "") -> Path:
    return folder / f"{newest(folder, suffix)}{suffix}"


def copied(written: Path, to: Path) -> Path:
    """A copy without what Spark has begun: it writes snapshots of what it was closed with a while later."""
    return Path(shutil.copytree(written, to, ignore=shutil.ignore_patterns("*.tmp*")))


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    """A copy of the written checkpoint, for which an older snapshot and the changes since then are needed."""
    copy = copied(written, tmp_path / "copy")
    for snapshot in (copy / "test/state/0/0").glob("*.zip"):
        if int(snapshot.stem) >= version(copy):
            snapshot.unlink()
    return copy


# --- One owner


@contextmanager
def another_process(code: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A Python process that has run this code, and the line it printed; killed at the end."""
    imports = "import sys; from pathlib import Path; from streaming_jobs.runtime.checkpoint_lock import *"
    text = f"{imports}; {code}; sys.stdin.read()"
    command = [sys.executable, "-c", text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_checkpoint_on_a_disk_is_free_the_moment_its_owner_is_killed(spark: SparkSession, tmp_path: Path):
    code = f"LocalLock(Path({str(tmp_path / 'test+owner')!r})).take(); print('held', flush=True)"
    checkpoint = Checkpoint(spark, str(tmp_path), "test")
    with another_process(code) as (process, line):
        assert line == "held"
        with pytest.raises(CheckpointError, match=f"{tmp_path}/test is in use by process {process.pid} on "):
            checkpoint.claim(LAYOUT)
        process.kill()
        process.wait()
        checkpoint.claim(LAYOUT)
    with pytest.raises(CheckpointError, match=f"in use by process {os.getpid()} on "):
        Checkpoint(spark, tmp_path.as_uri(), "test").claim(LAYOUT)
    checkpoint.release()
    again = Checkpoint(spark, str(tmp_path), "test")
    again.claim(LAYOUT)
    again.release()


def test_a_checkpoint_that_cannot_be_reached_is_a_sentence(spark: SparkSession, tmp_path: Path):
    with pytest.raises(CheckpointError, match=r'nowhere://x/test cannot be used: .*No FileSystem for scheme "nowhere"'):
        Checkpoint(spark, "nowhere://x", "test").claim(LAYOUT)
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=f"{tmp_path}/file/root/test cannot be used"):
        Checkpoint(spark, f"{tmp_path}/file/root", "test").claim(LAYOUT)


@pytest.fixture
def elsewhere(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> tuple[HadoopFiles, str]:
    """A file system that is not this machine's, and an owner file on it that is not there yet."""
    (folder / "view").mkdir(exist_ok=True)
    files = HadoopFiles(spark, "viewfs://elsewhere/data")
    return files, f"viewfs://elsewhere/data/{request.node.name}+owner"


FOR_EVER: Final = 3600.0


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease does not run out while a test runs."""
    monkeypatch.setattr(checkpoint_lock, "LEASE_S", FOR_EVER)


def text_of(owner: Owner) -> str:
    return msgspec.json.encode(owner).decode()


@pytest.mark.timeout(90)
@pytest.mark.usefixtures("endless")
def test_a_lease_of_a_dead_process_of_this_machine_is_free_at_once(elsewhere: tuple[HadoopFiles, str]):
    files, file = elsewhere
    assert files.on_this_machine(file) is None
    with another_process("print(msgspec.json.encode(Owner.here()).decode(), flush=True)") as (process, line):
        assert not msgspec.json.decode(line, type=Owner).is_dead()
        process.kill()
        process.wait()
    files.write(file, line)
    lease = Lease(files, file)
    lease.take()
    lease.release()
    assert not files.exists(file)


@pytest.mark.timeout(90)
@pytest.mark.usefixtures("endless")
def test_a_pid_that_was_given_to_a_later_process_is_no_owner(elsewhere: tuple[HadoopFiles, str]):
    files, file = elsewhere
    here = Owner.here()
    assert here.begun is not None
    files.write(file, text_of(msgspec.structs.replace(here, id="before", begun=here.begun - 1)))
    lease = Lease(files, file)
    lease.take()
    lease.release()


def test_a_lease_of_another_machine_is_free_once_it_ran_out(
    elsewhere: tuple[HadoopFiles, str], monkeypatch: pytest.MonkeyPatch
):
    files, file = elsewhere
    files.write(file, text_of(msgspec.structs.replace(Owner.here(), id="away", machine="another", begun=1)))
    monkeypatch.setattr(checkpoint_lock, "LEASE_S", 1.0)
    lease = Lease(files, file)
    lease.take()
    monkeypatch.setattr(checkpoint_lock, "LEASE_S", FOR_EVER)
    with pytest.raises(CheckpointLocked, match=f"process {os.getpid()} on "):
        Lease(files, file).take()  # the first one renews its own meanwhile
    lease.release()


def test_of_two_that_take_a_free_lease_at_once_one_has_it(elsewhere: tuple[HadoopFiles, str]):
    leases = [Lease(*elsewhere) for _ in range(2)]
    outcomes: list[str] = []
    begin = threading.Barrier(2)

    def take(lease: Lease) -> None:
        begin.wait()
        try:
            lease.take()
            outcomes.append("has it")
        except CheckpointLocked:
            outcomes.append("refused")

    threads = [threading.Thread(target=take, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for lease in leases:
        lease.release()
    assert sorted(outcomes) == ["has it", "refused"]


def test_an_owner_writes_a_torn_file_anew_and_yields_to_another_owner(
    elsewhere: tuple[HadoopFiles, str], monkeypatch: pytest.MonkeyPatch
):
    files, file = elsewhere
    monkeypatch.setattr(checkpoint_lock, "RENEWAL_S", 0.1)
    lease = Lease(files, file)
    lease.take()
    files.write(file, '{"id": "cut o')
    eventually(lambda: '"renewals"' in (files.read(file) or ""), "the owner's next renewal")
    assert lease.lost is None
    rival = text_of(msgspec.structs.replace(Owner.here(), id="rival", host="faraway"))
    eventually(lambda: files.write(file, rival) or lease.lost, "the owner's discovery")  # it may write over the first
    assert "on faraway" in str(lease.lost)
    lease.release()
    assert files.read(file) == rival, "what is somebody else's is left alone"


@pytest.mark.long
def test_a_job_whose_lease_was_taken_over_ends_with_a_sentence(broker: EmbeddedKafka, written: Path, tmp_path: Path):
    data = copied(written, tmp_path / "data")
    spark = {"checkpoint": "viewfs://elsewhere/data", "conf": {VIEW: data.as_uri()}}
    job = JobProcess(tmp_path, {"test": {"bootstrap_servers": broker.bootstrap_servers}}, spark=spark)
    taken = text_of(msgspec.structs.replace(Owner.here(), id="rival", host="faraway")).encode()
    said = "groupwatch stopped: Cluster test: The checkpoint viewfs://elsewhere/data/test was taken over by process"
    with job:
        before = newest(data / "test/commits")
        eventually(lambda: newest(data / "test/commits") > before, f"a micro-batch; see {job.log_file}")
        eventually(lambda: _replace(data / "test+owner", taken) or said in job.log(), "the owner's discovery")
        assert job.wait() == 1
    assert "on faraway" in job.log()


# --- The layout


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"buckets": 5}, "buckets = 4 (now 5)"),
        ({"events_topic": "other"}, "events_topic = 'groupwatch.events' (now 'other')"),
        ({"shuffle_partitions": 3}, "shuffle_partitions = 2 (now 3)"),
        ({"shard": "2/3"}, "shard = '1/1' (now '2/3')"),
        ({"groups_from": "admin"}, "groups_from = 'log' (now 'admin')"),
    ],
)
def test_another_layout_is_refused_and_both_values_are_named(
    spark: SparkSession, root: Path, changed: dict[str, object], sentence: str
):
    wanted = msgspec.structs.replace(LAYOUT, **changed)
    with pytest.raises(CheckpointError) as refusal:
        Checkpoint(spark, str(root), "test").claim(wanted)
    assert f"{root}/test was written with {sentence}. Set it back, or start once with --rebuild" in str(refusal.value)
    Checkpoint(spark, str(root), "test").claim(LAYOUT)  # the refused job has kept no lock


@pytest.mark.parametrize(("version", "named"), [(None, 0), (2, 2)], ids=["before 0.1.0", "a newer one"])
def test_a_layout_of_another_version_is_refused_and_the_way_out_is_named(
    spark: SparkSession, root: Path, version: int | None, named: int
):
    file = root / "test" / LAYOUT_FILE
    fields = json.loads(file.read_text())
    del fields["version"]
    _replace(file, json.dumps(fields if version is None else fields | {"version": version}).encode())
    with pytest.raises(CheckpointError) as refusal:
        Checkpoint(spark, str(root), "test").claim(LAYOUT)
    assert f"its layout has version {named}; this groupwatch reads version 1. Go back to the groupwatch that wrote" in (
        str(refusal.value)
    )
    assert "start once with --rebuild" in str(refusal.value)


def test_a_chosen_number_of_partitions_counts_wherever_it_was_chosen():
    cluster = ClusterSettings(name="test", bootstrap_servers="localhost:1")
    by_conf = SparkSettings(conf={"spark.sql.shuffle.partitions": "7"}, shuffle_partitions=3)
    assert layout_of(watched_cluster(cluster), by_conf).shuffle_partitions == 7
    assert layout_of(watched_cluster(cluster), SparkSettings(shuffle_partitions=3)).shuffle_partitions == 3
    assert layout_of(watched_cluster(cluster), SparkSettings()).shuffle_partitions is None


def test_a_chosen_number_of_buckets_counts_and_0_is_none():
    cluster = ClusterSettings(name="test", bootstrap_servers="localhost:1")
    assert layout_of(watched_cluster(cluster), SparkSettings(buckets=7)).buckets == 7
    assert layout_of(watched_cluster(cluster), SparkSettings()).buckets is None
    assert SparkSettings().buckets == 0


def test_if_nobody_chose_a_number_of_buckets_it_follows_from_the_partitions_of_the_new_checkpoint(
    spark: SparkSession, tmp_path: Path
):
    for root, partitions, buckets in ((tmp_path / "of the session", None, 16), (tmp_path / "chosen", 3, 24)):
        checkpoint = Checkpoint(spark, str(root), "test")
        checkpoint.claim(msgspec.structs.replace(LAYOUT, buckets=None, shuffle_partitions=partitions))
        checkpoint.release()
        assert checkpoint.buckets == buckets
        assert json.loads((root / "test" / LAYOUT_FILE).read_text())["buckets"] == buckets


def test_a_job_that_chose_no_number_of_buckets_goes_on_with_those_of_the_checkpoint(
    spark: SparkSession, broker: EmbeddedKafka, root: Path, caplog: pytest.LogCaptureFixture
):
    before, store = newest(root / "test/commits"), SnapshotStore(["test"])
    with caplog.at_level(logging.INFO, "streaming_jobs"), watching(spark, broker, root, store, buckets=0):
        eventually(lambda: newest(root / "test/commits") > before + 2 and store.of("test").ready, "an evaluation")
    assert f"The checkpoint {root}/test keeps its 4 buckets" in caplog.text
    assert [group.group for group in store.of("test").groups if group.group == "watching"] == ["watching"]
    assert json.loads((root / "test" / LAYOUT_FILE).read_text())["buckets"] == 4


def test_a_job_whose_micro_batches_take_longer_than_the_trigger_says_so_once(
    spark: SparkSession,
    broker: EmbeddedKafka,
    root: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    """A second of slow micro-batches is news here. Commits begin one after the other."""
    monkeypatch.setattr(trigger_lag, "LASTS_MS", 1_000)
    warning = "longer than spark.trigger_s = 0.001"

    def commit_until(condition: Callable[[], bool], what: str) -> None:
        def look() -> bool:
            commit(broker.bootstrap_servers, "watching", "watched", {0: 0})
            return condition()

        eventually(look, what)

    with caplog.at_level(logging.WARNING, "streaming_jobs"), watching(spark, broker, root, trigger_s=0.001):
        commit_until(lambda: warning in caplog.text, "the warning")
        told = newest(root / "test/commits")
        commit_until(lambda: newest(root / "test/commits") > told + 2, "micro-batches after it")
    assert caplog.text.count(warning) == 1


def test_a_machine_with_other_cores_goes_on_with_the_partitions_of_the_checkpoint(
    spark: SparkSession, broker: EmbeddedKafka, root: Path
):
    before = newest(root / "test/commits")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    try:
        with watching(spark, broker, root):
            eventually(lambda: newest(root / "test/commits") > before + 1, "micro-batches")
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert sorted(part.name for part in (root / "test/state/0").glob("[0-9]*")) == ["0", "1"]


def test_a_start_that_ended_before_its_first_offsets_were_written_is_repeated(
    spark: SparkSession, broker: EmbeddedKafka, root: Path
):
    """The description of the state is there by then, as where the brokers did not answer in time."""
    for part in ("offsets", "commits", "state/0/0", "state/0/1"):
        shutil.rmtree(root / "test" / part)
    with watching(spark, broker, root):
        eventually(lambda: newest(root / "test/commits") > 1, "micro-batches", 60)


def test_a_torn_layout_file_is_refused_if_there_is_state_and_else_written_anew(spark: SparkSession, root: Path):
    layout = root / "test" / LAYOUT_FILE
    _replace(layout, b'{"cluster":"te')
    with pytest.raises(CheckpointError, match=f"{layout} cannot be read .* --rebuild"):
        Checkpoint(spark, str(root), "test").claim(LAYOUT)
    shutil.rmtree(root / "test/offsets")
    Checkpoint(spark, str(root), "test").claim(LAYOUT)
    assert json.loads(layout.read_text())["shuffle_partitions"] == 2


# --- How Spark writes the files


def claimed_and_released(spark: SparkSession, root: str) -> None:
    checkpoint = Checkpoint(spark, root, "test")
    checkpoint.claim(LAYOUT)
    checkpoint.release()


def test_the_files_of_a_disk_are_written_without_readlink_and_others_as_spark_chooses(
    spark: SparkSession, tmp_path: Path
):
    claimed_and_released(spark, str(tmp_path))
    assert spark.conf.get(FILE_MANAGER_KEY) == LOCAL_FILE_MANAGER
    claimed_and_released(spark, "viewfs://elsewhere/data/written-as-spark-chooses")
    assert spark.conf.get(FILE_MANAGER_KEY, "") == ""


def test_what_a_deployment_has_chosen_for_the_files_stays(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    chosen = spark.sparkContext.getConf().set(FILE_MANAGER_KEY, "the.deployments.Own")
    monkeypatch.setattr(spark.sparkContext, "_conf", chosen)
    spark.conf.unset(FILE_MANAGER_KEY)  # other tests' checkpoints have left theirs
    claimed_and_released(spark, str(tmp_path))
    assert spark.conf.get(FILE_MANAGER_KEY, "") == ""


# --- Rebuild


def test_a_rebuild_takes_the_lock_first_and_moves_the_old_folder_aside(
    spark: SparkSession, root: Path, caplog: pytest.LogCaptureFixture
):
    other = msgspec.structs.replace(LAYOUT, buckets=64)
    owner = Checkpoint(spark, str(root), "test")
    owner.claim(LAYOUT)
    with pytest.raises(CheckpointError, match="in use"):
        Checkpoint(spark, str(root), "test").claim(other, rebuild=True)
    assert (root / "test/offsets").is_dir()
    owner.release()

    before = {file.relative_to(root / "test"): file.read_bytes() for file in files_of(root / "test")}
    with caplog.at_level(logging.WARNING, "streaming_jobs"):
        Checkpoint(spark, str(root), "test").claim(other, rebuild=True)
    (aside,) = root.glob("test.replaced-*Z")
    assert {file.relative_to(aside): file.read_bytes() for file in files_of(aside)} == before
    assert [file.name for file in files_of(root / "test") if file.suffix != ".crc"] == [LAYOUT_FILE]
    assert str(aside) in caplog.text


def files_of(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


# --- Damage

GARBAGE: Final = bytes(range(128, 256)) * 3


def garbage(file: Path) -> None:
    _replace(file, GARBAGE)


def cut_off(file: Path) -> None:
    _replace(file, file.read_bytes()[: file.stat().st_size // 2])


def altered(file: Path) -> None:
    """One bit, with the checksum file left as it was."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def emptied(file: Path) -> None:
    _replace(file, b"")


def gone(file: Path) -> None:
    file.unlink()


def _replace(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # as on a file system without checksum files


PLACES: Final[dict[str, Callable[[Path], list[Path]]]] = {
    "metadata": lambda root: [root / "test/metadata"],
    "offsets": lambda root: [newest_file(root / "test/offsets")],
    "commits": lambda root: [newest_file(root / "test/commits")],
    "changelog": lambda root: [root / f"test/state/0/0/{version(root)}.changelog"],
    "snapshot": lambda root: [newest_file(root / "test/state/0/0", ".zip")],
    "tables": lambda root: list((root / "test/state/0/0/SSTs").glob("*.sst")),
    "operator": lambda root: [root / "test/state/0/_metadata/v2/0"],
}


@pytest.mark.parametrize(
    ("place", "damage", "cause"),
    [
        pytest.param("metadata", garbage, "JsonParseException", marks=pytest.mark.long),
        pytest.param("offsets", emptied, "Incomplete log file", marks=pytest.mark.long),
        pytest.param("offsets", cut_off, "JsonEOFException", marks=pytest.mark.long),
        ("commits", garbage, "MalformedInputException"),
        pytest.param("changelog", garbage, "Stream is corrupted", marks=pytest.mark.long),
        pytest.param("changelog", cut_off, "EOFException", marks=pytest.mark.long),
        ("changelog", altered, "ChecksumException"),
        pytest.param("changelog", gone, "FileNotFoundException", marks=pytest.mark.long),
        ("snapshot", garbage, "NoSuchFileException"),
        pytest.param("snapshot", cut_off, "EOFException", marks=pytest.mark.long),
        pytest.param("tables", garbage, "UNEXPECTED_FILE_SIZE", marks=pytest.mark.long),
        ("operator", emptied, "NullPointerException"),
    ],
)
def test_damage_ends_the_watch_with_the_folder_the_cause_and_the_way_out(
    watched: Callable[[Path], AbstractContextManager[ClusterWatch]],
    root: Path,
    place: str,
    damage: Callable[[Path], None],
    cause: str,
):
    for file in PLACES[place](root):
        damage(file)
    with watched(root) as watch:
        sentence = str(eventually(lambda: watch.fatal, "the end of the watch", 60))
    assert sentence.startswith(f"Cluster test: the checkpoint {root}/test is damaged (")
    assert cause in sentence
    assert "--rebuild" in sentence


@pytest.mark.long  # two starts; the watch ends above, and a rebuild moves the folder aside
def test_a_job_on_a_damaged_checkpoint_ends_and_a_rebuild_reads_the_log_again(
    broker: EmbeddedKafka, root: Path, tmp_path: Path
):
    garbage(newest_file(root / "test/commits"))
    clusters = {"test": {"bootstrap_servers": broker.bootstrap_servers, "collect_interval_s": 0.5}}
    job = JobProcess(tmp_path, clusters, spark={"checkpoint": str(root)})
    job.start()
    assert job.wait() == 1
    assert f"groupwatch stopped: Cluster test: the checkpoint {root}/test is damaged (" in job.log()
    job.start("--rebuild")
    try:
        job.await_ready()
        job.await_metric("groupwatch_partition_committed_offset", 0, group="watching", partition="0")
        (aside,) = root.glob("test.replaced-*Z")
        assert newest_file(aside / "commits").read_bytes() == GARBAGE
        assert str(aside) in job.log()
    finally:
        assert job.stop() == 0


# --- A full disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as place:
        yield place


def test_a_full_disk_is_named_on_the_board_and_heals(
    spark: SparkSession, broker: EmbeddedKafka, written: Path, disk: Path, caplog: pytest.LogCaptureFixture
):
    root = copied(written, disk / "checkpoint")
    store = SnapshotStore(["test"])
    commits = partial(newest, root / "test/commits")
    with watching(spark, broker, root, store) as watch:
        before = commits()
        eventually(lambda: commits() > before, "a micro-batch")
        fill(disk / "filler")
        eventually(lambda: "the disk is full (" in (store.of("test").problem or ""), "the problem on the board")
        assert "the disk is full (" in caplog.text
        assert "No space left on device" in caplog.text
        (disk / "filler").unlink()
        before = commits()
        eventually(lambda: commits() > before and store.of("test").problem is None, "its healing")
        assert watch.fatal is None
    fill(disk / "filler")
    again = Checkpoint(spark, str(root), "test")
    again.claim(LAYOUT)  # what is written already needs no room
    again.release()
