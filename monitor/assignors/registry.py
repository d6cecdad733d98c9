"""Assignors by the names under which they are seen: on the wire, in configuration files and in administration tools.

Each system has its own names, because they meet: the ``range`` of a classic group, of a group with the new protocol and
of a group in ZooKeeper are three different rules. The case of letters counts, as it does in the originals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, TypeVar, overload

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
from monitor.model import Value

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
    """An assignor that is not rebuilt here: Connect's, Streams', somebody's own; or None, a group without one."""

    name: str | None


def _by_class(packages: Iterable[str], rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Rules by their simple class names, also behind each package."""
    prefixes = ("", *(f"{package}." for package in packages))
    return {prefix + name: rule for name, rule in rules.items() for prefix in prefixes}


_CLIENT_CLASSES: Final[Mapping[str, Assignor]] = {
    "RangeAssignor": RangeAssignor(),
    "RoundRobinAssignor": RoundRobinAssignor(),
    "StickyAssignor": StickyAssignor(),
    "CooperativeStickyAssignor": CooperativeStickyAssignor(),
}
_KAFKA_CLIENT: Final[Mapping[str, Assignor]] = {
    **{assignor.name: assignor for assignor in _CLIENT_CLASSES.values()},
    **_by_class(["org.apache.kafka.clients.consumer"], _CLIENT_CLASSES),
}

_BROKER_CLASSES: Final[Mapping[str, BrokerAssignor]] = {
    "RangeAssignor": BrokerRangeAssignor(),
    "UniformAssignor": UniformAssignor(),
    "SimpleAssignor": ShareSimpleAssignor(),
}
_KAFKA_BROKER: Final[Mapping[str, BrokerAssignor]] = {
    **{assignor.name: assignor for assignor in _BROKER_CLASSES.values()},
    **_by_class(["org.apache.kafka.coordinator.group.assignor"], _BROKER_CLASSES),
}

_ZOOKEEPER_CLASSES: Final[Mapping[str, ThreadAssignor]] = {
    "RangeAssignor": RangeThreads(),
    "RoundRobinAssignor": RoundRobinThreads(),
}
_KAFKA_ZOOKEEPER: Final[Mapping[str, ThreadAssignor]] = {
    **{assignor.name: assignor for assignor in _ZOOKEEPER_CLASSES.values()},
    **_by_class(["kafka.consumer"], _ZOOKEEPER_CLASSES),
}

_ROCKETMQ_CLASSES: Final[Mapping[str, RocketmqStrategy]] = {
    "AllocateMessageQueueAveragely": Averagely(),
    "AllocateMessageQueueAveragelyByCircle": AveragelyByCircle(),
    "AllocateMessageQueueByConfig": ByConfig(),
    "AllocateMessageQueueByMachineRoom": ByMachineRoom(),
    "AllocateMessageQueueConsistentHash": ConsistentHash(),
}
_NEARBY: Final = [MachineRoomNearby(inner=inner) for inner in _ROCKETMQ_CLASSES.values()]
_ROCKETMQ: Final[Mapping[str, RocketmqStrategy]] = {
    **{strategy.name: strategy for strategy in (*_ROCKETMQ_CLASSES.values(), *_NEARBY)},
    **_by_class(
        # up to 3.6 the project was Alibaba's
        ["org.apache.rocketmq.client.consumer.rebalance", "com.alibaba.rocketmq.client.consumer.rebalance"],
        _ROCKETMQ_CLASSES,
    ),
}

_METAQ_CLASSES: Final[Mapping[str, MetaqStrategy]] = {
    "DefaultLoadBalanceStrategy": Default(),
    "ConsisHashStrategy": Consishash(),
}
_METAQ: Final[Mapping[str, MetaqStrategy]] = {
    "DEFAULT": Default(),  # as a consumer is configured: LoadBalanceStrategy.Type
    "CONSIST": Consishash(),
    "default": Default(),
    "consishash": Consishash(),
    **_by_class(["com.taobao.metamorphosis.client.consumer"], _METAQ_CLASSES),
}

_BY_SYSTEM: Final[Mapping[System, Mapping[str, AnyRule]]] = MappingProxyType(
    {
        System.KAFKA_CLIENT: _KAFKA_CLIENT,
        System.KAFKA_BROKER: _KAFKA_BROKER,
        System.KAFKA_ZOOKEEPER: _KAFKA_ZOOKEEPER,
        System.ROCKETMQ: _ROCKETMQ,
        System.METAQ: _METAQ,
    }
)


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
    unknown = UnknownAssignor(name=name)
    return unknown if name is None else _BY_SYSTEM[system].get(name, unknown)
