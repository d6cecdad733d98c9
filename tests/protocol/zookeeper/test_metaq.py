"""Trees of MetaQ: two captured ones by hand, and what one can find in others."""

from __future__ import annotations

import pytest

from monitor.model import Member, ObservedOffset, TopicPartitions
from monitor.protocol.zookeeper.groups import SeenBroker, SeenTopic, SeenTree
from monitor.protocol.zookeeper.metaq import MOST_PARTITIONS, metaq_tree
from tests.support.zookeeper_captures import captured_tree, group, owned, what, written


@pytest.fixture(scope="module")
def real() -> SeenTree:
    return metaq_tree(captured_tree("metaq-zk", "/meta"))


@pytest.fixture(scope="module")
def twelve() -> SeenTree:
    return metaq_tree(captured_tree("metaq-zk-twelve", "/meta"))


def test_the_captured_masters_and_topics(real):
    assert real.brokers == (
        SeenBroker(broker="0", address="127.0.0.1:8123"),
        SeenBroker(broker="1", address="127.0.0.1:8124"),
    )
    assert real.topics == (
        SeenTopic(topic="meta-test", partitions=("0-0", "0-1", "0-2", "1-0", "1-1", "1-2")),
        SeenTopic(topic="meta-two", partitions=("0-0", "0-1", "1-0", "1-1")),
    )
    assert real.problems == ()


def test_a_captured_group_with_unequal_subscriptions(real):
    both, one = "meta-grp_192.0.2.2-16655-1795203140502-1", "meta-grp_192.0.2.2-16656-1795203140200-1"
    assert group(real, "meta-grp").members == (
        Member(
            member_id=both,
            client_id=both,
            host="192.0.2.2",
            topics=("meta-test", "meta-two"),
            assigned=(
                TopicPartitions("meta-test", ("0-0", "0-1", "0-2")),
                TopicPartitions("meta-two", ("0-0", "0-1", "1-0", "1-1")),
            ),
        ),
        Member(
            member_id=one,
            client_id=one,
            host="192.0.2.2",
            topics=("meta-test",),
            assigned=(TopicPartitions("meta-test", ("1-0", "1-1", "1-2")),),
        ),
    )


def test_captured_offsets_are_what_stands_behind_the_last_dash(real):
    assert group(real, "meta-grp").offsets == (
        ObservedOffset("meta-test", "0-1", 797, 1795203150444),
        ObservedOffset("meta-test", "1-0", 773, 1795203149120),
        ObservedOffset("meta-test", "1-2", 775, 1795203150119),
        ObservedOffset("meta-two", "0-0", 1173, 1795203150441),
        ObservedOffset("meta-two", "1-0", 1172, 1795203150437),
    )


def test_twelve_partitions_are_in_the_order_of_their_text(twelve):
    assert [seen.partitions for seen in twelve.topics if seen.topic == "meta-twelve"] == [
        ("0-0", "0-1", "0-10", "0-11", "0-2", "0-3", "0-4", "0-5", "0-6", "0-7", "0-8", "0-9")
    ]
    assert owned(twelve, "twelve-def") == {
        "twelve-def_A": {"meta-twelve": ("0-0", "0-1", "0-10", "0-11", "0-2", "0-3")},
        "twelve-def_B": {"meta-twelve": ("0-4", "0-5", "0-6", "0-7", "0-8", "0-9")},
    }
    assert owned(twelve, "twelve-cons") == {
        "twelve-cons_A": {"meta-twelve": ("0-0", "0-1", "0-5", "0-9")},
        "twelve-cons_B": {"meta-twelve": ("0-11", "0-6")},
        "twelve-cons_C": {"meta-twelve": ("0-10", "0-2", "0-3", "0-4", "0-7", "0-8")},
    }


def test_a_captured_group_whose_consumers_died_has_its_offsets(twelve):
    assert group(twelve, "meta-consis").members == ()
    assert [each.offset for each in group(twelve, "meta-consis").offsets] == [797, 773, 775]


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param("-5468931097024790528-797", 797, id="a negative id"),
        pytest.param("5468931097024790528-797", 797, id="a positive id"),
        pytest.param("-1-0", 0, id="no message yet"),
        pytest.param("-9223372036854775808-1", 1, id="the lowest id"),
        pytest.param("797", 797, id="a client before 1.4"),
        pytest.param("-1-9223372036854775806", 2**63 - 2, id="the largest"),
    ],
)
def test_an_offset(data, offset):
    seen = metaq_tree(written({"consumers/g/offsets/t/0-0": data}))
    assert group(seen, "g").offsets == (ObservedOffset("t", "0-0", offset, 5),)


def test_the_end_wherever_it_will_be_is_no_offset():
    nodes = {"consumers/g/offsets/t/0-0": f"-1-{2**63 - 1}", "consumers/g/ids/c": "t"}
    seen = metaq_tree(written(nodes))
    assert (group(seen, "g").offsets, seen.problems) == ((), ())


@pytest.mark.parametrize("data", ["", "-", "-797", "1--797", "1-", "x-797", "1-7 ", "1-9223372036854775808", b"\xff-1"])
def test_an_offset_that_is_none_is_a_problem(data):
    seen = metaq_tree(written({"consumers/g/offsets/t/0-0": data, "consumers/g/offsets/t/0-1": "1-1"}))
    assert group(seen, "g").offsets == (ObservedOffset("t", "0-1", 1, 5),)
    assert what(seen) == {"consumers/g/offsets/t/0-0": "bad_text"}


@pytest.mark.parametrize("name", ["0", "0-", "-0", "0-0-0", "a-0", "0-2147483648", "0-99999999999", "٣-0"])
def test_a_partition_that_is_none_is_a_problem(name):
    seen = metaq_tree(written({"consumers/g/ids/c": "t", f"consumers/g/owners/t/{name}": "c"}))
    assert owned(seen, "g") == {"c": {}}
    assert what(seen) == {f"consumers/g/owners/t/{name}": "bad_text"}


def test_slaves_offer_partitions_as_their_master_does_and_each_counts_once():
    """MetaZookeeper.getPartitionStringsForSubTopics: a partition whose master went is still there."""
    nodes = {
        "brokers/topics-sub/t/0-m": '{"broker":"0-m","numParts":2}',
        "brokers/topics-sub/t/0-s0": '{"broker":"0-s0","numParts":2}',
        "brokers/topics-sub/t/1-s12": '{"broker":"1-s12","numParts":1}',
    }
    assert metaq_tree(written(nodes)).topics == (SeenTopic(topic="t", partitions=("0-0", "0-1", "1-0")),)


def test_topics_of_older_servers_are_in_the_older_folder():
    nodes = {
        "brokers/topics/old/0-m": "2",
        "brokers/topics/new/0-m": "1",
        "brokers/topics-sub/new/0-m": '{"broker":"0-m","numParts":3}',
    }
    seen = metaq_tree(written(nodes))
    assert [(topic.topic, topic.partitions) for topic in seen.topics] == [
        ("new", ("0-0", "0-1", "0-2")),
        ("old", ("0-0", "0-1")),
    ]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        pytest.param("0-x", '{"numParts":1}', "bad_text", id="neither master nor slave"),
        pytest.param("0", '{"numParts":1}', "bad_text", id="no role"),
        pytest.param("0-m", "3", "bad_event", id="no object"),
        pytest.param("0-m", '{"numParts":-1}', "bad_event", id="a negative number"),
        pytest.param("0-m", '{"broker":"0-m"}', "bad_event", id="no number"),
        pytest.param("0-m", '{"numParts":2000000000}', "too_many", id="two billions"),
        pytest.param("0-m", "[" * 100_000, "bad_event", id="deep"),
    ],
)
def test_a_broker_that_says_nonsense_of_a_topic_hides_no_other(name, data, reason):
    nodes = {f"brokers/topics-sub/t/{name}": data, "brokers/topics-sub/t/1-m": '{"numParts":1}'}
    seen = metaq_tree(written(nodes))
    assert seen.topics == (SeenTopic(topic="t", partitions=("1-0",)),)
    assert what(seen) == {f"brokers/topics-sub/t/{name}": reason}


def test_a_topic_has_at_most_so_many_partitions_on_a_broker():
    seen = metaq_tree(written({"brokers/topics-sub/t/0-m": f'{{"numParts":{MOST_PARTITIONS}}}'}))
    assert len(seen.topics[0].partitions) == MOST_PARTITIONS


@pytest.mark.parametrize(
    "data",
    ["", "127.0.0.1:8123", "meta://", "meta://h", "meta://h:99999", "meta://h:0", "meta://meta://h:1", "http://h:1"],
)
def test_a_master_that_says_no_address_is_a_problem(data):
    seen = metaq_tree(written({"brokers/ids/0/master": data, "brokers/ids/1/master": "meta://[::1]:8124"}))
    assert seen.brokers == (SeenBroker(broker="1", address="[::1]:8124"),)
    assert what(seen) == {"brokers/ids/0/master": "bad_text"}


def test_a_broker_whose_master_went_is_none():
    assert metaq_tree(written({"brokers/ids/0": "meta://127.0.0.1:8123"})).brokers == ()


def test_a_consumer_whose_topics_cannot_be_read_says_so():
    seen = metaq_tree(written({"consumers/g/ids/a": b"t,\xff", "consumers/g/ids/b": "t,,u,t"}))
    unreadable, readable = group(seen, "g").members
    assert (unreadable.topics, unreadable.unreadable) == ((), "bad_utf8 at byte 2 of the value")
    assert (readable.topics, readable.unreadable) == (("t", "u"), None)
    assert what(seen) == {"consumers/g/ids/a": "bad_utf8"}


def test_unowned_partitions_of_subscribed_topics_are_counted():
    nodes = {
        "brokers/topics-sub/t/0-m": '{"numParts":3}',
        "brokers/topics-sub/u/0-m": '{"numParts":3}',
        "consumers/g/ids/c": "t",
        "consumers/g/owners/t/0-1": "c",
    }
    assert group(metaq_tree(written(nodes)), "g").unowned == 2
