"""What the command adds to its answers when it is asked to, for the cases whose answers we have from the originals."""

from __future__ import annotations

import pytest

from monitor.assignors.vectors.case_line import CaseLine
from monitor.assignors.vectors.remarks import is_order_sensitive, quirks_of_answer
from tests.assignors.golden import ERRATA, families, original, read


def case_of(vector):
    return CaseLine(id=vector["id"], assignor=vector["assignor"], input=vector["input"])


def depends(vector):
    """Whether the original gave another outcome for another order of its map, or for other ids of the same order.

    None: nobody asked, since the original throws.
    """
    if vector["id"] in ERRATA:
        return True  # the error that was taken for the answer is the outcome for other ids
    return vector["order_dependent"] or vector.get("hash_dependent", False) if "order_dependent" in vector else None


SENSITIVE = {
    "kafka.range": 0,
    "kafka.roundrobin": 0,
    "kafka.sticky": 25,
    "kafka.cooperative-sticky": 18,
    "kafka.server.range": 0,
    "kafka.server.uniform": 106,
    "kafka.server.share-simple": 156,
}


@pytest.mark.parametrize("family", SENSITIVE)
def test_the_answers_that_hang_on_the_order_of_a_map_are_found(family):
    """No false alarm, and none missed."""
    true = {vector["id"]: depends(vector) for vector in read(family) if depends(vector) is not None}
    said = {vector["id"]: is_order_sensitive(case_of(vector)) for vector in read(family) if vector["id"] in true}
    assert said == true
    assert sum(true.values()) == SENSITIVE[family]


@pytest.mark.parametrize("family", [family for family in families() if not family.startswith("kafka.")])
def test_without_a_map_of_members_nothing_hangs_on_its_order(family):
    assert not any(is_order_sensitive(case_of(vector)) for vector in read(family)[:20])


def quirks(vector):
    return quirks_of_answer(case_of(vector), original(vector)["expected"]) if "expected" in original(vector) else None


def queues_case(assignor, queues, clients, ask, assignment):
    """The quirks of an answer of RocketMQ; queues are written as their numbers."""
    case_input = {"queues": [["t", "b", n] for n in queues], "cids": clients, "ask": ask}
    given = {client: [["t", "b", n] for n in numbers] for client, numbers in assignment.items()}
    return [each.value for each in quirks_of_answer(CaseLine("x", assignor, case_input), {"assignment": given})]


def test_quirks_of_queues_that_clients_take_for_themselves():
    assert queues_case("rocketmq.averagely", [0, 1], ["a", "b"], ["a", "b"], {"a": [0], "b": [1]}) == []
    assert queues_case("rocketmq.by-config", [0, 1], ["a", "b"], ["a", "b"], {"a": [0], "b": [0]}) == [
        "assigned_twice",
        "unassigned",
    ]
    assert queues_case("rocketmq.by-config", [0], ["a"], ["a"], {"a": [0, 7]}) == ["does_not_exist"]


def test_a_queue_may_belong_to_a_member_that_was_not_asked():
    assert queues_case("rocketmq.averagely", [0, 1], ["a", "b"], ["a"], {"a": [0]}) == []


def test_strangers_do_not_count():
    assert queues_case("rocketmq.by-config", [0], ["a"], ["a", "b"], {"a": [0], "b": [0]}) == []


def test_nobody_asks_for_the_queues_of_an_empty_group():
    assert queues_case("rocketmq.averagely", [0], [], ["a"], {"a": []}) == []


@pytest.mark.parametrize(
    "family",
    ["kafka.range", "kafka.roundrobin", "kafka08.range", "kafka08.roundrobin", "metaq.default", "metaq.consishash"],
)
def test_these_have_no_quirks(family):
    assert {vector["id"]: quirks(vector) for vector in read(family) if quirks(vector)} == {}


def test_quirks_of_consumer_threads():
    case_input = {
        "topics": {"t": [3, 5], "u": 1, "nobody's": 4},
        "consumers": {name: {"pattern": "white_list", "subscription": {"t|u": 2}} for name in ("c", "d")},
    }
    case = CaseLine("x", "kafka08.range", case_input)
    good = {"c": {"c-0": {"t": [3], "u": [0]}}, "d": {"d-1": {"t": [5]}}}
    assert quirks_of_answer(case, {"assignment": good}) == []
    twice = {"c": good["c"], "d": {"d-0": {"t": [5]}, "d-1": {"u": [0]}}}
    assert quirks_of_answer(case, {"assignment": twice}) == ["assigned_twice"]
    assert quirks_of_answer(case, {"assignment": {"c": {"c-0": {"t": [3, 4]}}}}) == ["does_not_exist", "unassigned"]


def true_quirks(vector):
    """What is odd about the original's answer of a Kafka vector, partition by partition."""
    given = original(vector)["expected"]["assignment"]
    asked = {member["id"]: set(member["topics"]) for member in vector["input"]["members"]}
    shapes = vector["input"]["topics"]
    counts = {name: shape if isinstance(shape, int) else shape["partitions"] for name, shape in shapes.items()}
    exist = {(topic, number) for topic, count in counts.items() for number in range(count)}
    owns = [(who, topic, number) for who in given for topic in given[who] for number in given[who][topic]]
    owned = [(topic, number) for _, topic, number in owns]
    wanted = {(topic, number) for topic, number in exist if any(topic in topics for topics in asked.values())}
    if "assignable" in vector["input"]:
        wanted &= {(topic, number) for topic, some in vector["input"]["assignable"].items() for number in some}
    shared = vector["assignor"] == "kafka.server.share-simple"
    true = {
        "assigned_twice": len(set(owned)) < len(owned) and not shared,
        "does_not_exist": not exist.issuperset(owned),
        "not_subscribed": any(topic not in asked[who] for who, topic, _ in owns),
        "unassigned": not wanted.issubset(owned),
    }
    return [quirk for quirk in sorted(true) if true[quirk]]


def test_sticky_says_what_is_odd():
    """Mostly members with an empty subscription, which are given what they never asked for."""
    vectors = [vector for vector in read("kafka.sticky") if "expected" in original(vector)]
    assert [quirks(vector) for vector in vectors] == [true_quirks(vector) for vector in vectors]
    assert any(quirks(vector) for vector in vectors)


@pytest.mark.parametrize("family", ["kafka.server.range", "kafka.server.uniform", "kafka.server.share-simple"])
def test_the_broker_says_what_is_odd(family):
    vectors = [vector for vector in read(family) if "expected" in vector]
    assert [quirks(vector) for vector in vectors] == [true_quirks(vector) for vector in vectors]


def test_what_the_coordinator_tells_counts():
    """Of a share group, only assignable partitions can lack a reader."""
    topics = {"t": {"id": "AAAAAAAAAAEAAAAAAAAAAQ", "partitions": 2}}
    members = [{"id": "a", "topics": ["t"]}, {"id": "b", "topics": []}]
    share = {"topics": topics, "members": members, "assignable": {"t": [1], "gone": [0]}}
    given = {"assignment": {"a": {"t": [1]}, "b": {}}}
    assert quirks_of_answer(CaseLine("x", "kafka.server.share-simple", share), given) == []
    assert quirks_of_answer(CaseLine("x", "kafka.server.uniform", {"topics": topics, "members": members}), given) == [
        "unassigned"
    ]


def test_what_waits_for_its_owner_is_not_odd():
    vectors = [vector for vector in read("kafka.cooperative-sticky") if "expected" in original(vector)]
    without_waiting = [[quirk for quirk in true_quirks(vector) if quirk != "unassigned"] for vector in vectors]
    assert [quirks(vector) for vector in vectors] == without_waiting
    assert any("unassigned" in true_quirks(vector) for vector in vectors)


def test_brokers_outside_the_known_rooms_are_read_by_nobody():
    for vector in read("rocketmq.by-machine-room"):
        taken = [tuple(queue) for queues in vector["expected"]["assignment"].values() for queue in queues]
        unread = bool(vector["input"]["cids"]) and {tuple(queue) for queue in vector["input"]["queues"]} - set(taken)
        assert ("unassigned" in quirks(vector)) == bool(unread), vector["id"]
