"""The random cases reach what is hard: otherwise thousands of them would prove little."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.oracle.cases import BROKER_FAMILIES, CLIENT_FAMILIES, FAMILIES, random_cases

SEED = 11
CASES = 400


@pytest.fixture(scope="module")
def sample(original):
    """Some cases of every family, with the original's answers."""
    return {family: list(islice(random_cases(family, SEED, original.ask), CASES)) for family in FAMILIES}


def share(cases, condition):
    return sum(1 for case, answer in cases if condition(case["input"], answer)) / len(cases)


def any_member(key):
    return lambda group, _answer: any(key in member for member in group["members"])


@pytest.mark.parametrize("family", CLIENT_FAMILIES)
def test_client_groups_have_racks_static_members_and_different_subscriptions(family, sample):
    cases = sample[family]
    assert share(cases, lambda group, _: "racks" in group and any("rack" in of for of in group["members"])) > 0.15
    assert share(cases, any_member("instance")) > 0.15
    assert share(cases, lambda group, _: len({tuple(sorted(of["topics"])) for of in group["members"]}) > 1) > 0.25
    assert share(cases, lambda group, _: any("no-such-topic" in of["topics"] for of in group["members"])) > 0.04


@pytest.mark.parametrize("family", ["kafka.sticky", "kafka.cooperative-sticky"])
def test_sticky_groups_own_something_in_several_generations(family, sample):
    cases = sample[family]
    assert share(cases, any_member("user_data")) > 0.3
    assert share(cases, lambda group, _: len({of.get("generation") for of in group["members"]}) > 2) > 0.1
    assert share(cases, lambda group, _: "instance_max_generation" in group) > 0.02
    assert any("error" in answer for _, answer in cases)


def test_sticky_groups_claim_partitions_twice(sample):
    def claimed_twice(group, _answer):
        owned = [
            (topic, at) for of in group["members"] for topic, numbers in of.get("owned", {}).items() for at in numbers
        ]
        return len(set(owned)) < len(owned)

    assert share(sample["kafka.cooperative-sticky"], claimed_twice) > 0.1


@pytest.mark.parametrize("family", BROKER_FAMILIES)
def test_broker_groups_have_former_assignments_of_both_types(family, sample):
    cases = sample[family]
    assert share(cases, lambda group, _: any(of["assigned"] for of in group["members"])) > 0.5
    assert 0.2 < share(cases, lambda group, _: group["subscription_type"] == "HETEROGENEOUS") < 0.8


def test_share_groups_have_partitions_that_may_not_be_assigned(sample):
    assert share(sample["kafka.server.share-simple"], lambda group, _: "assignable" in group) > 0.05


@pytest.mark.parametrize(
    ("family", "least"),
    [("kafka.sticky", 0.02), ("kafka.cooperative-sticky", 0.02), ("kafka.server.uniform", 0.3)],
)
def test_the_order_of_the_members_matters_in_some(family, least, sample, original):
    def depends_on_order(case, answer):
        members = case["input"]["members"]
        for number in range(4):
            other = {**case["input"], "members": random.Random(number).sample(members, len(members))}
            if original.ask({**case, "input": other, "in_order": True}) != answer:
                return True
        return False

    assert sum(depends_on_order(*case) for case in sample[family]) / CASES > least


def test_the_same_seed_gives_the_same_cases(original):
    first, second = (
        [case for case, _ in islice(random_cases("kafka.sticky", SEED, original.ask), 50)] for _ in range(2)
    )
    assert first == second
    assert [case for case, _ in islice(random_cases("kafka.sticky", SEED + 1, original.ask), 50)] != first
