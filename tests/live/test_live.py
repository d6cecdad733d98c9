"""A real broker and real Java consumers for a minute: the tracker's groups are those of the admin client.

Three seeds act at the same time on one broker, with the classic protocol and that of KIP-848: members join, leave,
restart, are killed, subscribe to other topics; topics grow and new ones come; a group changes its protocol and back.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict

import pytest
from kafka import KafkaConsumer, TopicPartition

from monitor.embedded.broker import EmbeddedKafka
from monitor.embedded.settings import BrokerSettings
from monitor.model import RebalanceCause
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group
from tests.live.crowd import Crowd
from tests.live.script import LOG_PARTITIONS, Crowds, Seeded
from tests.streaming_jobs.clients import commit, create_topic
from tests.tracking.comparison import differences

pytestmark = pytest.mark.broker

SEEDS = (1, 2, 3)
SECONDS = 60
QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
}
UNDER_WAY = {"PreparingRebalance", "CompletingRebalance"}
"""States of a classic group that are not in the log."""


@pytest.fixture(scope="module")
def live():
    """The seeds after their minute, with the marks at its end, and the log as it is then."""
    with (
        EmbeddedKafka(BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS, properties=QUICK)) as kafka,
        Crowd(kafka.bootstrap_servers) as polite,
    ):
        create_topic(kafka.bootstrap_servers, "first", 1)
        commit(kafka.bootstrap_servers, "first", "first", {0: 0})  # the offsets topic exists from now on
        crowds = Crowds(polite, Crowd(kafka.bootstrap_servers))

        def kill() -> None:
            crowds.doomed.kill_9()
            crowds.doomed = Crowd(kafka.bootstrap_servers)

        half_time = threading.Barrier(len(SEEDS), action=kill)
        seeded = [Seeded(seed, kafka.bootstrap_servers, crowds, half_time) for seed in SEEDS]
        threads = [threading.Thread(target=each.run, args=(SECONDS,)) for each in seeded]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        try:
            for each in seeded:
                if each.error is not None:
                    raise each.error
            quiet(crowds)
            final = {group.name: settled(each, group.name) for each in seeded for group in each.groups}
            yield seeded, final, read_log(kafka.bootstrap_servers)
        finally:
            crowds.doomed.kill_9()


def quiet(crowds: Crowds) -> None:
    for crowd in (crowds.polite, crowds.doomed):
        since = crowd.seen()
        crowd.tell("quiet")
        crowd.await_event(since, "quiet")


def comparable(mark) -> bool:
    return mark["log_end"] == mark["log_end_after"] and mark["describe"].get("state") not in UNDER_WAY


def settled(seeded: Seeded, group: str):
    """The mark of a group that stands still: twice the same, with nothing written meanwhile."""
    deadline = time.monotonic() + 90
    before = None
    while time.monotonic() < deadline:
        mark = seeded.mark(group)
        if comparable(mark) and before is not None and before["describe"] == mark["describe"]:
            return mark
        before = mark
    raise AssertionError(f"{group} does not settle: {before}")


def read_log(bootstrap: str):
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


def at(log, mark):
    """The group as its log up to the mark gives it."""
    events = [event for offset, event in log[mark["group"]] if offset < mark["log_end"]]
    return fold_group("c", mark["group"], None, events)


def test_at_the_end_the_groups_are_those_of_the_admin_client(live):
    _, final, log = live
    assert {group: differences(mark, at(log, mark)) for group, mark in final.items()} == {group: [] for group in final}


def test_so_they_were_whenever_the_admin_client_was_asked(live):
    seeded, _, log = live
    marks = [mark for each in seeded for mark in each.marks if comparable(mark)]
    assert [(mark, found) for mark in marks if (found := differences(mark, at(log, mark)))] == []
    assert len(marks) > 30


def test_there_was_something_to_see(live):
    """Guards the comparison: every kind of action was done, and every kind of group occurred, with members."""
    seeded, final, log = live
    for each in seeded:
        assert {"_join", "_leave", "_grow", "_mark"} <= set(each.done), each.done
    described = [mark["describe"] for mark in final.values()]
    described += [mark["describe"] for each in seeded for mark in each.marks]
    types = Counter(found["type"] for found in described if found.get("members"))
    assert set(types) == {"Classic", "Consumer"}
    last = {group: log[group][-1][0] + 1 for group in log}
    causes = {
        cause
        for group, end in last.items()
        if (state := at(log, {"group": group, "log_end": end})) is not None
        for rebalance in state.history
        for cause in rebalance.causes
    }
    assert {RebalanceCause.JOIN, RebalanceCause.LEAVE, RebalanceCause.TOPICS, RebalanceCause.SUBSCRIPTION} <= causes
