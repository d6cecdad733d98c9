"""Targets of which a part is withheld, on tiny groups: every way to give the rest is tried."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.dialects import Group
from monitor.assignors.dialects.sticky.withheld import (
    Claimants,
    early_move_refusal,
    idle_refusal,
    most_even_target,
    possible_takers,
    without_early_moves,
)
from monitor.assignors.dialects.structure import read_structure
from monitor.model import Assignment, Member, MemberAssignment, TopicPartition, TopicPartitions, TopicShape
from monitor.model.evidence import Refusal, RefusalReason

NAMES = ("C0", "C1", "C2")
T = [TopicPartition("t", number) for number in range(5)]


@given(
    owners=st.dictionaries(st.sampled_from(T), st.sampled_from(NAMES)),
    data=st.data(),
)
def test_the_target_is_as_even_as_any(owners, data):
    takers = {
        place: tuple(sorted(data.draw(st.sets(st.sampled_from(NAMES), min_size=1))))
        for place in T
        if place not in owners
    }
    target = most_even_target(owners, takers, NAMES)
    assert {place: target[place] for place in owners} == owners
    assert all(target[place] in names for place, names in takers.items())
    ways = (owners | dict(zip(takers, chosen, strict=True)) for chosen in product(*takers.values()))
    assert unevenness(target) == min(map(unevenness, ways))


def unevenness(owners):
    return sum(list(owners.values()).count(name) ** 2 for name in NAMES)


def claimants(names, *, believed=None):
    return Claimants(all=frozenset(names), believed=frozenset(names if believed is None else believed))


@pytest.mark.parametrize(
    ("owner", "claimed", "is_early"),
    [
        pytest.param("C0", claimants({"C0"}), False, id="it stays"),
        pytest.param("C0", claimants({"C1"}), True, id="another one claims it"),
        pytest.param("C0", claimants({"C0", "C1"}), False, id="both claim it"),
        pytest.param("C0", claimants({"C0", "C1"}, believed={"C1"}), True, id="the owner's claim is old"),
        pytest.param("C0", claimants({"C0"}, believed=()), False, id="an old claim, and no other"),
    ],
)
def test_a_partition_that_comes_to_a_member_waits_for_those_that_claim_it(owner, claimed, is_early):
    target = {T[0]: owner}
    assert without_early_moves(target, {T[0]: claimed}) == ({} if is_early else target)
    refusal = early_move_refusal(structure_of(C0=[0]), {T[0]: claimed})
    assert refusal == (Refusal(RefusalReason.NOT_WITHHELD, T[0], "C0", "C1") if is_early else None)


def structure_of(**owned):
    group = Group(
        members=tuple(Member(member_id=name, topics=("t",)) for name in NAMES[:2]),
        topics=(TopicShape(topic="t", partitions=2),),
    )
    given_out = Assignment(
        members=tuple(
            MemberAssignment(name, (TopicPartitions("t", tuple(partitions)),)) for name, partitions in owned.items()
        )
    )
    return read_structure(given_out, group)


@pytest.mark.parametrize(
    ("claimed", "is_idle"),
    [
        pytest.param({}, True, id="nobody claims it"),
        pytest.param({T[1]: claimants({"C0"})}, False, id="on its way to the other member"),
        pytest.param({T[1]: claimants({"C0", "C1"})}, True, id="whoever could get it has it already"),
        pytest.param({T[1]: claimants({"C0", "C1"}, believed={"C1"})}, False, id="on its way back to an old owner"),
    ],
)
def test_a_partition_without_an_owner_is_on_its_way(claimed, is_idle):
    structure = structure_of(C0=[0])
    refusal = idle_refusal(possible_takers(structure, claimed), claimed)
    assert refusal == (Refusal(RefusalReason.UNASSIGNED, T[1]) if is_idle else None)
