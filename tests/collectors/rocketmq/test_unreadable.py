"""Which queues of a group's topics may not be read, from made routes and offsets."""

from __future__ import annotations

import pytest

from monitor.collectors.rocketmq.unreadable import unreadable_queues
from monitor.model.rocketmq import UnreadableQueue
from monitor.protocol.rocketmq.responses import Queue, QueueRange, RouteQueues

A, B = "broker-a", "broker-b"


def ranges(topic: str, broker: str, *ends: int, earliest: int = 0) -> dict[Queue, QueueRange]:
    queues = [Queue(topic, broker, number) for number in range(len(ends))]
    return {queue: QueueRange(queue, earliest, end) for queue, end in zip(queues, ends, strict=True)}


def found(
    routes: dict[str, list[RouteQueues]], ends: dict[Queue, QueueRange], committed: dict[str, dict[Queue, int]]
) -> tuple[UnreadableQueue, ...]:
    return unreadable_queues("g", list(routes), routes, ends, committed)


def test_each_broker_has_its_own_numbers():
    routes = {"t": [RouteQueues(A, 2, 2), RouteQueues(B, 1, 3)]}
    ends = ranges("t", A, 5, 5) | ranges("t", B, 5, 6, 7)
    assert found(routes, ends, {}) == (
        UnreadableQueue("t", "broker-b-1", 6, 1, 3),
        UnreadableQueue("t", "broker-b-2", 7, 1, 3),
    )


@pytest.mark.parametrize(
    ("writable", "committed", "unread"),
    [
        pytest.param(2, None, 80, id="written, never consumed: what retention has left"),
        pytest.param(2, 60, 40, id="written, consumed up to there"),
        pytest.param(2, 5, 80, id="written, retention has passed the group"),
        pytest.param(2, 100, None, id="written, and all of it consumed before"),
        pytest.param(1, 60, 40, id="shrunk before it was consumed"),
        pytest.param(1, None, None, id="gone before the group began"),
    ],
)
def test_what_the_group_has_not_consumed_counts(writable: int, committed: int | None, unread: int | None):
    offsets = {} if committed is None else {"g": {Queue("t", A, 1): committed}}
    expected = () if unread is None else (UnreadableQueue("t", "broker-a-1", unread, 1, writable),)
    assert found({"t": [RouteQueues(A, 1, writable)]}, ranges("t", A, 100, 100, earliest=20), offsets) == expected


def test_offsets_of_other_groups_do_not_count():
    others = {"other": {Queue("t", A, 1): 100}}
    assert found({"t": [RouteQueues(A, 1, 2)]}, ranges("t", A, 9, 9), others) == (
        UnreadableQueue("t", "broker-a-1", 9, 1, 2),
    )


def test_topics_without_a_route_are_left_out():
    assert unreadable_queues("g", ["t"], {}, ranges("t", A, 9), {}) == ()
