"""Queues of subscribed topics that may not be read, with records that a group has not consumed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from monitor.model.rocketmq import UnreadableQueue
from monitor.protocol.rocketmq.responses import Queue, QueueRange, RouteQueues


def unreadable_queues(
    group: str,
    topics: Iterable[str],
    routes: Mapping[str, Sequence[RouteQueues]],
    ranges: Mapping[Queue, QueueRange],
    committed: Mapping[str, Mapping[Queue, int]],
) -> tuple[UnreadableQueue, ...]:
    """Those of one group, sorted; ``committed`` is by group and queue.

    A broker returns the offsets of as many queues as may be read or written, whichever is more. Of a queue that may not
    be written either, only what the group had begun to consume is left for it.
    """
    own = committed.get(group, {})
    found = [
        each
        for topic in topics
        for route in routes.get(topic, ())
        for each in _unread_queues(topic, route, ranges, own)
    ]
    return tuple(sorted(found, key=lambda each: (each.topic, each.partition)))


def _unread_queues(
    topic: str, route: RouteQueues, ranges: Mapping[Queue, QueueRange], committed: Mapping[Queue, int]
) -> Iterator[UnreadableQueue]:
    """Those of a topic at one broker, from the first queue on that may not be read."""
    number = route.readable
    while (found := ranges.get(Queue(topic, route.broker, number))) is not None:
        offset = committed.get(found.queue)
        unread = found.end - max(found.earliest, offset or 0)
        if unread > 0 and (offset is not None or number < route.writable):
            yield UnreadableQueue(topic, f"{route.broker}-{number}", unread, route.readable, route.writable)
        number += 1
