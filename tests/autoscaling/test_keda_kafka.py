"""KEDA's Kafka scaler, by the tables of its own tests (kafka_scaler_test.go), its documentation, and by hand."""

from __future__ import annotations

import pytest

from tests.autoscaling.keda_kafka import KafkaScaler, KafkaTrigger, Reading, Reset, even_factor, factors


@pytest.mark.parametrize(
    ("number", "divisors"),
    [
        (10, [1, 2, 5, 10]),
        (13, [1, 13]),
        (17, [1, 17]),
        (25, [1, 5, 25]),
        (50, [1, 2, 5, 10, 25, 50]),
        (100, [1, 2, 4, 5, 10, 20, 25, 50, 100]),
        (0, []),
    ],
)
def test_find_factors(number: int, divisors: list[int]) -> None:
    """TestFindFactors."""
    assert factors(number) == divisors


@pytest.mark.parametrize(
    ("lag", "factor"), [(10, 1), (20, 2), (40, 4), (50, 5), (99, 10), (100, 10), (101, 20), (9_999, 100)]
)
def test_the_next_factor_balances_the_consumers(lag: int, factor: int) -> None:
    """TestGetNextFactor, with 100 partitions and a threshold of 10; the last row is more than all partitions."""
    assert even_factor(lag, 100, 10) == factor


@pytest.mark.parametrize(
    ("trigger", "committed", "ends", "lag"),
    [
        pytest.param(KafkaTrigger(offset_reset_policy=Reset.EARLIEST), 100, {0: 150}, 50, id="both offsets are known"),
        pytest.param(
            KafkaTrigger(offset_reset_policy=Reset.EARLIEST, scale_to_zero_on_invalid_offset=True),
            *(None, {}, 0),
            id="no offset, no end, scale to zero",
        ),
        pytest.param(KafkaTrigger(offset_reset_policy=Reset.EARLIEST), None, {}, 0, id="no offset, no end"),
        pytest.param(KafkaTrigger(offset_reset_policy=Reset.EARLIEST), 100, {}, 0, id="no end"),
        pytest.param(
            KafkaTrigger(scale_to_zero_on_invalid_offset=True), None, {0: 150}, 0, id="no offset, latest, to zero"
        ),
        pytest.param(KafkaTrigger(), None, {0: 150}, 1, id="no offset, latest"),
        pytest.param(KafkaTrigger(offset_reset_policy=Reset.EARLIEST), None, {0: 150}, 150, id="no offset, earliest"),
    ],
)
def test_the_lag_of_a_partition(trigger: KafkaTrigger, committed: int | None, ends: dict[int, int], lag: int) -> None:
    """TestGetLagForPartition_MissingPartition; the last two rows by hand, from getLagForPartition."""
    assert KafkaScaler(trigger).lag(0, committed, ends) == (lag, lag)


SKEWED = ({0: 0, 1: 500, 2: 500, 3: 500}, {0: 900, 1: 600, 2: 500, 3: 500})
"""The committed offsets and the ends of a topic of four partitions: lags of 900, 100, 0 and 0."""


@pytest.mark.parametrize(
    ("trigger", "metric"),
    [
        pytest.param(KafkaTrigger(500), 1_000, id="the whole lag"),
        pytest.param(KafkaTrigger(100), 400, id="as much as four partitions stand for"),
        pytest.param(KafkaTrigger(100, allow_idle_consumers=True), 1_000, id="idle consumers are allowed"),
        pytest.param(KafkaTrigger(100, limit_to_partitions_with_lag=True), 200, id="two partitions have lag"),
        pytest.param(KafkaTrigger(600, ensure_even_distribution=True), 1_200, id="2 consumers for 1000 / 600"),
        pytest.param(KafkaTrigger(400, ensure_even_distribution=True), 1_600, id="3 do not divide 4 partitions: 4"),
        pytest.param(KafkaTrigger(100, ensure_even_distribution=True), 400, id="no more than partitions"),
    ],
)
def test_the_metric_is_the_total_lag_and_has_its_limits(trigger: KafkaTrigger, metric: int) -> None:
    assert KafkaScaler(trigger).reading(*SKEWED) == Reading(metric, is_active=True)


def test_the_limit_is_compared_in_whole_thresholds() -> None:
    """449 / 100 is 4 in integers, no more than four partitions, so the lag stays as it is."""
    ends = {0: 449, 1: 0, 2: 0, 3: 0}
    assert KafkaScaler(KafkaTrigger(100)).reading(dict.fromkeys(ends, 0), ends).metric == 449


def test_a_partition_whose_offset_stays_has_no_lag_that_counts_but_keeps_the_group_active() -> None:
    scaler = KafkaScaler(KafkaTrigger(100, exclude_persistent_lag=True))
    first = scaler.reading({0: 10, 1: 10}, {0: 60, 1: 40})
    stuck = scaler.reading({0: 10, 1: 30}, {0: 80, 1: 40})
    again = scaler.reading({0: 20, 1: 30}, {0: 80, 1: 40})
    assert [first.metric, stuck.metric, again.metric] == [80, 10, 60]
    assert stuck.is_active
    assert KafkaScaler(KafkaTrigger(exclude_persistent_lag=True)).reading({0: 5}, {0: 5}) == Reading(0, is_active=False)


def test_activation_needs_more_than_its_threshold() -> None:
    trigger = KafkaTrigger(10, activation_lag_threshold=5)
    assert KafkaScaler(trigger).reading({0: 0}, {0: 5}) == Reading(5, is_active=False)
    assert KafkaScaler(trigger).reading({0: 0}, {0: 6}) == Reading(6, is_active=True)


@pytest.mark.parametrize(
    "flags",
    [
        {"allow_idle_consumers": True, "limit_to_partitions_with_lag": True},
        {"ensure_even_distribution": True, "limit_to_partitions_with_lag": True},
        {"lag_threshold": 0},
    ],
)
def test_keda_refuses_some_settings(flags: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"cannot be set|must be a positive"):
        KafkaTrigger(**flags)  # type: ignore[arg-type] # flags of two types
