"""The retry topics and the dead-letter topic of each group, from the responses of all brokers. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from monitor.collectors.rocketmq.members import MemberInfo
from monitor.model.rocketmq import RedeliveryObserved
from monitor.protocol.rocketmq.names import DEAD_LETTER_PREFIX, RETRY_PREFIX
from monitor.protocol.rocketmq.responses import Queue, QueueRange


def redelivery_topics(groups: Iterable[str], committed: Mapping[str, Iterable[Queue]]) -> list[str]:
    """The retry and dead-letter topics of these groups, sorted; a broker may not have them.

    A group that reads by POP has a retry topic for each topic (``KeyBuilder.buildPopRetryTopic``): they are known by
    the group's ``committed`` offsets in them.
    """
    topics: set[str] = set()
    for group in groups:
        topics |= {DEAD_LETTER_PREFIX + group, *_retry_topics(group, committed.get(group, ()))}
    return sorted(topics)


def redelivery_by_group(
    groups: Iterable[str],
    committed: Mapping[str, Mapping[Queue, int]],
    ranges: Mapping[str, Sequence[QueueRange]],
    in_flight: Mapping[str, int | None],
) -> dict[str, RedeliveryObserved]:
    """What each group sent back, what of it waits, and what it gave up; ``ranges`` are by broker.

    What retention has removed from a retry topic does not wait. ``committed`` and ``in_flight`` are by group.
    """
    queues = {each.queue: each for of_broker in ranges.values() for each in of_broker}
    by_topic: dict[str, list[QueueRange]] = defaultdict(list)
    for found in queues.values():
        by_topic[found.queue.topic].append(found)
    return {group: _redelivery(group, committed.get(group, {}), by_topic, in_flight.get(group)) for group in groups}


def records_in_flight(infos: Iterable[MemberInfo]) -> int | None:
    """What members that read by POP have not acknowledged; None: no member reports it."""
    counts = [told.in_flight for told in infos if told.answers and told.in_flight is not None]
    return sum(counts) if counts else None


def _redelivery(
    group: str,
    committed: Mapping[Queue, int],
    by_topic: Mapping[str, Sequence[QueueRange]],
    in_flight: int | None,
) -> RedeliveryObserved:
    retries = [each for topic in _retry_topics(group, committed) for each in by_topic.get(topic, ())]
    dead = by_topic.get(DEAD_LETTER_PREFIX + group, ())
    kept = sum(each.end - each.earliest for each in dead)
    return RedeliveryObserved(
        sent_back=sum(each.end for each in retries),
        waiting=sum(max(0, each.end - max(each.earliest, committed.get(each.queue, 0))) for each in retries),
        given_up=sum(each.end for each in dead),
        given_up_ms=max([each.updated_ms for each in dead if each.updated_ms], default=None),
        dead_letters=kept,
        consumed=sum(committed.values()),
        in_flight=in_flight,
    )


def _retry_topics(group: str, committed: Iterable[Queue]) -> set[str]:
    return {RETRY_PREFIX + group, *(queue.topic for queue in committed if queue.topic.startswith(RETRY_PREFIX))}
