import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import msgspec
import pytest

from monitor.collectors.errors import CollectorError, ConnectionFailed, PermissionMissing
from monitor.collectors.rocketmq.reader import RocketMQReader
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import ConfigError, RocketMQSettings
from monitor.model import (
    GroupKind,
    GroupObserved,
    Member,
    ObservedOffset,
    PartitionObserved,
    Sharing,
    Source,
    TopicPartitions,
)
from monitor.model.rocketmq import RedeliveryObserved
from tests.collectors.rocketmq.server import Client, Cluster, Reply, Request, Server, held, replaying, serving
from tests.support.rocketmq_captures import exchange

NOW_MS = 1_795_000_000_000
AVERAGELY, BY_CIRCLE = "AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"


@pytest.fixture
def reader() -> Iterator[Callable[..., RocketMQReader]]:
    """Gives readers, and closes them at the end."""
    with ExitStack() as opened:

        def reader(server: Server | str, **settings: object) -> RocketMQReader:
            servers = server if isinstance(server, str) else server.address
            given = {"request_limit_s": 20} | settings
            chosen = RocketMQSettings.model_validate({"name": "mq", "name_servers": servers} | given)
            return opened.enter_context(closing(RocketMQReader(chosen, clock=lambda: NOW_MS)))

        yield reader


def group(reading: SourceSnapshot, name: str) -> GroupObserved:
    return next(each for each in reading.groups if each.group == name)


def queues(topic: str, *numbers: int, broker: str = "broker-a") -> TopicPartitions:
    return TopicPartitions(topic, tuple(f"{broker}-{number}" for number in numbers))


def holdings(found: GroupObserved) -> dict[str, tuple[TopicPartitions, ...]]:
    return {member.member_id: member.assigned for member in found.members}


# --- captured clusters ------------------------------------------------------------------------------------------------


def test_a_captured_cluster_of_5_5_is_read_as_it_was(reader):
    """Averagely over 3 members and 8 queues: 3, 3, 2; by circle over 2: the even ones and the odd ones."""
    with replaying("5.5.0") as server:
        reading = reader(server).read(NOW_MS - 5)
    assert (reading.source, reading.complete, reading.problems) == (Source.SYSTEM, True, ())
    assert [each.group for each in reading.groups] == ["lab-circle", "lab-group"]
    assert group(reading, "lab-group") == GroupObserved(
        cluster="mq",
        group="lab-group",
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        pass_ms=NOW_MS - 5,
        observed_ms=NOW_MS,
        members=tuple(
            Member(
                member_id=f"127.0.0.1@c{number}",
                topics=("LabTopic",),
                assigned=(queues("LabTopic", *numbers),),
                host="127.0.0.1",
                assignor=AVERAGELY,
                expressions=(),
            )
            for number, numbers in ((1, (0, 1, 2)), (2, (3, 4, 5)), (3, (6, 7)))
        ),
        offsets=tuple(
            ObservedOffset("LabTopic", f"broker-a-{number}", offset)
            for number, offset in enumerate((595, 595, 595, 595, 596, 596, 595, 595))
        ),
        protocol=AVERAGELY,
        unreadable=(),
    )
    circle = group(reading, "lab-circle")
    assert circle.protocol == BY_CIRCLE
    assert holdings(circle) == {
        "127.0.0.1@d1": (queues("LabTopic", 0, 2, 4, 6),),
        "127.0.0.1@d2": (queues("LabTopic", 1, 3, 5, 7),),
    }


def test_a_captured_clusters_topics_are_those_that_groups_read_with_the_ends_of_their_queues(reader):
    with replaying("5.5.0") as server:
        (topic,) = reader(server).read(NOW_MS).topics
    told = exchange("5.5.0/202-topic-stats-LabTopic").decoded["offsetTable"]["__pairs__"]
    ends = {key["queueId"]: value["maxOffset"] for key, value in told}
    assert (topic.cluster, topic.topic, topic.pass_ms, topic.observed_ms) == ("mq", "LabTopic", NOW_MS, NOW_MS)
    assert topic.partitions == tuple(
        PartitionObserved(partition=f"broker-a-{number}", earliest=0, end=ends[number]) for number in range(8)
    )


def test_a_captured_cluster_of_4_9_is_read_as_it_was(reader):
    """Its list of brokers and its offsets were not captured: it has those of 5.5, and none."""
    more = {(106, ""): exchange("5.5.0/106-cluster-info").response_body, (43, ""): b'{"offsetTable":{}}'}
    with replaying("4.9.7", more=more) as server:
        reading = reader(server).read(NOW_MS)
    assert holdings(group(reading, "lab-group")) == {
        "127.0.0.1@c1": (queues("LabTopic", 0, 1, 2),),
        "127.0.0.1@c2": (queues("LabTopic", 3, 4, 5),),
        "127.0.0.1@c3": (queues("LabTopic", 6, 7),),
    }
    assert group(reading, "lab-circle").protocol == BY_CIRCLE


def test_members_that_subscribe_to_different_topics_are_told_by_their_own_words(reader):
    """The broker knows the newest subscription only, OtherTopic; the members were asked for theirs."""
    with captured_groups("4.9.7-mixed", "lab-mixed-sub", "lab-mixed-strategy") as server:
        reading = reader(server).read(NOW_MS)
    mixed = group(reading, "lab-mixed-sub")
    assert [member.topics for member in mixed.members] == [("LabTopic",), ("OtherTopic",)]
    assert holdings(mixed) == {
        "127.0.0.1@e1": (queues("LabTopic", 0, 1, 2, 3),),
        "127.0.0.1@e2": (queues("OtherTopic", 4, 5, 6, 7),),
    }
    assert [topic.topic for topic in reading.topics] == ["LabTopic", "OtherTopic"]


def test_members_with_different_strategies_have_no_common_one(reader):
    """Averagely gives f1 0-3; by circle f2 has 1, 3, 5, 7: so 1 and 3 twice, and 4 and 6 not at all."""
    with captured_groups("4.9.7-mixed", "lab-mixed-sub", "lab-mixed-strategy") as server:
        mixed = group(reader(server).read(NOW_MS), "lab-mixed-strategy")
    assert [member.assignor for member in mixed.members] == [AVERAGELY, BY_CIRCLE]
    assert mixed.protocol is None
    assert holdings(mixed) == {
        "127.0.0.1@f1": (queues("LabTopic", 0, 1, 2, 3),),
        "127.0.0.1@f2": (queues("LabTopic", 1, 3, 5, 7),),
    }


def test_groups_that_broadcast_or_pop_are_told_from_those_whose_queues_have_owners(reader):
    names = ("lab-broadcast", "lab-litepull", "lab-orderly", "lab-pop")
    with captured_groups("5.5.0-modes", *names) as server:
        reading = reader(server).read(NOW_MS)
    assert {each.group: each.sharing for each in reading.groups} == {
        "lab-broadcast": Sharing.BROADCAST,
        "lab-litepull": Sharing.EXCLUSIVE,
        "lab-orderly": Sharing.EXCLUSIVE,
        "lab-pop": Sharing.BY_RECORD,
    }
    everything = (queues("LabTopic", *range(8)),)
    assert holdings(group(reading, "lab-broadcast")) == dict.fromkeys(
        ("127.0.0.1@broadcast1", "127.0.0.1@broadcast2"), everything
    )
    assert set(holdings(group(reading, "lab-litepull")).values()) == {
        (queues("LabTopic", 0, 1, 2, 3),),
        (queues("LabTopic", 4, 5, 6, 7),),
    }
    assert set(holdings(group(reading, "lab-pop")).values()) == {()}
    assert all(member.answers for each in reading.groups for member in each.members)


def test_members_that_came_by_the_proxy_are_not_asked_and_own_nothing(reader):
    with captured_groups("5.5.0-proxy", "grpc-group") as server:
        found = group(reader(server).read(NOW_MS), "grpc-group")
        assert not server.count(307)
    assert found.sharing is Sharing.BY_RECORD
    assert [(member.member_id, member.answers, member.topics) for member in found.members] == [
        ("vm@17762@0@dn0bae068e1y", True, ("LabTopic",)),
        ("vm@17763@0@dn0bae06aod0", True, ("LabTopic",)),
    ]
    assert [each.offset for each in found.offsets] == [262, 261, 262, 263, 263, 263, 262, 262]


def captured_groups(name: str, *groups: str):
    """A captured set of groups, with what was not captured with it: where the broker is, and what it has."""
    queues = b'{"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,"writeQueueNums":8}]}'
    more = {
        (106, ""): b'{"brokerAddrTable":{"broker-a":{"brokerName":"broker-a","brokerAddrs":{0:"127.0.0.1:10911"}}}}',
        (201, ""): b'{"subscriptionGroupTable":{%s}}' % b",".join(b'"%s":{}' % each.encode() for each in groups),
        (105, "LabTopic"): queues,
        (105, "OtherTopic"): queues,
    }
    if name == "5.5.0-modes":
        more[43, ""] = b'{"offsetTable":{}}'
    return replaying(name, more=more)


# --- clusters of our own ----------------------------------------------------------------------------------------------

TWO = {"broker-a": {"T": 4}, "broker-b": {"T": 4}}


def pair(**second: object) -> list[Client]:
    """Two members that share the queues of T evenly, the second as given."""
    return [
        Client("c1", ("T",), held("T", "broker-a", range(4))),
        Client("c2", ("T",), held("T", "broker-b", range(4)), **second),
    ]


def test_every_broker_is_asked_and_queues_are_named_by_theirs(reader):
    offsets = {"broker-a": {("T", "g", 3): 7}, "broker-b": {("T", "g", 0): 9}}
    with (cluster := Cluster(TWO, {"g": pair()}, offsets)).serving() as server:
        reading = reader(server).read(NOW_MS)
    assert holdings(group(reading, "g")) == {
        "c1": (queues("T", 0, 1, 2, 3),),
        "c2": (queues("T", 0, 1, 2, 3, broker="broker-b"),),
    }
    assert group(reading, "g").offsets == (ObservedOffset("T", "broker-a-3", 7), ObservedOffset("T", "broker-b-0", 9))
    ids = [f"broker-{name}-{number}" for name in "ab" for number in range(4)]
    assert [each.partition for each in reading.topics[0].partitions] == ids
    assert [each.connections for each in group(reading, "g").members] == [1, 1]
    assert all(each.count(43) == 1 for each in cluster.servers.values())


def test_queues_are_in_the_order_of_their_numbers(reader):
    clients = [Client("c1", ("T",), held("T", "b", [11, 2, 10, 0]))]
    with Cluster({"b": {"T": 12}}, {"g": clients}).serving() as server:
        reading = reader(server).read(NOW_MS)
    assert group(reading, "g").members[0].assigned == (queues("T", 0, 2, 10, 11, broker="b"),)
    assert [each.partition for each in reading.topics[0].partitions] == [f"b-{number}" for number in range(12)]


def test_a_group_without_members_is_there_as_long_as_it_has_offsets(reader):
    offsets = {"b": {("T", "left", 0): 5}}
    with Cluster({"b": {"T": 1}}, {"never-used": []}, offsets).serving() as server:
        reading = reader(server).read(NOW_MS)
    (found,) = reading.groups
    assert (found.group, found.members, found.offsets) == ("left", (), (ObservedOffset("T", "b-0", 5),))


def test_rocketmqs_own_groups_and_topics_and_retry_topics_are_left_out(reader):
    own = {("T", "CID_RMQ_SYS_TRANS", 0): 1, ("T", "TOOLS_CONSUMER", 0): 1, ("rmq_sys_X", "g", 0): 1}
    mine = {("T", "g", 0): 1, ("%RETRY%g", "g", 0): 1}
    clients = [Client("c", ("%RETRY%g", "T"), (*held("%RETRY%g", "b", [0]), *held("T", "b", [0])))]
    with Cluster({"b": {"T": 1, "%RETRY%g": 1, "rmq_sys_X": 1}}, {"g": clients}, {"b": own | mine}).serving() as server:
        reading = reader(server).read(NOW_MS)
    assert [each.group for each in reading.groups] == ["g"]
    assert [each.topic for each in reading.topics] == ["T"]
    assert [each.topic for each in group(reading, "g").offsets] == ["T"]
    assert (group(reading, "g").members[0].topics, holdings(group(reading, "g"))["c"]) == (
        ("T",),
        (queues("T", 0, broker="b"),),
    )


def test_only_the_groups_that_are_asked_for_are_read(reader):
    groups = {name: [Client(f"{name}-1", ("T",))] for name in ("orders-a", "orders-b", "payments")}
    with Cluster({"b": {"T": 1}}, groups).serving() as server:
        reading = reader(server, groups="orders-.*").read(NOW_MS)
    assert [each.group for each in reading.groups] == ["orders-a", "orders-b"]


def test_offsets_of_topics_and_queues_that_are_no_more_are_left_out(reader):
    offsets = {"b": {("T", "g", 0): 1, ("T", "g", 1): 2, ("gone", "g", 0): 3}}
    with Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T", "gone"))]}, offsets).serving() as server:
        reading = reader(server).read(NOW_MS)
    assert group(reading, "g").offsets == (ObservedOffset("T", "b-0", 1),)
    assert [each.topic for each in reading.topics] == ["T"]


def test_two_clients_of_one_name_are_one_member_with_two_connections(reader):
    with Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",), connections=2)]}).serving() as server:
        (member,) = group(reader(server).read(NOW_MS), "g").members
    assert member.connections == 2


def test_a_member_that_hangs_keeps_what_it_held_and_the_others_are_read(reader):
    cluster = Cluster(TWO, {"g": pair()})
    with cluster.serving() as server:
        reads = reader(server, request_limit_s=0.5)
        before = group(reads.read(NOW_MS), "g")
        cluster.client("c2").hangs = True
        after = group(reads.read(NOW_MS), "g")
    assert holdings(after) == holdings(before)
    assert [(member.member_id, member.answers) for member in after.members] == [("c1", True), ("c2", False)]
    assert after.members[1].assignor == AVERAGELY
    assert after.protocol == AVERAGELY


def test_a_member_that_never_answered_holds_nothing_that_is_known(reader):
    with Cluster(TWO, {"g": pair(hangs=True)}).serving() as server:
        found = group(reader(server, request_limit_s=0.5).read(NOW_MS), "g")
    assert [(member.answers, member.assigned) for member in found.members[1:]] == [(False, ())]
    assert found.members[1].topics == ("T",)


def test_what_others_hold_by_now_a_silent_member_does_not(reader):
    cluster = Cluster(TWO, {"g": pair()})
    with cluster.serving() as server:
        reads = reader(server, request_limit_s=0.5)
        reads.read(NOW_MS)
        cluster.client("c2").hangs = True
        cluster.client("c1").held += held("T", "broker-b", [0, 1])
        after = group(reads.read(NOW_MS), "g")
    assert holdings(after)["c2"] == (queues("T", 2, 3, broker="broker-b"),)


def test_a_silent_member_is_not_waited_for_a_second_time(reader):
    """It is asked beside the reading when the broker has given up the last question, ten seconds later."""
    cluster = Cluster(TWO, {"g": pair(hangs=True)})
    with cluster.serving() as server:
        reads = reader(server, request_limit_s=0.5)
        for _ in range(3):
            reads.read(NOW_MS)
        asked = [
            each.fields["clientId"] for broker in cluster.servers.values() for each in broker.asked if each.code == 307
        ]
    assert (asked.count("c1"), asked.count("c2")) == (3, 1)


def test_a_member_that_has_left_meanwhile_is_no_member(reader):
    cluster = Cluster(TWO, {"g": pair(unknown=True)}, gone={"c2"})
    with cluster.serving() as server:
        found = group(reader(server).read(NOW_MS), "g")
    assert list(holdings(found)) == ["c1"]


def test_members_are_not_asked_when_too_many_of_a_broker_are_silent(reader):
    """A broker has 16 threads for all its administrators, and each silent client takes one for ten seconds."""
    clients = [Client(f"c{number:02}", ("T",), hangs=True) for number in range(30)]
    cluster = Cluster({"b": {"T": 30}}, {"g": clients})
    with cluster.serving() as server:
        found = group(reader(server, request_limit_s=0.5).read(NOW_MS), "g")
        assert cluster.servers["b"].count(307) == 8
    assert len(found.members) == 30
    assert not any(member.answers for member in found.members)


@pytest.mark.parametrize(
    ("client", "sharing"),
    [
        pytest.param(
            Client("c", ("T",), properties={"registerTopics": "[T]"}),
            Sharing.BY_RECORD,
            id="DefaultMQPullConsumer, which tells none of the queues that it reads",
        ),
        pytest.param(
            Client("c", (), held("T", "b", [0])),
            Sharing.BY_RECORD,
            id="a lite pull consumer that was told its queues, and subscribes to nothing",
        ),
        pytest.param(
            Client("c", ("%RETRY%g",), held("T", "b", [0])),
            Sharing.EXCLUSIVE,
            id="a consumer that has just unsubscribed, and still holds a queue",
        ),
    ],
)
def test_a_consumer_that_chooses_its_queues_itself_has_no_owners(reader, client, sharing):
    with Cluster({"b": {"T": 1}}, {"g": [client]}, {"b": {("T", "g", 0): 1}}).serving() as server:
        assert group(reader(server).read(NOW_MS), "g").sharing is sharing


def test_an_unreadable_answer_of_a_member_is_said_of_it(reader):
    clients = [Client("c1", ("T",)), Client("c2", ("T",))]
    cluster = Cluster({"b": {"T": 1}}, {"g": clients})
    with cluster.serving() as server:
        cluster.servers["b"].handler = broken_for("c2", cluster.servers["b"].handler)
        members = group(reader(server).read(NOW_MS), "g").members
    assert [member.unreadable for member in members] == [None, "bad_json at byte 1 of the body"]


def broken_for(client_id: str, handler: Callable[[Request], Reply | bytes | None]):
    def answer(request: Request) -> Reply | bytes | None:
        broken = request.code == 307 and request.fields["clientId"] == client_id
        return Reply(b"{") if broken else handler(request)

    return answer


def test_a_broker_that_is_away_makes_the_reading_incomplete_and_keeps_no_other_from_being_read(reader):
    cluster = Cluster(TWO, {"g": pair()}, {"broker-a": {("T", "g", 0): 7}})
    with cluster.serving() as server:
        away = cluster.servers["broker-b"].address
        cluster.servers["broker-b"].close()
        reading = reader(server).read(NOW_MS)
    assert not reading.complete
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith(f"Cluster mq: {away}: ")
    assert group(reading, "g").offsets == (ObservedOffset("T", "broker-a-0", 7),)
    ends = {each.partition: each.end for each in reading.topics[0].partitions}
    assert (ends["broker-a-0"], ends["broker-b-0"]) == (100, None)


def test_readings_are_partial_while_a_broker_does_not_answer(reader):
    cluster = Cluster(TWO, {"g": pair()}, {"broker-a": {("T", "g", 0): 7}})
    with cluster.serving() as server:
        reads = reader(server)
        before = group(reads.read(NOW_MS), "g").partial
        cluster.servers["broker-b"].close()
        assert (before, group(reads.read(NOW_MS), "g").partial) == (False, True)


def test_while_a_broker_does_not_answer_it_is_unknown_what_was_sent_back_and_may_not_be_read(reader):
    cluster = Cluster(TWO, {"g": pair()}, {"broker-a": {("T", "g", 0): 7}})
    with cluster.serving() as server:
        reads = reader(server)
        before = group(reads.read(NOW_MS), "g")
        cluster.servers["broker-b"].close()
        after = group(reads.read(NOW_MS), "g")
    assert (before.redelivery, before.unreadable) == (RedeliveryObserved(consumed=7), ())
    assert (after.redelivery, after.unreadable) == (None, None)


def test_a_group_whose_members_may_all_be_at_a_broker_that_does_not_answer_is_not_told(reader):
    """It has an old offset at the other broker, and would seem to have no members."""
    brokers = {"broker-a": {"OLD": 1}, "broker-b": {"T": 1}}
    cluster = Cluster(brokers, {"g": [Client("c", ("T",))]}, {"broker-a": {("OLD", "g", 0): 5}})
    with cluster.serving() as server:
        answer = cluster.servers["broker-a"].handler
        cluster.servers["broker-a"].handler = lambda each: Reply(code=206) if each.code == 203 else answer(each)
        reads = reader(server)
        before = reads.read(NOW_MS)
        cluster.servers["broker-b"].close()
        after = reads.read(NOW_MS)
    assert [len(each.members) for each in before.groups] == [1]
    assert (after.groups, after.complete) == ((), False)


def test_a_silent_member_has_not_left_because_its_broker_has_fallen_silent_too(reader):
    """Only broker-b has it. Asked a second time who is connected, because the member is silent, it does not say."""
    brokers = {"broker-a": {"OTHER": 1}, "broker-b": {"T": 1}}
    cluster = Cluster(brokers, {"g": pair(hangs=True)[1:]})
    with cluster.serving() as server:
        for name, given in (("broker-a", 0), ("broker-b", 1)):
            cluster.servers[name].handler = connections_once(cluster.servers[name].handler, given)
        reading = reader(server, request_limit_s=0.5).read(NOW_MS)
    assert [member.member_id for member in group(reading, "g").members] == ["c2"]
    assert not reading.complete


def connections_once(handler: Callable[[Request], Reply | bytes | None], given: int):
    """A broker that tells so often who is connected, and then is too busy; with none, it has nobody."""
    asked = []

    def answer(request: Request) -> Reply | bytes | None:
        if request.code != 203 or len(asked) < given:
            asked.extend([request] if request.code == 203 else [])
            return handler(request)
        return Reply(code=2 if given else 206)

    return answer


def test_a_slave_that_is_read_in_place_of_its_master_tells_members_and_no_offsets(reader):
    """What it has of them is some seconds old. A group that has nothing but offsets there is still a group."""
    kept = {"broker-a": {("T", "g", 0): 7}, "broker-b": {("T", "g", 0): 9, ("T", "left", 0): 3}}
    cluster = Cluster(TWO, {"g": pair()}, kept, slaves={"broker-b"})
    with cluster.serving() as server:
        reading = reader(server).read(NOW_MS)
    assert group(reading, "g").offsets == (ObservedOffset("T", "broker-a-0", 7),)
    assert [each.member_id for each in group(reading, "g").members] == ["c1", "c2"]
    assert [(each.group, each.offsets, each.partial) for each in reading.groups if each.group != "g"] == [
        ("left", (), True)
    ]
    ends = {each.partition: (each.earliest, each.end) for each in reading.topics[0].partitions}
    assert (ends["broker-a-0"], ends["broker-b-0"]) == ((0, 100), (None, None))
    assert reading.complete
    assert reading.problems[0].endswith("master, which is down: its offsets may be stale and are left out.")


def test_a_broker_that_comes_back_is_read_again(reader):
    cluster = Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",))]})
    with cluster.serving() as server:
        reads = reader(server)
        assert reads.read(NOW_MS).complete
        cluster.servers["b"].close()
        cluster.servers["b"] = Server(cluster.broker("b"))
        assert reads.read(NOW_MS).complete
        cluster.servers["b"].close()


def test_no_broker_that_answers_is_an_error(reader):
    cluster = Cluster({"b": {"T": 1}})
    with cluster.serving() as server:
        cluster.servers["b"].close()
        with pytest.raises(ConnectionFailed, match=r"^Cluster mq: 127\.0\.0\.1:"):
            reader(server).read(NOW_MS)


def test_a_name_server_without_brokers_is_an_error(reader):
    with Cluster({}).serving() as server, pytest.raises(ConnectionFailed, match="no broker is registered"):
        reader(server).read(NOW_MS)


def test_another_name_server_is_asked_when_one_is_away_and_first_from_then_on(reader):
    with Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",))]}).serving() as server:
        reads = reader(f"127.0.0.1:1;{server.address}")
        assert reads.read(NOW_MS).complete
        assert reads._servers == [server.address, "127.0.0.1:1"]


def test_a_name_server_that_fails_within_a_reading_is_not_the_first_to_be_asked_again(reader):
    cluster = Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",))]})
    with cluster.serving() as server, serving(lambda each: _without_routes(cluster, each)) as failing:
        reads = reader(f"{failing.address};{server.address}")
        with pytest.raises(ConnectionFailed, match=r"Cluster mq: .* refuses GET_ROUTEINFO_BY_TOPIC \(code 1\)"):
            reads.read(NOW_MS)
        assert reads.read(NOW_MS).complete


def _without_routes(cluster: Cluster, request: Request) -> Reply | None:
    return Reply(code=1) if request.code == 105 else cluster.name_server(request)


def test_no_name_server_that_answers_is_an_error_that_names_them_all(reader):
    with pytest.raises(
        ConnectionFailed, match=r"Cluster mq: no name server answers\. 127\.0\.0\.1:1: .* 127\.0\.0\.1:2: "
    ):
        reader("127.0.0.1:1;127.0.0.1:2").read(NOW_MS)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (201, "GET_ALL_SUBSCRIPTIONGROUP_CONFIG"),
        (203, "GET_CONSUMER_CONNECTION_LIST"),
        (402, "GET_ALL_MESSAGE_REQUEST_MODE"),
    ],
)
@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(Reply(code=16, remark="no permission"), id="5.5"),
        pytest.param(Reply(code=1, remark="org.apache.rocketmq.acl.common.AclException: No accessKey"), id="4.9"),
    ],
)
def test_a_request_that_the_access_key_may_not_make_is_named(reader, code, named, refusal):
    refused = pytest.raises(PermissionMissing, match=f"refuses {named}: the access key is wrong")
    cluster = Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",))]}, refuses={code: refusal})
    with cluster.serving() as server, refused:
        reader(server).read(NOW_MS)


@pytest.mark.parametrize("code", [43, 202])
def test_what_a_broker_does_not_tell_is_a_problem_and_not_nothing(reader, code):
    cluster = Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",))]}, refuses={code: Reply(code=1, remark="a bug")})
    with cluster.serving() as server:
        reading = reader(server).read(NOW_MS)
    assert not reading.complete
    assert reading.problems[0].endswith("(code 1).")


def test_a_broker_that_is_too_busy_to_say_who_is_connected_has_not_said_that_nobody_is(reader):
    cluster = Cluster(TWO, {"g": pair()})
    with cluster.serving() as server:
        answer = cluster.servers["broker-b"].handler
        cluster.servers["broker-b"].handler = lambda each: Reply(code=2) if each.code == 203 else answer(each)
        reading = reader(server).read(NOW_MS)
    assert not reading.complete
    assert reading.problems[0].endswith("refuses GET_CONSUMER_CONNECTION_LIST (code 2).")


def test_requests_to_name_servers_and_brokers_are_signed(reader, monkeypatch):
    monkeypatch.setenv("ROCKETMQ_SECRET", "hush")
    cluster = Cluster({"b": {"T": 1}}, {"g": [Client("c", ("T",))]})
    with cluster.serving() as server:
        reads = reader(server, access_key="me", secret_key="${env:ROCKETMQ_SECRET}")
        reads.read(NOW_MS)
        asked = server.asked + cluster.servers["b"].asked
    assert {each.fields["AccessKey"] for each in asked} == {"me"}
    assert all(each.fields["Signature"] for each in asked)
    assert not any("hush" in str(each) for each in asked)


def test_a_secret_that_cannot_be_looked_up_is_an_error_of_the_configuration(reader):
    with pytest.raises(ConfigError, match=r"rocketmq\.mq\.secret_key"):
        reader("127.0.0.1:1", access_key="me", secret_key="${env:NOT_SET_ANYWHERE}").read(NOW_MS)


def test_a_file_of_certificates_that_is_none_is_an_error_of_the_configuration(reader, tmp_path):
    (tmp_path / "ca").write_text("no certificate")
    with pytest.raises(ConfigError, match=r"rocketmq\.mq\.tls_ca_file"):
        reader("127.0.0.1:1", tls=True, tls_ca_file=str(tmp_path / "ca")).read(NOW_MS)


def test_names_with_odd_characters_are_read_as_they_are(reader):
    odd = 'a}:{"b\\ \N{SNOWMAN}\u202e\n'
    offsets = {"b-1": {(odd, odd, 0): 3}}
    clients = [Client(odd, (odd,), held(odd, "b-1", [0]))]
    with Cluster({"b-1": {odd: 1}}, {odd: clients}, offsets).serving() as server:
        reading = reader(server).read(NOW_MS)
    (found,) = reading.groups
    assert (found.group, found.members[0].member_id) == (odd, odd)
    assert found.members[0].assigned == (TopicPartitions(odd, ("b-1-0",)),)
    assert found.offsets == (ObservedOffset(odd, "b-1-0", 3),)


def test_a_broker_that_answers_with_nonsense_is_a_problem_and_no_more(reader):
    cluster = Cluster(TWO, {"g": pair()})
    with cluster.serving() as server:
        cluster.servers["broker-b"].handler = lambda _: Reply(b'{"subscriptionGroupTable":{{{')
        reading = reader(server).read(NOW_MS)
    assert not reading.complete
    assert "sent an undecodable response to GET_ALL_SUBSCRIPTIONGROUP_CONFIG" in reading.problems[0]
    assert [each.group for each in reading.groups] == ["g"]


@pytest.mark.parametrize("seed", range(25))
def test_whatever_servers_answer_gives_a_reading_or_an_error_that_says_so(reader, seed):
    """Captured bodies, of which one in eight is damaged: a byte is another one, or the end is missing."""
    chance = random.Random(seed)

    def damaged(reply: Reply) -> Reply:
        body = bytearray(reply.body)
        if not body or chance.random() > 1 / 8:
            return reply
        place = chance.randrange(len(body))
        body[place] = chance.choice(b'{}[]:,"-019.tn\\\xff\x00')
        return Reply(bytes(body[: place + chance.choice((0, len(body)))]), reply.code, reply.remark)

    with replaying("5.5.0") as server:
        answer = server.handler
        server.handler = lambda request: damaged(answer(request))
        reads = reader(server)
        for _ in range(5):
            try:
                reading = reads.read(NOW_MS)
            except CollectorError as error:
                outcome = str(error)
            else:
                outcome = " ".join(reading.problems)
                assert reading.complete == (not outcome)
                assert msgspec.json.encode(reading.groups)
            assert outcome == "" or (outcome.startswith("Cluster mq: ") and outcome.isprintable()), outcome


def test_five_thousand_queues_are_read_whole(reader):
    topics = {f"T{number:03}": 8 for number in range(625)}
    clients = [
        Client(
            f"c{n}",
            tuple(topics),
            tuple(each for topic in topics for each in held(topic, "b", range(n * 4, n * 4 + 4))),
        )
        for n in range(2)
    ]
    offsets = {(topic, "g", number): 42 for topic in topics for number in range(8)}
    with Cluster({"b": topics}, {"g": clients}, {"b": offsets}).serving() as server:
        reading = reader(server).read(NOW_MS)
    assert len(reading.topics) == 625
    assert {each.end for topic in reading.topics for each in topic.partitions} == {100}
    found = group(reading, "g")
    assert len(found.offsets) == 5_000
    assert [sum(len(each.partitions) for each in member.assigned) for member in found.members] == [2_500, 2_500]


def test_closing_ends_the_readers_threads(reader):
    with Cluster(TWO, {"g": pair()}).serving() as server:
        reads = reader(server, name="ends")
        reads.read(NOW_MS)
        reads.close()
        deadline = time.monotonic() + 10
        while any("rocketmq-ends" in each.name for each in threading.enumerate()) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert not any("rocketmq-ends" in each.name for each in threading.enumerate())


def test_a_reader_that_was_closed_reads_again(reader):
    with Cluster(TWO, {"g": pair()}).serving() as server:
        reads = reader(server)
        before = reads.read(NOW_MS)
        reads.close()
        assert reads.read(NOW_MS) == before


def test_an_unused_server_is_never_asked(reader):
    with serving(lambda _: None) as unused, Cluster({"b": {"T": 1}}).serving() as server:
        reader(f"{server.address};{unused.address}").read(NOW_MS)
        assert not unused.connections
