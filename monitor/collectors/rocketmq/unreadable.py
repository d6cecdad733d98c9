"""Queues of subscribed topics that may not be read, with records that a group has not consumed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from monitor.model.rocketmq import UnreadableQueue
from monitor.protocol.rocketmq.responses import CommittedOffset, Queue, QueueRange, RouteQueues


def unreadable_queues(
    group: str,
    topics: Iterable[str],
    routes: Mapping[str, Sequence[RouteQueues]],
    ranges: Mapping[Queue, QueueRange],
    committed: Mapping[tuple[str, Queue], int],
) -> tuple[UnreadableQueue, ...]:
    """Those of one group, sorted; ``committed`` is by group and queue.

    A broker returns the offsets of as many queues as may be read or written, whichever is more. Of a queue that may not
    be written either, only what the group had begun to consume is left for it.
    """
    return tuple(
        sorted(_unread_queues(group, topics, routes, ranges, committed), key=lambda each: (each.topic, each.partition))
    )


def committed_offsets(offsets: Mapping[str, Sequence[CommittedOffset]]) -> dict[tuple[str, Queue], int]:
    """All committed offsets, by group and queue; ``offsets`` are by broker."""
    return {
        (each.group, Queue(each.topic, broker, each.number)): each.offset
        for broker, kept in offsets.items()
        for each in kept
    }


def _unread_queues(
    group: str,
    topics: Iterable[str],
    routes: Mapping[str, Sequence[RouteQueues]],
    ranges: Mapping[Queue, QueueRange],
    committed: Mapping[tuple[str, Queue], int],
) -> Iterator[UnreadableQueue]:
    for topic in topics:
        for route in routes.get(topic, ()):
            number = route.readable
            while (found := ranges.get(Queue(topic, route.broker, number))) is not None:
                offset = committed.get((group, found.queue))
                unread = found.end - max(found.earliest, offset or 0)
                if unread > 0 and (offset is not None or number < route.writable):
                    name = f"{route.broker}-{number}"
                    yield UnreadableQueue(topic, name, unread, route.readable, route.writable)
                number += 1
