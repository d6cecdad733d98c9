"""The check for the best assignment, against a slow exact method (minimum-cost flow) on tiny groups."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.assignors.dialects.sticky.optimum import optimum_refusal
from monitor.assignors.dialects.sticky.rows import form_rows
from monitor.model import TopicPartition
from monitor.model.evidence import RefusalReason
from tests.assignors.optimum import TinyGroup, best, quality
from tests.support.examples import example_count

TOPICS = ("t", "u", "v")


@st.composite
def tiny_groups(draw):
    names = [f"C{number}" for number in range(draw(st.integers(1, 4)))]
    asked = {name: tuple(draw(st.sets(st.sampled_from(TOPICS), min_size=1))) for name in names}
    counts = {topic: draw(st.integers(1, 4)) for topic in TOPICS}
    group = TinyGroup(asked=asked, counts=counts, owner={})
    owners = {place: draw(st.sampled_from([None, *subscribers(group, place)])) for place in group.places()}
    return TinyGroup(asked, counts, {place: owner for place, owner in owners.items() if owner is not None})


def subscribers(group, place):
    return [name for name, topics in group.asked.items() if place.topic in topics]


def refusal_of(group, owners):
    rows = form_rows((tuple(subscribers(group, place)), [place]) for place in group.places())
    return optimum_refusal(rows, tuple(group.asked), owners, group.owner)


@settings(max_examples=example_count(2.5))
@given(group=tiny_groups(), data=st.data())
def test_exactly_the_best_assignments_are_accepted(group, data):
    """Half of the time near the best: with the owners of before, most of whom should keep what they have."""
    keeps = data.draw(st.booleans())
    owners = {
        place: group.owner[place]
        if keeps and place in group.owner
        else data.draw(st.sampled_from(subscribers(group, place)))
        for place in group.places()
    }
    reached, possible = quality(group, owners), best(group)
    refusal = refusal_of(group, owners)
    if refusal is None:
        assert reached == possible
    elif refusal.reason is RefusalReason.UNEVEN:
        assert reached.unevenness > possible.unevenness
    else:
        assert refusal.reason is RefusalReason.NOT_KEPT
        assert reached.unevenness == possible.unevenness
        assert reached.moved > possible.moved


def test_a_load_may_be_passed_on_to_one_that_holds_less():
    """C0 owned two, C1 none. Each order of the loads 2 and 1 is even, but only one of them keeps both."""
    places = [TopicPartition("t", number) for number in range(3)]
    group = TinyGroup(asked={"C0": ("t",), "C1": ("t",)}, counts={"t": 3}, owner={places[0]: "C0", places[1]: "C0"})
    kept = dict(zip(places, ("C0", "C0", "C1"), strict=True))
    moved = dict(zip(places, ("C0", "C1", "C1"), strict=True))
    assert refusal_of(group, kept) is None
    refusal = refusal_of(group, moved)
    assert refusal is not None
    assert (refusal.reason, refusal.partition, refusal.member, refusal.other) == (
        RefusalReason.NOT_KEPT,
        places[1],
        "C1",
        "C0",
    )
