"""A part of the cluster that does not answer hides nothing of the rest, and is asked again."""

from __future__ import annotations

import logging
from itertools import count

import pytest
from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import PartitionProducerState, ProducerState
from kafka.errors import (
    CoordinatorNotAvailableError,
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    NotLeaderForPartitionError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
)

from monitor.collectors.kafka.transactional_offsets import RELIST_MS, SETTLE_MS, TransactionalOffsets
from monitor.collectors.kafka_client import batch_requests
from monitor.collectors.kafka_client.batch_requests import BatchRequests
from monitor.protocol.kafka.group_metadata import group_partition
from monitor.readiness import repeated_warning
from monitor.tracking.offsets.precedence import CLOCK_MARGIN_MS

PARTITIONS = 4
GROUP = {group_partition(name, PARTITIONS): name for name in (f"group-{n}" for n in range(PARTITIONS))}
"""A group for each partition of the offsets topic."""

AFTER_MS = SETTLE_MS + 1
MOVES_AT_MS = 1_000_000


class TwoBrokers:
    """What kafka-python's admin client answers for two brokers; broker 0 leads the even partitions.

    There is a transaction behind each group. ``broken`` has the error of a question, by the name of the method and what
    it is about: a partition, a broker, a group. As in kafka-python, the error of one is raised for all.
    """

    def __init__(self):
        self.leader = {partition: partition % 2 for partition in range(PARTITIONS)}
        self.topic_error = 0
        self.broken = {}
        self.asked = []
        self.sequence = 0

    def _ask(self, method, items):
        self.asked.append((method, tuple(items)))
        for item in items:
            if (method, item) in self.broken:
                raise self.broken[method, item]

    def describe_topics(self, topics):
        self._ask("describe_topics", topics)
        partitions = [{"partition_index": number, "leader_id": leader} for number, leader in self.leader.items()]
        return [
            {"name": name, "error_code": self.topic_error, "partitions": [] if self.topic_error else partitions}
            for name in topics
        ]

    def describe_producers(self, partitions, broker_id):
        assert {self.leader[place.partition] for place in partitions} == {broker_id}
        self._ask("describe_producers", [place.partition for place in partitions])
        state = PartitionProducerState(active_producers=[ProducerState(1, 0, self.sequence, 5, 0, -1)])
        return dict.fromkeys(partitions, state)

    def list_groups(self, broker_ids):
        self._ask("list_groups", broker_ids)
        return [{"group_id": group} for number, group in GROUP.items() if self.leader[number] in broker_ids]

    def list_group_offsets(self, group_specs):
        self._ask("list_group_offsets", group_specs)
        return {group: {TopicPartition("t", 0): OffsetAndMetadata(7, "", -1)} for group in group_specs}


@pytest.fixture
def admin():
    return TwoBrokers()


@pytest.fixture
def asker():
    return TransactionalOffsets("prod")


def told(asker, admin, now_ms):
    """The partitions whose groups were told."""
    listed = [answer for some in asker.ask(admin, lambda: now_ms) for answer in some]
    return sorted(group_partition(answer.group, PARTITIONS) for answer in listed)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Failures are said at once: how long they must last is a test of its own."""
    monkeypatch.setattr(batch_requests, "LASTS_S", 0)


def said(caplog):
    lines = [record.getMessage().split(";")[0].removeprefix("Cluster prod: ") for record in caplog.records]
    caplog.clear()
    return lines


def test_all_is_told_until_one_question_came_late_enough(asker, admin, caplog):
    every = list(GROUP)
    assert told(asker, admin, MOVES_AT_MS) == sorted(every)
    assert told(asker, admin, MOVES_AT_MS + SETTLE_MS) == sorted(every), "not later yet"
    assert told(asker, admin, MOVES_AT_MS + 4 * SETTLE_MS) == sorted(every), "however rare the passes are"
    assert told(asker, admin, MOVES_AT_MS + 4 * SETTLE_MS + 1) == []
    assert not caplog.records
    assert SETTLE_MS > 2 * CLOCK_MARGIN_MS, "the margin, and two clocks that differ by it"


def test_a_movement_is_as_young_as_the_answer_and_a_listing_as_old_as_its_question(asker, admin):
    """The clock goes on by 10 s with each question; each of the two brokers is asked for itself."""
    clock = count(0, 10_000)
    tick = clock.__next__

    def slowly(method):
        def answer(*args, **kwargs):
            tick()
            return method(*args, **kwargs)

        return answer

    for name in ("describe_producers", "list_group_offsets"):
        setattr(admin, name, slowly(getattr(admin, name)))
    asked = [answer.asked_ms for some in asker.ask(admin, tick) for answer in some]
    # Each broker: producers 0, seen to move 10, asked for offsets 20, answered 30.
    assert asked == [20_000, 20_000, 60_000, 60_000]


@pytest.mark.parametrize(
    ("question", "about", "error", "missing"),
    [
        ("describe_producers", 2, NotLeaderForPartitionError, {2}),
        ("describe_producers", 2, KafkaConnectionError, {0, 2}),
        ("describe_producers", 2, RequestTimedOutError, {0, 2}),
        ("list_groups", 0, CoordinatorNotAvailableError, {0, 2}),
        ("list_groups", 0, ConnectionResetError, {0, 2}),
        ("list_group_offsets", GROUP[2], CoordinatorNotAvailableError, {2}),
        ("list_group_offsets", GROUP[2], KafkaConnectionError, {0, 2}),
        ("describe_topics", "__consumer_offsets", KafkaConnectionError, {0, 1, 2, 3}),
    ],
)
def test_what_fails_hides_nothing_else_and_is_asked_again(  # noqa: PLR0917 - a row of a table
    asker, admin, caplog, question, about, error, missing
):
    told(asker, admin, MOVES_AT_MS)
    admin.broken = {(question, about): error("broken")}
    late_ms = MOVES_AT_MS + AFTER_MS
    assert told(asker, admin, late_ms) == sorted(set(GROUP) - missing)
    assert told(asker, admin, late_ms + 1) == [], "the others were asked late enough, these were not told"
    assert len(said(caplog)) == 1, "each kind once"
    admin.broken = {}
    assert told(asker, admin, late_ms + 2) == sorted(missing), "they are asked until they are told"
    assert told(asker, admin, late_ms + 3) == []
    assert not caplog.records


def test_a_partition_without_a_leader(asker, admin, caplog):
    admin.leader[1] = -1
    assert told(asker, admin, MOVES_AT_MS) == [0, 2, 3]
    assert said(caplog) == ["the open transactions: not available (LeaderNotAvailable, retrying)"]
    admin.leader[1] = 0
    assert 1 in told(asker, admin, MOVES_AT_MS + 1)
    assert not caplog.records


def test_a_topic_that_is_not_there_yet_is_no_failure_but_one_that_may_not_be_seen_is(asker, admin, caplog):
    admin.topic_error = 3
    assert told(asker, admin, MOVES_AT_MS) == []
    assert not caplog.records
    admin.topic_error = TopicAuthorizationFailedError.errno
    assert told(asker, admin, MOVES_AT_MS) == []
    (line,) = said(caplog)
    assert line.endswith("not available (the user lacks permission, TopicAuthorizationFailed)")


def test_a_failure_is_said_again_after_it_had_healed_everywhere(asker, admin, caplog, monkeypatch):
    monkeypatch.setattr(repeated_warning, "REPEAT_MS", 0)
    failing = {("describe_producers", place): NotLeaderForPartitionError() for place in (1, 2)}
    admin.broken = dict(failing)
    for now_ms in range(3):
        told(asker, admin, MOVES_AT_MS + now_ms)
    assert len(said(caplog)) == 1
    del admin.broken["describe_producers", 1]
    told(asker, admin, MOVES_AT_MS + 4)
    admin.broken = dict(failing)
    told(asker, admin, MOVES_AT_MS + 5)
    assert not said(caplog), "one of the two had never healed"
    admin.broken = {}
    told(asker, admin, MOVES_AT_MS + 6)
    admin.broken = dict(failing)
    told(asker, admin, MOVES_AT_MS + 7)
    assert said(caplog) == ["the open transactions: not available (NotLeaderForPartition, retrying)"]


def test_a_group_that_the_user_may_not_ask_for_does_not_keep_its_partition_waiting(asker, admin, caplog):
    admin.broken = {("list_group_offsets", GROUP[2]): GroupAuthorizationFailedError()}
    assert told(asker, admin, MOVES_AT_MS) == [0, 1, 3]
    assert told(asker, admin, MOVES_AT_MS + AFTER_MS) == [0, 1, 3]
    admin.asked.clear()
    assert told(asker, admin, MOVES_AT_MS + AFTER_MS + 1) == []
    assert not [items for method, items in admin.asked if method == "list_group_offsets"]
    assert told(asker, admin, MOVES_AT_MS + AFTER_MS + RELIST_MS) == [0, 1, 3]
    assert len(said(caplog)) == 1


def test_answers_that_were_not_written_are_asked_for_again(asker, admin):
    late_ms = MOVES_AT_MS + AFTER_MS
    told(asker, admin, MOVES_AT_MS)
    answers = asker.ask(admin, lambda: late_ms)
    next(answers)
    answers.close()  # as a writer's error does
    assert told(asker, admin, late_ms + 1) == sorted(GROUP)


def test_the_end_of_a_partitions_last_producer_is_a_movement(asker, admin):
    """The broker forgets producers; what they did last may not have been told yet."""
    told(asker, admin, MOVES_AT_MS)
    admin.describe_producers = lambda partitions, **_: dict.fromkeys(partitions, PartitionProducerState([]))
    late_ms = MOVES_AT_MS + 1
    assert told(asker, admin, late_ms) == sorted(GROUP)
    assert told(asker, admin, late_ms + AFTER_MS) == sorted(GROUP)
    assert told(asker, admin, late_ms + AFTER_MS + RELIST_MS) == [], "nothing is left that could be asked for"


@pytest.mark.parametrize(
    ("error", "renewed"), [(CoordinatorNotAvailableError, True), (GroupAuthorizationFailedError, False)]
)
def test_offsets_that_were_missed_need_a_new_client(asker, admin, error, renewed):
    admin.broken = {("list_group_offsets", GROUP[0]): error()}
    told(asker, admin, MOVES_AT_MS)
    assert asker.needs_new_client == renewed
    admin.broken = {}
    told(asker, admin, MOVES_AT_MS + 1)
    assert not asker.needs_new_client


class Seconds:
    """A clock that is set by hand."""

    now_s = 100.0

    def __call__(self):
        return self.now_s


def test_only_a_failure_that_lasts_is_said_and_so_is_its_end(caplog, monkeypatch):
    """A partition that gets a new leader answers again after a second, and there are many in a restart of brokers."""
    monkeypatch.setattr(batch_requests, "LASTS_S", 30.0)
    caplog.set_level(logging.INFO)
    clock = Seconds()
    questions = BatchRequests("prod", "nobody minds.", clock_s=clock)
    questions.note_failure("the weather", [1, 2], NotLeaderForPartitionError())
    clock.now_s += 1
    questions.note_success("the weather", [1, 2])
    assert said(caplog) == []

    questions.note_failure("the weather", [1, 2], NotLeaderForPartitionError())
    clock.now_s += 29
    questions.note_failure("the weather", [1], KafkaConnectionError())
    assert said(caplog) == []
    clock.now_s += 1
    questions.note_failure("the weather", [1], KafkaConnectionError())
    assert said(caplog) == ["the weather: not available (no connection to a broker, retrying)"]
    questions.note_success("the weather", [1])
    assert said(caplog) == []
    questions.note_success("the weather", [2])
    assert said(caplog) == ["the weather: available again"]


def test_what_only_an_operator_can_end_is_said_at_once(caplog, monkeypatch):
    monkeypatch.setattr(batch_requests, "LASTS_S", 30.0)
    questions = BatchRequests("prod", "nobody minds.", clock_s=Seconds())
    questions.note_failure("the weather", [1], GroupAuthorizationFailedError())
    assert said(caplog) == ["the weather: not available (the user lacks permission, GroupAuthorizationFailed)"]
