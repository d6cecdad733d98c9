"""MetaQ's strategies. The vectors say which answer it is; here is what users rely on, and answers at the edges."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.metaq.consishash import Consishash
from monitor.assignors.metaq.default import Default
from monitor.assignors.self_assignment import ClientShare

both = pytest.mark.parametrize("strategy", [Default(), Consishash()], ids=["default", "consishash"])
partitions = st.lists(st.builds("{}-{}".format, st.integers(0, 3), st.integers(0, 12)), unique=True, max_size=20)
consumers = st.lists(st.sampled_from(["g_host-0", "g_host-1", "\uffee", "\U0001f600", "é"]), unique=True, min_size=1)


def taken(strategy, partitions, consumers):
    return {share.client: share.queues for share in strategy.allocate(partitions, consumers, ask=consumers)}


@both
@given(partitions=partitions, consumers=consumers)
def test_every_partition_has_one_taker(strategy, partitions, consumers):
    shares = taken(strategy, partitions, consumers).values()
    assert Counter(partition for share in shares for partition in share) == Counter(partitions)


@given(partitions=partitions, consumers=consumers)
def test_default_shares_are_runs_that_differ_by_at_most_one(partitions, consumers):
    shares = list(taken(Default(), partitions, consumers).values())
    assert [partition for share in shares for partition in share] == partitions
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(partitions=partitions, consumers=consumers)
def test_a_consumer_that_leaves_a_ring_moves_only_its_own_partitions(partitions, consumers):
    before, after = (
        taken(Consishash(), partitions, consumers),
        taken(Consishash(), partitions, consumers[1:] or ["new"]),
    )
    assert all(set(before[consumer]) <= set(after[consumer]) for consumer in consumers[1:])


@pytest.mark.parametrize(
    ("strategy", "partitions", "share"),
    [
        pytest.param(Default(), ["0-0"], ClientShare(client="c", error="ArithmeticException: / by zero"), id="default"),
        pytest.param(Consishash(), ["0-0"], ClientShare(client="c", error="NullPointerException"), id="consishash"),
        pytest.param(Consishash(), [], ClientShare(client="c", queues=()), id="consishash without partitions"),
    ],
)
def test_a_group_without_consumers(strategy, partitions, share):
    assert strategy.allocate(partitions, [], ask=["c"]) == (share,)


@both
def test_a_stranger_takes_nothing(strategy):
    assert strategy.allocate(["0-0"], ["c"], ask=["stranger"])[0].queues == ()
