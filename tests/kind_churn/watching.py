"""Watching the groups of a broker as the job does, without Spark: read its logs, fold, judge, once a second."""

from __future__ import annotations

import time
from base64 import b64encode
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient
from msgspec.structs import replace

from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.detection import DetectionSettings, evaluate
from monitor.model import Catalog, GroupVerdict
from monitor.protocol.kafka.connect_configs import CONFIGS_SUFFIX
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.tracking.fold.captured_logs import CLUSTER, CapturedLogs, RecordLine
from tests.support.background import Background
from tests.systems.watching import FindingHistory, Found, WatchedTopics, now_ms

INTERVAL_S: Final = 1.0


class GroupLogs:
    """The logs of a broker's groups, read on and on: the states of groups, and the configurations of Connect."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=None,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            exclude_internal_topics=False,
            metadata_max_age_ms=2000,
        )
        self._folded = CapturedLogs()

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


class Watch(Background):
    """A thread that watches all groups of a broker until the end of a ``with`` block."""

    def __init__(self, bootstrap: str, settings: DetectionSettings) -> None:
        super().__init__()
        self._settings = settings
        self._logs = GroupLogs(bootstrap)
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._stable = StableOffsets()
        self._topics = WatchedTopics(CLUSTER)
        self._history = FindingHistory()
        self._passed_ms: list[int] = []
        self.verdicts: dict[str, GroupVerdict] = {}
        self.error: Exception | None = None

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._logs.close()
        self._admin.close()

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
        pass_ms = now_ms()
        catalog = self._catalog(pass_ms)
        logs = self._logs.read()
        configs = {topic.removesuffix(CONFIGS_SUFFIX): state for topic, state in logs.configs().items()}
        catalog = replace(catalog, connect_configs=configs)
        at_ms = now_ms()
        self.verdicts = {group.group: evaluate(group, catalog, at_ms, self._settings) for group in logs.groups()}
        self._history.take(self.verdicts.values(), at_ms)
        self._passed_ms.append(at_ms)

    def _catalog(self, pass_ms: int) -> Catalog:
        seen = observe_topics(self._admin, self._stable, cluster=CLUSTER, pass_ms=pass_ms, observed_ms=pass_ms)
        self._topics.take(seen)
        self._topics.expire(pass_ms)
        return self._topics.catalog(pass_ms)


def _line(record: Any) -> RecordLine:
    key, value = (None if data is None else b64encode(data).decode() for data in (record.key, record.value))
    return RecordLine(record.topic, record.partition, record.offset, record.timestamp, key, value)
