"""Nodes of brokers that cannot be read, in trees that were made by hand."""

from __future__ import annotations

from monitor.collectors.zookeeper.base import LastKnownTree
from monitor.protocol.zookeeper.groups import SeenTree
from monitor.protocol.zookeeper.kafka import kafka_tree
from monitor.protocol.zookeeper.metaq import metaq_tree
from monitor.protocol.zookeeper.tree import Node, Tree
from tests.support.zookeeper_captures import build_tree

TWO_PARTS = b'{"broker":"m","numParts":2}'
GARBAGE = b"\x00garbage"


def metaq(second: bytes | None, **more: bytes) -> Tree:
    """Topic T at broker 0 with two partitions, and at broker 1 with what is written there (None: it is away)."""
    nodes = {"brokers/topics-sub/T/0-m": TWO_PARTS, "brokers/ids/0/master": b"meta://h:1"}
    nodes |= {} if second is None else {"brokers/topics-sub/T/1-m": second}
    return build_tree({path: Node(data) for path, data in (nodes | more).items()})


def partitions(seen: SeenTree) -> list[tuple[object, ...]]:
    return [topic.partitions for topic in seen.topics]


def problems(seen: SeenTree) -> list[str]:
    return [f"{each.path} {each.what}" for each in seen.problems]


def test_a_brokers_part_of_a_topic_stays_as_it_was_for_as_long_as_it_cannot_be_read():
    last_known = LastKnownTree(metaq_tree)
    readings = [last_known.decode(metaq(data)) for data in (TWO_PARTS, GARBAGE, GARBAGE)]
    assert [partitions(each) for each in readings] == [[("0-0", "0-1", "1-0", "1-1")]] * 3
    assert [problems(each) for each in readings] == [[], *[["brokers/topics-sub/T/1-m bad_json"]] * 2]


def test_what_can_be_read_again_counts_as_it_is_now():
    last_known = LastKnownTree(metaq_tree)
    for data in (TWO_PARTS, GARBAGE):
        last_known.decode(metaq(data))
    seen = last_known.decode(metaq(b'{"broker":"1-m","numParts":1}'))
    assert (partitions(seen), problems(seen)) == ([("0-0", "0-1", "1-0")], [])


def test_a_node_that_is_gone_is_forgotten():
    """When it comes back as garbage, it is another broker's, or none's."""
    last_known = LastKnownTree(metaq_tree)
    assert [partitions(last_known.decode(metaq(data))) for data in (TWO_PARTS, None, GARBAGE)] == [
        [("0-0", "0-1", "1-0", "1-1")],
        [("0-0", "0-1")],
        [("0-0", "0-1")],
    ]


def test_what_could_never_be_read_hides_nothing_else():
    seen = LastKnownTree(metaq_tree).decode(metaq(GARBAGE))
    assert (partitions(seen), problems(seen)) == ([("0-0", "0-1")], ["brokers/topics-sub/T/1-m bad_json"])


def test_a_brokers_address_stays_as_it_was():
    last_known = LastKnownTree(metaq_tree)
    good = last_known.decode(metaq(None))
    assert last_known.decode(metaq(None, **{"brokers/ids/0/master": GARBAGE})).brokers == good.brokers != ()


def test_a_topic_of_kafka_and_who_reads_it_by_a_list_stay_as_they_were():
    """Else every thread that reads all topics that begin with T would seem to have given this one up."""

    def tree(topic: bytes) -> Tree:
        consumer = b'{"version":1,"subscription":{"T.*":1},"pattern":"white_list","timestamp":"1"}'
        return build_tree({"brokers/topics/T1": Node(topic), "consumers/g/ids/g_c": Node(consumer, 1)})

    last_known = LastKnownTree(kafka_tree)
    before = last_known.decode(tree(b'{"version":1,"partitions":{"0":[0],"1":[0]}}'))
    after = last_known.decode(tree(GARBAGE))
    assert partitions(after) == partitions(before) == [(0, 1)]
    assert [member.topics for group in after.groups for member in group.members] == [("T1",)]
    assert problems(after) == ["brokers/topics/T1 bad_json"]


def test_what_a_consumer_has_written_is_never_remembered():
    def tree(topics: bytes) -> Tree:
        return build_tree({"brokers/topics-sub/T/0-m": Node(TWO_PARTS, 1), "consumers/g/ids/c": Node(topics, 1)})

    last_known = LastKnownTree(metaq_tree)
    for topics in (b"T", b"\xff"):
        seen = last_known.decode(tree(topics))
    ((member,),) = [group.members for group in seen.groups]
    assert (member.topics, member.unreadable is None) == ((), False)
