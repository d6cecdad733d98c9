"""The address of a gate: 200, 409 or 503, with the checks; and when there is nothing to check."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from monitor.expectations.expectation import Expectations
from monitor.model import Shard
from monitor.model.snapshots import AgeLimits
from monitor.web.app import create_app
from monitor.web.views.deployment import Deployment
from tests.web.api.api_example import EXPECTED, NOW_MS, example
from tests.web.examples import Served


def client(expected: Callable[[], Expectations] | None = lambda: EXPECTED, now_ms: int = NOW_MS, **shown) -> TestClient:
    source = example()
    if shown:
        source = Served(replace(source.read(), **shown), source.saved)
    return TestClient(create_app(source, lambda: now_ms, deployment=Deployment(expected=expected)))


@pytest.mark.parametrize(
    ("group", "status", "met", "sentence"),
    [
        ("main/orders", 200, "yes", "It has 2 members."),
        ("main/mail", 503, "unknown", "The group is known only by its commits, so its members are not."),
        ("main/billing", 409, "no", "main has no such group."),
        ("slow/billing", 503, "unknown", None),
    ],
)
def test_the_status_says_whether_a_group_is_as_expected(group, status, met, sentence):
    answer = client().get(f"/api/v1/verify/{group}")
    assert answer.status_code == status
    if sentence is None:  # nothing is known of the cluster, so the answer is that of every address
        return
    assert answer.json()["met"] == met
    assert sentence in [each["sentence"] for each in answer.json()["checks"]]


@pytest.mark.parametrize(
    ("limits", "age_ms", "status"),
    [
        pytest.param(AgeLimits(60_000, 90_000), 60_000, 200, id="of a quiet cluster"),
        pytest.param(AgeLimits(60_000, 90_000), 61_000, 503, id="late"),
        pytest.param(AgeLimits(60_000, 90_000), 91_000, 503, id="stale"),
        pytest.param(AgeLimits(270_000, 1_230_000), 240_000, 200, id="of a job with a long trigger"),
        pytest.param(AgeLimits(270_000, 1_230_000), 271_000, 503, id="late there, too"),
    ],
)
def test_an_evaluation_that_is_late_is_unknown(limits, age_ms, status):
    clusters = tuple(replace(each, age_limits=limits) for each in example().read().clusters)
    (evaluated_ms,) = {each.evaluated_ms for each in clusters if each.cluster == "main"}
    found = client(now_ms=evaluated_ms + age_ms, clusters=clusters)
    assert found.get("/api/v1/verify/main/orders").status_code == status
    condition = found.get("/api/v1/clusters").json()[0]
    assert (condition["stale"] or condition.get("late", False)) is (status == 503)


def test_a_rollout_needs_owners_and_no_new_finding():
    """A partition of orders has no owner."""
    answer = client().get("/api/v1/verify/main/orders?since=-1h")
    assert answer.status_code == 409
    checks = {each["key"]: each["met"] for each in answer.json()["checks"]}
    assert checks["owned"] == "no"
    assert client().get("/api/v1/verify/main/orders?since=soon").status_code == 400


def test_a_group_of_another_shard_is_unknown():
    answer = client(shard=Shard(1, 3)).get("/api/v1/verify/main/billing")
    assert (answer.status_code, answer.json()["met"]) == (503, "unknown")


def test_a_group_that_may_be_in_an_unread_partition_is_unknown():
    source = example()
    sentence = "Partition 3 of __consumer_offsets is not read."
    clusters = tuple([replace(each, unread=sentence) for each in source.read().clusters])
    answer = client(clusters=clusters).get("/api/v1/verify/main/billing")
    assert (answer.status_code, answer.json()["met"]) == (503, "unknown")
    assert answer.json()["checks"][0]["sentence"] == f"billing is not among the known groups. {sentence}"


def broken() -> Expectations:
    raise ValueError("expect is required.")


@pytest.mark.parametrize(
    ("expected", "group", "status", "detail"),
    [
        (None, "orders", 404, "This job has no expectations: [expectations] file is not set."),
        (lambda: EXPECTED, "unexpected", 404, "No entry of the file of expectations is about unexpected."),
        (broken, "orders", 503, "The file of expectations cannot be used. expect is required."),
    ],
)
def test_without_an_expectation_the_answer_is_an_error(expected, group, status, detail):
    answer = client(expected).get(f"/api/v1/verify/main/{group}")
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
