"""RocketMQ's ``CONSISTENT_HASH`` (``AllocateMessageQueueConsistentHash`` of rocketmq-client 5.5.0 and 4.9.8).

Properties:

1. Every queue has exactly one taker, unless there are no virtual nodes: then no client takes anything.
2. When a client comes or goes, only queues that come to it or leave it move. There is no balance bound.

Steps:

1. Each client has some *virtual nodes*, 10 by default: the points MD5(client + "-" + number) on a ring of 32 bits.
2. A queue goes to the client of the first point at or behind MD5 of the text of the queue, round the ring.

Two points can fall together; the later client in the list then has it. A client that is in the list twice continues
its numbers where those of its points that still are its own end.

>>> queues = [MessageQueue("t", "b", number) for number in range(4)]
>>> for share in ConsistentHash().allocate(queues, ["c0", "c1"], ask=["c0", "c1"]):
...     print(share.client, [queue.queue_id for queue in share.queues])
c0 [2, 3]
c1 [0, 1]
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from hashlib import md5

from monitor.assignors.errors import AssignorError
from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.rocketmq.strategy import Plan, Queues, Strategy

VIRTUAL_NODES = 10


class ConsistentHash(Strategy):
    """Puts clients and queues on a ring. See the module for the rule.

    Raises:
        AssignorError: a negative number of virtual nodes.
    """

    virtual_nodes: int = VIRTUAL_NODES

    def __post_init__(self) -> None:
        if self.virtual_nodes < 0:
            raise AssignorError("IllegalArgumentException", f"illegal virtualNodeCnt :{self.virtual_nodes}")

    @property
    def name(self) -> str:
        """See ``Strategy.name``."""
        return "CONSISTENT_HASH"

    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """See ``Strategy.plan``."""
        ring = self._ring(clients)
        points = sorted(ring)
        taken: dict[str, list[MessageQueue]] = defaultdict(list)
        for queue in queues if points else ():
            place = bisect_left(points, _point(str(queue)))
            taken[ring[points[place % len(points)]]].append(queue)
        return lambda client: taken.get(client, ())

    def _ring(self, clients: Sequence[str]) -> dict[int, str]:
        ring: dict[int, str] = {}
        seen = set()
        for client in clients:
            first = sum(owner == client for owner in ring.values()) if client in seen else 0
            seen.add(client)
            for number in range(first, first + self.virtual_nodes):
                ring[_point(f"{client}-{number}")] = client
        return ring


def _point(text: str) -> int:
    # Java writes a lone surrogate as "?", and so does Python with "replace".
    return int.from_bytes(md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()[:4])
