from __future__ import annotations

import pytest

from monitor.assignors import UnknownAssignor, find
from monitor.assignors.kafka_broker import BrokerRangeAssignor, ShareSimpleAssignor, UniformAssignor
from monitor.assignors.kafka_client.range_assignor import RangeAssignor
from monitor.assignors.kafka_client.roundrobin import RoundRobinAssignor
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.assignors.kafka_zookeeper.range_threads import RangeThreads
from monitor.assignors.kafka_zookeeper.roundrobin_threads import RoundRobinThreads
from monitor.assignors.metaq.consishash import Consishash
from monitor.assignors.metaq.default import Default
from monitor.assignors.registry import System
from monitor.assignors.rocketmq.averagely import Averagely
from monitor.assignors.rocketmq.averagely_by_circle import AveragelyByCircle
from monitor.assignors.rocketmq.by_config import ByConfig
from monitor.assignors.rocketmq.by_machine_room import ByMachineRoom
from monitor.assignors.rocketmq.consistent_hash import ConsistentHash
from monitor.assignors.rocketmq.machine_room_nearby import MachineRoomNearby
from tests.assignors.golden import families, read

CLIENT = "org.apache.kafka.clients.consumer"
BROKER = "org.apache.kafka.coordinator.group.assignor"
ROCKETMQ = "org.apache.rocketmq.client.consumer.rebalance"
METAQ = "com.taobao.metamorphosis.client.consumer"

KNOWN = [
    (System.KAFKA_CLIENT, RangeAssignor, ["range", "RangeAssignor", f"{CLIENT}.RangeAssignor"]),
    (System.KAFKA_CLIENT, RoundRobinAssignor, ["roundrobin", "RoundRobinAssignor", f"{CLIENT}.RoundRobinAssignor"]),
    (System.KAFKA_CLIENT, StickyAssignor, ["sticky", "StickyAssignor", f"{CLIENT}.StickyAssignor"]),
    (
        System.KAFKA_CLIENT,
        CooperativeStickyAssignor,
        ["cooperative-sticky", "CooperativeStickyAssignor", f"{CLIENT}.CooperativeStickyAssignor"],
    ),
    (System.KAFKA_BROKER, BrokerRangeAssignor, ["range", "RangeAssignor", f"{BROKER}.RangeAssignor"]),
    (System.KAFKA_BROKER, UniformAssignor, ["uniform", "UniformAssignor", f"{BROKER}.UniformAssignor"]),
    (System.KAFKA_BROKER, ShareSimpleAssignor, ["simple", "SimpleAssignor", f"{BROKER}.SimpleAssignor"]),
    (System.KAFKA_ZOOKEEPER, RangeThreads, ["range", "RangeAssignor", "kafka.consumer.RangeAssignor"]),
    (
        System.KAFKA_ZOOKEEPER,
        RoundRobinThreads,
        ["roundrobin", "RoundRobinAssignor", "kafka.consumer.RoundRobinAssignor"],
    ),
    (
        System.ROCKETMQ,
        Averagely,
        ["AVG", "AllocateMessageQueueAveragely", f"{ROCKETMQ}.AllocateMessageQueueAveragely"],
    ),
    (
        System.ROCKETMQ,
        AveragelyByCircle,
        [
            "AVG_BY_CIRCLE",
            "AllocateMessageQueueAveragelyByCircle",
            "com.alibaba.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle",
        ],
    ),
    (System.ROCKETMQ, ByConfig, ["CONFIG", f"{ROCKETMQ}.AllocateMessageQueueByConfig"]),
    (System.ROCKETMQ, ByMachineRoom, ["MACHINE_ROOM", f"{ROCKETMQ}.AllocateMessageQueueByMachineRoom"]),
    (System.ROCKETMQ, ConsistentHash, ["CONSISTENT_HASH", f"{ROCKETMQ}.AllocateMessageQueueConsistentHash"]),
    (System.ROCKETMQ, MachineRoomNearby, ["MACHINE_ROOM_NEARBY-AVG", "MACHINE_ROOM_NEARBY-CONSISTENT_HASH"]),
    (
        System.METAQ,
        Default,
        ["DEFAULT", "default", "DefaultLoadBalanceStrategy", f"{METAQ}.DefaultLoadBalanceStrategy"],
    ),
    (System.METAQ, Consishash, ["CONSIST", "consishash", "ConsisHashStrategy", f"{METAQ}.ConsisHashStrategy"]),
]


@pytest.mark.parametrize(
    ("system", "kind", "name"), [(system, kind, name) for system, kind, names in KNOWN for name in names]
)
def test_an_assignor_is_found_by_each_of_its_names(system, kind, name):
    assert type(find(name, system)) is kind


@pytest.mark.parametrize("system", System)
@pytest.mark.parametrize(
    "name",
    ["", "Range", "RANGE", " range", "range ", "avg", "Default", "org.apache.kafka.clients.consumer", "\ud800", None],
)
def test_any_other_name_is_a_value(system, name):
    assert find(name, system) == UnknownAssignor(name=name)


def test_names_belong_to_their_system():
    assert find("AVG") == find("AVG", System.METAQ) == UnknownAssignor(name="AVG")
    assert find("roundrobin", System.KAFKA_BROKER) == UnknownAssignor(name="roundrobin")
    assert find("range", System.ROCKETMQ) == UnknownAssignor(name="range")


def test_a_room_aware_strategy_is_not_known_without_the_one_inside_it():
    assert isinstance(find("AllocateMachineRoomNearby", System.ROCKETMQ), UnknownAssignor)
    assert find("MACHINE_ROOM_NEARBY-AVG", System.ROCKETMQ).inner == Averagely()


def test_names_are_those_that_the_originals_give_themselves():
    vectors = [vector for family in families() if family.startswith("rocketmq.") for vector in read(family)]
    said = {vector["expected"]["name"] for vector in vectors if "expected" in vector}
    assert len(said) >= 6
    assert {name: find(name, System.ROCKETMQ).name for name in said} == {name: name for name in said}
