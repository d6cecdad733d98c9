"""How long a backlog will still take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.readiness.time_left import ProgressPoint, time_left_ms


def readings(*pairs: tuple[int, int]) -> list[ProgressPoint]:
    return [ProgressPoint(at_ms=at_ms, remaining=remaining) for at_ms, remaining in pairs]


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(readings(), id="nothing read yet"),
        pytest.param(readings((1_000, 500)), id="one batch has no pace"),
        pytest.param(readings((1_000, 500), (2_000, 500)), id="the reading stands"),
        pytest.param(readings((1_000, 500), (2_000, 600)), id="more remains than before"),
        pytest.param(readings((1_000, 500), (1_000, 400)), id="no time has passed"),
        pytest.param(readings((2_000, 500), (1_000, 400)), id="the clock was set back"),
    ],
)
def test_without_a_pace_there_is_no_estimate(read):
    assert time_left_ms(read) is None


def test_nothing_remains_takes_no_time_even_without_a_pace():
    assert time_left_ms(readings((1_000, 0))) == 0


def test_the_pace_is_that_from_the_first_to_the_last_reading():
    """300 in 4 s, though the last batch alone was slower: 450 more take 6 s."""
    assert time_left_ms(readings((10_000, 750), (11_000, 500), (14_000, 450))) == 6_000


@given(st.integers(1, 10**9), st.integers(1, 10**6), st.integers(1, 50), st.integers(1, 50))
def test_at_a_steady_pace_the_estimate_is_exact(begin_ms, batch, before, after):
    """Batches of one size, one a second: as many seconds remain as batches do."""
    read = [
        ProgressPoint(at_ms=begin_ms + 1_000 * n, remaining=batch * (before + after - n)) for n in range(before + 1)
    ]
    assert time_left_ms(read) == 1_000 * after
