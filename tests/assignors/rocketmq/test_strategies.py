"""RocketMQ's strategies. The vectors say which answer it is; here is what users rely on, and answers at the edges."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors import AssignorError
from monitor.assignors.registry import System, UnknownAssignor, find
from monitor.assignors.rocketmq.averagely import Averagely
from monitor.assignors.rocketmq.averagely_by_circle import AveragelyByCircle
from monitor.assignors.rocketmq.by_config import ByConfig
from monitor.assignors.rocketmq.by_machine_room import ByMachineRoom
from monitor.assignors.rocketmq.consistent_hash import ConsistentHash
from monitor.assignors.rocketmq.machine_room_nearby import MachineRoomNearby
from monitor.assignors.rocketmq.message_queue import MessageQueue, sorted_clients, sorted_queues

FAIR = [Averagely(), AveragelyByCircle(), ByMachineRoom(rooms=frozenset(["hz", "sh"]))]
WHOLE = [*FAIR, ConsistentHash(), *(MachineRoomNearby(inner=inner) for inner in (Averagely(), ConsistentHash()))]
whole = pytest.mark.parametrize("strategy", WHOLE, ids=lambda strategy: strategy.name)

brokers = st.sampled_from(["hz@a-0", "sh@b-1", "hz@\uffee", "sh@\U0001f600"])
queue = st.builds(MessageQueue, st.just("t"), brokers, st.integers(0, 20))
queues = st.lists(queue, unique=True, min_size=1, max_size=25).map(sorted_queues)
clients = st.lists(st.sampled_from(["hz@x-1", "hz@x-10", "c-2", "\uffee-3", "\U0001f600-4"]), unique=True, min_size=1)


def taken(strategy, queues, clients):
    return {share.client: share.queues for share in strategy.allocate(queues, clients, ask=clients)}


@whole
@given(queues=queues, clients=clients)
def test_every_queue_has_one_taker(strategy, queues, clients):
    shares = taken(strategy, queues, sorted_clients(clients)).values()
    assert Counter(queue for share in shares for queue in share) == Counter(queues)


@pytest.mark.parametrize("strategy", FAIR, ids=lambda strategy: strategy.name)
@given(queues=queues, clients=clients)
def test_shares_differ_by_at_most_one(strategy, queues, clients):
    sizes = [len(share) for share in taken(strategy, queues, clients).values()]
    assert max(sizes) - min(sizes) <= 1


@whole
@given(queues=queues, clients=clients, data=st.data())
def test_sorted_lists_make_the_order_of_the_input_irrelevant(strategy, queues, clients, data):
    mixed = data.draw(st.permutations(queues)), data.draw(st.permutations(clients))
    other = taken(strategy, sorted_queues(mixed[0]), sorted_clients(mixed[1]))
    assert other == taken(strategy, queues, sorted_clients(clients))


@given(queues=queues, clients=clients)
def test_a_client_that_leaves_a_ring_moves_only_its_own_queues(queues, clients):
    before = taken(ConsistentHash(), queues, clients)
    if len(clients) > 1:
        after = taken(ConsistentHash(), queues, clients[1:])
        assert all(set(before[client]) <= set(after[client]) for client in clients[1:])


ONE = [MessageQueue("t", "hz@a-0", 0)]


@pytest.mark.parametrize(
    ("queues", "clients", "client", "error"),
    [
        pytest.param(ONE, ["c"], "", "IllegalArgumentException: currentCID is empty", id="no client id"),
        pytest.param([], ["c"], "c", "IllegalArgumentException: mqAll is null or mqAll empty", id="no queues"),
        pytest.param(ONE, [], "c", "IllegalArgumentException: cidAll is null or cidAll empty", id="no clients"),
        pytest.param([], [], "", "IllegalArgumentException: currentCID is empty", id="the id is looked at first"),
    ],
)
@whole
def test_what_every_strategy_refuses(strategy, queues, clients, client, error):
    [share] = strategy.allocate(queues, clients, ask=[client])
    assert (share.queues, share.error) == (None, error)


@whole
def test_a_stranger_takes_nothing(strategy):
    [share] = strategy.allocate(ONE, ["hz@x-1"], ask=["stranger"])
    assert (share.queues, share.error) == ((), None)


def test_rooms_that_were_never_configured_fail_only_where_a_broker_has_one():
    strategy = ByMachineRoom()
    [fails] = strategy.allocate(ONE, ["c"], ask=["c"])
    assert fails.error.startswith("NullPointerException: Cannot invoke")
    assert strategy.allocate([MessageQueue("t", "plain", 0)], ["c"], ask=["c"])[0].queues == ()


@pytest.mark.parametrize(
    ("broker", "counts"),
    [("hz@a", True), ("hz@a@", True), ("hz@", False), ("hz", False), ("@a", False), ("hz@a@b", False), ("", False)],
)
def test_the_room_of_a_broker_is_split_off_as_java_splits(broker, counts):
    """Java's split drops empty parts at the end, and only there."""
    [share] = ByMachineRoom(rooms=frozenset(["hz"])).allocate([MessageQueue("t", broker, 0)], ["c"], ask=["c"])
    assert len(share.queues) == counts


def test_a_broker_without_a_room_fails_for_everybody_in_the_list():
    shares = MachineRoomNearby(inner=Averagely()).allocate([MessageQueue("t", "-a", 3)], ["hz-c"], ask=["hz-c", "x"])
    why = "IllegalArgumentException: Machine room is null for mq MessageQueue [topic=t, brokerName=-a, queueId=3]"
    assert [share.error for share in shares] == [why, None]


def test_a_negative_number_of_virtual_nodes_is_refused_at_once():
    with pytest.raises(AssignorError, match=r"^IllegalArgumentException: illegal virtualNodeCnt :-1$"):
        ConsistentHash(virtual_nodes=-1)


def test_without_virtual_nodes_nobody_takes_anything():
    assert taken(ConsistentHash(virtual_nodes=0), ONE, ["c"]) == {"c": ()}


def test_a_list_that_was_never_configured_inside_another_strategy_is_javas_null():
    [share] = MachineRoomNearby(inner=ByConfig()).allocate(ONE, ["hz@a-c"], ask=["hz@a-c"])
    assert share.error == 'NullPointerException: Cannot invoke "java.util.Collection.toArray()" because "c" is null'


def test_strategies_are_found_by_the_names_that_clients_report():
    assert find("AVG", System.ROCKETMQ) == Averagely()
    assert find("MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", System.ROCKETMQ) == MachineRoomNearby(inner=AveragelyByCircle())
    assert find("avg", System.ROCKETMQ) == UnknownAssignor(name="avg")
