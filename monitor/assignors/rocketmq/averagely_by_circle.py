"""RocketMQ's ``AVG_BY_CIRCLE`` (``AllocateMessageQueueAveragelyByCircle`` of rocketmq-client 5.5.0 and 4.9.8).

Properties:

1. Every queue has exactly one taker.
2. The shares differ by at most one; the first clients of the list have the larger ones.

Steps: deal the queues one by one, round the clients.

>>> queues = [MessageQueue("t", "b", number) for number in range(5)]
>>> for share in AveragelyByCircle().allocate(queues, ["c0", "c1"], ask=["c0", "c1"]):
...     print(share.client, [queue.queue_id for queue in share.queues])
c0 [0, 2, 4]
c1 [1, 3]
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.rocketmq.strategy import Plan, Queues, Strategy, first_places

__all__ = ["AveragelyByCircle", "MessageQueue"]


class AveragelyByCircle(Strategy):
    """Deals the queues. See the module for the rule."""

    @property
    def name(self) -> str:
        """See ``Strategy.name``."""
        return "AVG_BY_CIRCLE"

    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """See ``Strategy.plan``."""
        places = first_places(clients)
        return lambda client: queues[places[client] :: len(clients)]
