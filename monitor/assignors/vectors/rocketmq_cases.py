"""Cases for RocketMQ's strategies as JSON writes them, and answers in the form of the golden vectors.

A case is an object: ``queues`` [[topic, broker, number], ...], ``cids`` (the client ids of the group), ``sort``
(whether both are sorted first, as the client does), ``ask`` (the clients that allocate), and what the strategy is
configured with: ``virtual_nodes``, ``config`` (a list like ``queues``), ``idcs``, ``inner``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, ValidationError

from monitor.assignors.rocketmq.averagely import Averagely
from monitor.assignors.rocketmq.averagely_by_circle import AveragelyByCircle
from monitor.assignors.rocketmq.by_config import ByConfig
from monitor.assignors.rocketmq.by_machine_room import ByMachineRoom
from monitor.assignors.rocketmq.consistent_hash import VIRTUAL_NODES, ConsistentHash
from monitor.assignors.rocketmq.machine_room_nearby import MachineRoomNearby
from monitor.assignors.rocketmq.message_queue import MessageQueue, sorted_clients, sorted_queues
from monitor.assignors.rocketmq.strategy import Strategy
from monitor.model import Value

_Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_VirtualNodes = Annotated[int, Meta(ge=-(2**31), le=10_000)]  # the original accepts more, and runs out of memory
_Queue = tuple[str, str, _Int32]


class Case(Value):
    """A topic's queues, a group's clients, and who asks."""

    queues: tuple[_Queue, ...]
    cids: tuple[str, ...]
    ask: tuple[str, ...]
    sort: bool = True
    virtual_nodes: _VirtualNodes = VIRTUAL_NODES
    config: tuple[_Queue, ...] | None = None
    idcs: tuple[str, ...] | None = None
    inner: str = "averagely"


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What the strategy's name is and what each client of ``ask`` takes or why it fails.

    >>> case = {"queues": [["t", "b", 0], ["t", "b", 1]], "cids": ["c"], "ask": ["c", ""]}
    >>> answer("rocketmq.averagely", case)["assignment"]
    {'c': [['t', 'b', 0], ['t', 'b', 1]]}
    >>> answer("rocketmq.averagely", case)["errors"]
    {'': 'IllegalArgumentException: currentCID is empty'}

    Raises:
        ValidationError: the object is not a case, or there is no such strategy.
        AssignorError: the original can't be configured so.
    """
    case = msgspec.convert(case_input, Case)
    strategy = strategy_of(assignor.removeprefix("rocketmq."), case)
    queues, clients = _queues(case.queues), list(case.cids)
    if case.sort:
        queues, clients = sorted_queues(queues), sorted_clients(clients)
    shares = strategy.allocate(queues, clients, case.ask)
    errors = {share.client: share.error for share in shares if share.error is not None}
    taken = {
        share.client: None if share.queues is None else [[q.topic, q.broker, q.queue_id] for q in share.queues]
        for share in shares
        if share.error is None
    }
    said: dict[str, object] = {"name": strategy.name, "assignment": taken}
    return said | {"errors": errors} if errors else said


def strategy_of(name: str, case: Case) -> Strategy:
    """The strategy, configured as the case says.

    Raises:
        ValidationError: there is no such strategy.
        AssignorError: the original can't be configured so.
    """
    match name:
        case "averagely":
            return Averagely()
        case "averagely-by-circle":
            return AveragelyByCircle()
        case "consistent-hash":
            return ConsistentHash(virtual_nodes=case.virtual_nodes)
        case "by-config":
            return ByConfig(queues=None if case.config is None else tuple(_queues(case.config)))
        case "by-machine-room":
            return ByMachineRoom(rooms=None if case.idcs is None else frozenset(case.idcs))
        case "machine-room-nearby" if case.inner != "machine-room-nearby":
            return MachineRoomNearby(inner=strategy_of(case.inner, case))
        case _:
            raise ValidationError(f"No such strategy of RocketMQ: {name[:100]!r}")


def _queues(entries: Sequence[_Queue]) -> list[MessageQueue]:
    return [MessageQueue(topic, broker, number) for topic, broker, number in entries]
