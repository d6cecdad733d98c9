"""Committed offsets that brokers delete by themselves: for how long they are kept, and what remains of deleted ones."""

from __future__ import annotations

from typing import Final

from monitor.model.kinds import DEFAULT_KIND, GroupKind
from monitor.model.values import PartitionId, Value

DELETED_KEPT_MS: Final = 7 * 86_400_000
"""For how long deleted offsets are remembered: as long as brokers keep those of a group without members by default."""

READ_MS: Final = 300_000
"""How often collectors read the settings: an older pass may have those of before a restart of the brokers."""

MOST_FORMER: Final = 8
"""How many former retentions are kept. A change needs a restart of the brokers."""

EARLIER_MS: Final = 5_000
"""By how much a deletion may be dated before the expiry: the group became empty a little before that was written."""

CHECK_MS: Final = 600_000
"""How often brokers look for expired offsets by default (``offsets.retention.check.interval.ms``)."""


class FormerRetention(Value, array_like=True):
    """A retention that the brokers no longer have; they had it until ``until_ms``, or a little longer."""

    retention_ms: int
    until_ms: int


class OffsetsRetention(Value):
    """The settings of a broker for expiring offsets, in ms.

    ``retention_ms`` is its ``offsets.retention.minutes``; None: the broker did not return it, as without the permission
    DESCRIBE_CONFIGS. ``check_ms`` is its ``offsets.retention.check.interval.ms``. ``former`` are the retentions before,
    oldest first; collectors leave them out.
    """

    retention_ms: int | None = None
    check_ms: int = CHECK_MS
    former: tuple[FormerRetention, ...] = ()

    def at(self, instant_ms: int) -> int | None:
        """The retention that the brokers had then, as far as it is known.

        >>> retention = OffsetsRetention(60_000, former=(FormerRetention(600_000, until_ms=1_000),))
        >>> retention.at(999), retention.at(1_000)
        (600000, 60000)
        """
        return next((each.retention_ms for each in self.former if instant_ms < each.until_ms), self.retention_ms)


class ExplicitExpiry(Value, array_like=True):
    """A committed offset that a client requested to keep until ``expires_ms`` (before Kafka 2.1)."""

    topic: str
    partition: PartitionId
    expires_ms: int


class DeletedOffset(Value, array_like=True):
    """The last committed offset of a partition, which was deleted at ``deleted_ms``, until the next commit.

    ``kept_since_ms`` is from when its retention counted: when the group became empty, or when it was committed. None:
    it has not expired, as the group had members. ``deleted_ms`` 0: a client committed that there is none, or the time
    is not known. ``expires_ms`` None: no client requested a retention of its own. ``topic_key``: see OffsetCommitted.
    ``emptied_ms`` is when the group lost its last member; None: not known, or it never had any. ``kind`` is what the
    group was: the brokers may have deleted it with its offsets.
    """

    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int
    kept_since_ms: int | None
    deleted_ms: int
    expires_ms: int | None = None
    topic_key: int | None = None
    emptied_ms: int | None = None
    kind: GroupKind = DEFAULT_KIND


class ExpiredOffset(Value):
    """A committed offset that brokers have deleted, as it was last."""

    topic: str
    partition: PartitionId
    offset: int
    """The last committed offset."""
    committed_ms: int
    """When it was committed (ms since the epoch)."""
    deleted_ms: int
    """When the broker deleted it (ms since the epoch)."""
    lag: int
    """Number of records from there to the end of the partition; compaction and transactions make it less."""
    is_certain: bool = True
    """Whether it expired; false: it expired or was deleted, as the brokers' retention is unknown."""


def has_expired(deleted: DeletedOffset, retention: OffsetsRetention) -> bool | None:
    """Whether the brokers deleted the offset because it expired; None: not known, as their retention is not.

    The retention at its deletion counts. What was deleted before it was due was deleted by an administrator, or with
    its topic. What only a subscription kept is due as soon as the last member leaves (KIP-848): neither is known then.

    >>> offset = DeletedOffset("t", 0, offset=7, committed_ms=0, kept_since_ms=10_000, deleted_ms=70_500)
    >>> [has_expired(offset, OffsetsRetention(ms)) for ms in (60_000, 600_000, None)]
    [True, False, None]
    """
    if deleted.kept_since_ms is None:
        return False
    due_ms = deleted.expires_ms
    if due_ms is None:
        retention_ms = retention.at(deleted.deleted_ms)
        if retention_ms is None:
            return None
        due_ms = deleted.kept_since_ms + retention_ms
    if deleted.emptied_ms is not None and due_ms <= deleted.emptied_ms:
        return None
    return deleted.deleted_ms + EARLIER_MS >= due_ms
