import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.protocol.rocketmq import requests, responses
from monitor.protocol.rocketmq.requests import Request
from monitor.protocol.rocketmq.responses import MAX_QUEUES, Connection, Queue
from monitor.protocol.wire.errors import REASONS, DecodeError
from tests.support.examples import example_count
from tests.support.rocketmq_captures import Exchange, exchange, exchanges, refusal

READERS: dict[int, Callable[[bytes], Any]] = {
    43: responses.offsets_in,
    105: responses.route_in,
    106: responses.brokers_in,
    201: responses.groups_in,
    202: responses.topic_stats_in,
    203: responses.connections_in,
    307: responses.running_info_in,
    402: responses.request_modes_in,
}


def captured(*codes: int) -> list[Exchange]:
    return [each for each in exchanges() if each.code in codes and "__error__" not in each.decoded]


def pairs(table: Any) -> list[Any]:
    """The entries of a captured map by queues, an empty one included."""
    return table.get("__pairs__", [])


def queue(key: dict[str, Any]) -> Queue:
    return Queue(topic=key["topic"], broker=key["brokerName"], number=key["queueId"])


def queues(table: Any) -> set[Queue]:
    return {queue(key) for key, _ in pairs(table)}


def by_name(found: Iterable[Exchange]) -> Any:
    return pytest.mark.parametrize("each", found, ids=lambda each: each.name)


@by_name(captured(201))
def test_all_configured_groups_are_there(each: Exchange):
    assert responses.groups_in(each.response_body) == tuple(sorted(each.decoded["subscriptionGroupTable"]))


@by_name(captured(43))
def test_all_offsets_are_there(each: Exchange):
    expected = {
        (key.split("@")[1], key.split("@")[0], int(number), offset)
        for key, table in each.decoded["offsetTable"].items()
        for number, offset in table.items()
    }
    found = responses.offsets_in(each.response_body)
    assert {(one.group, one.topic, one.number, one.offset) for one in found} == expected
    assert len(found) == len(expected)


@by_name(captured(105))
def test_a_route_tells_the_readable_queues_of_each_broker(each: Exchange):
    assert [(one.broker, one.readable) for one in responses.route_in(each.response_body)] == [("broker-a", 8)]


@by_name(captured(106))
def test_the_brokers_are_told_with_their_masters(each: Exchange):
    (found,) = responses.brokers_in(each.response_body)
    assert (found.broker, found.address, found.is_master) == ("broker-a", "127.0.0.1:10911", True)


@by_name(captured(202))
def test_the_ends_of_all_queues_are_there(each: Exchange):
    expected = {(queue(key), one["minOffset"], one["maxOffset"]) for key, one in pairs(each.decoded["offsetTable"])}
    found = responses.topic_stats_in(each.response_body)
    assert {(one.queue, one.earliest, one.end) for one in found} == expected
    assert [one.queue.number for one in found] == sorted(one.queue.number for one in found)


@by_name(captured(203))
def test_all_connections_are_there_and_what_the_group_subscribes_to(each: Exchange):
    found = responses.connections_in(each.response_body)
    assert {(one.client_id, one.address, one.language, one.version) for one in found.connections} == {
        (one["clientId"], one["clientAddr"], one["language"], one["version"]) for one in each.decoded["connectionSet"]
    }
    assert found.topics == tuple(sorted(each.decoded["subscriptionTable"]))
    assert found.is_broadcasting == ("broadcast" in each.name)
    assert found.consume_type == each.decoded["consumeType"]


@by_name(captured(307))
def test_what_a_member_says_of_itself_is_there(each: Exchange):
    found = responses.running_info_in(each.response_body)
    assert set(found.held) == queues(each.decoded["mqTable"])
    assert set(found.popped) == queues(each.decoded.get("mqPopTable", {}))
    assert set(found.topics) == {one["topic"] for one in each.decoded["subscriptionSet"]}
    assert found.properties == each.decoded["properties"]


@by_name(captured(402))
def test_who_reads_by_pop_is_told(each: Exchange):
    (found,) = responses.request_modes_in(each.response_body)
    assert (found.group, found.topic, found.mode) == ("lab-pop", "LabTopic", "POP")


OURS = [
    requests.cluster_info(),
    requests.route("LabTopic"),
    requests.subscription_groups(),
    requests.all_offsets(),
    requests.request_modes(),
    requests.connections("lab-group"),
    requests.topic_stats("LabTopic"),
    requests.running_info("lab-group", "127.0.0.1@c1"),
]


@pytest.mark.parametrize("ours", OURS, ids=lambda each: each.code.name)
def test_a_real_broker_was_asked_the_very_same(ours: Request):
    assert any((each.code, each.fields) == (ours.code, ours.fields) for each in exchanges())


# --- what the captures do not show ------------------------------------------------------------------------------------


def test_a_broker_without_master_is_asked_at_its_first_slave():
    body = (
        b'{"brokerAddrTable":{"b":{"brokerAddrs":{"10":"h:2","2":"h:1"},"brokerName":"b"},"none":{"brokerName":"n"}}}'
    )
    (found,) = responses.brokers_in(body)
    assert (found.address, found.is_master) == ("h:1", False)


def test_the_numbers_of_brokers_may_be_bare():
    body = b'{"brokerAddrTable":{"b":{"brokerAddrs":{1:"h:2",0:"h:1"},"brokerName":"b"}}}'
    assert [(each.address, each.is_master) for each in responses.brokers_in(body)] == [("h:1", True)]


def test_queues_that_may_only_be_written_are_not_readable():
    body = b'{"queueDatas":[{"brokerName":"b","perm":2,"readQueueNums":4,"writeQueueNums":4}]}'
    assert [each.readable for each in responses.route_in(body)] == [0]


def test_a_queue_that_was_dropped_is_not_held():
    key = b'{"topic":"t","brokerName":"b","queueId":%d}'
    body = b'{"mqTable":{' + key % 0 + b':{"droped":true},' + key % 1 + b':{"droped":false}}}'
    assert responses.running_info_in(body).held == (Queue(topic="t", broker="b", number=1),)


def test_an_offset_of_minus_one_is_none():
    assert responses.offsets_in(b'{"offsetTable":{"t@g":{0:-1,1:7}}}')[0].number == 1


def test_a_topic_may_hold_an_at_sign_and_a_key_without_one_is_no_group():
    (found,) = responses.offsets_in(b'{"offsetTable":{"a@t@g":{0:1},"odd":{0:1}}}')
    assert (found.topic, found.group) == ("a@t", "g")


def test_one_clients_two_connections_are_both_there():
    body = b'{"connectionSet":[{"clientId":"c","clientAddr":"h:1"},{"clientId":"c","clientAddr":"h:2"}]}'
    two = (Connection(client_id="c", address="h:1"), Connection(client_id="c", address="h:2"))
    assert responses.connections_in(body).connections == two


@pytest.mark.parametrize(
    ("code", "body"),
    [
        pytest.param(202, b"[]", id="not an object"),
        pytest.param(202, b'{"offsetTable":{"x":{"minOffset":0,"maxOffset":1}}}', id="a text for a queue"),
        pytest.param(202, b'{"offsetTable":{{"topic":"t"}:{"minOffset":0,"maxOffset":1}}}', id="half a queue"),
        pytest.param(43, b'{"offsetTable":{"t@g":{0:%d}}}' % 2**63, id="an offset of more than 63 bits"),
        pytest.param(43, b'{"offsetTable":{"t@g":{0:1.5}}}', id="half an offset"),
        pytest.param(43, b'{"offsetTable":{"t@g":{%d:1}}}' % (MAX_QUEUES + 1), id="a queue beyond all"),
        pytest.param(43, b'{"offsetTable":{"t@g":{"x":1}}}', id="a queue that is no number"),
        pytest.param(
            105, b'{"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":2000000000}]}', id="2,000,000,000 queues"
        ),
        pytest.param(105, b'{"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":-1}]}', id="-1 queues"),
        pytest.param(203, b'{"connectionSet":[{}]}', id="a connection of nobody"),
        pytest.param(307, b'{"mqTable":7}', id="a number of queues"),
    ],
)
def test_an_answer_that_cannot_be_is_refused(code: int, body: bytes):
    with pytest.raises(DecodeError) as refused:
        READERS[code](body)
    assert refused.value.reason == "bad_event"


@settings(max_examples=example_count(3))
@given(st.sampled_from(captured(*READERS)), st.data())
def test_a_damaged_answer_gives_a_value_or_a_reason(each: Exchange, data: st.DataObject):
    body = bytearray(each.response_body)
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.sampled_from(b'{}[]:,"-019.ntf\\\xff'))
    refused = refusal(READERS[each.code], bytes(body))
    assert refused is None or refused.reason in REASONS


def test_names_with_odd_characters_come_through():
    name = 'a}:{"b\\ \N{SNOWMAN}\u202e'
    written = exchange("5.5.0/202-topic-stats-LabTopic").response_body.replace(
        b'"LabTopic"', b'"a}:{\\"b\\\\ \\u2603\\u202E"'
    )
    assert {each.queue.topic for each in responses.topic_stats_in(written)} == {name}


def test_records_that_members_took_by_pop_and_did_not_acknowledge_are_added_up():
    """Two members of ``lab-pop`` had acknowledged everything; a member that pulls reports none."""
    popped = [
        responses.running_info_in(exchange(f"5.5.0-modes/307-running-info-lab-pop-{name}").response_body)
        for name in ("pop1", "pop2")
    ]
    assert [each.in_flight for each in popped] == [0, 0]
    pulled = responses.running_info_in(exchange("5.5.0/307-running-info-lab-group-c1").response_body)
    assert pulled.in_flight is None
    keys = [f'{{"brokerName":"{broker}","queueId":-1,"topic":"t"}}' for broker in "ab"]
    table = f'{{{keys[0]}:{{"waitAckCount":5}},{keys[1]}:{{"waitAckCount":2}}}}'
    assert responses.running_info_in(f'{{"mqPopTable":{table}}}'.encode()).in_flight == 7


@pytest.mark.parametrize(
    ("subscription", "expected"),
    [
        ({"topic": "t", "subString": "*", "expressionType": "TAG", "tagsSet": []}, ()),
        ({"topic": "t", "subString": ""}, ()),
        ({"topic": "t"}, ()),
        ({"topic": "t", "subString": "b||a", "tagsSet": ["b", "a"], "expressionType": "TAG"}, ("a || b",)),
        ({"topic": "t", "subString": "a", "tagsSet": None, "expressionType": None}, ("a",)),
        ({"topic": "t", "subString": "x > 1", "expressionType": "SQL92", "tagsSet": []}, ("SQL92: x > 1",)),
    ],
)
def test_an_expression_is_what_it_selects(subscription: dict[str, object], expected: tuple[str, ...]):
    info = responses.running_info_in(json.dumps({"subscriptionSet": [subscription]}).encode())
    assert tuple(each.expression for each in info.expressions) == expected


def test_a_topic_that_may_not_be_written_or_read_has_no_such_queues():
    def route(permission: int) -> tuple[responses.RouteQueues, ...]:
        data = {"brokerName": "b", "readQueueNums": 2, "writeQueueNums": 4, "perm": permission}
        return responses.route_in(json.dumps({"queueDatas": [data]}).encode())

    found = {permission: [(each.readable, each.writable) for each in route(permission)] for permission in (0, 2, 4, 6)}
    assert found == {0: [(0, 0)], 2: [(0, 4)], 4: [(2, 0)], 6: [(2, 4)]}
