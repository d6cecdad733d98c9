"""KEDA's Kafka scaler: the value of its metric from the offsets of a group. Pure.

Source: kedacore/keda, ``pkg/scalers/kafka_scaler.go`` (``getLagForPartition``, ``getTotalLag``) and its documentation,
https://keda.sh/docs/latest/scalers/apache-kafka/. Lags are records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

DEFAULT_LAG_THRESHOLD: Final = 10
ONE_UNKNOWN: Final = 1
"""The lag of a partition without a committed offset, with ``offsetResetPolicy: latest``."""


class Reset(StrEnum):
    """``offsetResetPolicy``."""

    LATEST = "latest"
    EARLIEST = "earliest"


@dataclass(frozen=True)
class KafkaTrigger:
    """The metadata of a trigger of type ``kafka`` with one topic.

    Raises:
        ValueError: KEDA refuses these settings together (``Validate``).
    """

    lag_threshold: int = DEFAULT_LAG_THRESHOLD
    activation_lag_threshold: int = 0
    offset_reset_policy: Reset = Reset.LATEST
    allow_idle_consumers: bool = False
    scale_to_zero_on_invalid_offset: bool = False
    exclude_persistent_lag: bool = False
    limit_to_partitions_with_lag: bool = False
    ensure_even_distribution: bool = False

    def __post_init__(self) -> None:
        if self.lag_threshold <= 0:
            raise ValueError("lagThreshold must be a positive number")
        if self.limit_to_partitions_with_lag and self.allow_idle_consumers:
            raise ValueError("allowIdleConsumers and limitToPartitionsWithLag cannot be set simultaneously")
        if self.limit_to_partitions_with_lag and self.ensure_even_distribution:
            raise ValueError(
                "limitToPartitionsWithLag and ensureEvenDistributionOfPartitions cannot be set simultaneously"
            )


@dataclass(frozen=True)
class Reading:
    """The metric (a lag), and whether the group is active, which counts persistent lag, too."""

    metric: int
    is_active: bool


@dataclass
class KafkaScaler:
    """A scaler, which remembers each partition's offset of its last reading (``excludePersistentLag``)."""

    trigger: KafkaTrigger
    _previous: dict[int, int] = field(default_factory=dict)

    def reading(self, committed: Mapping[int, int], ends: Mapping[int, int]) -> Reading:
        """For the committed offset of each partition (none: there is none), and each partition's end."""
        lags = [self.lag(partition, committed.get(partition), ends) for partition in sorted(ends)]
        counted = [lag for lag, _ in lags]
        metric = capped(sum(counted), len(ends), sum(lag > 0 for lag in counted), self.trigger)
        return Reading(metric, sum(whole for _, whole in lags) > self.trigger.activation_lag_threshold)

    def lag(self, partition: int, committed: int | None, ends: Mapping[int, int]) -> tuple[int, int]:
        """The lag that counts, and the whole lag (``getLagForPartition``).

        They differ with ``excludePersistentLag`` where the offset is that of the last reading. A partition whose end
        is not known has no lag.
        """
        trigger = self.trigger
        if committed is None:
            return _lag_without_offset(trigger, ends.get(partition, 0))
        if partition not in ends:
            return 0, 0
        lag = ends[partition] - committed
        if not trigger.exclude_persistent_lag:
            return lag, lag
        stands_still = self._previous.get(partition) == committed
        self._previous[partition] = committed
        return (0 if stands_still else lag), lag


def _lag_without_offset(trigger: KafkaTrigger, end: int) -> tuple[int, int]:
    if trigger.scale_to_zero_on_invalid_offset:
        return 0, 0
    lag = ONE_UNKNOWN if trigger.offset_reset_policy is Reset.LATEST else end
    return lag, lag


def capped(total: int, partitions: int, partitions_with_lag: int, trigger: KafkaTrigger) -> int:
    """The total lag, or as much as stands for the most replicas that make sense (the end of ``getTotalLag``).

    >>> capped(9_999, 12, 3, KafkaTrigger(100)), capped(9_999, 12, 3, KafkaTrigger(100, allow_idle_consumers=True))
    (1200, 9999)
    """
    limits = trigger.limit_to_partitions_with_lag
    if trigger.allow_idle_consumers and not (limits or trigger.ensure_even_distribution):
        return total
    threshold = trigger.lag_threshold
    if trigger.ensure_even_distribution:
        total = even_factor(total, partitions, threshold) * threshold
    most = partitions_with_lag if limits else partitions
    return most * threshold if total // threshold > most else total


def even_factor(total: int, partitions: int, threshold: int) -> int:
    """The smallest divisor of the partitions that is enough consumers for the lag; all partitions if none is."""
    return next((factor for factor in factors(partitions) if factor * threshold >= total), partitions)


def factors(number: int) -> list[int]:
    """All divisors in ascending order (``FindFactors``); none of a number below 1.

    >>> factors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [each for each in range(1, number + 1) if number % each == 0]


def total_lag(committed: Mapping[int, int], ends: Mapping[int, int], partitions: Iterable[int]) -> int:
    """The whole lag in these partitions, where one without an offset is unread from 0."""
    return sum(max(0, ends.get(each, 0) - committed.get(each, 0)) for each in partitions)
