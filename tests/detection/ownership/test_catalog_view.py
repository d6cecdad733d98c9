"""A pass that saw what the one before saw is told from one with news."""

import pytest
from msgspec.structs import replace

from monitor.detection.ownership.catalog_view import Topics
from tests.support.builders import NOW, catalog, redated, topic

BEFORE = Topics(catalog(topic("a", 2), topic("b", 1)))
LATER = NOW + 10_000


def of_later(*topics):
    """The catalog of a later pass over these."""
    return Topics(catalog(*[redated(each, LATER) for each in topics], pass_ms=LATER))


def test_new_dates_are_no_news():
    assert of_later(topic("a", 2), topic("b", 1)).has_only_new_dates(BEFORE)


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
    later = of_later(topic("a", 2), other)
    assert not later.has_only_new_dates(BEFORE)
    assert later.has_only_new_dates(BEFORE, {"b"}) is (other.topic == "b"), "but not of a topic that does not count"


def test_a_topic_that_is_gone_is_news():
    assert not of_later(topic("a", 2)).has_only_new_dates(BEFORE)
