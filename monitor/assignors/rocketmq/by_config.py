"""RocketMQ's ``CONFIG`` (``AllocateMessageQueueByConfig`` of rocketmq-client 5.5.0 and 4.9.8).

Each process is given its own list of queues by hand. Nothing makes the lists fit together: groupwatch knows one list,
so all clients of a replay seem to take the same queues. Queues that are not in the list have no owner. The original
checks nothing either, so it never fails.

>>> ByConfig(queues=(MessageQueue("t", "b", 3),)).allocate([], [], ask=["c0"])[0].queues
(MessageQueue(topic='t', broker='b', queue_id=3),)
>>> ByConfig().allocate([], [], ask=["c0"])[0]  # a list that was never set is Java's null
ClientShare(client='c0', queues=None, error=None)
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.rocketmq.strategy import Plan, Queues, Strategy
from monitor.assignors.self_assignment import ClientShare


class ByConfig(Strategy):
    """Gives the configured queues to every client. ``queues`` None: never configured."""

    queues: tuple[MessageQueue, ...] | None = None

    @property
    def name(self) -> str:
        """See ``Strategy.name``."""
        return "CONFIG"

    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """See ``Strategy.plan``."""
        del queues, clients
        return lambda client: self.queues

    def allocate(
        self, queues: Queues, clients: Sequence[str], ask: Sequence[str]
    ) -> tuple[ClientShare[MessageQueue], ...]:
        """See ``Strategy.allocate``; nothing is checked."""
        del queues, clients
        return tuple(ClientShare(client=client, queues=self.queues) for client in ask)
