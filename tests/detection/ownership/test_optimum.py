from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detection.ownership.optimum import smallest_largest


@pytest.mark.parametrize(
    ("subscriptions", "partitions", "expected"),
    [
        pytest.param(["a", "a"], {"a": 5}, 3, id="5 over 2 members"),
        pytest.param(["abc", "abc", "abc"], {"a": 1, "b": 1, "c": 1}, 1, id="three topics of one"),
        pytest.param(["ab", "b"], {"a": 4, "b": 1}, 4, id="a has one subscriber only"),
        pytest.param(["a", "ab", "b", "b"], {"a": 6, "b": 2}, 3, id="the second member is pulled to a"),
        pytest.param(["a", "a", "bc", "c"], {"a": 1, "b": 4, "c": 4}, 4, id="the tight set is b and c, not all"),
        pytest.param(["a", "z"], {"a": 3}, 3, id="a member of other topics does not help"),
        pytest.param(["a"], {}, 0, id="nothing to give"),
        pytest.param(["ab"], {"a": 0, "b": 2}, 2, id="a topic without partitions"),
    ],
)
def test_the_largest_member_in_the_most_even_assignment(subscriptions, partitions, expected):
    assert smallest_largest([frozenset(topics) for topics in subscriptions], partitions) == expected


def test_a_topic_that_nobody_subscribes_has_no_answer():
    with pytest.raises(ValueError, match="subscriber"):
        smallest_largest([frozenset("a")], {"b": 1})


def by_trying_everything(subscriptions, partitions):
    """Every way to give every single partition to a subscriber."""
    choices = [
        [index for index, topics in enumerate(subscriptions) if topic in topics]
        for topic, count in partitions.items()
        for _ in range(count)
    ]
    return min(max((owners.count(index) for index in set(owners)), default=0) for owners in product(*choices))


@st.composite
def tiny_groups(draw):
    subscriptions = draw(st.lists(st.frozensets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=4))
    subscribed = sorted(frozenset().union(*subscriptions))
    counts = draw(st.lists(st.integers(0, 3), min_size=len(subscribed), max_size=len(subscribed)))
    partitions = {}
    for topic, count in zip(subscribed, counts, strict=True):
        partitions[topic] = min(count, 6 - sum(partitions.values()))
    return subscriptions, partitions


@given(tiny_groups())
def test_the_optimum_is_the_one_found_by_trying_everything(case):
    subscriptions, partitions = case
    assert smallest_largest(subscriptions, partitions) == by_trying_everything(subscriptions, partitions)


def fits_by_hall(subscriptions, partitions, width):
    """No set of topics has more partitions than all its subscribers together may take."""
    topics = sorted(partitions)
    for chosen in product([False, True], repeat=len(topics)):
        some = {topic for topic, taken in zip(topics, chosen, strict=True) if taken}
        subscribers = sum(bool(some & subscription) for subscription in subscriptions)
        if sum(partitions[topic] for topic in some) > width * subscribers:
            return False
    return True


@given(
    st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=3), min_size=2, max_size=9),
    st.lists(st.integers(1, 60), min_size=6, max_size=6),
)
def test_the_optimum_fits_and_one_less_does_not(subscriptions, counts):
    subscribed = frozenset().union(*subscriptions)
    partitions = {topic: count for topic, count in zip("abcdef", counts, strict=True) if topic in subscribed}
    optimum = smallest_largest(subscriptions, partitions)
    assert fits_by_hall(subscriptions, partitions, optimum)
    assert not fits_by_hall(subscriptions, partitions, optimum - 1)
