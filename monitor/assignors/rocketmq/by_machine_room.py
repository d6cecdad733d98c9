"""RocketMQ's ``MACHINE_ROOM`` (``AllocateMessageQueueByMachineRoom`` of rocketmq-client 5.5.0 and 4.9.8).

Only queues count whose broker is called ``room@name`` with one of the configured rooms; the others have no owner.

Properties:

1. Every queue that counts has exactly one taker.
2. The shares differ by at most one; the first clients of the list have the larger ones.
3. The result is not what ``AVG`` gives for the same queues: those left over are at the end of the list.

Steps: divide the queues that count by the clients, rounded down, and cut runs of this length; what is left over at the
end goes one each to the first clients.

>>> queues = [MessageQueue("t", broker, number) for broker in ("hz@a", "sh@b") for number in range(3)]
>>> for share in ByMachineRoom(rooms=frozenset(["hz"])).allocate(queues, ["c0", "c1"], ask=["c0", "c1"]):
...     print(share.client, [(queue.broker, queue.queue_id) for queue in share.queues])
c0 [('hz@a', 0), ('hz@a', 2)]
c1 [('hz@a', 1)]
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.errors import AssignorError
from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.rocketmq.strategy import Plan, Queues, Strategy, first_places


class ByMachineRoom(Strategy):
    """Shares the queues of some rooms. ``rooms`` None: never configured, which fails as soon as it would matter."""

    rooms: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """See ``Strategy.name``."""
        return "MACHINE_ROOM"

    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """See ``Strategy.plan``.

        Raises:
            AssignorError: no rooms were ever configured, and a broker's name has a room.
        """
        places = first_places(clients)
        counting = [queue for queue in queues if self._counts(queue)]
        share, more = divmod(len(counting), len(clients))
        left_over = counting[share * len(clients) :]

        def take(client: str) -> Queues:
            place = places[client]
            return [*counting[place * share : (place + 1) * share], *left_over[place : place + (place < more)]]

        return take

    def _counts(self, queue: MessageQueue) -> bool:
        parts = queue.broker.split("@")
        while parts and not parts[-1] and queue.broker:
            parts.pop()  # Java's split drops empty parts at the end
        if len(parts) != 2:
            return False
        if self.rooms is None:
            why = 'Cannot invoke "java.util.Set.contains(Object)" because "this.consumeridcs" is null'
            raise AssignorError("NullPointerException", why)
        return parts[0] in self.rooms
