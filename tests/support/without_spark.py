"""``groupwatch run`` whose Spark is played here, for tests of what is found, served and sent: they need a job, no JVM.

Everything else is the real one: the command with its checks, collectors, planned offsets, decoders, buckets with their
state as rows, driver, HTTP server. Played is what Spark does: its session, Hadoop's files, and a query, which reads the
logs by kafka-python and gives the rows to their buckets. Their state is a file of the checkpoint.

A start takes 4 s of CPU in place of 14, and a minute 3 in place of 12 (docs/decisions/0087-jobs-without-spark.md).
"""

from __future__ import annotations

import json
import pickle
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import pyarrow as pa
from kafka import KafkaConsumer, TopicPartition
from pyspark import TaskContext

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka_client.client_properties import kafka_python_arguments
from monitor.config import ClusterSettings
from monitor.model import RecordingHealth
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.readiness.next_batch import BatchSchedule
from monitor.readiness.warm_up import LogPosition
from streaming_jobs.buckets.processor import BucketProcessor
from streaming_jobs.driver.batch_gate import BatchGate, Unread
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.driver.publisher import MicroBatchPublisher, QueryEndingError
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.ingest.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.ingest.offset_planner import ends_to_plan
from streaming_jobs.ingest.schemas import BucketRow
from streaming_jobs.jobs import cluster_watch, main
from streaming_jobs.jobs import job as whole_job
from streaming_jobs.jobs.cluster_logs import ClusterLogs
from streaming_jobs.jobs.cluster_query import ClusterQuery
from streaming_jobs.runtime import checkpoint, other_checkpoints
from streaming_jobs.runtime.hadoop_files import FilesError
from tests.support.job_process import JobProcess

ASK_AGAIN_S: Final = 0.2
READ_LIMIT_S: Final = 8.0
"""As long as tasks of Spark wait for a broker (streaming_jobs.ingest.sources)."""
RECONNECT_LIMIT_MS: Final = 1_000
"""``reconnect.backoff.max.ms`` of the Java client, which is Spark's; that of kafka-python is 30 s."""
_NO_PROCESS: Final = 0
"""For the pid of the JVM, as there is none: its metrics are absent then."""

_RECORDS: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
    ]
)
_TOLD: Final = pa.schema(
    [("bucket", pa.int32()), ("kind", pa.string()), ("name", pa.string()), ("payload", pa.binary())]
)


class JobWithoutSpark(JobProcess):
    """Such a job as a process of its own. A restart goes on behind the newest micro-batch that has ended."""

    def __init__(self, folder: Path, clusters: dict[str, dict[str, Any]], **sections: dict[str, Any]) -> None:
        super().__init__(folder, clusters, **sections)
        self.command = [sys.executable, "-m", "tests.support.without_spark", "run", "--config", str(self.config)]


class _Settings(dict[str, str]):
    """Spark's configuration, of the session and of its context."""

    def set(self, name: str, value: str) -> None:
        self[name] = value

    def unset(self, name: str) -> None:
        self.pop(name, None)

    def contains(self, name: str) -> bool:
        return name in self


class _Context(threading.local):
    """SparkContext: a local property is of the thread that sets it, and reaches the tasks that it starts."""

    master = "local[2]"

    def __init__(self) -> None:
        self.properties: dict[str, str] = {}

    def setLocalProperty(self, name: str, value: str) -> None:  # noqa: N802 -- Spark's name
        self.properties[name] = value

    def getConf(self) -> _Settings:  # noqa: N802 -- Spark's name
        return _Settings()


class Session:
    """SparkSession, as far as a job asks for it."""

    def __init__(self) -> None:
        self.sparkContext = _Context()
        self.conf = _Settings({checkpoint.PARTITIONS_KEY: "2"})


class Files:
    """HadoopFiles on the disk of this machine."""

    def __init__(self, _session: Session, _folder: str) -> None:
        """Nothing is to be found out."""

    def on_this_machine(self, path: str) -> Path | None:
        return _place(path)

    def exists(self, path: str) -> bool:
        return _place(path).exists()

    def is_empty(self, folder: str) -> bool:
        return not self.exists(folder) or not self.names(folder)

    def make_folder(self, path: str) -> None:
        _place(path).mkdir(parents=True, exist_ok=True)

    def make_private_folder(self, path: str) -> None:
        self.make_folder(path)
        _place(path).chmod(0o700)

    def read(self, path: str) -> str | None:
        return _place(path).read_text(encoding="utf-8") if self.exists(path) else None

    def read_bytes(self, path: str, limit: int) -> bytes | None:
        return _place(path).read_bytes()[:limit] if self.exists(path) else None

    def names(self, folder: str) -> list[str]:
        try:
            return [each.name for each in _place(folder).iterdir()]
        except OSError as error:
            raise FilesError(f"{folder}: {error.strerror}") from error

    def write(self, path: str, text: str) -> None:
        self.make_folder(str(_place(path).parent))
        _place(path).write_text(text, encoding="utf-8")

    def delete(self, path: str) -> None:
        _place(path).unlink(missing_ok=True)

    def move(self, path: str, to: str) -> None:
        shutil.move(_place(path), _place(to))


def _place(path: str) -> Path:
    return Path(urlsplit(path).path if path.startswith("file:") else path)


class _State:
    """A ValueState or a ListState of Spark, of one bucket."""

    def __init__(self, *, is_list: bool) -> None:
        self._rows: list[Any] = []
        self._is_list = is_list

    def get(self) -> Any:
        return iter([*self._rows]) if self._is_list else next(iter(self._rows), None)

    def exists(self) -> bool:
        return bool(self._rows)

    def update(self, value: Any) -> None:
        self._rows = [value]

    def put(self, rows: Iterable[Any]) -> None:
        self._rows = [*rows]

    def appendList(self, rows: Iterable[Any]) -> None:  # noqa: N802 -- Spark's name
        self._rows += rows

    def clear(self) -> None:
        self._rows = []


class _Handle:
    """StatefulProcessorHandle: what is kept of one bucket."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}

    def getValueState(self, name: str, _schema: str) -> _State:  # noqa: N802 -- Spark's name
        return self._states.setdefault(name, _State(is_list=False))

    def getListState(self, name: str, _schema: str) -> _State:  # noqa: N802 -- Spark's name
        return self._states.setdefault(name, _State(is_list=True))


_KEPT: Final[dict[str, dict[int, _Handle]]] = {}
"""The buckets of each cluster, as Spark's store of state has them."""
_TASKS: Final = threading.Lock()
"""One task at a time: the context of a task is the process's."""


@dataclass
class Reader:
    """Reads records of logs up to planned ends: each topic by the consumer that is connected to its cluster."""

    consumers: tuple[KafkaConsumer, ...]
    consumer_of: Callable[[str], KafkaConsumer]

    def read(self, begin: Mapping[Place, int], end: Mapping[Place, int]) -> pa.RecordBatch:
        """All records from one position to another; fails if the brokers do not give them in time."""
        columns: list[list[Any]] = [[] for _ in _RECORDS]
        for consumer in self.consumers:
            of_it = {place: to for place, to in end.items() if self.consumer_of(place[0]) is consumer}
            _read(consumer, columns, begin, of_it)
        arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, _RECORDS, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_RECORDS)


def _read(
    consumer: KafkaConsumer, columns: list[list[Any]], begin: Mapping[Place, int], end: Mapping[Place, int]
) -> None:
    wanted = {TopicPartition(*place): to for place, to in end.items() if to > begin[place]}
    consumer.assign([*wanted])
    for place in wanted:
        consumer.seek(place, begin[place.topic, place.partition])
    deadline = time.monotonic() + READ_LIMIT_S
    while left := [place for place, to in wanted.items() if consumer.position(place) < to]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no records of {left}")
        for place, records in consumer.poll(timeout_ms=500).items():
            deadline = time.monotonic() + READ_LIMIT_S
            for each in records:
                if each.offset < wanted[place]:
                    _append(columns, each)


def _append(columns: list[list[Any]], record: Any) -> None:
    values = record.partition, record.offset, record.timestamp, record.key, record.value, record.topic
    for column, value in zip(columns, values, strict=True):
        column.append(value)


@dataclass
class News:
    """LogNews: asks for the ends again and again."""

    logs: ClusterLogs
    groups_topic: str
    events_topic: str

    def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
        deadline = time.monotonic() + limit_ms / 1000
        read = {
            (topic, partition): offset
            for topic, of_topic in (
                (self.groups_topic, position.read),
                (self.events_topic, position.events_read),
                (SHARE_STATE_TOPIC, position.share_read),
            )
            for partition, offset in of_topic.items()
        }
        while True:
            with suppress(ConnectionFailed):
                ends = self.logs.ends.ask(read).ends
                beyond = {place[0] for place, end in ends.items() if end > read.get(place, end)}
                if beyond:
                    return Unread.EVENTS if beyond == {self.events_topic} else Unread.GROUPS
            if (left_s := deadline - time.monotonic()) <= 0:
                return None
            time.sleep(min(left_s, ASK_AGAIN_S))

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Rows:
    """The DataFrame of a micro-batch: what its buckets tell, worked out when somebody collects it."""

    read: Callable[[], Iterator[pa.RecordBatch]]
    tell: Callable[[int, Any], Iterator[Any]]
    buckets: int
    context: _Context
    records_read: Counter[str]
    """How many records of each topic, once it is collected."""

    def toArrow(self) -> pa.Table:  # noqa: N802 -- Spark's name
        frame = pa.Table.from_batches(self.read()).to_pandas()
        with _TASKS, _task(self.context):
            told = [
                row
                for bucket in range(self.buckets)
                for each in self.tell(bucket, frame[frame["bucket"] == bucket])
                for row in each.itertuples(index=False)
            ]
        columns = zip(*told, strict=True) if told else ([] for _ in BucketRow._fields)
        return pa.table([pa.array(each, kind.type) for each, kind in zip(columns, _TOLD, strict=True)], schema=_TOLD)


@contextmanager
def _task(context: _Context) -> Iterator[None]:
    """What runs inside finds the local properties of the thread, as tasks do."""
    task = TaskContext()
    task._localProperties = context.properties
    TaskContext._taskContext = task
    try:
        yield
    finally:
        TaskContext._taskContext = None


@dataclass(frozen=True)
class SourceProgress:
    """What Spark reports of one source after a micro-batch."""

    description: str
    latestOffset: str  # noqa: N815 -- Spark's name
    numInputRows: int  # noqa: N815 -- Spark's name

    @classmethod
    def of(cls, topics: Mapping[str, Mapping[str, int]], rows: int) -> Self:
        """The source of these topics, read up to these offsets."""
        places = ", ".join(f"{topic}-{number}" for topic, of_topic in topics.items() for number in of_topic)
        return cls(f"KafkaV2[Assign[{places}]]", json.dumps(topics), rows)


@dataclass(frozen=True)
class Progress:
    """StreamingQueryProgress, as far as a job asks for it."""

    sources: tuple[SourceProgress, ...]


class Query:
    """StreamingQuery: micro-batch after micro-batch, in a thread."""

    status: Final = {"message": ""}

    def __init__(self, micro_batches: Callable[[Query], None]) -> None:
        self.lastProgress: Progress | None = None
        self.stopping: Final = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(micro_batches,), daemon=True)
        self._thread.start()

    def _run(self, micro_batches: Callable[[Query], None]) -> None:
        try:
            micro_batches(self)
        except QueryEndingError:
            pass
        except Exception as error:
            self._error = error

    @property
    def isActive(self) -> bool:  # noqa: N802 -- Spark's name
        return self._thread.is_alive()

    def awaitTermination(self, seconds: float) -> bool:  # noqa: N802 -- Spark's name
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return not self.isActive

    def stop(self) -> None:
        self.stopping.set()
        self._thread.join()


class QueryOfCluster(ClusterQuery):
    """A query that reads, decodes and folds in this process."""

    def _new_gate(self) -> BatchGate:
        news = News(self._logs, self._logs.groups_topic, self._events_topic)
        schedule = BatchSchedule(self._trigger_ms, int(self._target.interval_s * 1000))
        return BatchGate(schedule, news, self._problems.stall.evaluate, self._target.unchanged)

    def start(  # type: ignore[override] -- a query of ours
        self,
        store: SnapshotStore,
        findings: FindingsPublisher,
        recording: Callable[[], RecordingHealth] | None,
        stopping: threading.Event,
    ) -> Query:
        publisher = self._publisher(store, findings, recording)
        self._problems.lateness = lambda: publisher.lateness
        return Query(lambda query: self._micro_batches(publisher, query))

    def _micro_batches(self, publisher: MicroBatchPublisher, query: Query) -> None:
        with self._reader() as reader:
            batch, known = self._newest()
            read = {place: known.get(place, 0) for place in self._places()}
            while not query.stopping.is_set():
                with suppress(ConnectionFailed):
                    until = ends_to_plan(read, self._logs.ends.ask(read))
                    batch += 1
                    self._plan(batch, until)
                    rows = self._rows(reader, read, until)
                    publisher(rows, batch)  # type: ignore[arg-type] -- no DataFrame
                    self._keep(batch, until)
                    query.lastProgress = self._progress(until, rows.records_read)
                    read = until
                    continue
                query.stopping.wait(ASK_AGAIN_S)

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        of_events = self._consumer(self._target.carrier)
        of_groups = self._consumer(self._cluster) if self._target.reads_two else of_events
        consumers = tuple(dict.fromkeys((of_groups, of_events)))
        try:
            yield Reader(consumers, lambda topic: of_events if topic == self._events_topic else of_groups)
        finally:
            for consumer in consumers:
                consumer.close()

    def _consumer(self, cluster: ClusterSettings) -> KafkaConsumer:
        return KafkaConsumer(
            **{"reconnect_backoff_max_ms": RECONNECT_LIMIT_MS, **kafka_python_arguments(cluster)},
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            exclude_internal_topics=False,
            allow_auto_create_topics=False,
            isolation_level=self._cluster.offsets_isolation,
        )

    def _places(self) -> Iterator[Place]:
        """The partitions that this query reads."""
        of_events = dict.fromkeys((self._events_topic, *self._config_topics), 1)
        return ((topic, n) for topic, count in (self.at_start.partitions | of_events).items() for n in range(count))

    def _newest(self) -> tuple[int, dict[Place, int]]:
        """The newest micro-batch that has ended, and up to where it read; the buckets are as it left them."""
        kept = _place(f"{self._checkpoint.path}/state")
        batch, read, _KEPT[self._target.name] = pickle.loads(kept.read_bytes()) if kept.exists() else (-1, {}, {})
        return batch, read

    def _keep(self, batch: int, read: Mapping[Place, int]) -> None:
        written = _place(f"{self._checkpoint.path}/state.new")
        written.write_bytes(pickle.dumps((batch, read, _KEPT[self._target.name])))
        written.replace(written.with_suffix(""))

    def _plan(self, batch: int, until: Mapping[Place, int]) -> None:
        """Write down up to where a micro-batch reads, as Spark does."""
        topics = _by_topic(until)
        self._checkpoint._files.write(f"{self._checkpoint.path}/offsets/{batch}", f"v1\n{{}}\n{json.dumps(topics)}\n")
        self._checkpoint._files.delete(f"{self._checkpoint.path}/offsets/{batch - 2}")

    def _progress(self, until: Mapping[Place, int], records: Counter[str]) -> Progress:
        """What Spark reports of a micro-batch that has ended, of the source of each log."""
        topics, of_groups = _by_topic(until), self.at_start.partitions.keys()
        logs = [{each: topics[each] for each in topics if (each in of_groups) is wanted} for wanted in (True, False)]
        return Progress(tuple(SourceProgress.of(log, sum(records[each] for each in log)) for log in logs if log))

    def _rows(self, reader: Reader, begin: Mapping[Place, int], end: Mapping[Place, int]) -> Rows:
        shared, handles = self._shared, _KEPT[self._target.name]
        processor = BucketProcessor(self._target.name, shared.catalogs.address, shared.rules, shared.series)

        def tell(bucket: int, frame: Any) -> Iterator[Any]:
            processor.init(handles.setdefault(bucket, _Handle()))  # type: ignore[arg-type] -- played
            yield from processor.handleInputRows((bucket,), iter([frame]), None)  # type: ignore[arg-type] -- no timers

        records_read: Counter[str] = Counter()

        def read() -> Iterator[pa.RecordBatch]:
            records = reader.read(begin, end)
            topics = records["topic"].to_pylist()
            records_read.update(topics)
            is_of_groups = pa.array([topic in self.at_start.partitions for topic in topics], pa.bool_())
            decode_groups, decode_events = self._decoders()
            yield from decode_groups([records.filter(is_of_groups)])
            yield from decode_events([records.filter(pa.compute.invert(is_of_groups))])

        context: _Context = self._spark.sparkContext  # type: ignore[assignment] -- played
        return Rows(read, tell, self._checkpoint.buckets, context, records_read)

    def _decoders(self) -> tuple[OffsetsLogDecoder, EventsDecoder]:
        """As streaming_jobs.buckets.pipeline makes them."""
        spread = self._spread()
        return (
            OffsetsLogDecoder(self._target.name, spread.buckets, shard=spread.shard, places=spread.places),
            EventsDecoder(
                self._target.name,
                spread.buckets,
                shard=spread.shard,
                text_partitions=spread.text_partitions,
                source_id=spread.source_id,
                config_topics=spread.config_topics,
            ),
        )


def _by_topic(offsets: Mapping[Place, int]) -> dict[str, dict[str, int]]:
    topics: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, {})[str(partition)] = offset
    return topics


def play_spark() -> None:
    """Put the parts of this module into the places of Spark's, in this process."""
    for module in (checkpoint, other_checkpoints):
        vars(module)["HadoopFiles"] = Files
    vars(cluster_watch)["ClusterQuery"] = QueryOfCluster
    vars(main)["needed_jars"] = lambda *_: ()
    vars(whole_job).update(
        create_session=lambda *_, **__: Session(),
        jvm_pid=lambda _: _NO_PROCESS,
        has_ended=lambda _: False,
        stop_session=lambda *_: None,
        forget_files_to_delete=lambda _: None,
    )
    vars(main)["kill_jvm"] = lambda: None


if __name__ == "__main__":
    play_spark()
    from monitor import cli

    cli.main()
