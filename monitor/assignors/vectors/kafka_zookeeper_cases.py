"""Cases for the ZooKeeper consumers' assignors as JSON writes them, and answers in the form of the golden vectors.

A case is an object: ``topics`` {topic: number of partitions, or the numbers of those that exist} and ``consumers``
{consumer id: {"pattern": "static", "white_list" or "black_list", "subscription": {topic or expression: streams}}}.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, ValidationError

from monitor.assignors.kafka_zookeeper.group import (
    ConsumerShare,
    Pattern,
    Registration,
    Release,
    ZooKeeperGroup,
    ZooKeeperTopic,
)
from monitor.assignors.kafka_zookeeper.range_threads import RangeThreads
from monitor.assignors.kafka_zookeeper.roundrobin_threads import RoundRobinThreads
from monitor.model import Value, numbers

_Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_Streams = Annotated[int, Meta(ge=0, le=100_000)]


class CaseConsumer(Value):
    """A consumer's registration."""

    pattern: Pattern
    subscription: dict[str, _Streams]


class Case(Value):
    """A group and the topics that exist."""

    topics: dict[str, _Natural | tuple[_Natural, ...]]
    consumers: dict[str, CaseConsumer]


def answer(assignor: str, case_input: object, release: Release = Release.KAFKA_0_10) -> dict[str, object]:
    """What every consumer takes, or why it fails.

    >>> consumers = {"c": {"pattern": "white_list", "subscription": {"t.*": 2}}}
    >>> answer("kafka08.range", {"topics": {"t": 3, "u": [4]}, "consumers": consumers})
    {'assignment': {'c': {'c-0': {'t': [0, 1]}, 'c-1': {'t': [2]}}}}

    Raises:
        ValidationError: the object is not a case, or there is no such assignor.
    """
    case = msgspec.convert(case_input, Case)
    match assignor:
        case "kafka08.range":
            shares = RangeThreads().allocate(group_of(case))
        case "kafka08.roundrobin":
            shares = RoundRobinThreads(release=release).allocate(group_of(case))
        case _:
            raise ValidationError(f"No such assignor of Kafka's ZooKeeper consumers: {assignor[:100]!r}")
    errors = {share.consumer: share.error for share in shares if share.error is not None}
    said: dict[str, object] = {"assignment": {share.consumer: _plain(share) for share in shares if not share.error}}
    return said | {"errors": errors} if errors else said


def group_of(case: Case) -> ZooKeeperGroup:
    """The group and the topics, in the order of the case."""
    return ZooKeeperGroup(
        registrations=tuple(
            Registration(consumer=name, pattern=entry.pattern, subscription=entry.subscription)
            for name, entry in case.consumers.items()
        ),
        topics=tuple(
            ZooKeeperTopic(topic=topic, partitions=tuple(range(known)) if isinstance(known, int) else known)
            for topic, known in case.topics.items()
        ),
    )


def _plain(share: ConsumerShare) -> dict[str, dict[str, list[int]]]:
    return {
        thread.thread: {topic.topic: list(numbers(topic.partitions)) for topic in thread.topics}
        for thread in share.threads
    }
