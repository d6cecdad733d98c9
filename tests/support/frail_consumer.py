"""A consumer that dies at one record: ``python -m tests.support.frail_consumer BOOTSTRAP GROUP CLIENT [INSTANCE]``.

It reads the topic that is called like its group, and commits each half second. At a record that says ``poison`` it is
gone, without leaving its group. SIGTERM ends it as a deployment does: it commits, and leaves.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from kafka import KafkaConsumer
from kafka.coordinator.assignors.range import RangePartitionAssignor

POISON = b"poison"
MOST_RECORDS = 20
"""Of one poll: on a busy machine so many more may come after the newest commit than ever between two."""


def read(bootstrap: str, group: str, client: str, instance: str | None = None) -> None:
    """Read until a signal comes, or the record."""
    ended: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        ended.append(number)

    signal.signal(signal.SIGTERM, end)
    consumer = KafkaConsumer(
        group,
        bootstrap_servers=bootstrap,
        group_id=group,
        client_id=client,
        group_instance_id=instance,
        auto_offset_reset="earliest",
        auto_commit_interval_ms=500,
        session_timeout_ms=30_000 if instance else 10_000,
        heartbeat_interval_ms=500,
        max_poll_records=MOST_RECORDS,
        partition_assignment_strategy=[RangePartitionAssignor],
    )
    while not ended:
        for records in consumer.poll(timeout_ms=200).values():
            if any(record.value == POISON for record in records):
                os._exit(1)
    consumer.close()


if __name__ == "__main__":
    read(*sys.argv[1:])
