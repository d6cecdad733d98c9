"""The number of members for an autoscaler: nothing that is missing reads as a number."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from monitor.model.snapshots import AgeLimits
from monitor.web.app import create_app
from tests.web.api.api_example import NOW_MS, SCALING, example
from tests.web.examples import Served

UNKNOWN = replace(SCALING["orders"], wanted_members=None, wanted_replicas=None, sentence="The group has no members.")


def answer(group: str = "main/orders", now_ms: int = NOW_MS, **of_main):
    """The answer of a job in which cluster main is so."""
    source = example()
    clusters = tuple([replace(each, **of_main) if each.cluster == "main" else each for each in source.read().clusters])
    served = Served(replace(source.read(), clusters=clusters), source.saved)
    return TestClient(create_app(served, lambda: now_ms)).get(f"/api/v1/scale/{group}")


def with_orders(**fields) -> dict[str, object]:
    """Cluster main, in which group orders has these fields."""
    (main,) = [each for each in example().read().clusters if each.cluster == "main"]
    return {"groups": tuple([replace(each, **fields) if each.group == "orders" else each for each in main.groups])}


def test_a_known_number_is_an_answer():
    found = answer()
    assert found.status_code == 200
    assert {name: found.json()[name] for name in ("group", "wanted_members", "wanted_replicas", "drain_ms")} == {
        "group": "orders",
        "wanted_members": 3,
        "wanted_replicas": 3,
        "drain_ms": 90_000,
    }


@pytest.mark.parametrize(
    ("group", "now_ms", "of_main", "status", "sentence"),
    [
        pytest.param("main/mail", NOW_MS, {}, 404, "No entry [[scale]] of the job's", id="no entry"),
        pytest.param("main/none", NOW_MS, {}, 404, "No group named none", id="no group"),
        pytest.param("slow/orders", NOW_MS, {}, 503, "not known yet", id="not ready"),
        pytest.param("main/orders", NOW_MS, with_orders(scaling=UNKNOWN), 503, "has no members.", id="unknown"),
        pytest.param("main/orders", NOW_MS, with_orders(unjudged="A rule failed."), 503, "A rule", id="not evaluated"),
        pytest.param("main/orders", NOW_MS, {"problem": "No broker answers."}, 503, "No broker answers.", id="away"),
        pytest.param("main/orders", NOW_MS, {"stalled": True}, 503, "Stalled:", id="stalled"),
        pytest.param(
            "main/orders", NOW_MS + 61_000, {"age_limits": AgeLimits(60_000, 90_000)}, 503, "Late:", id="late"
        ),
    ],
)
def test_what_is_missing_is_an_error_with_a_sentence(group, now_ms, of_main, status, sentence):
    found = answer(group, now_ms, **of_main)
    assert found.status_code == status
    assert sentence in found.json()["detail"]
    assert "wanted_replicas" not in found.json()
