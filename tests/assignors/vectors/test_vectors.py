"""Every answer of every original that we have, asked of ours. The order of lists counts, that of objects does not."""

from __future__ import annotations

import json
import random

import pytest

from monitor.assignors.kafka_zookeeper.group import Release
from monitor.assignors.vectors import kafka_zookeeper_cases as kafka_zookeeper
from tests.assignors.golden import answer, families, is_right, original, read

SIZES = {
    "java.order": 250,
    "kafka.cooperative-sticky": 252,
    "kafka.range": 250,
    "kafka.roundrobin": 250,
    "kafka.server.range": 250,
    "kafka.server.share-simple": 253,
    "kafka.server.uniform": 252,
    "kafka.sticky": 250,
    "kafka08.range": 250,
    "kafka08.roundrobin": 250,
    "metaq.consishash": 250,
    "metaq.default": 250,
    "rocketmq.averagely": 250,
    "rocketmq.averagely-by-circle": 250,
    "rocketmq.by-config": 250,
    "rocketmq.by-machine-room": 250,
    "rocketmq.consistent-hash": 250,
    "rocketmq.machine-room-nearby": 250,
}
SHOWN = 3
WIDTH = 600


def test_all_families_are_here():
    assert {family: len(read(family)) for family in families()} == SIZES
    assert sum(SIZES.values()) == 4507


@pytest.mark.parametrize("family", SIZES)
def test_every_answer_is_the_originals(family):
    said = [(vector, answer(vector)) for vector in read(family)]
    wrong = [(vector, ours) for vector, ours in said if ours != original(vector)]
    assert not wrong, report(wrong, len(said))


@pytest.mark.parametrize("release", Release)
def test_both_releases_of_roundrobin_over_threads_answer_as_they_did(release):
    """Kafka 0.8.2.2 refuses groups with different threads, and lines up partitions with equal hashes differently."""
    maven = f"org.apache.kafka:kafka_2.11:{release}"
    asked, wrong = 0, []
    for vector in read("kafka08.roundrobin"):
        versions = {vector["original"]: vector, **vector.get("differs", {})}
        versions |= dict.fromkeys(vector.get("also", []), vector)
        theirs = versions[maven]
        asked += 1
        said = json.loads(json.dumps(kafka_zookeeper.answer(vector["assignor"], vector["input"], release)))
        if said != theirs["expected"]:
            wrong.append((vector | {"expected": theirs["expected"]}, {"expected": said}))
    assert not wrong, report(wrong, asked)
    assert asked == SIZES["kafka08.roundrobin"]


def report(wrong, asked):
    """Which vectors, and for the first of them what was asked, expected and said."""
    lines = [f"{len(wrong)} of {asked} differ: {', '.join(vector['id'] for vector, _ in wrong[:20])}"]
    for vector, ours in wrong[:SHOWN]:
        theirs = original(vector)
        lines += [vector["id"], f"  asked:    {short(vector['input'])}"]
        lines += [f"  expected: {short(differing(theirs, ours))}", f"  said:     {short(differing(ours, theirs))}"]
    return "\n".join(lines)


def differing(one, other):
    """What is in ``one`` and not the same in ``other``."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    return {key: differing(one[key], other.get(key)) for key in one if key not in other or one[key] != other[key]}


def short(value):
    text = json.dumps(value)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}... ({len(text)} characters)"


def test_a_failure_shows_what_differs():
    vector = {"id": "f/1", "input": {"topics": {}}, "expected": {"assignment": {"A": {"t": [0]}, "B": {}}}}
    text = report([(vector, {"expected": {"assignment": {"A": {"t": [1]}, "B": {}}}})], 9)
    assert text.splitlines() == [
        "1 of 9 differ: f/1",
        "f/1",
        '  asked:    {"topics": {}}',
        '  expected: {"expected": {"assignment": {"A": {"t": [0]}}}}',
        '  said:     {"expected": {"assignment": {"A": {"t": [1]}}}}',
    ]


@pytest.mark.parametrize("family", ["kafka.range", "kafka.roundrobin"])
def test_answers_do_not_depend_on_the_order_of_the_input(family):
    shuffle = random.Random(20).shuffle
    for vector in read(family):
        before = answer(vector)
        shuffle(vector["input"]["members"])
        for member in vector["input"]["members"]:
            shuffle(member["topics"])
        topics = list(vector["input"]["topics"].items())
        shuffle(topics)
        vector["input"]["topics"] = dict(topics)
        assert answer(vector) == before, vector["id"]


def test_vectors_with_racks_need_them():
    """Otherwise the vectors would pass without the rack-aware path."""
    needing = 0
    for vector in read("kafka.range"):
        vector["input"].pop("racks", None)
        needing += not is_right(vector)
    assert needing >= 20
