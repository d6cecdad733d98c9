"""The autoscaler's formulas, by hand and by the tables of Kubernetes' KEP-853 and of KEDA's own tests."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.autoscaling.hpa import (
    DEFAULT_DOWN,
    DEFAULT_UP,
    Hpa,
    HpaSpec,
    Policy,
    Rules,
    Select,
    Unit,
    proposal,
)
from tests.autoscaling.keda import Activation, Fallback, FallbackBehavior, MetricWithFallback, prometheus_value

AT_ONCE = Rules(0.0, (Policy(Unit.PERCENT, 100, 15.0),))


def course(spec: HpaSpec, metrics: Sequence[float | None], first: int, every_s: float = 15.0) -> list[int]:
    """The replicas after each sync."""
    hpa, found = Hpa(spec), [first]
    for number, metric in enumerate(metrics):
        found.append(hpa.replicas(number * every_s, found[-1], metric))
    return found[1:]


@pytest.mark.parametrize(
    ("metric", "current", "replicas"),
    [
        pytest.param(1_000, 2, 10, id="1000 / 100"),
        pytest.param(1_001, 2, 11, id="rounded up"),
        pytest.param(440, 4, 4, id="10 % above the target is within the tolerance"),
        pytest.param(441, 4, 5, id="more is not"),
        pytest.param(360, 4, 4, id="10 % below"),
        pytest.param(300, 4, 3, id="25 % below"),
        pytest.param(0, 4, 0, id="nothing waits"),
        pytest.param(250, 0, 3, id="from zero there is no tolerance"),
    ],
)
def test_a_proposal_is_the_metric_by_the_target_rounded_up_outside_of_the_tolerance(
    metric: float, current: int, replicas: int
) -> None:
    assert proposal(metric, current, HpaSpec(target=100.0)) == replicas


def test_from_one_pod_the_default_adds_four_or_doubles_each_quarter_of_a_minute() -> None:
    """4 pods or 100 % in 15 s, the larger: 1 + 4, then 5 + 5, then 10 + 10. After 15 s, a change counts no more."""
    spec = HpaSpec(target=1.0, max_replicas=100)
    assert course(spec, [100.0] * 4, 1) == [5, 10, 20, 40]


def test_a_second_sync_in_the_same_period_adds_nothing_to_what_the_policy_allows() -> None:
    assert course(HpaSpec(target=1.0, max_replicas=100), [100.0] * 5, 1, every_s=5.0) == [5, 5, 5, 10, 10]


def test_900_percent_a_minute_goes_from_1_to_1000_in_three_minutes() -> None:
    """KEP-853, story 1."""
    fast = Rules(0.0, (Policy(Unit.PERCENT, 900, 60.0),))
    spec = HpaSpec(target=1.0, max_replicas=1_000, up=fast)
    assert course(spec, [1_000.0] * 3, 1, every_s=60.0) == [10, 100, 1_000]


def test_one_pod_each_five_minutes_down() -> None:
    """KEP-853, story 3: scale down very gradually."""
    slow = Rules(0.0, (Policy(Unit.PODS, 1, 300.0),))
    spec = HpaSpec(target=1.0, down=slow)
    assert course(spec, [2.0] * 3, 10, every_s=300.0) == [9, 8, 7]


@pytest.mark.parametrize(
    ("select", "replicas"), [(Select.MAX, [90, 81]), (Select.MIN, [96, 92]), (Select.DISABLED, [100, 100])]
)
def test_of_two_policies_the_one_with_the_larger_change_counts_unless_min_is_set(
    select: Select, replicas: list[int]
) -> None:
    """10 % of 100 and then of 90, beside 4 pods."""
    down = Rules(0.0, (Policy(Unit.PODS, 4, 60.0), Policy(Unit.PERCENT, 10, 60.0)), select)
    spec = HpaSpec(target=1.0, max_replicas=200, down=down)
    assert course(spec, [10.0, 10.0], 100, every_s=60.0) == replicas


def test_replicas_go_down_once_the_highest_proposal_of_five_minutes_is_low() -> None:
    """The proposal of 8 at 0 s is 300 s old at the 21st sync, and counts no more."""
    down = course(HpaSpec(target=1.0), [8.0, *[2.0] * 21], 8)
    assert down == [8] * 20 + [2, 2]


def test_a_burst_within_the_window_keeps_the_number() -> None:
    metrics = [8.0, *[2.0] * 10, 8.0, *[2.0] * 19]
    assert set(course(HpaSpec(target=1.0), metrics, 8)) == {8}


def test_the_number_at_the_start_is_a_proposal() -> None:
    assert course(HpaSpec(target=1.0), [2.0] * 3, 6) == [6, 6, 6]


def test_a_window_upwards_takes_its_lowest_proposal() -> None:
    up = Rules(60.0, DEFAULT_UP.policies)
    spec = HpaSpec(target=1.0, up=up)
    assert course(spec, [2.0, 8.0, 8.0, 8.0, 6.0, 6.0], 2) == [2, 2, 2, 2, 6, 6]


def test_a_missing_metric_scales_nothing() -> None:
    assert course(HpaSpec(target=1.0, down=AT_ONCE), [5.0, None, None, 3.0], 5) == [5, 5, 5, 3]


def test_the_limits_hold_and_are_restored() -> None:
    spec = HpaSpec(target=1.0, min_replicas=2, max_replicas=6, up=AT_ONCE, down=AT_ONCE)
    assert course(spec, [50.0, 50.0, 0.0], 3) == [6, 6, 2]
    assert course(spec, [None], 1) == [2]
    assert course(spec, [None], 9) == [6]
    assert course(spec, [5.0], 0) == [0], "autoscaling is off at zero replicas"


def test_a_faster_clock_gives_the_same_numbers() -> None:
    spec = HpaSpec(target=1.0, max_replicas=100)
    metrics: list[float | None] = [100.0, 100.0, *[3.0] * 30]
    assert course(spec.faster(5.0), metrics, 1, every_s=3.0) == course(spec, metrics, 1)
    assert spec.faster(5.0).down.window_s == DEFAULT_DOWN.window_s / 5


@pytest.mark.parametrize(
    ("behavior", "current", "replicas"),
    [
        pytest.param(FallbackBehavior.STATIC, 5, 10, id="static"),
        pytest.param(FallbackBehavior.CURRENT, 5, 5, id="as many as there are"),
        pytest.param(FallbackBehavior.CURRENT_IF_HIGHER, 5, 10, id="the fallback is higher"),
        pytest.param(FallbackBehavior.CURRENT_IF_HIGHER, 15, 15, id="there are more"),
        pytest.param(FallbackBehavior.CURRENT_IF_LOWER, 5, 5, id="there are fewer"),
        pytest.param(FallbackBehavior.CURRENT_IF_LOWER, 15, 10, id="the fallback is lower"),
    ],
)
def test_the_fallback_stands_for_its_replicas_once_there_are_more_failures_than_its_threshold(
    behavior: FallbackBehavior, current: int, replicas: int
) -> None:
    metric = MetricWithFallback(target=10.0, fallback=Fallback(3, 10, behavior))
    assert [metric.value(None, current) for _ in range(3)] == [None] * 3
    assert metric.value(None, current) == 10.0 * replicas


def test_a_success_forgets_the_failures() -> None:
    metric = MetricWithFallback(target=1.0, fallback=Fallback(1, 7))
    assert [metric.value(each, 2) for each in (None, 4.0, None, None, 5.0)] == [None, 4.0, None, 7.0, 5.0]


def test_without_a_fallback_a_failure_stays_one() -> None:
    assert [MetricWithFallback(target=1.0).value(None, 2) for _ in range(9)] == [None] * 9


def test_nothing_of_prometheus_is_zero_unless_null_values_count() -> None:
    assert prometheus_value([]) == 0
    assert prometheus_value([], ignore_null_values=False) is None
    assert prometheus_value([1.0, 2.0]) is None, "several elements are an error"


def test_zero_replicas_come_after_the_cooldown_and_not_while_the_scaler_fails() -> None:
    activation = Activation()
    assert activation.replicas(0, 0, is_active=True) == 1
    assert activation.replicas(300, 4, is_active=False) == 4
    assert activation.replicas(301, 4, is_active=None) == 4
    assert activation.replicas(302, 4, is_active=False) == 0
    assert activation.replicas(303, 0, is_active=False) == 0
