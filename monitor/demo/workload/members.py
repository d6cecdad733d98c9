"""One member of a demo group: a kafka-python consumer on a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaError

from monitor.demo.workload.script import ORDERS, REPORTS, GroupPlan, WorkloadSettings

logger = logging.getLogger(__name__)

CLOSE_LIMIT_MS: Final = 3_000
_POLL_MS: Final = 250
_ASSIGNORS: Final = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor}

Assigned = Callable[[str, int, frozenset[int]], None]
"""Told which partitions a member of a group was given: group, number of the member, partitions."""


class GroupMember:
    """A consumer that polls until ``close()``; what it is asked to do, it does between two polls."""

    def __init__(
        self, bootstrap: str, plan: GroupPlan, number: int, settings: WorkloadSettings, assigned: Assigned
    ) -> None:
        self.plan = plan
        self.number = number
        self._commits_by_hand = plan.name == REPORTS.name  # the only group that has to be able to stop committing
        self._commit_every_s = settings.commit_interval_ms / 1000
        self._options = _consumer_options(bootstrap, plan, number, settings, by_hand=self._commits_by_hand)
        self._assigned = assigned
        self._ended = threading.Event()
        self._stuck = threading.Event()
        self._refresh = threading.Event()
        self._refreshed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{plan.name}-{number}", daemon=True)
        self._thread.start()

    def ask_to_close(self) -> None:
        """Leave the group soon, without waiting for it."""
        self._ended.set()

    def close(self) -> None:
        """Leave the group and wait until that is done."""
        self.ask_to_close()
        self._thread.join(2 * CLOSE_LIMIT_MS / 1000)

    def stop_committing(self) -> None:
        """Neither read nor commit from now on, but stay a member with heartbeats."""
        self._stuck.set()

    def resume_committing(self) -> None:
        """Read and commit again."""
        self._stuck.clear()

    def refresh_metadata(self) -> None:
        """Ask the broker for the topics' partitions soon, and not again until the metadata are too old."""
        self._refreshed.clear()
        self._refresh.set()

    def await_metadata(self, limit_s: float) -> bool:
        """Whether it has asked, and has the answer, within the limit."""
        return self._refreshed.wait(limit_s)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._consume()
            except KafkaError:
                logger.exception("%s: trying again", self._thread.name)
                self._ended.wait(1)

    def _consume(self) -> None:
        consumer = KafkaConsumer(**self._options)
        try:
            consumer.subscribe([self.plan.name], listener=_Listener(self._tell))
            next_commit = time.monotonic()
            while not self._ended.is_set():
                self._poll(consumer)
                if self._commits_by_hand and not self._stuck.is_set() and time.monotonic() >= next_commit:
                    consumer.commit_async()
                    next_commit = time.monotonic() + self._commit_every_s
        finally:
            consumer.close(timeout_ms=CLOSE_LIMIT_MS)

    def _poll(self, consumer: KafkaConsumer) -> None:
        if self._refresh.is_set():
            self._refresh.clear()
            consumer.topics()
            self._refreshed.set()
        assignment = consumer.assignment()
        if self._stuck.is_set():
            consumer.pause(*assignment)
        elif paused := consumer.paused() & assignment:
            consumer.resume(*paused)
        consumer.poll(timeout_ms=_POLL_MS)

    def _tell(self, partitions: frozenset[int]) -> None:
        self._assigned(self.plan.name, self.number, partitions)


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python has no types
    def __init__(self, tell: Callable[[frozenset[int]], None]) -> None:
        self._tell = tell

    def on_partitions_revoked(self, _revoked: list[TopicPartition]) -> None:
        self._tell(frozenset())

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        self._tell(frozenset(partition.partition for partition in assigned))


def _consumer_options(
    bootstrap: str, plan: GroupPlan, number: int, settings: WorkloadSettings, *, by_hand: bool
) -> dict[str, Any]:
    """Options of a consumer that costs little: it fetches about once a second, and measures nothing of itself."""
    return {
        "bootstrap_servers": bootstrap,
        "group_id": plan.name,
        "client_id": f"{plan.name}-worker-{number}",
        "partition_assignment_strategy": [_ASSIGNORS[plan.assignor]],
        "auto_offset_reset": "earliest",
        "enable_auto_commit": not by_hand,
        "auto_commit_interval_ms": settings.commit_interval_ms,
        "session_timeout_ms": settings.session_timeout_ms,
        "heartbeat_interval_ms": 2_000,
        "metadata_max_age_ms": settings.orders_metadata_max_age_ms if plan.name == ORDERS.name else 300_000,
        "fetch_min_bytes": 64 * 1024,
        "fetch_max_wait_ms": 1_000,
        "metrics_enabled": False,
    }
