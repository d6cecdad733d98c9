"""What every strategy of RocketMQ promises, and what every one refuses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from monitor.assignors.errors import AssignorError
from monitor.assignors.rocketmq.message_queue import MessageQueue
from monitor.assignors.self_assignment import ClientShare
from monitor.model import Value

Queues = Sequence[MessageQueue]

Plan = Callable[[str], Queues | None]
"""Gives the queues of a client that is one of those the plan was made for. May raise ``AssignorError``."""


class Strategy(Value):
    """A rule by which each client finds its own queues.

    Two clients agree only if they see the same two lists in the same order. The lists are therefore sorted before
    (``sorted_queues``, ``sorted_clients``); a strategy takes them as they are.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What the original's ``getName()`` gives, for example ``AVG``."""

    @abstractmethod
    def plan(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """Work out what all clients have in common. Both lists have something in them.

        Raises:
            AssignorError: every client fails in the same way.
        """

    def allocate(
        self, queues: Queues, clients: Sequence[str], ask: Sequence[str]
    ) -> tuple[ClientShare[MessageQueue], ...]:
        """What each of the given clients takes, in the order of ``ask``.

        Args:
            queues: the queues of one topic.
            clients: the client ids of the group.
            ask: the clients that allocate; one that is not in the list takes nothing.
        """
        plan = self.prepared(queues, clients) if queues and clients else _nothing  # the check refuses everybody
        known = set(clients)
        return tuple(_share(client, queues, clients, plan if client in known else _nothing) for client in ask)

    def prepared(self, queues: Queues, clients: Sequence[str]) -> Plan:
        """As ``plan``, but an error that makes every client fail is raised when a client takes its queues."""
        try:
            return self.plan(queues, clients)
        except AssignorError as error:
            return _failing(error)


def check(client: str, queues: Queues, clients: Sequence[str]) -> None:
    """Refuse what ``AbstractAllocateMessageQueueStrategy.check`` refuses.

    Raises:
        AssignorError: the client has no id, or there are no queues or no clients.
    """
    if not client:
        raise AssignorError("IllegalArgumentException", "currentCID is empty")
    if not queues:
        raise AssignorError("IllegalArgumentException", "mqAll is null or mqAll empty")
    if not clients:
        raise AssignorError("IllegalArgumentException", "cidAll is null or cidAll empty")


def first_places(clients: Sequence[str]) -> dict[str, int]:
    """The place of each client in the list; for one that is there twice the first place counts."""
    return {client: place for place, client in reversed(list(enumerate(clients)))}


def _share(client: str, queues: Queues, clients: Sequence[str], plan: Plan) -> ClientShare[MessageQueue]:
    try:
        check(client, queues, clients)
        taken = plan(client)
    except AssignorError as error:
        return ClientShare(client=client, error=str(error))
    return ClientShare(client=client, queues=None if taken is None else tuple(taken))


def _nothing(_client: str) -> Queues:
    return ()


def _failing(error: AssignorError) -> Plan:
    def fail(_client: str) -> Queues:
        raise AssignorError(error.original, error.message)

    return fail
