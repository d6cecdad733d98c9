"""The checkpoint of one cluster's query: where it is, whose it is, and whether it was written with the same layout."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

import msgspec
from pyspark.sql import SparkSession

from monitor.collectors.kafka.preflight import LogBounds
from monitor.model import ALL_GROUPS
from monitor.readiness.warm_up import planned_end
from streaming_jobs.ingest.bucket_of import buckets_for
from streaming_jobs.runtime.checkpoint_lock import CheckpointHold, CheckpointLocked, Lease, LocalLock
from streaming_jobs.runtime.hadoop_files import FilesError, HadoopFiles, Note
from streaming_jobs.runtime.query_errors import REBUILD

log = logging.getLogger(__name__)

LAYOUT_FILE: Final = "groupwatch-layout.json"

LAYOUT_VERSION: Final = 1
"""The version of the file's content and of the layout of Spark's state (streaming_jobs.buckets.store). The
content of a state has a version of its own (monitor.tracking.serialization)."""

OWNER_FILE: Final = "{path}+owner"
"""Beside the folder, which --rebuild moves away. No cluster's folder has a plus sign in its name."""

PARTITIONS_KEY: Final = "spark.sql.shuffle.partitions"
"""Spark writes its value into every checkpoint, and afterwards takes it from there without a word."""

FILE_MANAGER_KEY: Final = "spark.sql.streaming.checkpointFileManagerClass"

LOCAL_FILE_MANAGER: Final = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
"""How Spark writes a checkpoint on a disk of this machine; elsewhere it chooses for itself.

What it would choose starts several ``readlink`` processes for every file that it renames
(docs/decisions/0013-checkpoints-on-a-disk.md)."""


class CheckpointError(Exception):
    """The checkpoint cannot be continued; the text says why and what to do."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """What must not change while a checkpoint lives.

    ``buckets`` None: any; what is written has a number. ``shuffle_partitions`` None: any, or not known. ``groups_from``
    is where the groups come from, which decides what the query reads (streaming_jobs.jobs.watch_targets); ``via`` the
    Kafka cluster that carries a system's events.

    ``cluster_id``, ``log_id`` and ``events_id`` are those of the Kafka cluster, of its offsets topic, and of the events
    topic; ``source_id`` is that of another system that is read. None: not known yet, or there is none.

    ``log_partitions`` is by how many partitions of the offsets topic the brokers placed groups last; None: not known.
    """

    cluster: str
    buckets: int | None
    events_topic: str
    shuffle_partitions: int | None = None
    shard: str = str(ALL_GROUPS)
    groups_from: str = "log"
    via: str | None = None
    cluster_id: str | None = None
    log_id: str | None = None
    events_id: str | None = None
    source_id: str | None = None
    log_partitions: int | None = None
    version: int = LAYOUT_VERSION

    @property
    def ids(self) -> dict[str, str]:
        """What is known of IDS."""
        return {name: found for name in IDS if (found := getattr(self, name)) is not None}


class LayoutVersionError(ValueError):
    """The layout was written in another version, older or newer, and need not have the shape of ours."""


class _Version(msgspec.Struct, frozen=True):
    """Before version 0.1.0 the file named none."""

    version: int = 0


_LAYOUTS: Final = msgspec.json.Decoder(Layout)
_VERSIONS: Final = msgspec.json.Decoder(_Version)

IDS: Final = ("cluster_id", "log_id", "events_id", "source_id")
"""The ids that no settings have: they are found at the first start, and compared from then on."""


def folder_of(cluster: str) -> str:
    """The name of a cluster's folder: one name, whatever the cluster is called, and never a way to another folder.

    >>> folder_of("prod/eu"), folder_of("."), folder_of(".."), folder_of("..x")
    ('prod%2Feu', '%2E', '%2E%2E', '..x')
    """
    return quote(cluster, safe="") if cluster.strip(".") else cluster.replace(".", "%2E")


class Checkpoint:
    """One cluster's checkpoint folder, on any file system that Spark knows."""

    def __init__(self, spark: SparkSession, root: str, cluster: str) -> None:
        self.path = f"{root.rstrip('/')}/{folder_of(cluster)}"
        self._root = root
        self._spark = spark
        self._layout = f"{self.path}/{LAYOUT_FILE}"
        self._files: HadoopFiles
        self._hold: CheckpointHold | None = None
        self._buckets = 0
        self._written: Layout | None = None

    @property
    def buckets(self) -> int:
        """The number of buckets into which the groups are spread; known once the checkpoint is claimed."""
        return self._buckets

    @property
    def resumed(self) -> bool:
        """Whether a query has already begun a micro-batch here."""
        return not self._files.is_empty(f"{self.path}/offsets")

    def planned(self, batch_id: int) -> str:
        """What Spark wrote down before it began this micro-batch: up to where the batch reads each source.

        It is the file of Spark's own offset log. A query in Python has no other way to get what the running batch will
        have read: its ``lastProgress`` is that of the batch before, and takes longer to get.
        """
        return self._files.read(f"{self.path}/offsets/{batch_id}") or ""

    def forget_plan(self, batch_id: int) -> None:
        """Take back what Spark has planned for a micro-batch that did not begin, as the query had to end.

        Without it a restart begins with exactly what was planned, before it reads what has come since.
        """
        with suppress(FilesError):  # a plan that stays is done first
            self._files.delete(f"{self.path}/offsets/{batch_id}")

    @property
    def layout(self) -> Layout:
        """What it was written with; known once it is claimed."""
        if self._written is None:
            raise CheckpointError(f"The checkpoint {self.path} is not claimed.")
        return self._written

    def require_logs(self, *logs: LogBounds) -> None:
        """See that these are the logs that were read before; keep the ids of those that are read for the first time.

        Of an events topic that is new (its id was forgotten, see ``keep_id``) any end will do.

        Args:
            logs: the offsets topic, if it is read, and the events topic, as they are now.

        Raises:
            CheckpointError: another cluster answers, a topic was recreated, or it ends before what was read of it.
            FilesError: the checkpoint cannot be read or written.
        """
        newest = self._newest_plan()
        for log in logs:
            self.require_id("cluster_id", log.cluster_id, "The Kafka cluster at this address")
            of_events = log.topic == self.layout.events_topic
            is_new = of_events and self.layout.events_id is None
            self.require_id("events_id" if of_events else "log_id", log.topic_id, f"The topic {log.topic}")
            if not is_new:
                self._require_end(log, planned_end(log.topic, newest))

    def read_until(self, topic: str) -> dict[int, int]:
        """The next offset of each partition of a topic that was read before, by number; empty: of none.

        Raises:
            FilesError: the checkpoint cannot be read.
        """
        return planned_end(topic, self._newest_plan())

    def require_id(self, name: str, found: str | None, what: str) -> None:
        """See that the id of a source is the one that was read before; keep it if it is read for the first time.

        Args:
            name: one of IDS.
            found: the id now; None: there is none.
            what: whose id it is, as the subject of a sentence.

        Raises:
            CheckpointError: it is another one.
            FilesError: the checkpoint cannot be written.
        """
        known = getattr(self.layout, name)
        if found is None or known == found:
            return
        if known is not None:
            raise CheckpointError(
                f"{what} is not the one of the checkpoint {self.path}: its id is {found}, and was {known}. Go back to"
                f" the previous one, or {REBUILD}."
            )
        self.keep_id(name, found)

    def keep_id(self, name: str, found: str | None) -> None:
        """Take this for the id of a source from now on; None: of what is read next. Raises FilesError."""
        self._write(msgspec.structs.replace(self.layout, **{name: found}))

    def note(self, name: str) -> Note:
        """A small text that is kept from run to run; of use once the checkpoint is claimed."""
        return Note(self._files, f"{self.path}/{name}")

    def keep_log_partitions(self, partitions: int) -> None:
        """Keep by how many partitions of the offsets topic the brokers place groups. Raises FilesError."""
        self._write(msgspec.structs.replace(self.layout, log_partitions=partitions))

    def _require_end(self, log: LogBounds, read: Mapping[int, int]) -> None:
        written = {bounds.partition: bounds.written for bounds in log.partitions}
        for partition, position in sorted(read.items()):
            is_silent = partition not in written and partition < log.partition_count
            end = written.get(partition, 0)
            if end < position and not is_silent:
                raise CheckpointError(
                    f"The topic {log.topic} ends at offset {end} in partition {partition}, and the checkpoint"
                    f" {self.path} has read it to {position}: it was truncated or created again. To go on, {REBUILD}."
                )

    def newest_plan(self) -> int:
        """The number of the newest micro-batch that was planned; -1: none was."""
        names = self._files.names(f"{self.path}/offsets") if self.resumed else []
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def _newest_plan(self) -> str:
        """The newest file of Spark's offset log: where the next micro-batch begins, or is repeated."""
        newest = self.newest_plan()
        return self.planned(newest) if newest >= 0 else ""

    def forget_unread_plan(self, planned_before: int) -> None:
        """Take back the plan of a micro-batch whose logs could not be read; nothing if it has ended, or is older.

        None of its state is stored: the stateful stage begins once all has been read. Of a plan that was there before
        the query started, an earlier run may have stored some (docs/decisions/0036).

        Args:
            planned_before: the newest plan when the query started.
        """
        newest = self.newest_plan()
        if newest > planned_before and not self._files.exists(f"{self.path}/commits/{newest}"):
            self.forget_plan(newest)

    @property
    def lost(self) -> str | None:
        """A sentence, once another job has taken the checkpoint away; else None."""
        rival = self._hold.lost if self._hold is not None else None
        return (
            rival and f"The checkpoint {self.path} was taken over by {rival}, because this job did not renew its lease."
        )

    def claim(self, layout: Layout, *, rebuild: bool = False) -> None:
        """Have the checkpoint for this job alone, and see that its state is of this layout.

        Args:
            layout: what this job is configured to write; written into a checkpoint without any state.
            rebuild: begin a new checkpoint, whatever is there; that is kept under another name.

        Raises:
            CheckpointError: another job has it, it was written with another layout, or it cannot be reached.
        """
        try:
            self._take()
            if rebuild:
                self._move_aside()
            self._adopt(layout)
        except FilesError as error:
            self.release()
            raise CheckpointError(f"The checkpoint {self.path} cannot be used: {error}.") from error
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let other jobs have it. No query may run on it any more."""
        if self._hold is not None:
            self._hold.release()

    def _take(self) -> None:
        self._files = HadoopFiles(self._spark, self._root)
        if not self._files.exists(self._root):
            self._files.make_private_folder(self._root)
        file = OWNER_FILE.format(path=self.path)
        here = self._files.on_this_machine(file)
        hold: CheckpointHold = LocalLock(here) if here is not None else Lease(self._files, file)
        self._choose_file_manager(local=here is not None)
        try:
            hold.take()
        except CheckpointLocked as holder:
            raise CheckpointError(
                f"The checkpoint {self.path} is in use by {holder}. Stop that job, or choose another checkpoint."
            ) from None
        self._hold = hold

    def _choose_file_manager(self, *, local: bool) -> None:
        """For the queries that this session starts from now on. All clusters of a job have one root."""
        if self._spark.sparkContext.getConf().contains(FILE_MANAGER_KEY):
            return  # the deployment has chosen
        if local:
            self._spark.conf.set(FILE_MANAGER_KEY, LOCAL_FILE_MANAGER)
        else:
            self._spark.conf.unset(FILE_MANAGER_KEY)

    def _move_aside(self) -> None:
        aside = f"{self.path}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"  # noqa: TID251 -- in a name, as the wall shows it
        if not self._files.exists(self.path):
            log.info("There is no checkpoint %s to replace", self.path)
            return
        if self._files.exists(aside):  # a rename would move the folder into it
            raise FilesError(f"{aside} is already there")
        self._files.move(self.path, aside)
        log.warning("The checkpoint %s starts empty; the old one is now %s", self.path, aside)

    def _adopt(self, layout: Layout) -> None:
        """Without state any layout fits, and what an earlier start has left of a file does not count."""
        self._files.make_private_folder(self.path)  # it holds the names of groups, clients and hosts
        if self.resumed and self._files.exists(self._layout):
            self._compare(layout)
        else:
            number = layout.shuffle_partitions or self._partitions_now()
            self._buckets = layout.buckets or buckets_for(number)
            self._write(msgspec.structs.replace(layout, buckets=self._buckets, shuffle_partitions=number))

    def _write(self, layout: Layout) -> None:
        self._files.write(self._layout, msgspec.json.encode(layout).decode())
        self._written = layout

    def _compare(self, layout: Layout) -> None:
        try:
            written = decode_layout(self._files.read(self._layout) or "")
        except LayoutVersionError as error:
            raise CheckpointError(
                f"The checkpoint {self.path} cannot be continued: {error}. Go back to the groupwatch that wrote it, or"
                f" {REBUILD}."
            ) from None
        except msgspec.DecodeError as error:
            raise CheckpointError(f"{self._layout} cannot be read ({error}). To go on, {REBUILD}.") from error
        different = differences(written, layout)
        if different:
            raise CheckpointError(
                f"The checkpoint {self.path} was written with {different}. Set it back, or {REBUILD}."
            )
        self._buckets, self._written = written.buckets or 0, written
        if layout.buckets is None:
            log.info("The checkpoint %s keeps its %d buckets", self.path, self._buckets)
        if written.shuffle_partitions not in (None, self._partitions_now()):
            log.info("The checkpoint %s keeps its %d shuffle partitions", self.path, written.shuffle_partitions)

    def _partitions_now(self) -> int:
        return int(self._spark.conf.get(PARTITIONS_KEY) or 0)


def decode_layout(text: str) -> Layout:
    """The layout in the text of its file.

    Raises:
        LayoutVersionError: it was written in another version.
        msgspec.DecodeError: it is no layout.
    """
    version = _VERSIONS.decode(text).version
    if version != LAYOUT_VERSION:
        raise LayoutVersionError(f"its layout has version {version}; this groupwatch reads version {LAYOUT_VERSION}")
    return _LAYOUTS.decode(text)


def differences(written: Layout, wanted: Layout) -> str:
    """What is not as it was written, with both values."""
    names = [name for name in Layout.__struct_fields__ if name not in IDS]
    pairs = [(name, getattr(written, name), getattr(wanted, name)) for name in names]
    return ", ".join(
        f"{name} = {before!r} (now {now!r})"
        for name, before, now in pairs
        if before != now and None not in (before, now)
    )
