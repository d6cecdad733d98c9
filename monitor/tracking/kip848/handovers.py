"""Partitions of a KIP-848 group that have a new owner, until its first commit shows whether records were waiting.

The group's records name topics by id, and so do commits, from Kafka 4.1 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.model import CommitPoint, CommittedOffset, PendingHandover, TopicPartition, number
from monitor.protocol.offsets_topic import topic_key_of
from monitor.tracking.rebalances.impact import MAX_COMMIT_DISTANCE_MS, Handover, handover_ms


class HandoversDraft:
    """What has changed hands and has not been committed since, while a piece of the group's log is folded in."""

    __slots__ = ("_handed",)

    def __init__(self, taken: Iterable[PendingHandover] = ()) -> None:
        self._handed = {
            (each.topic_key, partition): Handover(each.gained_ms, each.stopped_ms)
            for each in taken
            for partition in each.partitions
        }

    def __bool__(self) -> bool:
        """Whether anything is awaited: of most commits, nothing is."""
        return bool(self._handed)

    def add(self, handed: Mapping[TopicPartition, Handover]) -> None:
        """These partitions have new owners; their topics are given by id."""
        for place, each in handed.items():
            if key := topic_key_of(place.topic):
                self._handed[key, number(place.partition)] = each

    def pause_ms(self, topic_key: int, before: CommittedOffset, first: CommitPoint) -> int:
        """For how long the partition had no owner, if this commit is the first of its new owner, and else 0."""
        handed = self._handed.get((topic_key, number(before.partition)))
        if handed is None or first.committed_ms <= handed.gained_ms:
            return 0
        del self._handed[topic_key, number(before.partition)]
        had_waited = before.committed_ms <= handed.gained_ms and first.offset != before.offset
        return handover_ms(handed, before, first) if had_waited else 0

    def freeze(self) -> tuple[PendingHandover, ...]:
        """As it is stored. A partition without a commit long after it was taken is left out once others are taken."""
        newest_ms = max((handed.gained_ms for handed in self._handed.values()), default=0)
        alike: dict[tuple[Handover, int], list[int]] = {}
        for key, partition in sorted(self._handed):
            handed = self._handed[key, partition]
            if newest_ms - handed.gained_ms <= MAX_COMMIT_DISTANCE_MS:
                alike.setdefault((handed, key), []).append(partition)
        return tuple(
            PendingHandover(handed.gained_ms, handed.stopped_ms, key, tuple(partitions))
            for (handed, key), partitions in alike.items()
        )
