"""The least loaded member of a crowd, against a search through all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded

MEMBERS = 4
CROWDS = {"all": range(MEMBERS), "even": [0, 2, 2], "last": [3], "nobody": []}
changes = st.lists(st.tuples(st.sampled_from(["grew", "shrank", "least"]), st.integers(0, MEMBERS - 1)), max_size=40)


@given(counts=st.lists(st.integers(0, 3), min_size=MEMBERS, max_size=MEMBERS), changes=changes)
def test_least_is_the_first_of_those_with_the_fewest(counts, changes):
    standing = LeastLoaded(list(counts), CROWDS)
    for change, rank in changes:
        if change == "grew":
            standing.grew(rank)
            counts[rank] += 1
        elif change == "shrank" and counts[rank]:
            standing.shrank(rank)
            counts[rank] -= 1
        for crowd, ranks in CROWDS.items():
            assert standing.least(crowd) == min(ranks, key=lambda rank: (counts[rank], rank), default=None)


def test_an_unknown_crowd_is_nobody():
    assert LeastLoaded([0], {"t": [0]}).least("other") is None
