"""What the driver passes to the executors for one micro-batch: a property of the Spark jobs that it starts.

The plan of a streaming query is fixed when it starts, and with it everything that its functions were given. A local
property is Spark's way to pass more to running functions: set by the driver's thread, it reaches every task.
"""

from __future__ import annotations

from typing import Final

import msgspec
from pyspark import SparkContext, TaskContext

from monitor.model import Value
from monitor.protocol.kafka.group_metadata import group_partition

_PROPERTY: Final = "groupwatch.orders"


class Unread(Value):
    """A partition of the offsets topic that cannot be read now: a sentence, and since when (ms since the epoch).

    ``was_read``: this process has read it until then. Otherwise it is not known for how long it has not been read.
    """

    sentence: str
    since_ms: int
    was_read: bool = True


class BatchContext(Value):
    """The context of a micro-batch.

    Attributes:
        run: the run of the query, new at every start: nothing that was remembered in another run counts.
        batch: the number of the micro-batch, the same when it is tried again.
        now_ms: the instant of all verdicts, in milliseconds since the epoch.
        known: the newest micro-batch of which the driver has everything; -1: none, so it needs all rows.
        catalog: the catalog to judge by, a key of :mod:`streaming_jobs.buckets.catalog_server`; None: nothing is judged
        yet.
        log_partitions: by how many partitions of the offsets topic the brokers place groups; 0: not known.
        unread: those partitions of it that cannot be read now.
        expectations: what groups should look like, a key as that of the catalog; None: nothing is expected of any.
        scale: what the driver remembers of groups whose members are counted, a key as well; None: of none.
    """

    run: str
    batch: int
    now_ms: int
    known: int = -1
    catalog: str | None = None
    log_partitions: int = 0
    unread: dict[int, Unread] = msgspec.field(default_factory=dict)
    expectations: str | None = None
    scale: str | None = None

    def unread_of(self, group: str) -> Unread | None:
        """Why the records of a group cannot be read now; None: they can.

        >>> unread = {0: Unread(sentence="Gone.", since_ms=5)}
        >>> BatchContext(run="r", batch=1, now_ms=9, log_partitions=1, unread=unread).unread_of("orders").sentence
        'Gone.'
        """
        return self.unread.get(group_partition(group, self.log_partitions)) if self.unread else None

    def instant_of(self, group: str) -> int:
        """The instant of the verdict on a group: that of the batch, or that up to which its records were read."""
        unread = self.unread_of(group)
        return self.now_ms if unread is None else min(self.now_ms, unread.since_ms)


_CONTEXTS: Final = msgspec.json.Decoder(BatchContext)


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
    return _CONTEXTS.decode(text)
