"""A pass that saw what the one before saw is told from one with news."""

import pytest
from msgspec.structs import replace

from monitor.detection.ownership.catalog_view import Topics
from monitor.model import EndOffsetAt
from tests.support.builders import NOW, catalog, topic

BEFORE = Topics(catalog(topic("a", 2), topic("b", 1)))


def redated(state, at_ms=NOW + 10_000):
    """As a later pass sees it: each end has another date."""
    partitions = (replace(each, ends=(*each.ends, EndOffsetAt(at_ms, each.end))) for each in state.partitions)
    return replace(state, pass_ms=at_ms, observed_ms=at_ms, partitions=tuple(partitions))


def of_later(*topics):
    return Topics(catalog(*topics, pass_ms=NOW + 10_000))


def test_new_dates_are_no_news():
    assert of_later(redated(topic("a", 2)), redated(topic("b", 1))).has_only_new_dates(BEFORE)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(topic("b", 1, end=101), id="a record came"),
        pytest.param(topic("b", 2), id="a partition came"),
        pytest.param(replace(topic("b", 1), missed=True), id="it was missed"),
        pytest.param(replace(topic("b", 1), topic_id="anew"), id="it was made anew"),
        pytest.param(topic("c", 1), id="another topic"),
    ],
)
def test_everything_else_is(other):
    later = of_later(redated(topic("a", 2)), redated(other))
    assert not later.has_only_new_dates(BEFORE)
    assert later.has_only_new_dates(BEFORE, {"b"}) is (other.topic == "b"), "but not of a topic that does not count"


def test_a_topic_that_is_gone_is_news():
    assert not of_later(redated(topic("a", 2))).has_only_new_dates(BEFORE)
