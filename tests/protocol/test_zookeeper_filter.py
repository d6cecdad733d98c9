"""White lists and black lists: the assignors' own reading of them is checked against the original's answers."""

from __future__ import annotations

import pytest

from monitor.assignors.kafka_zookeeper.group import Pattern, Registration
from monitor.assignors.kafka_zookeeper.topic_filter import AssignorError, topic_filter
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.zookeeper.topic_filter import LONGEST, listed_topics
from tests.assignors.vectors import read

TOPICS = ["a", "b", "ab", "a.b", "a|b", "hl-a", "hl-b", "__consumer_offsets", "__other", "ü"]


@pytest.mark.parametrize(
    ("expression", "topics"),
    [
        ("hl-.*", ("hl-a", "hl-b")),
        ("a,b", ("a", "b")),
        (" 'a, hl-[ab]' ", ("a", "hl-a", "hl-b")),
        ("a.b", ("a.b", "a|b")),
        (".*", ("__other", "a", "a.b", "ab", "a|b", "b", "hl-a", "hl-b", "ü")),
        ("", ()),
        ("ü", ("ü",)),
    ],
)
def test_a_white_list(expression, topics):
    assert listed_topics(expression, TOPICS, wanted=True) == topics


def test_a_black_list_reads_all_else_but_internal_topics():
    assert listed_topics("a.*,b,ü", TOPICS, wanted=False) == ("__other", "hl-a", "hl-b")


@pytest.mark.parametrize("expression", ["(", "[a", "(?=a)", r"(a)\1", "a++", "[a&&b]", "a{1001}", "a" * (LONGEST + 1)])
def test_an_expression_that_cannot_be_resolved_is_an_error(expression):
    with pytest.raises(DecodeError):
        listed_topics(expression, TOPICS, wanted=True)


def test_lists_of_the_golden_vectors_are_read_as_the_assignors_read_them():
    compared = 0
    for pattern, expression, topics in _lists():
        registration = Registration(consumer="c", pattern=pattern, subscription={expression: 1})
        try:
            allowed = topic_filter(registration, exclude_internal=True)
        except AssignorError:
            with pytest.raises(DecodeError):
                listed_topics(expression, topics, wanted=pattern is Pattern.WHITE_LIST)
            continue
        expected = tuple(sorted(topic for topic in topics if allowed.allows(topic)))
        assert listed_topics(expression, topics, wanted=pattern is Pattern.WHITE_LIST) == expected
        compared += 1
    assert compared > 100


def _lists():
    for family in ("kafka08.range", "kafka08.roundrobin"):
        for vector in read(family):
            for consumer in vector["input"]["consumers"].values():
                if consumer["pattern"] != "static" and consumer["subscription"]:
                    expression = next(iter(consumer["subscription"]))
                    yield Pattern(consumer["pattern"]), expression, list(vector["input"]["topics"])
