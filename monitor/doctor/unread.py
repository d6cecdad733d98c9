"""What a reading of a cluster could not get, a sentence each. A clean answer without it would be no answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from monitor.assignors.java.text import string_hash
from monitor.kinds.streams import source_topics, topology_of
from monitor.messages.formatting import counted
from monitor.messages.names import listed, places, ranges, shown
from monitor.model import GroupState, TopicPartition, Value

OFFSETS_TOPIC: Final = "__consumer_offsets"

MAY_SEE_NONE: Final = (
    "The user sees no group and may not describe the cluster, so there may be groups that it may not see:"
    " grant DESCRIBE on them"
)


class Unread(Value):
    """What one reading did not get.

    ``partitions`` have no leader, or it returned no offsets. ``coordinators`` are the partitions of the offsets topic
    without a leader, of ``coordinator_count``: their groups cannot be listed. ``share_groups`` have no offsets because
    no coordinator returned them. ``hidden_topics`` are those of members that the user may not describe.
    ``may_see_none``: no group is listed, and the user may not describe all. ``missing_brokers`` have replicas of the
    offsets topic, and the cluster does not list them.
    """

    partitions: tuple[TopicPartition, ...] = ()
    coordinators: tuple[int, ...] = ()
    coordinator_count: int = 0
    share_groups: tuple[str, ...] = ()
    hidden_topics: tuple[str, ...] = ()
    may_see_none: bool = False
    missing_brokers: tuple[int, ...] = ()

    def excuses(self, group: str, partitions: Collection[TopicPartition]) -> bool:
        """Whether nobody can commit in the group or read these partitions: the brokers do not let them."""
        count = self.coordinator_count
        if count and coordinating_partition(group, count) in self.coordinators:
            return True
        return bool(partitions) and set(partitions) <= set(self.partitions)

    @property
    def note_on_brokers(self) -> str | None:
        """That brokers are missing, as a sentence. Other brokers may have taken over all that they led."""
        if not self.missing_brokers:
            return None
        numbers = ranges(self.missing_brokers)
        if len(self.missing_brokers) == 1:
            return (
                f"Broker {numbers} is missing: it does not belong to the cluster now, but it has replicas of"
                f" {OFFSETS_TOPIC}."
            )
        return (
            f"Brokers {numbers} are missing: they do not belong to the cluster now, but they have replicas of"
            f" {OFFSETS_TOPIC}."
        )


def unread_problems(unread: Unread, groups: Iterable[GroupState], only: str | None) -> Iterator[str]:
    """The sentences: of the whole cluster, or of what concerns one group. Each names a few and counts the rest.

    Args:
        unread: of the newest reading.
        groups: those that are known.
        only: the one group that is judged; None: all.
    """
    if unread.may_see_none and only is None:
        yield f"{MAY_SEE_NONE}."
    yield from _coordinator_problems(unread, only)
    own = None if only is None else frozenset().union(*(_topics(group) for group in groups if group.group == only))
    partitions = [place for place in unread.partitions if own is None or place.topic in own]
    if partitions:
        have, lag = ("has", "its lag") if len(partitions) == 1 else ("have", "their lag")
        yield f"{places(partitions)} {have} no leader, or it returns no offsets; {lag} is not known."
    shares = [group for group in unread.share_groups if only in (None, group)]
    if shares:
        some = f"{counted(len(shares), 'share group')} ({listed(shares)})"
        yield f"The offsets of {some} are not returned; their lag is not known."
    hidden = [topic for topic in unread.hidden_topics if own is None or topic in own]
    if hidden:
        yield (
            f"Members subscribe to {counted(len(hidden), 'topic')} that the user may not describe ({listed(hidden)});"
            " grant DESCRIBE on them."
        )


def _coordinator_problems(unread: Unread, only: str | None) -> Iterator[str]:
    if only is None and unread.coordinators:
        yield (
            f"{len(unread.coordinators)} of {counted(unread.coordinator_count, 'partition')} of {OFFSETS_TOPIC}"
            f" ({ranges(unread.coordinators)}) have no leader; their groups are not listed."
        )
    if only is not None and unread.coordinator_count:
        partition = coordinating_partition(only, unread.coordinator_count)
        if partition in unread.coordinators:
            yield f"Group {shown(only)} is not listed: partition {partition} of {OFFSETS_TOPIC} has no leader."


def coordinating_partition(group: str, count: int) -> int:
    """The partition of the offsets topic that has a group (``GroupCoordinatorService.partitionFor``).

    >>> coordinating_partition("polygenelubricants", 50), coordinating_partition("Aa", 50)
    (0, 12)
    """
    number = string_hash(group)
    return 0 if number == -(1 << 31) else abs(number) % count


def _topics(group: GroupState) -> set[str]:
    """The topics that a group subscribes to or has committed."""
    topology = topology_of(group)
    sources = set() if topology is None else set(source_topics(topology))
    return {each.topic for each in group.offsets} | {name for own in group.members for name in own.topics} | sources
