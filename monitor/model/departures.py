"""Owners that left a group one after the other, and in the meantime the committed offset of a partition stood."""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.model.members import BATCH_MS, Member, batch_limit_ms
from monitor.model.values import PartitionId, Value

KEPT_DEPARTURES: Final = 8
"""Of so many owners of a partition it is kept when they were there: see Departures."""

LONGEST_SESSION_MS: Final = 45_000
"""A session is taken to be as long as this where the log does not tell (``group.consumer.session.timeout.ms``)."""


class Departure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An owner of a partition that is gone from the group. Times are in ms since the epoch.

    From ``stood_ms`` on it had the partition, and no committed offset moved in any partition that it had. It was gone
    by ``left_ms``. Another partition of the group moved last at ``others_ms`` (0: none is known to have).
    """

    stood_ms: int
    left_ms: int
    others_ms: int


class Departures(Value, array_like=True):
    """The owners of one partition that began at the offset that is committed there, and left without another commit.

    Attributes:
        topic: The topic of the partition.
        partition: The partition.
        first_commit: Which commit of the partition was the first of this offset: how many had been read by then.
        owners: How many owners there were in a row.
        others: How many other members have left the group since the first of them began.
        newest: The first of the owners, the one with the largest ``others_ms``, and the newest ones.
        distance: How many records lay between two commits before, at most; 0: not known.
    """

    topic: str
    partition: PartitionId
    first_commit: int
    owners: int
    others: int
    newest: tuple[Departure, ...]
    distance: int = 0


def longest_standing_ms(member: Member) -> int:
    """How long a group may keep a member that does nothing: until its next poll is overdue, or its session is over.

    Others may take as long again to join, and only then the log shows that it is gone.

    >>> longest_standing_ms(Member("m", session_timeout_ms=10_000, rebalance_timeout_ms=300_000))
    610000
    """
    return 2 * (batch_limit_ms(member) or BATCH_MS) + (member.session_timeout_ms or LONGEST_SESSION_MS)
