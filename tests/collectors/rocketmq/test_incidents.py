"""Clusters with groups that lose records, as real brokers returned them (tests/fixtures/rocketmq/README.md).

What the members received is in the README; the numbers here follow from what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from monitor.collectors.rocketmq.reader import RocketMQReader
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import RocketMQSettings
from monitor.model import GroupObserved, TopicExpression
from monitor.model.expressions import differing_expressions
from monitor.model.rocketmq import RedeliveryObserved, UnreadableQueue
from tests.collectors.rocketmq.server import replaying

NOW_MS = 1_795_865_000_000

VERSIONS = ("4.9.7", "5.5.0")


@pytest.fixture(scope="module", params=VERSIONS)
def reading(request: pytest.FixtureRequest) -> Iterator[SourceSnapshot]:
    with replaying(f"{request.param}-incidents") as server:
        settings = RocketMQSettings(name="mq", name_servers=server.address, request_limit_s=20)
        with closing(RocketMQReader(settings, clock=lambda: NOW_MS)) as reader:
            yield reader.read(NOW_MS - 5)


def group(reading: SourceSnapshot, name: str) -> GroupObserved:
    return next(each for each in reading.groups if each.group == name)


def expressions(found: GroupObserved) -> dict[str, tuple[TopicExpression, ...] | None]:
    return {member.member_id.partition("@")[2]: member.expressions for member in found.members}


def test_everything_is_read(reading: SourceSnapshot):
    assert (reading.complete, reading.problems) == (True, ())
    assert len(reading.groups) == 11


def test_each_member_has_its_own_expression(reading: SourceSnapshot):
    """Tags (apache/rocketmq #2954), a tag and all records (#2836), and a condition in SQL."""
    assert expressions(group(reading, "gtags")) == {
        "a": (TopicExpression("tags", "tag1"),),
        "b": (TopicExpression("tags", "tag2"),),
    }
    assert expressions(group(reading, "gstar")) == {"s1": (TopicExpression("star", "a"),), "s2": ()}
    assert expressions(group(reading, "gsql")) == {
        "q1": (TopicExpression("sql", "SQL92: TAGS = 'x'"),),
        "q2": (TopicExpression("sql", "x"),),
    }


def test_the_order_of_tags_is_no_difference(reading: SourceSnapshot):
    """The clients say "t2 || t1" and "t1||t2"; both received all of their 20 records."""
    found = group(reading, "gorder")
    assert set(expressions(found).values()) == {(TopicExpression("order", "t1 || t2"),)}
    assert differing_expressions(found.members) == {}


def test_what_is_sent_back_and_given_up_is_counted(reading: SourceSnapshot):
    """20 records each: two retries and then given up (``fails``), three retries so far, or no retry (``once``).

    apache/rocketmq #2724: a listener that always returns RECONSUME_LATER. #6461: dead letters without a retry.
    """
    fails, waits, once = (group(reading, f"g{name}").redelivery for name in ("fails", "waits", "once"))
    assert fails is not None
    assert waits is not None
    assert once is not None
    assert (fails.sent_back, fails.given_up, fails.dead_letters) == (40, 20, 20)
    assert (fails.waiting, waits.waiting, once.waiting) == (0, 0, 0), "all that came back was consumed"
    assert (waits.sent_back, waits.given_up, waits.dead_letters, waits.given_up_ms) == (60, 0, 0, None)
    assert (once.sent_back, once.given_up, once.dead_letters) == (0, 20, 20)
    for each in (fails, once):
        assert each.given_up_ms is not None
        assert abs(NOW_MS - each.given_up_ms) < 86_400_000


def test_of_groups_without_failures_there_is_nothing(reading: SourceSnapshot):
    """``gdrained`` has consumed 80 records, and none again."""
    found = group(reading, "gdrained").redelivery
    assert found is not None
    assert found == RedeliveryObserved(consumed=found.consumed)


def test_queues_that_may_not_be_read_are_named_with_what_waits_there(reading: SourceSnapshot):
    """alibaba/rocketmq #204: 2 read and 4 write queues. apache/rocketmq #3327: the permission to write only.

    40 records before, which were consumed, and 40 after, over four queues each time.
    """
    narrow = tuple(UnreadableQueue("narrow", f"broker-a-{number}", 10, 2, 4) for number in (2, 3))
    sealed = tuple(UnreadableQueue("sealed", f"broker-a-{number}", 10, 0, 4) for number in range(4))
    found = {each.group: each.unreadable for each in reading.groups if each.unreadable}
    assert found == {"gnarrow": narrow, "gsealed": sealed}


def test_a_topic_that_is_shrunk_in_the_right_order_leaves_nothing(reading: SourceSnapshot):
    """alibaba/rocketmq #316: first the write queues, and the read queues once all is consumed."""
    assert group(reading, "gdrained").unreadable == ()


def test_retry_topics_are_neither_topics_nor_offsets_of_a_group(reading: SourceSnapshot):
    assert not [each for each in reading.topics if each.topic.startswith("%")]
    assert not [each for found in reading.groups for each in found.offsets if each.topic.startswith("%")]
