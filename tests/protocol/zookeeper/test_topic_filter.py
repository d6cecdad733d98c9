"""White lists and black lists: that they are read as the original does is checked by the vectors of its assignors."""

from __future__ import annotations

import pytest

from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.zookeeper.topic_filter import LONGEST, listed_topics

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
