"""Assignors by the names under which they are seen: on the wire, in configuration files and in administration tools.

Each system has its own names, because they meet: the ``range`` of a classic group, of a group with the new protocol and
of a group in ZooKeeper are three different rules. The case of letters counts, as it does in the originals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar, overload

from monitor.assignors.assignor import Assignor
from monitor.assignors.kafka_broker import BrokerRangeAssignor, ShareSimpleAssignor, UniformAssignor
from monitor.assignors.kafka_client.range_assignor import RangeAssignor
from monitor.assignors.kafka_client.roundrobin import RoundRobinAssignor
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.assignors.kafka_zookeeper.range_threads import RangeThreads
from monitor.assignors.kafka_zookeeper.roundrobin_threads import RoundRobinThreads
from monitor.assignors.metaq.consishash import Consishash
from monitor.assignors.metaq.default import Default
from monitor.assignors.metaq.strategy import Strategy as MetaqStrategy
from monitor.assignors.rocketmq.averagely import Averagely
from monitor.assignors.rocketmq.averagely_by_circle import AveragelyByCircle
from monitor.assignors.rocketmq.by_config import ByConfig
from monitor.assignors.rocketmq.by_machine_room import ByMachineRoom
from monitor.assignors.rocketmq.consistent_hash import ConsistentHash
from monitor.assignors.rocketmq.machine_room_nearby import MachineRoomNearby
from monitor.assignors.rocketmq.strategy import Strategy as RocketmqStrategy
from monitor.model import KINDS, Value

BrokerAssignor = BrokerRangeAssignor | UniformAssignor | ShareSimpleAssignor
ThreadAssignor = RangeThreads | RoundRobinThreads
AnyRule = Assignor | BrokerAssignor | ThreadAssignor | RocketmqStrategy | MetaqStrategy
Rule = TypeVar("Rule")


class System(StrEnum):
    """Who assigns. The values begin the names of the golden vectors' families."""

    KAFKA_CLIENT = "kafka"
    """A classic group: its leader, one of the clients, assigns."""
    KAFKA_BROKER = "kafka.server"
    """A group with the new protocol (KIP-848) or a share group (KIP-932): the coordinator assigns."""
    KAFKA_ZOOKEEPER = "kafka08"
    """A group of Kafka 0.8 to 0.10's old consumer: everybody works out its own part."""
    ROCKETMQ = "rocketmq"
    """Everybody works out its own part."""
    METAQ = "metaq"
    """Everybody works out its own part."""


class UnknownAssignor(Value):
    """An assignor that groupwatch lacks: Connect's, Streams', or a custom one; ``name`` None: a group without one."""

    name: str | None


class AssignorRow(Value, Generic[Rule]):
    """An assignor with all that is known of it outside of its own module.

    Attributes:
        rule: the assignor.
        class_name: the simple name of the original's class; "": the name of the class does not identify it.
        aliases: further names under which it is seen.
        is_offered: ``groupwatch what-if`` accepts its name.
    """

    rule: Rule
    class_name: str = ""
    aliases: tuple[str, ...] = ()
    is_offered: bool = True


_KAFKA_CLIENT: Final[tuple[AssignorRow[Assignor], ...]] = (
    AssignorRow(RangeAssignor(), "RangeAssignor"),
    AssignorRow(RoundRobinAssignor(), "RoundRobinAssignor"),
    AssignorRow(StickyAssignor(), "StickyAssignor"),
    AssignorRow(CooperativeStickyAssignor(), "CooperativeStickyAssignor"),
)
_KAFKA_BROKER: Final[tuple[AssignorRow[BrokerAssignor], ...]] = (
    AssignorRow(BrokerRangeAssignor(), "RangeAssignor"),
    AssignorRow(UniformAssignor(), "UniformAssignor"),
    AssignorRow(ShareSimpleAssignor(), "SimpleAssignor", is_offered=False),  # it gives partitions to several members
)
_KAFKA_ZOOKEEPER: Final[tuple[AssignorRow[ThreadAssignor], ...]] = (
    AssignorRow(RangeThreads(), "RangeAssignor"),
    AssignorRow(RoundRobinThreads(), "RoundRobinAssignor"),
)
_ROCKETMQ_CLASSES: Final[tuple[AssignorRow[RocketmqStrategy], ...]] = (
    AssignorRow(Averagely(), "AllocateMessageQueueAveragely"),
    AssignorRow(AveragelyByCircle(), "AllocateMessageQueueAveragelyByCircle"),
    AssignorRow(ConsistentHash(), "AllocateMessageQueueConsistentHash"),
    # no response of a client has the configuration of these
    AssignorRow(ByConfig(), "AllocateMessageQueueByConfig", is_offered=False),
    AssignorRow(ByMachineRoom(), "AllocateMessageQueueByMachineRoom", is_offered=False),
)


def _nearby(row: AssignorRow[RocketmqStrategy]) -> AssignorRow[RocketmqStrategy]:
    return AssignorRow(MachineRoomNearby(inner=row.rule), is_offered=False)


_ROCKETMQ: Final[tuple[AssignorRow[RocketmqStrategy], ...]] = (
    *_ROCKETMQ_CLASSES,
    *map(_nearby, _ROCKETMQ_CLASSES),
)
_METAQ: Final[tuple[AssignorRow[MetaqStrategy], ...]] = (
    # DEFAULT and CONSIST are what a consumer is configured with: LoadBalanceStrategy.Type
    AssignorRow(Default(), "DefaultLoadBalanceStrategy", ("DEFAULT",)),
    AssignorRow(Consishash(), "ConsisHashStrategy", ("CONSIST",)),
)

ASSIGNORS: Final[Mapping[System, tuple[AssignorRow[Any], ...]]] = MappingProxyType(
    {
        System.KAFKA_CLIENT: _KAFKA_CLIENT,
        System.KAFKA_BROKER: _KAFKA_BROKER,
        System.KAFKA_ZOOKEEPER: _KAFKA_ZOOKEEPER,
        System.ROCKETMQ: _ROCKETMQ,
        System.METAQ: _METAQ,
    }
)
"""A row for each assignor. What it explains, and where it is tried as a candidate, follows from its name."""

SYSTEM_OF: Final[Mapping[str, System]] = {
    kind: System(traits.assignors) for kind, traits in KINDS.items() if traits.assignors
}
"""Whose assignors assign one owner to each partition of the groups of a kind; the other kinds have none."""

_PACKAGES: Final[Mapping[System, tuple[str, ...]]] = {
    System.KAFKA_CLIENT: ("org.apache.kafka.clients.consumer",),
    System.KAFKA_BROKER: ("org.apache.kafka.coordinator.group.assignor",),
    System.KAFKA_ZOOKEEPER: ("kafka.consumer",),
    # up to 3.6 the project was Alibaba's
    System.ROCKETMQ: (
        "org.apache.rocketmq.client.consumer.rebalance",
        "com.alibaba.rocketmq.client.consumer.rebalance",
    ),
    System.METAQ: ("com.taobao.metamorphosis.client.consumer",),
}
"""Where the originals' classes are: a class may be named with its package, too."""


def _by_name(system: System) -> Mapping[str, AnyRule]:
    """The assignors of a system by every name under which they are seen.

    Raises:
        ValueError: two rows have the same name.
    """
    pairs = [(name, row.rule) for row in ASSIGNORS[system] for name in _names(row, _PACKAGES[system])]
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise ValueError(f"{system}: two assignors have the name {twice[0]}")
    return dict(pairs)


def _names(row: AssignorRow[Any], packages: Iterable[str]) -> frozenset[str]:
    simple = row.class_name
    classes = (simple, *(f"{package}.{simple}" for package in packages)) if simple else ()
    return frozenset((row.rule.name, *row.aliases, *classes))


_BY_SYSTEM: Final[Mapping[System, Mapping[str, AnyRule]]] = MappingProxyType(
    {system: _by_name(system) for system in System}
)


def offered_names(system: System) -> tuple[str, ...]:
    """The assignors of a system that can be chosen by name, the usual ones first.

    >>> offered_names(System.KAFKA_BROKER), offered_names(System.METAQ)
    (('range', 'uniform'), ('default', 'consishash'))
    """
    return tuple(row.rule.name for row in ASSIGNORS[system] if row.is_offered)


@overload
def find(
    name: str | None, system: Literal[System.KAFKA_CLIENT] = System.KAFKA_CLIENT
) -> Assignor | UnknownAssignor: ...
@overload
def find(name: str | None, system: Literal[System.KAFKA_BROKER]) -> BrokerAssignor | UnknownAssignor: ...
@overload
def find(name: str | None, system: Literal[System.KAFKA_ZOOKEEPER]) -> ThreadAssignor | UnknownAssignor: ...
@overload
def find(name: str | None, system: Literal[System.ROCKETMQ]) -> RocketmqStrategy | UnknownAssignor: ...
@overload
def find(name: str | None, system: Literal[System.METAQ]) -> MetaqStrategy | UnknownAssignor: ...
def find(name: str | None, system: System = System.KAFKA_CLIENT) -> AnyRule | UnknownAssignor:
    """The assignor with this name in this system (exact case), or the fact that it is unknown.

    Names are those that members announce and tools show (``range``, ``AVG``), and the simple and the full names of the
    originals' classes. What has to be configured is found as it is before that.

    >>> find("range").name, find("stream"), find(None)
    ('range', UnknownAssignor(name='stream'), UnknownAssignor(name=None))
    >>> find("AllocateMessageQueueAveragelyByCircle", System.ROCKETMQ).name
    'AVG_BY_CIRCLE'
    """
    return find_any(name, system)


def find_any(name: str | None, system: System) -> AnyRule | UnknownAssignor:
    """As :func:`find`, of a system that is not known before."""
    unknown = UnknownAssignor(name=name)
    return unknown if name is None else _BY_SYSTEM[system].get(name, unknown)
