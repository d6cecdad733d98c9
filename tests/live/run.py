"""A minute of real consumers: ``python -m tests.live.run`` prints what is left of it, for tests.live.test_live."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter, defaultdict

from kafka import KafkaConsumer, TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.protocol.offsets_topic import Foreign, decode_record
from tests.live.minute import SEEDS, Log, Minute, comparable, report_of
from tests.live.script import LOG_PARTITIONS, SESSION_MS, Crowds, Seeded
from tests.support.clients import commit, create_topic
from tests.support.crowd import PATIENCE_S, Crowd, Event

SECONDS = 50
QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": str(SESSION_MS),
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.consumer.min.session.timeout.ms": str(SESSION_MS),
    # a classic group is described as it is in memory, which is ahead of the log while a batch waits: the new id of a
    # static member that restarted was seen there first
    "group.coordinator.append.linger.ms": "0",
}
STANDING_STILL = {"Stable", "Empty", "GroupIdNotFoundException"}


def run() -> Minute:
    """Three seeds' minute, over; the broker is gone as well."""
    settings = BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS, properties=QUICK)
    with EmbeddedKafka(settings) as kafka, Crowd(kafka.bootstrap_servers) as polite:
        create_topic(kafka.bootstrap_servers, "first", 1)
        commit(kafka.bootstrap_servers, "first", "first", {0: 0})  # the offsets topic exists from now on
        crowds = Crowds(kafka.bootstrap_servers, polite, Crowd(kafka.bootstrap_servers))
        try:
            seeded = act(crowds)
            quiet(crowds)
            final = {group.name: settled(each, group.name) for each in seeded for group in each.groups}
            failures = [*crowds.failures, *polite.failures(), *crowds.doomed.failures()]
            log = read_log(kafka.bootstrap_servers)
        finally:
            crowds.doomed.kill_9()
    during = [mark for each in seeded for mark in each.marks]
    return Minute(during, sum((each.done for each in seeded), Counter()), final, log, failures)


def act(crowds: Crowds) -> list[Seeded]:
    """Let the seeds act, all at the same time."""
    between_rounds = threading.Barrier(len(SEEDS), action=crowds.kill)
    seeded = [Seeded(seed, crowds, between_rounds) for seed in SEEDS]
    threads = [threading.Thread(target=each.run, args=(SECONDS,)) for each in seeded]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [each.error for each in seeded if each.error is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error  # the one that broke the barrier for the others
    return seeded


def quiet(crowds: Crowds) -> None:
    """From now on nobody commits."""
    for crowd in (crowds.polite, crowds.doomed):
        since = crowd.seen()
        crowd.tell("quiet")
        crowd.await_event(since, "quiet")


def settled(seeded: Seeded, group: str) -> Event:
    """The mark of a group that stands still: nothing is on its way, and nothing was written meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        mark = seeded.mark(group)
        described = mark["describe"]
        if comparable(mark) and (described.get("state") or described["error"]) in STANDING_STILL:
            return mark
    raise AssertionError(f"{group} does not settle: {mark}")


def read_log(bootstrap: str) -> Log:
    """The records of every group with their offsets, as a reader of the log gets them."""
    places = [TopicPartition("__consumer_offsets", number) for number in range(LOG_PARTITIONS)]
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
    try:
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        ends = consumer.end_offsets(places)
        by_group = defaultdict(list)
        while any(consumer.position(place) < end for place, end in ends.items()):
            for records in consumer.poll(timeout_ms=500).values():
                for record in records:
                    event = decode_record(record.key, record.value, record.timestamp)
                    if not isinstance(event, Foreign):
                        by_group[event.group].append((record.offset, event))
        return by_group
    finally:
        consumer.close(autocommit=False)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(report_of(run())) + "\n")
