"""Records that wait behind a transaction that is open: whoever reads only committed records cannot have them yet.

Such a consumer (``isolation.level=read_committed``) gets nothing from the last stable offset on, where the oldest open
transaction of the partition begins, so it stops and commits exactly there. A group that has committed more reads
uncommitted records, too, and one that has committed less has records to read: both are judged as ever.

A transaction that has ended leaves a marker in each of its partitions, which takes an offset and is given to nobody.
The position of Java's consumer passes over it; who commits the last record it was given, plus one, stays one behind the
end (KAFKA-10683).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.lag import OpenTransaction
from monitor.findings.observation import Observation
from monitor.model import FindingKind, OrphanReason, PartitionVerdict, Phase, TopicPartition
from monitor.model.commit_history import columns_of

_UNKNOWN: Final = (Phase.GONE, Phase.UNSEEN)


def is_held_back(row: PartitionVerdict) -> bool:
    """Whether all that waits in the partition waits behind an open transaction.

    >>> is_held_back(PartitionVerdict("t", 0, committed=7, end=9, lag=2, stable=7))
    True
    >>> is_held_back(PartitionVerdict("t", 0, committed=7, end=9, lag=2))
    False
    """
    return row.stable is not None and row.committed == row.stable


def records_held_back(waiting: Sequence[PartitionVerdict]) -> int:
    """How many of the records that wait are behind open transactions, whatever the group reads.

    >>> records_held_back([PartitionVerdict("t", 0, committed=5, end=9, lag=4, stable=7)])
    2
    """
    return sum(
        [
            max(0, row.lag - max(0, row.stable - row.committed))  # share groups are done with records behind others
            for row in waiting
            if row.stable is not None and row.committed is not None and row.lag is not None
        ]
    )


class Markers:
    """Where nothing waits but the marker of a transaction, which nobody can read.

    The last entry of a log that is only written in transactions is a marker, once they have ended: a record that waits
    has its marker behind it, so two entries wait. It is one where other producers write, too. So a single entry is
    taken for a marker if transactions were seen to end in the topic, and the group was not seen to have read to the
    end of the partition: who commits behind a marker once, does so ever.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def alone_wait(self, row: PartitionVerdict) -> bool:
        """Whether all that the group could read in the partition is one entry, and that a marker."""
        readable = row.end if row.stable is None else row.stable
        if row.committed is None or readable != row.committed + 1:
            return False
        return self._are_in(row.topic) and not self._are_passed(TopicPartition(row.topic, row.partition))

    def _are_in(self, topic: str) -> bool:
        state = self._facts.catalog.topics.get(topic)
        return state is not None and state.has_markers

    def _are_passed(self, place: TopicPartition) -> bool:
        """Whether the group has committed an end at which the partition rested: that is behind the marker."""
        rests = {end.offset for before, end in pairwise(self._facts.known[place].ends) if before.offset == end.offset}
        return not rests.isdisjoint(columns_of(self._facts.committed[place].history)[1])


def find_open_transaction(facts: Facts) -> Iterable[Observation]:
    """Transactions that have held back for long what waits for the group, in any phase.

    Neither the group's members nor their absence is the cause. Where nobody owns the partition or subscribes its topic,
    that is told as ever. The last stable offset stands still while the same transaction is open, so the age is that of
    the first sight of it there.
    """
    if not facts.waiting or facts.group.phase in _UNKNOWN:
        return
    since: dict[TopicPartition, int] = {}
    starts: dict[TopicPartition, int] = {}
    markers = Markers(facts)
    for row in facts.waiting:
        if row.stable is None or not (is_held_back(row) or markers.alone_wait(row)):
            continue
        place = TopicPartition(row.topic, row.partition)
        seen_ms = facts.known[place].stable_ms
        has_lasted = facts.has_come(seen_ms + max(facts.settings.commit_silence_ms, 1))
        if has_lasted and row.orphan in {None, OrphanReason.NO_MEMBERS}:
            since[place], starts[place] = seen_ms, row.stable
    if since:
        partitions = tuple(sorted(since))
        yield Observation(
            kind=FindingKind.LAG,
            reason="open_transaction",
            since_ms=min(since.values()),
            evidence=OpenTransaction(partitions[0], starts[partitions[0]]),
            partitions=partitions,
        )


RULES: Final = (Rule(find_open_transaction, of_owners=False, needs_lag=True),)
