"""That micro-batches take longer than the trigger is said once, and once more when it is over."""

from math import pi, sin
from random import Random

import pytest

from monitor.readiness.trigger_lag import HEALS_MS, LASTS_MS, OBSERVED_BATCHES, TriggerLag


class Clock:
    def __init__(self, pace: TriggerLag) -> None:
        self.pace = pace
        self.now_ms = 1_700_000_000_000

    def intervals(self, *intervals_ms: int) -> list[str]:
        news = []
        for interval_ms in intervals_ms:
            self.now_ms += interval_ms
            news.append(self.pace.begin(self.now_ms))
        return [sentence for sentence in news if sentence is not None]


def test_it_is_told_when_they_become_too_slow_and_when_they_have_healed():
    pace = TriggerLag(trigger_ms=1000)
    clock = Clock(pace)
    assert clock.intervals(*[1000] * 30) == []
    (slow,) = clock.intervals(*[2500] * 60)
    assert slow.startswith("a micro-batch takes about 2.5 s, longer than spark.trigger_s = 1:")
    assert pace.slow
    assert clock.intervals(*[1000] * (HEALS_MS // 1000)) == []
    assert clock.intervals(*[1000] * 10) == ["micro-batches keep up with spark.trigger_s = 1 again"]
    assert not pace.slow


def test_some_slow_ones_and_a_clock_that_is_set_are_no_news():
    clock = Clock(TriggerLag(trigger_ms=1000))
    assert clock.intervals(*[1000, 1000, 9000] * 20) == []
    assert clock.intervals(*[1000] * 20, 3_600_000, *[1000] * 20, -7_200_000, *[1000] * 20) == []


def test_what_is_slow_from_the_start_is_told_once_it_has_been_so_for_a_minute():
    """The first interval is between two beginnings; from the eleventh on there is enough to tell it by."""
    clock = Clock(TriggerLag(trigger_ms=5000))
    assert clock.intervals(*[9000] * (OBSERVED_BATCHES + LASTS_MS // 9000)) == []
    assert len(clock.intervals(9000)) == 1


def test_the_restart_of_a_broker_is_no_news():
    clock = Clock(TriggerLag(trigger_ms=1000))
    assert clock.intervals(*([1000] * 60 + [2500] * 20) * 10) == []
    pace = TriggerLag(trigger_ms=1000)
    clock = Clock(pace)
    assert len(clock.intervals(*[2500] * 60)) == 1
    assert clock.intervals(*([2500] * 20 + [1000] * 20) * 5) == []
    assert pace.slow


def test_without_a_trigger_nothing_is_too_slow():
    assert Clock(TriggerLag(trigger_ms=0)).intervals(*[60_000] * 50) == []


def test_it_does_not_tell_again_and_again_near_the_border():
    clock = Clock(TriggerLag(trigger_ms=1000))
    assert len(clock.intervals(*[1250] * 80, *([1150] * 11 + [1250] * 11) * 5)) == 1


@pytest.mark.parametrize("half_period", [16, 60, 90, 200, 314])
def test_a_job_at_the_limit_is_told_once(half_period: int):
    """Eight hours of durations that rise and fall between 0.9 and 1.5 s, in periods of half a minute to 12 minutes."""
    durations = [1200 + round(300 * sin(pi * n / half_period)) for n in range(24_000)]
    assert (min(durations), max(durations)) == (900, 1500)
    news = Clock(TriggerLag(trigger_ms=1000)).intervals(*durations)
    assert len(news) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_a_job_that_drifts_around_the_limit_is_told_seldom(seed: int):
    """Each duration differs a little from the one before. A warning and its end are at least ten minutes apart."""
    chance, duration, clock = Random(seed), 1200.0, Clock(TriggerLag(trigger_ms=1000))
    told_ms = []
    for _ in range(10_000):
        duration = min(1500.0, max(900.0, duration + chance.gauss(0, 30)))
        told_ms += [clock.now_ms] * len(clock.intervals(round(duration)))
    ends = told_ms[1::2]
    assert all(end - start >= 600_000 for start, end in zip(told_ms[::2], ends, strict=False))
    assert len(told_ms) < 12
