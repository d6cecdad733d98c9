"""Questions about one group as they are typed, on a command line or in an address, and what answers them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.group import explain_group
from monitor.explain.partition import explain_partition
from monitor.explain.statements import Explanation
from monitor.explain.what_if import PartitionCount
from monitor.messages.names import shown
from monitor.model import PartitionId


def partition_typed(text: str) -> PartitionId:
    """A partition as it is typed: a number is one of Kafka's; where partitions have names, none is a number.

    >>> partition_typed("7"), partition_typed("broker-a-7")
    (7, 'broker-a-7')
    """
    return int(text) if _is_count(text) else text


def count_typed(text: str) -> PartitionCount:
    """How many partitions a topic is to have, typed as TOPIC=N; the topic's name may hold equals signs.

    Raises:
        QuestionError: it is something else.

    >>> count_typed("a=b=6")
    PartitionCount(topic='a=b', partitions=6)
    """
    topic, equals, count = text.rpartition("=")
    if not equals or not topic or not _is_count(count):
        raise QuestionError(f"{shown(text)} is not TOPIC=N.")
    return PartitionCount(topic, int(count))


def counts_typed(texts: Iterable[str]) -> tuple[PartitionCount, ...]:
    """How many partitions topics are to have, each typed as TOPIC=N.

    Raises:
        QuestionError: one is something else, or a topic is named twice: one of its numbers would count for nothing.
    """
    counts: dict[str, PartitionCount] = {}
    for each in map(count_typed, texts):
        if each.topic in counts:
            numbers = f"{counts[each.topic].partitions} and {each.partitions}"
            raise QuestionError(f"{shown(each.topic)} may be given only once, not with {numbers}.")
        counts[each.topic] = each
    return tuple(counts.values())


def explained(inputs: GroupInputs, topic: str | None = None, partition: str | None = None) -> Explanation:
    """The explanation of the group, or of one of its partitions.

    Raises:
        QuestionError: the group has nothing to do with that partition, or only a half of it is named.
    """
    if topic is None and partition is None:
        return replace(explain_group(inputs), state_ms=inputs.state_ms)
    if topic is None or partition is None:
        raise QuestionError("A topic and a partition belong together: give both or neither.")
    return replace(explain_partition(inputs, topic, partition_typed(partition)), state_ms=inputs.state_ms)


def _is_count(text: str) -> bool:
    """Digits, and fewer than an integer of Kafka may have."""
    return text.isascii() and text.isdigit() and len(text) < 10
