"""Share groups (KIP-932): what becomes of the records of each partition, from the log ``__share_group_state``."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

from monitor.model.values import Value


class DeliveryState(IntEnum):
    """What has become of a record (``RecordState`` of Kafka's share partitions). Others are never written."""

    AVAILABLE = 0
    """It waits, perhaps for another delivery. It may be held by a member right now: that is not in the log."""
    ACKNOWLEDGED = 2
    """A member accepted it."""
    ARCHIVED = 4
    """It is not delivered any more: a member rejected it, or it was delivered as often as the group allows."""


TERMINAL: Final = frozenset({DeliveryState.ACKNOWLEDGED, DeliveryState.ARCHIVED})
"""The states that a record stays in."""


class ShareBatch(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """Records from the first to the last offset that have the same state and were delivered equally often.

    ``state`` is a number of DeliveryState, or one that a newer Kafka writes.
    """

    first: int
    last: int
    state: int
    deliveries: int


class ArchivedRecords(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How many records were archived after so many deliveries, since the partition was first seen, and the newest.

    Whether they were given up or rejected depends on the limit that the group had then, which the log does not have:
    ``limit`` is what a collector had read of it (0: nothing yet). Offsets that nobody got are among those with one
    delivery: markers and aborted records of transactions, and what compaction has removed. ``newest_ms`` 0: they had
    been archived before the snapshot with which the log begins, so it is not known when.
    """

    deliveries: int
    records: int
    newest_offset: int
    newest_ms: int
    limit: int = 0


class DeliveredSince(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Since when there have been available records that were delivered so often."""

    deliveries: int
    since_ms: int


class SharePartition(Value):
    """A partition as one share group reads it.

    ``start_offset`` is the first one that the group has not done with, as of the answer before the newest; None: it has
    answered for no record yet. ``complete_count`` is how many records behind it are done with; None: the broker does
    not write it (before Kafka 4.2). ``batches`` are sorted and do not overlap; offsets in none of them have not been
    answered for.

    ``answered_ms`` is the time of the newest answer of a member, or timeout of one: of the newest record that changed a
    batch (None: there was none). ``accepted`` counts records, ``returned`` how often records became available again
    after a delivery, ``archived`` those that are not delivered any more, all since the partition was first seen.
    ``waiting`` says for each delivery count of available records since when there have been such.
    """

    topic_id: str
    partition: int
    start_offset: int | None = None
    complete_count: int | None = None
    batches: tuple[ShareBatch, ...] = ()
    snapshot_epoch: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    answered_ms: int | None = None
    accepted: int = 0
    returned: int = 0
    archived: tuple[ArchivedRecords, ...] = ()
    waiting: tuple[DeliveredSince, ...] = ()


class SharedTopic(Value):
    """Some partitions of a topic that a share group reads, or is about to."""

    topic_id: str
    topic: str
    partitions: tuple[int, ...]


class ShareConfig(Value):
    """Configs of a share group, its own or those of the brokers; None: not known, as no log has them.

    ``delivery_limit`` is ``share.delivery.count.limit``: after so many deliveries a record is given up. ``lock_ms`` is
    ``share.record.lock.duration.ms``: for so long a member may hold a record. ``reads_committed`` says whether
    ``share.isolation.level`` is read_committed; Kafka's default is read_uncommitted.
    """

    delivery_limit: int | None = None
    lock_ms: int | None = None
    reads_committed: bool | None = None


class ListedShareOffset(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """How far a share group is in a partition, as its coordinator says when it is asked; see SharePartition.

    ``start_offset`` None: nobody has answered for a record yet. ``lag`` is Kafka's own (KIP-1226), in records; None: it
    is not known (before Kafka 4.2 it never is).
    """

    topic_id: str
    partition: int
    start_offset: int | None = None
    lag: int | None = None


class ShareOutcomes(Value):
    """What became of records of a share group; the fields are those of SharePartition."""

    accepted: int = 0
    returned: int = 0
    archived: tuple[ArchivedRecords, ...] = ()


class ShareGroupState(Value):
    """What is known of a share group beside its members.

    ``partitions``, sorted by topic id and number, come from the log of share state. ``initialized`` are those that
    members can read, ``initializing`` those that they cannot read yet, both from the log of groups; the two logs have
    no common order. ``former`` is of partitions whose share state was deleted, so that no count goes back.
    ``config`` is what a collector read of it, and so are ``listed``, sorted: only where the log of share state cannot
    be read, so that there are no ``partitions``.
    """

    partitions: tuple[SharePartition, ...] = ()
    initialized: tuple[SharedTopic, ...] = ()
    initializing: tuple[SharedTopic, ...] = ()
    former: ShareOutcomes = ShareOutcomes()
    config: ShareConfig = ShareConfig()
    listed: tuple[ListedShareOffset, ...] = ()
