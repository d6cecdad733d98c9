"""A thread that reads a job's findings topic from its beginning on."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition

from tests.support.background import Background

TOPIC: Final = "groupwatch.findings"


class FindingsReader(Background):
    """Gives each record to ``_note``, in its own thread. It waits for new ones for ``wait_ms`` at a time."""

    def __init__(self, bootstrap: str, wait_ms: int = 1_000) -> None:
        super().__init__()
        self._bootstrap = bootstrap
        self._wait_ms = wait_ms

    @abstractmethod
    def _note(self, record: dict[str, Any]) -> None:
        """Take a record that is no tombstone."""

    def _run(self) -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap, group_id=None, enable_auto_commit=False, fetch_max_wait_ms=self._wait_ms
        )
        place = TopicPartition(TOPIC, 0)
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        while not self._stopping.is_set():
            for record in consumer.poll(timeout_ms=self._wait_ms).get(place, []):
                if record.value is not None:
                    self._note(json.loads(record.value))
        consumer.close(autocommit=False)
