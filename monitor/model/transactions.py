"""Offsets in a transaction that is open: until it ends, they do not count."""

from __future__ import annotations

from monitor.model.values import TopicPartitions, Value


class PendingOffsets(Value):
    """Offsets of a group that a producer has sent in a transaction, which is open.

    Meanwhile the broker refuses to name the committed offset of these partitions to consumers that wait for stable
    offsets (``UNSTABLE_OFFSET_COMMIT``), so a new owner cannot start.

    ``log_partition`` is that of ``__consumer_offsets``, where the transaction begins at ``start_offset``, and
    ``sent_ms`` is the time of the record there. ``transactional_id``, ``started_ms`` and ``timeout_ms`` are as the
    coordinator of the transaction knows them; None: it does not know them, or the user may not.
    """

    partitions: tuple[TopicPartitions, ...]
    log_partition: int
    start_offset: int
    producer_id: int
    producer_epoch: int
    sent_ms: int
    transactional_id: str | None = None
    started_ms: int | None = None
    timeout_ms: int | None = None

    @property
    def since_ms(self) -> int:
        """Since when the transaction has been open, as far as it is known."""
        return self.sent_ms if self.started_ms is None else self.started_ms
