"""Owned, meant for another, to be given back: three things in a KIP-848 group, and when they become a finding."""

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import DriftKind, FindingKind, Handover, MemberState, OrphanReason, Phase
from tests.detection.ownership.test_kip848 import CATALOG, ORDERS, group, ids, member
from tests.support.builders import ASSIGNED, CREATED, NOW, places

TOLD = NOW - 60_000


def giving(since_ms=TOLD, **more):
    """It has 0 to 2, keeps 0 and 1, has to give back 2, and has given back 3."""
    return member(
        "a",
        assigned=ids(ORDERS, 0, 1),
        revoking=ids(ORDERS, 2),
        target=ids(ORDERS, 0, 1),
        state=MemberState.UNREVOKED_PARTITIONS,
        epoch=6,
        since_ms=since_ms,
        **more,
    )


WAITING = member("b", target=ids(ORDERS, 2, 3), state=MemberState.UNRELEASED_PARTITIONS)


def verdict_of(*members, **settings):
    return evaluate(group(*members, phase=Phase.RECONCILING), CATALOG, NOW, DetectionSettings(**settings))


def late(verdict):
    return [finding for finding in verdict.findings if finding.reason == DriftKind.PENDING and finding.kind == "drift"]


def test_what_is_owned_and_what_is_meant_for_another_are_told_apart():
    verdict = verdict_of(giving(rebalance_timeout_ms=45_000), WAITING)
    assert verdict.handovers == (
        Handover(owner="a", heir="b", is_told=True, since_ms=TOLD, grace_ms=45_000, partitions=places("orders", 2)),
    )
    orphans = {row.partition: row.orphan for row in verdict.partitions}
    assert orphans == {0: None, 1: None, 2: None, 3: OrphanReason.PENDING}, "3 has nobody, 2 still has a"


def test_a_member_that_the_broker_has_not_told_yet_is_late_from_the_epoch_on():
    """Its own record is older than the epoch: it has not asked since."""
    sleeping = member("a", assigned=ids(ORDERS, 0, 1, 2, 3), target=ids(ORDERS, 0, 1), epoch=6, since_ms=CREATED)
    (handover,) = verdict_of(sleeping, WAITING).handovers
    assert (handover.is_told, handover.since_ms, handover.partitions) == (False, ASSIGNED, places("orders", 2, 3))


def test_what_nobody_is_to_have_has_no_heir():
    (handover,) = verdict_of(giving(), member("b", target=ids(ORDERS, 3))).handovers
    assert (handover.owner, handover.heir) == ("a", None)


def test_a_settled_group_hands_nothing_over():
    half = member("a", assigned=ids(ORDERS, 0, 1), target=ids(ORDERS, 0, 1))
    rest = member("b", assigned=ids(ORDERS, 2, 3), target=ids(ORDERS, 2, 3))
    verdict = evaluate(group(half, rest), CATALOG, NOW, DetectionSettings())
    assert verdict.handovers == ()


@pytest.mark.parametrize(
    ("since_ms", "timeout_ms", "chosen_ms", "is_late"),
    [
        pytest.param(NOW - 299_999, 0, None, False, id="five minutes without a known timeout"),
        pytest.param(NOW - 300_001, 0, None, True, id="longer"),
        pytest.param(NOW - 45_000, 45_000, None, False, id="within the member's own timeout"),
        pytest.param(NOW - 45_001, 45_000, None, True, id="beyond the member's own timeout"),
        pytest.param(NOW - 45_001, 45_000, 60_000, False, id="the setting goes before the timeout: longer"),
        pytest.param(NOW - 20_001, 45_000, 20_000, True, id="the setting goes before the timeout: shorter"),
        pytest.param(NOW - 1, 45_000, 0, True, id="no grace at all"),
    ],
)
def test_a_handover_is_a_finding_when_it_takes_longer_than_it_may(since_ms, timeout_ms, chosen_ms, is_late):
    verdict = verdict_of(giving(since_ms, rebalance_timeout_ms=timeout_ms), WAITING, handover_ms=chosen_ms)
    assert bool(late(verdict)) is is_late


def test_a_handover_of_before_its_time_was_kept_counts_from_the_epoch():
    (handover,) = verdict_of(giving(since_ms=0), WAITING).handovers
    assert handover.since_ms == ASSIGNED


def test_what_a_person_reads():
    (finding,) = late(verdict_of(giving(NOW - 400_000), WAITING))
    assert (finding.kind, finding.since_ms, finding.members) == (FindingKind.DRIFT, NOW - 400_000, ("a",))
    assert finding.partitions == places("orders", 2)
    assert finding.sentence == (
        "1 partition of orders (2) has not been handed over in epoch 7. Its target owner is b. Its current owner, "
        "a, has not revoked it, although the coordinator requested that."
    )
