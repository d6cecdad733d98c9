"""The sentence about a log whose end went back."""

from __future__ import annotations

from monitor.messages.formatting import counted, grouped
from monitor.messages.names import partition
from monitor.model import TopicPartition


def truncation_sentence(place: TopicPartition, before: int, after: int) -> str:
    """That a log went back, and how much is gone. Several causes look the same, so none is given as the cause.

    >>> print(truncation_sentence(TopicPartition("orders", 0), 16056, 3480))
    The log of partition 0 of orders went back from 16,056 to 3,480: at least 12,576 records are gone. An unclean \
leader election does this, and so does a restored log.
    """
    return (
        f"The log of {partition(place)} went back from {grouped(before)} to {grouped(after)}: at least "
        f"{counted(before - after, 'record')} are gone. An unclean leader election does this, and so does a restored "
        "log."
    )
