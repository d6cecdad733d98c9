"""Classic Kafka Streams groups: tasks by member, process and partition, and those that nobody was told to run."""

import pytest

from monitor.kinds.classic_streams import (
    IdleClassicReason,
    IdleClassicTask,
    classic_tasks,
    idle_classic_tasks,
    task_by_partition,
    topics_by_subtopology,
    topics_without_task,
)
from monitor.model import (
    GroupState,
    Member,
    StreamsClient,
    StreamsNotice,
    StreamsTask,
    TopicPartition,
    TopicPartitions,
)


def member(name, assigned, active, *, standby=(), process="p", topics=("by", "in"), **notice):
    return Member(
        member_id=name,
        topics=topics,
        assigned=tuple(TopicPartitions(*each) for each in assigned),
        streams=StreamsNotice(
            version=11,
            active=tuple(StreamsTask(*each) for each in active),
            standby=tuple(StreamsTask(*each) for each in standby),
            **notice,
        ),
        streams_client=StreamsClient(process_id=process),
    )


A = member("a", [("by", (0, 2)), ("in", (1,))], [(1, 0), (1, 2), (0, 1)], standby=[(1, 1)], process="p1")
B = member("b", [("in", (0,))], [(0, 0)], process="p2")
C = member("c", [], [], standby=[(1, 0), (1, 2)], process="p2")


def group(*members):
    return GroupState(cluster="c", group="g", protocol_type="consumer", protocol="stream", members=members)


def test_tasks_belong_to_partitions_one_by_one():
    assert dict(task_by_partition(A)) == {
        TopicPartition("by", 0): StreamsTask(1, 0),
        TopicPartition("by", 2): StreamsTask(1, 2),
        TopicPartition("in", 1): StreamsTask(0, 1),
    }
    assert classic_tasks(A).active == (StreamsTask(0, 1), StreamsTask(1, 0), StreamsTask(1, 2))
    assert topics_by_subtopology([A, B, C]) == {("", 0): ("in",), ("", 1): ("by",)}


def test_an_assignment_that_is_not_that_of_streams_tells_no_task_of_a_partition():
    assert list(task_by_partition(member("x", [("in", (0,))], [(0, 0), (0, 1)]))) == []
    assert list(task_by_partition(Member(member_id="y"))) == []


@pytest.mark.parametrize(
    ("notice", "reason"),
    [
        ({}, IdleClassicReason.UNASSIGNED),
        ({"next_rebalance_ms": 0}, IdleClassicReason.PENDING),
        ({"error": 2}, IdleClassicReason.PENDING),
        ({"error": 1}, IdleClassicReason.ERROR),
        ({"next_rebalance_ms": 1_800_000_000_000}, IdleClassicReason.UNASSIGNED),
    ],
    ids=["final", "another generation follows", "version probing", "a topic is missing", "a probing rebalance"],
)
def test_tasks_that_nobody_was_told_to_run(notice, reason):
    told = group(A, B, member("d", [], [], **notice))
    counts = {"in": 3, "by": 3, "out": 9}
    assert idle_classic_tasks(told, counts) == (
        IdleClassicTask(StreamsTask(0, 2), reason),
        IdleClassicTask(StreamsTask(1, 1), reason),
    )
    assert idle_classic_tasks(told, {"in": 2, "by": 1}) == ()


def test_topics_of_which_no_task_is_known():
    assert topics_without_task(group(B)) == ("by",)
    assert topics_without_task(group(A, B)) == ()


def test_named_topologies_are_kept_apart():
    named = member("n", [("in", (0,))], [(0, 0, "eu")])
    assert topics_by_subtopology([A, named]) == {("", 0): ("in",), ("", 1): ("by",), ("eu", 0): ("in",)}
    assert IdleClassicTask(StreamsTask(0, 1, "eu"), IdleClassicReason.UNASSIGNED) in idle_classic_tasks(
        group(named), {"in": 2}
    )
