"""Which groups are found, and in which order."""

import pytest
from msgspec.structs import replace

from monitor.model import Finding, FindingKind, GroupVerdict
from monitor.web.views.group_list import Column, KindCount, Listing, Listings, Wish
from tests.web.examples import NOW_MS, offsets_only, orders, ready_cluster, snapshot


def with_findings(group: str, *kinds: FindingKind, lag: int | None = None, cluster: str = "main") -> GroupVerdict:
    findings = tuple(
        Finding(kind=kind, reason=REASONS[kind], since_ms=NOW_MS - 1_000, sentence="Wrong.") for kind in kinds
    )
    return replace(offsets_only(group, cluster), findings=findings, lag=lag)


LAG, DRIFT, ORPHANED = FindingKind.LAG, FindingKind.DRIFT, FindingKind.ORPHANED
REASONS = {LAG: "behind", DRIFT: "current", ORPHANED: "grew"}
SHOWN = snapshot(
    ready_cluster(
        with_findings("Billing", lag=5),
        with_findings("billing-2", LAG, lag=900),
        with_findings("audit", DRIFT, DRIFT, LAG, lag=None),
        with_findings("zoo", ORPHANED, lag=30),
        replace(orders("mail"), findings=(), lag=30),
    ),
    ready_cluster(with_findings("billing-eu", DRIFT, lag=7, cluster="eu"), cluster="eu"),
)


def names(**wish) -> list[str]:
    return [each.group for each in Listing(SHOWN).found(Wish(**wish)).groups]


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        pytest.param({}, ["zoo", "audit", "billing-2", "billing-eu", "Billing", "mail"], id="worst first"),
        pytest.param(
            {"turned": True}, ["mail", "Billing", "billing-eu", "billing-2", "audit", "zoo"], id="the best first"
        ),
        pytest.param({"search": "BILL"}, ["billing-2", "billing-eu", "Billing"], id="part of a name in any case"),
        pytest.param({"search": "bill", "cluster": "eu"}, ["billing-eu"], id="of one cluster"),
        pytest.param({"cluster": "us"}, [], id="of a cluster that there is not"),
        pytest.param({"problems": True}, ["zoo", "audit", "billing-2", "billing-eu"], id="with findings"),
        pytest.param({"kind": LAG}, ["audit", "billing-2"], id="with a finding, also if it is not the worst"),
        pytest.param(
            {"column": Column.LAG},
            ["billing-2", "zoo", "mail", "billing-eu", "Billing", "audit"],
            id="most lag first, of equal ones the worst, the unknown last",
        ),
        pytest.param(
            {"column": Column.LAG, "turned": True},
            ["Billing", "billing-eu", "zoo", "mail", "billing-2", "audit"],
            id="least lag first, the unknown last all the same",
        ),
        pytest.param(
            {"column": Column.GROUP},
            ["audit", "Billing", "billing-2", "billing-eu", "mail", "zoo"],
            id="by name, capitals or not",
        ),
        pytest.param({"column": Column.MEMBERS, "problems": False}, ["mail"], id="by members"),
        pytest.param({"column": Column.ASSIGNOR}, ["mail"], id="by assignor"),
    ],
)
def test_groups_are_found_and_in_order(wish, expected):
    assert names(**wish)[: len(expected) or None] == expected


def test_counts_are_of_all_that_match_the_name_whatever_kind_is_asked_for():
    found = Listing(SHOWN).found(Wish(search="i", kind=LAG))
    assert [each.group for each in found.groups] == ["audit", "billing-2"]
    assert (found.total, found.troubled) == (5, 3)
    assert found.kinds == (KindCount(LAG, 2), KindCount(DRIFT, 2)), "worst first; two drifts of a group count once"


def test_a_listing_is_kept_until_there_is_a_newer_snapshot():
    listings = Listings()
    assert listings.of(SHOWN) is listings.of(SHOWN)
    newer = snapshot(ready_cluster(with_findings("new")))
    assert [each.group for each in listings.of(newer).found(Wish()).groups] == ["new"]
