"""The demo's loss: retention removes records of a topic before a slow consumer has read them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Final

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient

from monitor.demo.workload.scene import SceneStep
from monitor.java_runtime.jars import Progress

GROUP: Final = "audit"
"""The slow consumer group, and its topic."""

RECORDS: Final = 3_000
"""So many records are written at once: for five minutes of its consumer."""

PER_SECOND: Final = 10
"""So many of them the consumer reads and commits each second."""

RETAINED: Final = 500
"""So many of the newest records stay."""

_VALUE: Final = b"." * 100
_BATCH_BYTES: Final = 1_000
"""Small batches, and small fetches: a consumer that holds many records does not see that they are removed."""


class LossScene:
    """``audit`` reads slower than its topic is filled. Retention overtakes it."""

    def __init__(self, bootstrap_servers: str, progress: Progress) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._progress = progress
        self._over = threading.Event()

    def start(self, running: ExitStack) -> None:
        """Fill the topic and start its consumer."""
        self._progress("starting a slow consumer")
        with closing(KafkaAdminClient(bootstrap_servers=self._bootstrap_servers)) as admin:
            admin.create_topics({GROUP: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
        self._write()
        reader = threading.Thread(target=self._read, name="slow reader", daemon=True)
        reader.start()
        running.callback(reader.join, 15)
        running.callback(self._over.set)

    def steps(self) -> Sequence[SceneStep]:
        """All but the newest records are removed, as retention does; later more come."""
        cut = "retention removes records of audit that its consumer has not read: look for skipped/retention"
        return (
            SceneStep(45, GROUP, cut, self._remove),
            SceneStep(150, GROUP, "audit gets more records", self._write),
        )

    def _write(self) -> None:
        with closing(KafkaProducer(bootstrap_servers=self._bootstrap_servers, batch_size=_BATCH_BYTES)) as producer:
            for _ in range(RECORDS):
                producer.send(GROUP, _VALUE)
            producer.flush(30)

    def _remove(self) -> None:
        place = TopicPartition(GROUP, 0)
        with closing(KafkaConsumer(bootstrap_servers=self._bootstrap_servers)) as looking:
            end = looking.end_offsets([place])[place]
        with closing(KafkaAdminClient(bootstrap_servers=self._bootstrap_servers)) as admin:
            admin.delete_records({place: max(0, end - RETAINED)})

    def _read(self) -> None:
        reader = KafkaConsumer(
            GROUP,
            bootstrap_servers=self._bootstrap_servers,
            group_id=GROUP,
            client_id=f"{GROUP}-1",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=PER_SECOND,
            max_partition_fetch_bytes=2 * _BATCH_BYTES,
        )
        with closing(reader):
            while not self._over.wait(1):
                if reader.poll(timeout_ms=1_000):
                    reader.commit()
