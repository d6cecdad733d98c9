"""Watching the groups of a broker as the job does, without Spark: poll, read its logs, fold, judge, once a second."""

from __future__ import annotations

import time
from base64 import b64encode
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient
from msgspec.structs import replace

from monitor.collectors.kafka.offsets_retention import OffsetsRetentionReader
from monitor.collectors.kafka.offsets_topic import observe_offsets_topic
from monitor.collectors.kafka.pending_offsets import PendingOffsetsReader
from monitor.collectors.kafka.rebalance_sampler import RebalanceSampler
from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.collectors.kafka.transactional_offsets import TransactionalOffsets
from monitor.config import ClusterSettings
from monitor.detection import DetectionSettings
from monitor.detection.cluster_findings import cluster_findings
from monitor.detection.evaluate import judge
from monitor.detection.group_summary import summary_of
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.kinds.short_lives import lives_by_pattern, short_life
from monitor.model import Catalog, Entity, GroupState, GroupVerdict, PassCompleted
from monitor.protocol.kafka.connect_configs import CONFIGS_SUFFIX
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.tracking.cluster_fold import ClusterFold
from monitor.tracking.fold.captured_logs import CLUSTER, CapturedLogs, RecordLine
from tests.support.background import Background
from tests.systems.watching import FindingHistory, Found, now_ms

INTERVAL_S: Final = 1.0


class GroupLogs:
    """The logs of a broker's groups, read on and on: the states of groups, and the configurations of Connect."""

    def __init__(self, bootstrap: str, fold: ClusterFold) -> None:
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=None,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            exclude_internal_topics=False,
            metadata_max_age_ms=2000,
        )
        self._folded = CapturedLogs(fold=fold)

    def close(self) -> None:
        self._consumer.close()

    def read(self) -> CapturedLogs:
        """All that is in the logs by now, folded."""
        places = self._places()
        if places != self._consumer.assignment():
            self._consumer.assign(places)
        ends = self._consumer.end_offsets(places)
        while any(self._consumer.position(place) < end for place, end in ends.items()):
            for batch in self._consumer.poll(timeout_ms=1000).values():
                for record in batch:
                    self._folded.add(_line(record))
        assert not self._folded.unread, self._folded.unread
        return self._folded

    def _places(self) -> set[TopicPartition]:
        """The partitions of the logs that there are already: a broker creates them when they are first needed."""
        configs = {topic for topic in self._consumer.topics() if topic.endswith(CONFIGS_SUFFIX)}
        logs = {OFFSETS_TOPIC, SHARE_STATE_TOPIC, *configs}
        return {TopicPartition(log, each) for log in logs for each in self._consumer.partitions_for_topic(log) or ()}


class Polls:
    """What no log has, asked of the brokers as collectors do: topics, offsets of transactions, and rebalances."""

    def __init__(self, bootstrap: str, fold: ClusterFold) -> None:
        settings = ClusterSettings(name=CLUSTER, bootstrap_servers=bootstrap)
        self._fold = fold
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._stable = StableOffsets()
        self._retention = OffsetsRetentionReader()
        self._transactions = TransactionalOffsets(CLUSTER, PendingOffsetsReader(settings))
        self._rebalances = RebalanceSampler(CLUSTER)

    def close(self) -> None:
        self._admin.close()

    def make(self) -> None:
        """Make one of each."""
        pass_ms = now_ms()
        topics = observe_topics(self._admin, self._stable, cluster=CLUSTER, pass_ms=pass_ms, observed_ms=pass_ms)
        for seen in topics:
            self._fold.take(Entity.TOPIC, seen.topic, [seen])
        completed = PassCompleted(
            cluster=CLUSTER,
            pass_ms=pass_ms,
            completed_ms=now_ms(),
            topics=len(topics),
            offsets_retention=self._retention.read(self._admin),
            offsets_topic=observe_offsets_topic(self._admin),
        )
        self._fold.take_pass(completed)
        self._rebalances.begin_pass()
        for portion in (*self._transactions.ask(self._admin, now_ms), *self._rebalances.ask(self._admin, now_ms)):
            for answer in portion:
                self._fold.take(Entity.GROUP, answer.group, [answer])


class Watch(Background):
    """A thread that watches all groups of a broker until the end of a ``with`` block."""

    def __init__(self, bootstrap: str, settings: DetectionSettings) -> None:
        super().__init__()
        self._settings = settings
        self._fold = ClusterFold(CLUSTER)
        self._logs = GroupLogs(bootstrap, self._fold)
        self._polls = Polls(bootstrap, self._fold)
        self._history = FindingHistory()
        self._passed_ms: list[int] = []
        self.verdicts: dict[str, GroupVerdict] = {}
        self.of_cluster: dict[str, str] = {}
        """What was found of the cluster itself: kind and reason, with the newest sentence."""
        self.error: Exception | None = None

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._logs.close()
        self._polls.close()

    @property
    def found(self) -> tuple[Found, ...]:
        """All findings so far, the closed ones first."""
        return self._history.found

    @property
    def passes(self) -> int:
        """How often all groups have been judged."""
        return len(self._passed_ms)

    @property
    def longest_s(self) -> float:
        """The longest time from one pass to the next."""
        gaps = (after - before for before, after in zip(self._passed_ms, self._passed_ms[1:], strict=False))
        return max(gaps, default=0) / 1000

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                began = time.monotonic()
                self._pass()
                self._stopping.wait(max(0.0, began + INTERVAL_S - time.monotonic()))
        except Exception as error:
            self.error = error

    def _pass(self) -> None:
        self._polls.make()
        logs = self._logs.read()
        groups = logs.groups()
        catalog = self._catalog(logs, groups)
        topics, at_ms = Topics(catalog), now_ms()
        self.verdicts = {group.group: self._verdict(group, topics, at_ms) for group in groups}
        self._history.take(self.verdicts.values(), at_ms)
        for found in cluster_findings(catalog, [summary_of(each) for each in self.verdicts.values()], None, at_ms):
            self.of_cluster[f"{found.kind}/{found.reason}"] = found.sentence
        self._passed_ms.append(at_ms)

    def _verdict(self, group: GroupState, topics: Topics, at_ms: int) -> GroupVerdict:
        return judge(group, topics, view_assignment(group, topics.catalog), at_ms, self._settings)

    def _catalog(self, logs: CapturedLogs, groups: list[GroupState]) -> Catalog:
        """As the driver of a job completes it: with the connectors, and with groups that came and went alike."""
        configs = {topic.removesuffix(CONFIGS_SUFFIX): state for topic, state in logs.configs().items()}
        lives = lives_by_pattern(life for group in groups if (life := short_life(group)) is not None)
        return replace(self._fold.catalog(), connect_configs=configs, short_lives=lives)


def _line(record: Any) -> RecordLine:
    key, value = (None if data is None else b64encode(data).decode() for data in (record.key, record.value))
    return RecordLine(record.topic, record.partition, record.offset, record.timestamp, key, value)
