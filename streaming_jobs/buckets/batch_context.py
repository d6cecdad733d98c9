"""What the driver tells the executors for one micro-batch: a property of the Spark jobs that the micro-batch starts.

The plan of a streaming query is fixed when it starts, and with it everything that its functions were given. A local
property is what Spark offers to tell running functions more: set by the driver's thread, it reaches every task.
"""

from __future__ import annotations

from typing import Final

import msgspec
from pyspark import SparkContext, TaskContext

from monitor.model import Value
from monitor.protocol.kafka.group_metadata import group_partition

_PROPERTY: Final = "groupwatch.orders"


class BatchContext(Value):
    """The context of a micro-batch.

    Attributes:
        run: the run of the query, new at every start: nothing that was remembered in another run counts.
        batch: the number of the micro-batch, the same when it is tried again.
        now_ms: the instant of all verdicts, in milliseconds since the epoch.
        known: the newest micro-batch of which the driver has everything; -1: none, so it wants to be told all.
        catalog: the catalog to judge by, a key of :mod:`streaming_jobs.buckets.catalog_server`; None: nothing is judged
        yet.
        log_partitions: how many partitions the offsets topic has; 0: the groups do not come by it.
        unread: those of them that cannot be read now, each with the reason and since when, as a sentence.
    """

    run: str
    batch: int
    now_ms: int
    known: int = -1
    catalog: str | None = None
    log_partitions: int = 0
    unread: dict[int, str] = msgspec.field(default_factory=dict)

    def unread_reason(self, group: str) -> str | None:
        """Why the records of a group cannot be read now, as a sentence; None: they can.

        >>> BatchContext(run="r", batch=1, now_ms=0, log_partitions=1, unread={0: "Gone."}).unread_reason("orders")
        'Gone.'
        """
        return self.unread.get(group_partition(group, self.log_partitions)) if self.unread else None


def set_batch_context(context: SparkContext, batch_context: BatchContext) -> None:
    """Set the context for all Spark jobs that this thread starts from now on."""
    context.setLocalProperty(_PROPERTY, msgspec.json.encode(batch_context).decode())


def current_batch_context() -> BatchContext:
    """The context of the task that this function runs in.

    Raises:
        RuntimeError: there are none.
    """
    context = TaskContext.get()
    text = context.getLocalProperty(_PROPERTY) if context is not None else None
    if text is None:
        raise RuntimeError(f"a micro-batch was run without the property {_PROPERTY}")
    return msgspec.json.decode(text, type=BatchContext)
