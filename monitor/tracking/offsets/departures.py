"""Owners that leave a group at the committed offset at which they began, one after the other.

A record that a consumer cannot process may end the consumer, and then the next owner of the partition. Commits do not
show that, nor does a single generation. So what is kept is who had the partition while its committed offset stood.
Whether that accuses anything is decided where the ends of the log are known (monitor.detection.rules.stuck_records).

Rule 1: An owner counts if it began after the newest move of the committed offset, and is gone from the group.
Rule 2: Owners in a row count. A commit of another offset ends the row.
Rule 3: So does an owner that held on longer than a member that hangs or has died may. It was not stopped by a record.
Rule 4: The span in which an owner stood begins with the newest move in any of its partitions.
Rule 5: Only the log of a group shows all that. Of a group that a collector reads as a whole, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from msgspec.structs import replace

from monitor.model import CommittedOffset, PartitionId
from monitor.model.commit_history import RECENT, columns_of
from monitor.model.departures import KEPT_DEPARTURES, Departure, Departures
from monitor.tracking.rebalances.leavers import Leaver

Place = tuple[str, PartitionId]


class DeparturesDraft:
    """The departures of a group while a piece of its log is folded in."""

    __slots__ = ("_rows",)

    def __init__(self, known: Iterable[Departures]) -> None:
        self._rows = {(each.topic, each.partition): each for each in known}

    def note(self, leavers: Iterable[Leaver], known: Mapping[Place, CommittedOffset], names: Mapping[int, str]) -> None:
        """Take members that have left at once.

        Args:
            leavers: the members.
            known: the committed offsets, as the log has them.
            names: the names of topics by their keys.
        """
        gone = [(each, _committed_partitions(each, known, names)) for each in leavers]
        self._rows = {place: row for place, row in self._rows.items() if _is_unmoved(row, known.get(place))}
        others_ms = _Newest(known, {place for _, own in gone for place in own})
        for leaver, own in gone:
            if own:
                self._take(leaver, own, others_ms)
        for _, own in gone:
            self._count_another(own)

    def freeze(self, known: Mapping[Place, CommittedOffset]) -> tuple[Departures, ...]:
        """As it is stored, sorted by partition: only where the committed offset has not moved."""
        standing = {place: row for place, row in self._rows.items() if _is_unmoved(row, known.get(place))}
        return tuple([standing[place] for place in sorted(standing)])

    def _take(self, leaver: Leaver, own: Mapping[Place, CommittedOffset], others_ms: _Newest) -> None:
        moved_ms = max(map(_moved_ms, own.values()))
        for place, commit in own.items():
            if _moved_ms(commit) > leaver.since_ms:
                continue
            row = self._rows.get(place)
            stood_ms = max(leaver.since_ms, moved_ms, row.newest[-1].left_ms if row else 0)
            if leaver.left_ms - stood_ms > leaver.longest_ms:
                self._rows.pop(place, None)
            elif leaver.left_ms > stood_ms:
                made = Departure(stood_ms, leaver.left_ms, others_ms())
                self._rows[place] = _new_row(commit, made) if row is None else _longer_row(row, made)

    def _count_another(self, own: Mapping[Place, CommittedOffset]) -> None:
        """A member left the group that did not own these partitions."""
        for place, row in self._rows.items():
            if place not in own:
                self._rows[place] = replace(row, others=row.others + 1)


class _Newest:
    """When a partition other than these moved last. Few departures need that, so it is worked out once, on demand."""

    __slots__ = ("_known", "_left_out", "_moved_ms")

    def __init__(self, known: Mapping[Place, CommittedOffset], left_out: set[Place]) -> None:
        self._known, self._left_out, self._moved_ms = known, left_out, -1

    def __call__(self) -> int:
        if self._moved_ms < 0:
            moves = [_moved_ms(commit) for place, commit in self._known.items() if place not in self._left_out]
            self._moved_ms = max(moves, default=0)
        return self._moved_ms


def _committed_partitions(
    leaver: Leaver, known: Mapping[Place, CommittedOffset], names: Mapping[int, str]
) -> dict[Place, CommittedOffset]:
    """The partitions of a member that have a committed offset."""
    found: dict[Place, CommittedOffset] = {}
    for topic, partition in leaver.partitions:
        name = names.get(topic) if isinstance(topic, int) else topic
        if name is not None and (commit := known.get((name, partition))) is not None:
            found[name, partition] = commit
    return found


def _moved_ms(commit: CommittedOffset) -> int:
    """When the committed offset moved last, in the log."""
    return commit.committed_ms if commit.standstill is None else commit.standstill.since_ms


def _first_commit(commit: CommittedOffset) -> int:
    return commit.commits - (1 if commit.standstill is None else commit.standstill.commits)


def _is_unmoved(row: Departures, commit: CommittedOffset | None) -> bool:
    """Whether the offset that is committed has not moved since the row began."""
    return commit is not None and _first_commit(commit) == row.first_commit


def _new_row(commit: CommittedOffset, made: Departure) -> Departures:
    _, offsets = columns_of(commit.history)
    passed = [after - before for before, after in pairwise(offsets[-RECENT:])]
    return Departures(commit.topic, commit.partition, _first_commit(commit), 1, 0, (made,), max([0, *passed]))


def _longer_row(row: Departures, made: Departure) -> Departures:
    """The first of them stays, and the one that shows best that other partitions moved since the row began."""
    first, *others = (*row.newest, made)
    if len(others) == KEPT_DEPARTURES:
        oldest, *newer = others
        others = [oldest, *newer[1:]] if oldest.others_ms > max([each.others_ms for each in newer]) else newer
    return replace(row, owners=row.owners + 1, newest=(first, *others))
