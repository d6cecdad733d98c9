"""How long a round of the admin API takes: 5,000 groups with 20 offsets and three members each, on one broker.

A round is everything that a pass does: list the groups, describe them, ask for their offsets, write the events and wait
for their acknowledgement. In the first everything is new; in the others nothing has changed, and groups are named only.
The value is the slowest. One broker is the worst case: it coordinates all groups, so nothing is asked side by side.

``python -m tests.benchmarks.admin_round [GROUPS]``
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import KafkaConsumer, TopicPartition

from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka.admin_reader import AdminReader
from monitor.collectors.polling import PollingCollector
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.model import Value
from tests.benchmarks.measured import report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill
from tests.support.job_process import eventually

GROUPS, ROUNDS, GOAL_S = 5_000, 4, 15.0
TOPICS_READ, PARTITIONS, MEMBERS = 2, 10, 3


class Round(Value):
    """One pass: how long it took, the CPU of this process for it, what was written, and what the reading had."""

    seconds: float
    cpu_s: float
    written: int
    offsets: int
    members: int
    problems: tuple[str, ...]


def main() -> None:
    """Measure and report; seconds."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else GROUPS
    crowd = Crowd(groups=groups, partitions=PARTITIONS, members=MEMBERS, reads=TOPICS_READ)
    with broker_with_groups(crowd) as kafka:
        cluster = ClusterSettings(name="bench", bootstrap_servers=kafka.bootstrap_servers)
        rounds = measure(cluster)
        size = events_bytes(kafka, cluster)
    first, *others = rounds
    expected = (groups, groups * TOPICS_READ * PARTITIONS, groups * MEMBERS)
    if any(each.problems for each in rounds) or (first.written, first.offsets, first.members) < expected:
        raise SystemExit(f"not what was to be read: {rounds}")
    report(
        "admin-round",
        max(each.seconds for each in rounds),
        "s",
        GOAL_S,
        first.cpu_s,
        groups=groups,
        offsets=first.offsets,
        members=first.members,
        first_s=round(first.seconds, 2),
        unchanged_s=[round(each.seconds, 2) for each in others],
        unchanged_cpu_s=[round(each.cpu_s, 2) for each in others],
        written=[each.written for each in rounds],
        events_mb=round(size / 1e6, 2),
    )


@contextmanager
def broker_with_groups(crowd: Crowd) -> Iterator[EmbeddedKafka]:
    """A broker that has loaded the groups of a crowd."""
    with broker_with_topics(crowd) as kafka:
        fill(kafka, crowd, 1)
        kafka.kill()  # a coordinator reads what others wrote to its log when it starts
        kafka.start()
        cluster = ClusterSettings(name="bench", bootstrap_servers=kafka.bootstrap_servers)
        eventually(lambda: has_loaded(cluster, crowd.groups), "the groups at their coordinator")
        yield kafka


def has_loaded(cluster: ClusterSettings, groups: int) -> bool:
    """Whether the broker lists them all; it has yet to read its log for some seconds."""
    reader = AdminReader(cluster)
    try:
        return len(reader.read(1).listed or ()) >= groups
    except CollectorError:
        return False
    finally:
        reader.close()


def measure(cluster: ClusterSettings) -> list[Round]:
    """Some rounds, one after the other."""
    reader = AdminReader(cluster)
    collector = PollingCollector("bench", reader, cluster, interval_s=10.0)
    rounds = []
    try:
        for _ in range(ROUNDS):
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
            reading = collector.collect()
            after = resource.getrusage(resource.RUSAGE_SELF)
            rounds.append(
                Round(
                    seconds=time.perf_counter() - began,
                    cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                    written=len(reading.groups),
                    offsets=sum(len(group.offsets) for group in reading.groups),
                    members=sum(len(group.members) for group in reading.groups),
                    problems=reading.problems,
                )
            )
    finally:
        collector.close()
    return rounds


def events_bytes(kafka: EmbeddedKafka, cluster: ClusterSettings) -> int:
    """The bytes of all events that were written, before compression."""
    place = TopicPartition(cluster.events_topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest", group_id=None)
    try:
        consumer.assign([place])
        (end,) = consumer.end_offsets([place]).values()
        size = 0
        while consumer.position(place) < end:
            for batch in consumer.poll(timeout_ms=1000).values():
                size += sum(len(record.value) for record in batch)
        return size
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
