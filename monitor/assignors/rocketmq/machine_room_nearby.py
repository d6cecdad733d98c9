"""RocketMQ's ``MACHINE_ROOM_NEARBY`` (``AllocateMachineRoomNearby`` of rocketmq-client 5.5.0 and 4.9.8).

Clients take the queues of their own room; another strategy, the *inner* one, divides them. The room of a client or a
broker is found by a resolver that users write; here it is the text before the first ``-``, or all of it.

Properties:

1. Every queue has as many takers as the inner strategy gives it: one, for the usual ones.
2. A queue leaves its room only if no client is there.

Steps: the clients of a room divide its queues. The queues of each room without clients, room by room in Java's string
order, are divided by all clients.

>>> queues = [MessageQueue("t", broker, 0) for broker in ("hz-a", "hz-b", "sh-a", "us-a")]
>>> near = MachineRoomNearby(inner=Averagely())
>>> for share in near.allocate(queues, ["hz-c0", "sh-c1"], ask=["hz-c0", "sh-c1"]):
...     print(share.client, [queue.broker for queue in share.queues])
hz-c0 ['hz-a', 'hz-b', 'us-a']
sh-c1 ['sh-a']
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.text import string_key
from monitor.assignors.rocketmq.averagely import Averagely
from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.rocketmq.strategy import Plan, Queues, Strategy

__all__ = ["Averagely", "MachineRoomNearby"]


class MachineRoomNearby(Strategy):
    """Keeps queues in their room. See the module for the rule."""

    inner: Strategy

    @property
    def name(self) -> str:
        """See ``Strategy.name``."""
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """See ``Strategy.plan``.

        Raises:
            AssignorError: a broker or a client has no room.
        """
        queues_in: dict[str, list[MessageQueue]] = defaultdict(list)
        for queue in queues:
            queues_in[_room(queue.broker, f"mq {queue}")].append(queue)
        clients_in: dict[str, list[str]] = defaultdict(list)
        for client in clients:
            clients_in[_room(client, f"consumer id {client}")].append(client)
        at_home = {
            room: self.inner.prepared(queues_in[room], clients_in[room]) for room in queues_in if room in clients_in
        }
        deserted = sorted(queues_in.keys() - clients_in.keys(), key=string_key)
        shared = [self.inner.prepared(queues_in[room], clients) for room in deserted]

        def take(client: str) -> Queues:
            home = at_home.get(_room(client, ""))
            plans = [*([home] if home else []), *shared]
            return [queue for plan in plans for queue in _not_null(plan(client))]

        return take


def _not_null(queues: Queues | None) -> Queues:
    if queues is None:
        raise AssignorError(
            "NullPointerException", 'Cannot invoke "java.util.Collection.toArray()" because "c" is null'
        )
    return queues


def _room(name: str, what: str) -> str:
    room = name.partition("-")[0]
    if not room:
        raise AssignorError("IllegalArgumentException", f"Machine room is null for {what}")
    return room
