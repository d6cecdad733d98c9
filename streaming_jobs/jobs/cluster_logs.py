"""The logs that the query of a cluster reads: their partitions, where they end, and how far they have been read."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.errors import CollectorError, PermissionMissing
from monitor.collectors.kafka.carried_ends import CarriedEnds, QueryEnds
from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import LogEnds
from monitor.collectors.kafka.preflight import LogBounds, require_readable, share_state_partitions
from monitor.config import ConfigError
from monitor.model import LogPlaces, Outage, Value
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.readiness.warm_up import LogPosition, plan_age_ms, planned_end, reported_offsets
from streaming_jobs.buckets.batch_context import Unread
from streaming_jobs.jobs.unread_partitions import unread_partitions, unread_problem
from streaming_jobs.jobs.watch_targets import WatchTarget
from streaming_jobs.runtime.checkpoint import Checkpoint
from streaming_jobs.runtime.clock import monotonic_ms, now_ms
from streaming_jobs.runtime.hadoop_files import FilesError
from streaming_jobs.runtime.stall import StallWatch

log = logging.getLogger(__name__)


class LogsAtStart(Value):
    """The logs as a query found them when it started.

    Attributes:
        backlog: the log of the groups, as far as it had not been read.
        partitions: how many partitions each log of groups has; empty where groups come by polls.
        events_end: where the events of the collectors ended.
        starts: where logs start that were created again.
        places: where in the offsets topic groups are.
        connect_topics: the topics of configurations of Connect clusters that can be read, by group.
    """

    backlog: LogBounds
    partitions: dict[str, int]
    events_end: int
    starts: dict[Place, int]
    places: LogPlaces
    connect_topics: dict[str, str]


class ClusterLogs:
    """Asks where the logs of a cluster end, and keeps in the checkpoint what is learned of them.

    One for all queries of the cluster; of these, ``query`` runs. It is the publisher's QueryLogs.
    """

    def __init__(self, target: WatchTarget, checkpoint: Checkpoint, stall: StallWatch) -> None:
        self._target = target
        self._cluster = target.cluster
        self._events_topic = target.carrier.events_topic
        self._checkpoint = checkpoint
        self._stall = stall
        self.query: StreamingQuery | None = None
        self.ends: Final = self.new_ends()
        self._partitions: dict[str, int] = {}
        self._planned_before = -1
        """The newest micro-batch that was planned when the query started."""
        self._share_partitions = 0
        self._has_missed_share_state = False

    @property
    def groups_topic(self) -> str:
        """The topic with the records of the groups: the warm-up is over when it has been read."""
        return OFFSETS_TOPIC if self._target.reads_log else self._events_topic

    def begin(self) -> LogsAtStart:
        """See what there is to read, for a query that starts.

        Raises:
            CollectorError: the brokers do not say.
            CheckpointError: the logs are not those of the checkpoint.
        """
        self._planned_before = self._checkpoint.newest_plan()
        self.ends.accept_new_topics()
        are_events_new = self._checkpoint.layout.events_id is None
        events = self._events_bounds()  # a first pass of this run is among them
        log_bounds = self.ends.bounds(self.groups_topic) if self._target.reads_log else events
        self._checkpoint.require_logs(*{each.topic: each for each in (log_bounds, events)}.values())
        starts = {(events.topic, each.partition): each.begin for each in events.partitions} if are_events_new else {}
        self.ends.restart_recreated(starts)
        places = self._log_places(log_bounds) if self._target.reads_log else LogPlaces()
        bounds = log_bounds if self._target.reads_log else only_first_partition(events)
        backlog = bounds.unread(self._checkpoint.read_until(bounds.topic))
        log.info("Cluster %s: %s has a backlog of %d offsets", self._target.name, self.groups_topic, backlog.records)
        connect_topics = self._connect_topics()
        self._share_partitions = self._count_share_partitions()
        self._partitions = self._log_partitions(log_bounds)
        return LogsAtStart(backlog, self._partitions, events.ends.get(0, 0), starts, places, connect_topics)

    def _events_bounds(self) -> LogBounds:
        """Where the events end; without the id of another cluster, which is not that of the checkpoint."""
        found = self.ends.bounds(self._events_topic)
        return msgspec.structs.replace(found, cluster_id=None) if self._target.is_carried else found

    def _log_places(self, log_bounds: LogBounds) -> LogPlaces:
        """Where in the offsets topic groups are: open as long as nothing is in the partitions that it has grown by."""
        partitions, before = log_bounds.partition_count, self._checkpoint.layout.log_partitions
        return LogPlaces(partitions, before if before is not None and before < partitions else 0)

    def _log_partitions(self, bounds: LogBounds) -> dict[str, int]:
        """The logs of groups with their numbers of partitions."""
        of_shares = {SHARE_STATE_TOPIC: self._share_partitions} if self._share_partitions else {}
        return {OFFSETS_TOPIC: bounds.partition_count, **of_shares} if self._target.reads_log else {}

    def _connect_topics(self) -> dict[str, str]:
        """The topics of configurations of Connect that can be read, by group; for any other, the reason is logged."""
        found: dict[str, str] = {}
        for group, topic in self._cluster.connect_configs.items() if not self._target.is_system else ():
            try:
                require_readable(self._cluster, topic)
            except CollectorError as error:
                text = "The topic of configurations of the Connect cluster %r is not read. %s"
                log.warning(text, group, error, extra={"cluster": self._target.name, "group": group})
            else:
                found[group] = topic
        return found

    def _count_share_partitions(self) -> int:
        """The partitions of the log of share state; 0: there is none yet, or the user may not read it: logged once.

        Raises:
            CollectorError: the brokers do not report it. A start without a log that was read before would read all of
                it again later.
        """
        now = self.ends.partition_count(SHARE_STATE_TOPIC)
        if not self._target.reads_log or not now or self._share_partitions:
            return max(now, self._share_partitions) if self._target.reads_log else 0
        try:
            return share_state_partitions(self._cluster)
        except PermissionMissing as error:
            if not self._has_missed_share_state:
                text = "%s Until then, the lag of share groups comes from their coordinators."
                log.warning(text, error, extra={"cluster": self._target.name})
            self._has_missed_share_state = True
        return 0

    def news(self) -> str | None:
        """The news that the query does not read a log, or a partition of one, as the start of a sentence."""
        return self._grown_log() or self._new_share_log()

    def _grown_log(self) -> str | None:
        """The news that a log has more partitions than the query reads, as the start of a sentence."""
        for topic, count in self._partitions.items():
            now = self.ends.partition_count(topic)
            if now > count:
                return f"{topic} has {now} partitions now instead of {count}"
        return None

    def _new_share_log(self) -> str | None:
        """The news that there is a log of share state that the query does not read; None while the brokers are away."""
        if self._share_partitions or not self.ends.partition_count(SHARE_STATE_TOPIC):
            return None
        with suppress(CollectorError):
            return "the log of share state can be read now" if self._count_share_partitions() else None
        return None

    @property
    def _read_counts(self) -> dict[str, int]:
        """How many partitions are read of each log, and of the collectors' events."""
        return {**self._partitions, self._events_topic: 1}

    def _positions(self) -> dict[Place, int]:
        """Up to where the logs have been read that the query reads, and that of the collectors' events."""
        counts = self._read_counts
        read = {topic: self._checkpoint.read_until(topic) for topic in counts}
        return {(topic, n): read[topic].get(n, 0) for topic, count in counts.items() for n in range(count)}

    def leave_out_silent_brokers(self) -> bool:
        """Plan again what could not be read in time; whether it was for brokers that do not answer.

        The next micro-batch leaves them out then.
        """
        with suppress(FilesError):
            self._checkpoint.forget_unread_plan(self._planned_before)
        with suppress(CollectorError, ConfigError, FilesError):
            self.ends.ask(self._positions())
        return bool(self.ends.silent)

    def problem(self) -> str | None:
        """Which partitions cannot be read now, as a sentence. For any thread."""
        return unread_problem(self._target.name, self._read_counts, self.ends.silent)

    def unread(self) -> dict[int, Unread]:
        """The partitions of the offsets topic that cannot be read now, each with a sentence."""
        return unread_partitions(OFFSETS_TOPIC, self.ends.silent, self._first_evaluated_ms())

    def outages(self) -> dict[int, Outage]:
        """When partitions of the offsets topic could not be read."""
        return self.ends.outages(OFFSETS_TOPIC)

    def position(self, batch_id: int) -> LogPosition:
        """How far the logs are read by a micro-batch, and what Spark reported of the one before."""
        progress = self.query.lastProgress if self.query is not None else None
        planned = self._checkpoint.planned(batch_id)
        return LogPosition(
            read=planned_end(self.groups_topic, planned),
            before=reported_offsets(self.groups_topic, progress.sources) if progress is not None else None,
            events_read=planned_end(self._events_topic, planned),
            share_read=planned_end(SHARE_STATE_TOPIC, planned) if self._share_partitions else {},
            late_ms=plan_age_ms(planned, time.time_ns() // 1_000_000),
        )

    def forget_plan(self, batch_id: int) -> None:
        """Take back the plan of a micro-batch that does not begin."""
        self._checkpoint.forget_plan(batch_id)

    def note_partitions(self, partitions: int) -> None:
        """Keep by how many partitions the brokers place groups."""
        if self._checkpoint.layout.log_partitions != partitions:
            self._checkpoint.keep_log_partitions(partitions)

    @property
    def source_id(self) -> str | None:
        """The id of what the collectors read, as the checkpoint has it; None: not known yet."""
        known: str | None = getattr(self._checkpoint.layout, self._source_name)
        return known

    @property
    def _source_name(self) -> str:
        """Where the layout has that id."""
        return "source_id" if self._target.is_system else "cluster_id"

    def note_source(self, source_id: str) -> None:
        """Keep the id of what the first pass was over. Passes over others are refused from the next query on."""
        if self.source_id is None:
            self._checkpoint.keep_id(self._source_name, source_id)

    def new_ends(self, starts: Mapping[Place, int] | None = None) -> QueryEnds:
        """An object that gives where the logs of a query end: one for the live query, one for the recorder's.

        Args:
            starts: where logs start that were created again.
        """
        carrier, events = self._target.carrier, {self._events_topic}
        logs = {*self._cluster.connect_configs.values()}
        logs |= {OFFSETS_TOPIC, SHARE_STATE_TOPIC} if self._target.reads_log else set()
        ends: QueryEnds
        if self._target.reads_two:
            of_groups = LogEnds(self._cluster, logs, now_ms, self._read_until_ms)
            of_events = LogEnds(carrier, events, now_ms, self._read_until_ms)
            ends = CarriedEnds(of_groups, of_events, self._events_topic)
        else:
            ends = LogEnds(carrier, events | logs, now_ms, self._read_until_ms)
        ends.restart_recreated(starts or {})
        return ends

    def _first_evaluated_ms(self) -> int | None:
        """When this process first evaluated groups; None: it has not yet."""
        first_ms = self._stall.first_evaluated_ms
        return None if first_ms is None else now_ms() - (monotonic_ms() - first_ms)

    def _read_until_ms(self) -> int:
        """When the groups were last evaluated: what can be read had been read until then."""
        return now_ms() - self._stall.silence_ms(monotonic_ms())


def only_first_partition(bounds: LogBounds) -> LogBounds:
    """The bounds of the one partition of the events topic that is read, even if it has more."""
    return msgspec.structs.replace(bounds, partitions=bounds.partitions[:1])
