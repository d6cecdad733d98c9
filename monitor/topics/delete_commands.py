"""The commands of Kafka that delete a group or some of its offsets, safe to paste into a shell.

Names come from the cluster, so a name may try to be a command. groupwatch runs none of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.messages.commands import BROKER, option
from monitor.model import PartitionId

_NOT_IN_TOPICS: Final = frozenset(":,")
"""By these, the tool separates topics from partitions. Kafka allows them in no topic."""


def delete_group(tool: str, group: str) -> str | None:
    """The command that deletes a group; None if no command can name it.

    >>> delete_group("kafka-consumer-groups.sh", "orders; reboot")
    "kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --delete --group 'orders; reboot'"
    """
    own = option("group", group)
    return own and f"{tool} --bootstrap-server {BROKER} --delete {own}"


def delete_offsets(tool: str, group: str, topic: str, partitions: Iterable[PartitionId]) -> str | None:
    """The command that deletes the offsets of a group in a topic; None if no command can name them.

    >>> delete_offsets("kafka-consumer-groups.sh", "g", "orders", (0, 1))
    'kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --delete-offsets --group g --topic orders:0,1'
    """
    if not topic or not _NOT_IN_TOPICS.isdisjoint(topic):
        return None
    own = option("group", group)
    places = option("topic", f"{topic}:{','.join(map(str, partitions))}")
    return own and places and f"{tool} --bootstrap-server {BROKER} --delete-offsets {own} {places}"
