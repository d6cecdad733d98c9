"""Whether an assignment is as even as can be and, of those that are, one that moves fewest partitions.

A *cell* is a member in a row: it holds x of the row's partitions and owned h of them before. It should keep the lesser
of the two. Taking one more into a cell costs a move, unless h is above x. Giving one up saves a move if x is above h.
A member may also pass one partition of its load to a member that holds one less, for that changes the numbers of no
group. If no cycle of such exchanges saves more moves than it costs, no assignment that is as even keeps more: that is
when a flow has minimum cost. Loads that are as even as can be are a question of paths (``rows.levelling_path``).

Worked example: C0 owned t-0 and u-0, and lost u-0 to C1, which has t-1. They could exchange t-1 and u-0.

>>> from monitor.assignors.dialects.sticky.rows import form_rows
>>> names = ("C0", "C1")
>>> before = {TopicPartition("t", 0): "C0", TopicPartition("u", 0): "C0"}
>>> after = {TopicPartition("t", 0): "C0", TopicPartition("t", 1): "C0", TopicPartition("u", 0): "C1"}
>>> refusal = optimum_refusal(form_rows([(names, list(after))]), names, after, before)
>>> refusal.reason.value, refusal.partition.topic, refusal.other
('not_kept', 'u', 'C0')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.dialects.sticky.rows import Cell, Owners, Rows, levelling_path, loads_of
from monitor.model import TopicPartition
from monitor.model.evidence import Refusal, RefusalReason

Numbers = NDArray[np.int64]
_NEVER: Final = 1 << 40
"""The cost of giving up what a cell does not hold."""


def optimum_refusal(rows: Rows, members: Sequence[str], owners: Owners, origins: Owners) -> Refusal | None:
    """Why the assignment is not even, or moves more than it has to.

    Args:
        rows: who may own what.
        members: all members, by id.
        owners: of all partitions of the rows.
        origins: who owned them before; partitions without an entry had no owner.
    """
    return uneven_refusal(rows, members, owners) or moves_refusal(rows, members, owners, origins)


def uneven_refusal(rows: Rows, members: Sequence[str], owners: Owners) -> Refusal | None:
    """The first step of moves that would make the loads more even."""
    for step in levelling_path(rows, loads_of(owners, members), rows.count(owners)):
        place = next(place for place in rows.places[step.row] if owners.get(place) == step.giver)
        return Refusal(RefusalReason.UNEVEN, place, step.giver, step.taker)
    return None


def moves_refusal(rows: Rows, members: Sequence[str], owners: Owners, origins: Owners) -> Refusal | None:
    """A partition that its former owner could have kept, where the loads are as even as can be."""
    mine = {place: origin for place, origin in origins.items() if _may_own(rows, place, origin)}
    kept = {place: origin for place, origin in mine.items() if owners.get(place) == origin}
    held, owned, stayed = rows.count(owners), rows.count(mine), rows.count(kept)
    lost = [place for place, origin in sorted(mine.items()) if owners.get(place) != origin]
    for place in lost:
        cell = (rows.row_of[place], mine[place])
        if stayed[cell] < min(held[cell], owned[cell]):
            return Refusal(RefusalReason.NOT_KEPT, place, owners.get(place), mine[place])
    if lost and _can_save_moves(rows, loads_of(owners, members), held, owned):
        return Refusal(RefusalReason.NOT_KEPT, lost[0], owners.get(lost[0]), mine[lost[0]])
    return None


def _may_own(rows: Rows, place: TopicPartition, member: str) -> bool:
    return place in rows.row_of and member in rows.subscribers[rows.row_of[place]]


def _can_save_moves(rows: Rows, loads: Mapping[str, int], held: Counter[Cell], owned: Counter[Cell]) -> bool:
    """Whether a cycle of exchanges has a negative cost: Bellman and Ford's search, from everywhere at once.

    Its nodes are rows, members, and the loads that members have. A way from a row to a member is a partition that the
    member takes; from a load to a member, one less of all that it holds.
    """
    number = {member: place for place, member in enumerate(loads)}
    cells = [(row, name) for row, names in enumerate(rows.subscribers) for name in names]
    row = np.array([cell[0] for cell in cells], np.int64)
    member = np.array([number[cell[1]] for cell in cells], np.int64)
    x, h = (np.array([counts[cell] for cell in cells], np.int64) for counts in (held, owned))
    add = np.where(x < h, 0, 1)
    drop = np.where(x > h, -1, np.where(x > 0, 0, _NEVER))
    load = np.array(list(loads.values()), np.int64)
    by_row, by_member = np.zeros(len(rows.subscribers), np.int64), np.zeros(len(load), np.int64)
    by_load = np.zeros(int(load.max(initial=0)) + 2, np.int64)
    for _ in range(len(by_row) + len(by_member) + len(by_load)):
        before = int(by_row.sum() + by_member.sum() + by_load.sum())
        np.minimum.at(by_member, member, by_row[row] + add)
        np.minimum.at(by_load, load + 1, by_member)
        np.minimum(by_member, by_load[load], out=by_member)
        np.minimum.at(by_row, row, by_member[member] + drop)
        if int(by_row.sum() + by_member.sum() + by_load.sum()) == before:
            return False
        if by_row.min(initial=0) < -len(by_row):  # without such a cycle, no way enters a row twice to save a move there
            return True
    return True
