"""Kafka Connect: what a worker says and is told in a generation, and what is remembered of the group's work."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from monitor.model.values import STATE_VERSION, Value

CONNECT: Final = "connect"
"""The protocol type of the groups whose members are the workers of a Connect cluster."""

THE_CONNECTOR: Final = -1
"""The number of a connector itself among its tasks (``ConnectProtocol.CONNECTOR_TASK``)."""


class ConnectorTasks(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """Some tasks of a connector by number; THE_CONNECTOR stands for the connector itself."""

    connector: str
    tasks: tuple[int, ...]


class ConnectAssignment(Value):
    """What the leader told a worker. In the protocols ``compatible`` and ``sessioned`` it is a difference.

    ``error`` 1: nobody got anything, as the leader could not read the configurations (CONFIG_MISMATCH); 0: no error.
    ``config_offset`` is how far the leader had read them. ``revoked`` is what the worker has to give up, ``delay_ms``
    for how long the leader keeps back what a worker had that is gone, in case it comes back.
    """

    leader: str
    leader_url: str
    config_offset: int
    error: int = 0
    assigned: tuple[ConnectorTasks, ...] = ()
    revoked: tuple[ConnectorTasks, ...] = ()
    delay_ms: int = 0


class ConnectWorker(Value):
    """A worker of a Connect cluster: what it said as it joined, and what it was told.

    ``version`` is that of its format, ``config_offset`` how far it had read the topic of configurations (-1: nothing).
    ``allocation`` is all that it ran; None: it does not say, as it speaks the eager protocol. ``assignment`` None:
    there is none, as the group has not completed a rebalance with it.
    """

    version: int
    url: str
    config_offset: int
    allocation: tuple[ConnectorTasks, ...] | None = None
    assignment: ConnectAssignment | None = None


class WorkSince(Value, array_like=True):
    """Work that somebody has had since then."""

    since_ms: int
    work: tuple[ConnectorTasks, ...]


class WorkerHoldings(Value):
    """What a worker of the newest generation runs, by when it got it."""

    member_id: str
    url: str
    held: tuple[WorkSince, ...] = ()


class LostWork(Value):
    """What a worker ran that is gone, and that nobody has run since (``since_ms``: the generation without it)."""

    url: str
    since_ms: int
    work: tuple[ConnectorTasks, ...] = ()


class DoubleWork(Value):
    """What several workers ran at once, as their allocations in one generation say.

    ``from_ms`` is when the last of them got it (None: not known), ``until_ms`` when that generation was stored.
    """

    urls: tuple[str, ...]
    from_ms: int | None
    until_ms: int
    work: tuple[ConnectorTasks, ...] = ()


class WorkerBehind(Value):
    """A worker that has read less of the configurations than its leader, in so many generations in a row."""

    member_id: str
    since_ms: int
    generations: int = 1


class ConnectGroupState(Value):
    """What is remembered of the work of a Connect cluster, beyond what its newest generation tells.

    ``doubles`` are the newest ones, bounded.
    """

    workers: tuple[WorkerHoldings, ...] = ()
    lost: tuple[LostWork, ...] = ()
    doubles: tuple[DoubleWork, ...] = ()
    behind: tuple[WorkerBehind, ...] = ()


class TargetState(StrEnum):
    """What a connector is to do (``TargetState`` of Connect)."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class ConnectorConfig(Value):
    """What the topic of configurations says of a connector.

    ``is_configured`` False: only its tasks or its target state are known. ``tasks`` None: none were configured yet.
    ``group_id`` is the consumer group of a sink that does not use the usual one. ``changed_ms`` is when the newest
    record of it was written.
    """

    connector: str
    is_configured: bool = False
    tasks: int | None = None
    target_state: TargetState | None = None
    group_id: str | None = None
    changed_ms: int = 0


class ConnectConfigsState(Value):
    """The connectors of a Connect cluster, sorted by name, from its topic of configurations."""

    cluster: str
    topic: str
    connectors: tuple[ConnectorConfig, ...] = ()
    version: int = STATE_VERSION
