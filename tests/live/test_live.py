"""A real broker and real Java consumers for a minute: the tracker's groups are those of the admin client.

Three seeds act at the same time on one broker, with the classic protocol and that of KIP-848: members join, leave,
restart, fall asleep, are killed, rewind, subscribe to other topics; topics grow and new ones come; groups are deleted,
and one changes its protocol and back.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from kafka import KafkaConsumer, TopicPartition

from monitor.embedded.broker import EmbeddedKafka
from monitor.embedded.settings import BrokerSettings
from monitor.model import GroupState, Rebalance, RebalanceCause
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group
from tests.live.crowd import PATIENCE_S, Crowd, Event
from tests.live.script import LOG_PARTITIONS, SESSION_MS, Crowds, Seeded
from tests.streaming_jobs.clients import commit, create_topic
from tests.tracking.comparison import differences

pytestmark = pytest.mark.broker

SEEDS = (1, 2, 3)
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
UNDER_WAY = {"PreparingRebalance", "CompletingRebalance"}
"""States of a classic group that are not in the log."""
STANDING_STILL = {"Stable", "Empty", "GroupIdNotFoundException"}
KINDS_OF_GROUPS = {"range", "cooperative", "uniform", "regex", "upgraded"}

Log = dict[str, list[tuple[int, object]]]


@dataclass(frozen=True)
class Minute:
    """What is left of it: the seeds with their marks, the marks at the end, the log, the failed consumers."""

    seeded: list[Seeded]
    final: dict[str, Event]
    log: Log
    failures: list[Event]

    def marks(self) -> list[Event]:
        """All marks that can be compared."""
        during = [mark for each in self.seeded for mark in each.marks]
        return [mark for mark in [*during, *self.final.values()] if comparable(mark)]

    def states(self, group: str) -> Iterator[GroupState | None]:
        """The group after each of its records."""
        state = None
        for _, event in self.log[group]:
            state = fold_group("c", group, state, [event])
            yield state

    def rebalances(self, group: str) -> set[Rebalance]:
        """Every rebalance of a group, also those that its state keeps no longer."""
        return {rebalance for state in self.states(group) if state is not None for rebalance in state.history}


@pytest.fixture(scope="module")
def minute() -> Minute:
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
    return Minute(seeded, final, log, failures)


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


def comparable(mark: Event) -> bool:
    return mark["log_end"] == mark["log_end_after"] and mark["describe"].get("state") not in UNDER_WAY


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


def disagreements(marks: list[Event], log: Log) -> list[str]:
    """Where the log up to a mark does not give what the mark says; the name of a group begins with its seed."""
    found = []
    for mark in marks:
        events = [event for offset, event in log[mark["group"]] if offset < mark["log_end"]]
        different = differences(mark, fold_group("c", mark["group"], None, events))
        if different:
            place = f"{mark['group']} at {mark['partition']}:{mark['log_end']}"
            found.append(f"{place}: {different}\n  described: {mark['describe']}\n  last records: {events[-5:]}")
    return found


def test_at_the_end_the_groups_are_those_of_the_admin_client(minute):
    assert len(minute.final) == len(SEEDS) * len(KINDS_OF_GROUPS)
    found = disagreements(list(minute.final.values()), minute.log)
    assert not found, "\n".join(found)


def test_so_they_were_whenever_the_admin_client_was_asked(minute):
    found = disagreements(minute.marks(), minute.log)
    assert not found, "\n".join(found)


def test_no_consumer_failed_but_those_that_were_killed(minute):
    assert minute.failures == []


def test_every_action_was_done(minute):
    done = sum((each.done for each in minute.seeded), Counter())
    of_members = {"join", "leave", "restart", "sleep", "killed", "subscribe", "rewind"}
    assert (+done).keys() == of_members | {"delete", "grow", "produce", "mark"}, done


def test_every_kind_of_group_was_compared_with_members(minute):
    """Guards the comparison: what it compares occurs, and more than once."""
    marks = minute.marks()
    assert len(marks) > 30
    with_members = [mark for mark in marks if mark["describe"].get("members")]
    assert {mark["group"].split("-")[1] for mark in with_members} == KINDS_OF_GROUPS
    upgraded = {mark["describe"]["type"] for mark in with_members if mark["group"].endswith("-upgraded")}
    assert upgraded == {"Classic", "Consumer"}
    members = [member for mark in with_members for member in mark["describe"]["members"]]
    for what in ("instance_id", "rack", "assignment", "target_assignment", "upgraded"):
        assert sum(bool(member[what]) for member in members) >= 3, what
    assert sum(bool(mark["describe"].get("members")) for mark in minute.final.values()) >= 2
    assert len({offset["offset"] for mark in marks for offset in mark["offsets"].values()}) > 1


def test_groups_were_compared_at_the_epoch_that_no_record_tells(minute):
    """A group of 4.3 begins at epoch 1; one whose expression fits no topic stays there."""
    described = [mark["describe"] for mark in minute.marks() if mark["group"].endswith("-regex")]
    with_members = [found for found in described if found.get("members")]
    assert ("Stable", 1, 1) in {(f["state"], f["group_epoch"], f["target_assignment_epoch"]) for f in with_members}


def test_committed_offsets_fell_and_groups_were_deleted(minute):
    histories = [list(minute.states(group)) for group in minute.final]
    offsets = [offset for history in histories for state in history if state is not None for offset in state.offsets]
    assert max(offset.rewinds for offset in offsets) > 0
    assert any(state is None for history in histories for state in history)


def test_the_groups_rebalanced_for_every_reason(minute):
    rebalances = {group: minute.rebalances(group) for group in minute.final}
    assert all(rebalances.values())
    causes = {cause for found in rebalances.values() for rebalance in found for cause in rebalance.causes}
    assert causes >= {
        RebalanceCause.JOIN,
        RebalanceCause.LEAVE,
        RebalanceCause.TIMEOUT,
        RebalanceCause.TOPICS,
        RebalanceCause.SUBSCRIPTION,
        RebalanceCause.STATIC_RESTART,
        RebalanceCause.HANDOVER,
        RebalanceCause.UPGRADE,
        RebalanceCause.DOWNGRADE,
    }
