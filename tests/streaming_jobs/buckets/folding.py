"""Events of one entity in a micro-batch of their own."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.model import Entity
from streaming_jobs.buckets.bucket import Bucket, EventRow


def fold(bucket: Bucket, entity: Entity, name: str, payloads: Sequence[bytes], batch: int) -> None:
    """Fold them, in log order."""
    bucket.fold_all([EventRow(position, entity, name, each) for position, each in enumerate(payloads)], batch)
