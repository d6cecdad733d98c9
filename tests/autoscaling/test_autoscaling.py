"""A short run of ``make autoscaling``: a steep step, scaled by KEDA's formula and by groupwatch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.autoscaling.loads import LOADS
from tests.autoscaling.loop import variant_of
from tests.autoscaling.run import play

DURATION_S = 75.0


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The step in 75 s: from two pods to six after 11 s, and back after 41 s."""
    variants = [variant_of(name) for name in ("keda-500", "groupwatch")]
    return play(LOADS["step"], variants, DURATION_S, tmp_path_factory.mktemp("step"), down_after_s=20.0)


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.timeout(700)
def test_real_consumers_follow_keda_s_formula(step: dict[str, Any]) -> None:
    samples = step["samples"]["keda-500"]
    assert step["failures"] == []
    assert samples[0]["replicas"] == 2
    assert max(each["replicas"] for each in samples) >= 6, "the step needs six pods"
    assert max(each["owners"] for each in samples) >= 6, "and they own partitions"
    assert step["costs"]["keda-500"]["rebalances"] >= 1
    assert step["costs"]["keda-500"]["unknown_s"] == 0


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.timeout(700)
def test_real_consumers_follow_the_number_of_groupwatch(step: dict[str, Any]) -> None:
    samples = step["samples"]["groupwatch"]
    assert {each["status"] for each in samples if each["wanted"] is not None} == {200}
    assert max(each["replicas"] for each in samples) >= 6, "the step needs six pods"
    assert all(each["reason"] for each in samples)
    assert step["costs"]["groupwatch"]["rebalances"] >= 1
