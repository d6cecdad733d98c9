"""The broker's targets against its own assignors: what is right stays quiet, whatever release chose it."""

import pytest
from msgspec.structs import replace

from monitor.assignors.kafka_broker import UniformAssignor
from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    ClassicProtocol,
    DriftCause,
    DriftKind,
    FindingKind,
    MembershipChange,
    Phase,
    RebalanceCause,
    Source,
)
from tests.detection.ownership.test_kip848 import BILLS, CATALOG, ORDERS, group, ids, member
from tests.support.builders import ASSIGNED, NOW, catalog, places, topic

HASH = {"metadata_hash": 99}
"""What brokers since 4.1 write."""


def has(name, *orders, bills=(), **more):
    own = (*ids(ORDERS, *orders), *(ids(BILLS, *bills) if bills else ()))
    return member(name, assigned=own, target=own, **more)


def ranged(name, *orders, **more):
    return has(name, *orders, server_assignor="range", **more)


def drift(state, topics=CATALOG):
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    assert verdict.expectation == "target"
    return [(f.reason, f.partitions) for f in verdict.findings if f.kind is FindingKind.DRIFT]


BOTH = ("orders", "bills")


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(group(ranged("a", 0, 1), ranged("b", 2, 3), **HASH), id="range: runs, by member id"),
        pytest.param(
            group(ranged("a", 2, 3), ranged("b", 0, 1, instance_id="i"), **HASH), id="range: static members come first"
        ),
        pytest.param(group(ranged("a", 1, 3), ranged("b", 0, 2)), id="range of an older broker keeps what members had"),
        pytest.param(group(ranged("a", 0, 1), ranged("b", 2), **HASH), id="range, before the topic grew"),
        pytest.param(group(has("a", 1, 3), has("b", 0, 2), **HASH), id="uniform: even, however it came about"),
        pytest.param(
            group(
                has("a", 0, 1, bills=(0,), topics=BOTH),
                has("b", 2, bills=(1,), topics=BOTH),
                has("c", 3, topics=BOTH),
                **HASH,
            ),
            id="nobody asks: range is as good as uniform, which would have 2 for each",
        ),
        pytest.param(
            group(
                has("a", 0, 1, bills=(0,), topics=BOTH, server_assignor="range"),
                has("b", 2, bills=(1,), topics=BOTH, server_assignor="uniform"),
                has("c", 3, topics=BOTH),
                **HASH,
            ),
            id="one asks for each: either may be the broker's choice",
        ),
        pytest.param(group(has("a", 1), has("b", 0, 2)), id="uniform, before the topic grew"),
        pytest.param(
            group(has("a", 0, 1, 2, topics=("orders",)), has("b", 3, bills=(0, 1), topics=BOTH)),
            id="uniform with different subscriptions: only validity is judged",
        ),
        pytest.param(
            group(has("a", 0, 1, 2, 3), has("b"), phase=Phase.ASSIGNING), id="the broker has yet to choose: not judged"
        ),
        pytest.param(
            group(has("a", 0, 1, 2, 3), has("b"), pending=(MembershipChange(cause=RebalanceCause.JOIN),)),
            id="a member has joined and no epoch was raised yet: not judged",
        ),
        pytest.param(
            group(has("a", 0, 1, 2, 3), member("b")), id="a member whose target the log does not have: not judged"
        ),
        pytest.param(
            replace(group(has("a", 0, 1, 2, 3), has("b")), target_epoch=6), id="targets of an older epoch: not judged"
        ),
        pytest.param(
            group(has("a", 0, 1, 2, 3, server_assignor="ours"), has("b", server_assignor="ours")),
            id="an assignor of somebody's own: not judged",
        ),
        pytest.param(
            group(has("a", 0, 1, 2, 7), has("b")), id="a partition that does not exist: other topics, not judged"
        ),
    ],
)
def test_targets_that_are_right_or_cannot_be_judged(state):
    assert drift(state) == []


@pytest.mark.parametrize(
    ("state", "partitions"),
    [
        pytest.param(
            group(ranged("a", 2, 3), ranged("b", 0, 1), **HASH), places("orders", 0, 1, 2, 3), id="range: exchanged"
        ),
        pytest.param(
            group(ranged("a", 0, 2), ranged("b", 1, 3), **HASH), places("orders", 1, 2), id="range: cut otherwise"
        ),
        pytest.param(
            group(ranged("a", 0, 1, 2), ranged("b", 3)), places("orders", 2), id="range of an older broker: uneven"
        ),
        pytest.param(group(has("a", 0, 1, 2), has("b", 3)), places("orders", 2), id="uniform: 3 and 1"),
        pytest.param(
            group(has("a", 0, 1), has("b", 1, 2, 3)), places("orders", 1), id="uniform: two members for one partition"
        ),
        pytest.param(
            group(has("a", 0, 1, 2, 3, bills=(0,)), has("b", bills=(1,), topics=("bills",))),
            places("bills", 0),
            id="uniform with different subscriptions: a member that does not subscribe",
        ),
    ],
)
def test_targets_that_the_assignor_would_not_choose(state, partitions):
    assert drift(state) == [(DriftKind.TARGET, partitions)]


def finding(state):
    (found,) = [f for f in evaluate(state, CATALOG, NOW, DetectionSettings()).findings if f.reason == DriftKind.TARGET]
    return found


def test_what_a_person_reads():
    found = finding(group(ranged("a", 2, 3), ranged("b", 0, 1), **HASH))
    assert (found.since_ms, found.cause) == (ASSIGNED, DriftCause.UNKNOWN)
    assert found.sentence == (
        "The coordinator did not assign 4 partitions of orders (0-3) as its assignor range computes for epoch 7. For "
        "example, partition 0 of orders should go to a, but the coordinator chose b. The brokers may run a different "
        "version of the assignor."
    )


@pytest.mark.parametrize(
    ("state", "named"),
    [
        pytest.param(
            group(has("a", 0, 1, 2), has("b", 3, server_assignor="range"), has("c", server_assignor="uniform")),
            "range, uniform",
            id="members ask for two",
        ),
        pytest.param(
            group(
                has("a", 0, 1, 2, classic_protocols=(ClassicProtocol(name="range"),)),
                has("b", 3, classic_protocols=(ClassicProtocol(name="sticky"),)),
            ),
            "range, sticky",
            id="classic members offer different ones",
        ),
    ],
)
def test_members_with_different_assignors_are_the_likely_cause(state, named):
    found = finding(state)
    assert found.cause is DriftCause.MIXED_ASSIGNORS
    assert found.sentence.endswith(f"The members request different assignors: {named}.")


def test_without_a_wish_of_the_members_the_default_may_be_another():
    found = finding(group(has("a", 0, 1, 2), has("b", 3)))
    assert found.sentence.endswith(
        "No member requests an assignor, and the brokers' default (group.consumer.assignors) may be a different one."
    )


def test_each_row_of_a_wrong_target_tells_both_members():
    verdict = evaluate(group(has("a", 0, 1, 2), has("b", 3)), CATALOG, NOW, DetectionSettings())
    assert [(row.partition, row.expected, row.replayed) for row in verdict.partitions] == [
        (0, "a", "a"),
        (1, "a", "a"),
        (2, "a", "b"),
        (3, "b", "b"),
    ]


def test_a_balanced_target_never_costs_a_recomputation(monkeypatch):
    """A group of a million partitions is compared, not assigned again."""
    monkeypatch.setattr(UniformAssignor, "assign", lambda *_, **__: pytest.fail("was asked"))
    assert drift(group(has("a", 0, 1), has("b", 2, 3))) == []


def test_a_topic_that_grew_before_a_collector_saw_it_is_quiet():
    """The broker chose for 4 when the collector had seen 2 by then."""
    grown = catalog(replace(topic("orders", 4, grown=2), topic_id=ORDERS), replace(topic("bills", 2), topic_id=BILLS))
    assert drift(group(ranged("a", 0, 1), ranged("b", 2, 3), **HASH), grown) == []


def test_an_assignor_that_the_broker_told_is_the_only_one_that_may_explain_its_targets():
    """Read by the admin API, a group's assignor is known also where no member asks for one."""
    cut_by_topic = group(
        has("a", 0, 1, bills=(0,), topics=BOTH), has("b", 2, bills=(1,), topics=BOTH), has("c", 3, topics=BOTH), **HASH
    )
    assert drift(replace(cut_by_topic, source=Source.ADMIN, protocol="range")) == []
    told = drift(replace(cut_by_topic, source=Source.ADMIN, protocol="uniform"))
    assert [reason for reason, _ in told] == [DriftKind.TARGET]
    assert drift(replace(cut_by_topic, source=Source.ADMIN, protocol="ours")) == []
