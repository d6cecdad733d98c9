"""Trees of Kafka 0.8 to 0.10: a captured one by hand, and what one can find in others."""

from __future__ import annotations

import json

import pytest

from monitor.model import Member, ObservedOffset, TopicPartitions
from monitor.protocol.zookeeper.groups import MOST_MEMBERS, SeenBroker, SeenTopic, SeenTree
from monitor.protocol.zookeeper.kafka import kafka_tree
from tests.support.zookeeper_captures import captured_tree, group, owned, what, written

A_AND_B = {
    "brokers/topics/a": '{"version":1,"partitions":{"2":[0],"10":[0],"0":[0],"1":[0]}}',
    "brokers/topics/b": '{"version":1,"partitions":{"0":[0]}}',
}
ONE_THREAD = '{"version":1,"subscription":{"a":1},"pattern":"static","timestamp":"1"}'


@pytest.fixture(scope="module")
def real() -> SeenTree:
    return kafka_tree(captured_tree("kafka010-zk", "/kafka010"))


def test_the_captured_brokers_and_topics(real):
    assert real.brokers == (SeenBroker(broker="0", address="127.0.0.1:9092", form=4),)
    assert real.topics == (
        SeenTopic(topic="__consumer_offsets", partitions=(0, 1, 2, 3, 4)),
        SeenTopic(topic="hl-a", partitions=(0, 1, 2, 3, 4)),
        SeenTopic(topic="hl-b", partitions=(0, 1, 2)),
    )
    assert real.problems == ()


def test_the_threads_of_a_captured_group_with_range(real):
    """Two consumers: one with two threads of hl-a and one of hl-b, one with one thread of hl-a."""
    first, second = "hl-range_vm-1795203222629-57b599c0", "hl-range_vm-1795203222927-3d759246"
    assert group(real, "hl-range").members == (
        Member(
            member_id=f"{first}-0",
            client_id=first,
            host="vm",
            topics=("hl-a", "hl-b"),
            assigned=(TopicPartitions("hl-a", (0, 1)), TopicPartitions("hl-b", (0, 1, 2))),
        ),
        Member(
            member_id=f"{first}-1",
            client_id=first,
            host="vm",
            topics=("hl-a",),
            assigned=(TopicPartitions("hl-a", (2, 3)),),
        ),
        Member(
            member_id=f"{second}-0",
            client_id=second,
            host="vm",
            topics=("hl-a",),
            assigned=(TopicPartitions("hl-a", (4,)),),
        ),
    )


def test_the_offsets_of_a_captured_group_and_when_they_were_committed(real):
    assert group(real, "hl-range").offsets[4:6] == (
        ObservedOffset("hl-a", 4, 20, 1795203229194),
        ObservedOffset("hl-b", 0, 34, 1795203231332),
    )
    assert [each.offset for each in group(real, "hl-range").offsets] == [20, 20, 20, 20, 20, 34, 33, 33]


def test_the_threads_of_a_captured_group_with_roundrobin(real):
    assert owned(real, "hl-rr") == {
        "hl-rr_fixedA-0": {"hl-a": (0, 4)},
        "hl-rr_fixedA-1": {"hl-a": (1,), "hl-b": (0,)},
        "hl-rr_fixedB-0": {"hl-a": (2,), "hl-b": (1,)},
        "hl-rr_fixedB-1": {"hl-a": (3,), "hl-b": (2,)},
    }


def test_a_captured_white_list_is_expanded_and_internal_topics_are_not_on_it(real):
    assert [member.topics for member in group(real, "hl-wild").members] == [("hl-a", "hl-b"), ("hl-a", "hl-b")]
    assert owned(real, "hl-wild") == {
        "hl-wild_wild1-0": {"hl-a": (0, 1, 2), "hl-b": (0, 1)},
        "hl-wild_wild1-1": {"hl-a": (3, 4), "hl-b": (2,)},
    }


def test_nothing_is_unowned_in_a_captured_group(real):
    assert [each.unowned for each in real.groups] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("pattern", "expression", "topics"),
    [
        pytest.param("black_list", "a", ("b",), id="a black list reads the rest"),
        pytest.param("white_list", "a,b", ("a", "b"), id="a comma is an alternative"),
        pytest.param("white_list", "z.*", (), id="a list that no topic is on has threads all the same"),
    ],
)
def test_lists(pattern, expression, topics):
    registration = f'{{"version":1,"subscription":{{"{expression}":2}},"pattern":"{pattern}"}}'
    seen = kafka_tree(written(A_AND_B | {"consumers/g/ids/g_c": registration}))
    assert [(member.member_id, member.topics) for member in group(seen, "g").members] == [
        ("g_c-0", topics),
        ("g_c-1", topics),
    ]


@pytest.mark.parametrize(
    ("registration", "reason"),
    [
        pytest.param("", "bad_json", id="no data"),
        pytest.param("{", "bad_json", id="no JSON"),
        pytest.param('{"version":1,"subscription":{"a":1}}', "bad_event", id="no pattern"),
        pytest.param('{"subscription":{"a":-1},"pattern":"static"}', "bad_event", id="a negative number of threads"),
        pytest.param('{"subscription":{"a":"1"},"pattern":"static"}', "bad_event", id="text for a number"),
        pytest.param('{"subscription":{"a(":1},"pattern":"white_list"}', "bad_text", id="no regular expression"),
        pytest.param('{"subscription":{"(?!a)b":1},"pattern":"white_list"}', "bad_text", id="what only Java knows"),
        pytest.param('{"subscription":{"a":2000000000},"pattern":"static"}', "too_many", id="two billion threads"),
    ],
)
def test_a_consumer_that_cannot_be_read_is_a_member_that_says_so_and_hides_no_other(registration, reason):
    nodes = {"consumers/g/ids/bad": registration, "consumers/g/ids/good": ONE_THREAD}
    seen = kafka_tree(written(A_AND_B | nodes))
    bad, good = group(seen, "g").members
    assert (bad.member_id, bad.client_id, bad.unreadable is None, bad.topics) == ("bad", "bad", False, ())
    assert (good.member_id, good.unreadable, good.topics) == ("good-0", None, ("a",))
    assert what(seen) == {"consumers/g/ids/bad": reason}


def test_a_group_is_never_read_with_more_threads_than_a_limit():
    half = MOST_MEMBERS // 2 + 1
    registration = f'{{"subscription":{{"a":{half}}},"pattern":"static"}}'
    seen = kafka_tree(written(A_AND_B | {f"consumers/g/ids/c{n}": registration for n in range(5)}))
    assert len(group(seen, "g").members) == half + 4


def test_an_owner_that_is_not_registered_is_a_member_without_subscription_while_its_session_lives():
    nodes = {"consumers/g/ids/c": ONE_THREAD, "consumers/g/owners/a/0": "c-0", "consumers/g/owners/a/1": "gone-3"}
    seen = kafka_tree(written(A_AND_B | nodes))
    assert owned(seen, "g") == {"c-0": {"a": (0,)}, "gone-3": {"a": (1,)}}
    assert [(m.member_id, m.client_id, m.topics) for m in group(seen, "g").members][1] == ("gone-3", "gone", ())
    assert what(seen) == {"consumers/g/owners/a/1": "not_registered"}
    assert group(seen, "g").unowned == 2


def test_a_thread_beyond_those_that_its_consumer_registered_is_told_too():
    seen = kafka_tree(written(A_AND_B | {"consumers/g/ids/c": ONE_THREAD, "consumers/g/owners/a/0": "c-1"}))
    assert owned(seen, "g") == {"c-0": {}, "c-1": {"a": (0,)}}
    assert what(seen) == {"consumers/g/owners/a/0": "not_registered"}


def test_an_owner_that_outlives_its_session_owns_nothing():
    nodes = {"consumers/g/ids/c": ONE_THREAD, "consumers/g/owners/a/0": "gone-0"}
    seen = kafka_tree(written(A_AND_B | nodes, session=None))
    assert owned(seen, "g") == {"c-0": {}}
    assert what(seen) == {"consumers/g/owners/a/0": "left_behind"}
    assert group(seen, "g").unowned == 4


def test_partitions_are_in_the_order_of_their_numbers():
    owners = {f"consumers/g/owners/a/{n}": "c-0" for n in (2, 10, 1, 0)}
    seen = kafka_tree(written(A_AND_B | {"consumers/g/ids/c": ONE_THREAD} | owners))
    assert seen.topics[0].partitions == (0, 1, 2, 10)
    assert owned(seen, "g") == {"c-0": {"a": (0, 1, 2, 10)}}


@pytest.mark.parametrize("data", ["", "-1", "12 ", "1e3", "0x10", "9223372036854775808", "9" * 5000, "\u0663", b"\xff"])
def test_an_offset_that_is_none_is_a_problem_and_no_offset(data):
    nodes = {"consumers/g/offsets/a/0": data, "consumers/g/offsets/a/1": "9223372036854775807"}
    seen = kafka_tree(written(nodes))
    assert group(seen, "g").offsets == (ObservedOffset("a", 1, 2**63 - 1, 5),)
    assert what(seen) == {"consumers/g/offsets/a/0": "bad_text"}


@pytest.mark.parametrize("name", ["x", "-1", "2147483648", "1.0", "٣"])
def test_a_partition_that_is_no_number_is_a_problem(name):
    nodes = {f"consumers/g/owners/a/{name}": "c-0", f"consumers/g/offsets/a/{name}": "1"}
    seen = kafka_tree(written(nodes | {"consumers/g/ids/c": ONE_THREAD}))
    assert set(what(seen).values()) == {"bad_text"}
    assert group(seen, "g").offsets == ()


def test_a_topic_that_cannot_be_read_hides_no_other():
    broken = {"brokers/topics/c": '{"version":1}', "brokers/topics/d": '{"partitions":{"-1":[0]}}'}
    seen = kafka_tree(written(A_AND_B | broken))
    assert [topic.topic for topic in seen.topics] == ["a", "b"]
    assert what(seen) == {"brokers/topics/c": "bad_event", "brokers/topics/d": "bad_text"}


@pytest.mark.parametrize(
    ("data", "address"),
    [
        pytest.param('{"version":1,"host":"kafka-1","port":9092}', "kafka-1:9092", id="0.8"),
        pytest.param(
            '{"host":null,"port":-1,"endpoints":["SSL://a:1","PLAINTEXT://b:2"]}', "b:2", id="the one without TLS"
        ),
        pytest.param('{"host":"::1","port":9092}', "[::1]:9092", id="IPv6"),
        pytest.param('{"host":null,"port":-1,"endpoints":["SSL://a:1"]}', None, id="only TLS"),
        pytest.param('{"host":"a,evil:9092/x","port":9092}', None, id="no host name"),
        pytest.param('{"host":"a","port":65536}', None, id="no port"),
    ],
)
def test_where_a_broker_is(data, address):
    seen = kafka_tree(written({"brokers/ids/3": data}))
    assert [broker.address for broker in seen.brokers] == ([address] if address else [])
    assert what(seen) == ({} if address else {"brokers/ids/3": "bad_text"})


def test_a_group_without_anything_is_not_told():
    assert kafka_tree(written({"consumers/g/ids": "", "consumers/g/owners": ""})).groups == ()


def test_a_group_whose_owners_may_not_be_read_is_left_out_and_told():
    nodes = A_AND_B | {"consumers/g/ids/c": ONE_THREAD, "consumers/h/ids/c": ONE_THREAD}
    tree = written(nodes)
    refused = type(tree)(nodes=tree.nodes, children=tree.children, refused=("consumers/g/owners/a/0",))
    seen = kafka_tree(refused)
    assert [each.group for each in seen.groups] == ["h"]
    assert what(seen) == {"consumers/g/owners/a/0": "refused"}


def test_names_are_taken_as_they_are():
    odd = " \"quoted\" 'x' \\ {le}=a ü 群"
    registration = json.dumps({"subscription": {odd: 1}, "pattern": "static"})
    nodes = {f"consumers/{odd}/ids/{odd}_c": registration, f"consumers/{odd}/owners/{odd}/0": f"{odd}_c-0"}
    seen = kafka_tree(written(nodes))
    assert owned(seen, odd) == {f"{odd}_c-0": {odd: (0,)}}
    assert group(seen, odd).members[0].topics == (odd,)
