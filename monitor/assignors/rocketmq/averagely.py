"""RocketMQ's default strategy, ``AVG`` (``AllocateMessageQueueAveragely`` of rocketmq-client 5.5.0 and 4.9.8).

Properties:

1. Every queue has exactly one taker.
2. The shares differ by at most one; the first clients of the list have the larger ones.
3. Each client takes a run of neighbouring queues. With more clients than queues, the last ones take nothing.

Steps: divide the queues by the clients, rounded down; as many of the first clients as there are left over take one
more; go through both lists from the front.

>>> queues = [MessageQueue("t", "b", number) for number in range(5)]
>>> for share in Averagely().allocate(queues, ["c0", "c1"], ask=["c0", "c1", "stranger"]):
...     print(share.client, [queue.queue_id for queue in share.queues])
c0 [0, 1, 2]
c1 [3, 4]
stranger []
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.rocketmq.strategy import Plan, Queues, Strategy, first_places

__all__ = ["Averagely", "MessageQueue"]


class Averagely(Strategy):
    """Cuts the queues into runs. See the module for the rule."""

    @property
    def name(self) -> str:
        """See ``Strategy.name``."""
        return "AVG"

    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """See ``Strategy.plan``."""
        places = first_places(clients)
        share, more = divmod(len(queues), len(clients))

        def take(client: str) -> Queues:
            place = places[client]
            start = place * share + min(place, more)
            return queues[start : start + share + (place < more)]

        return take
