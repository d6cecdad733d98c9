"""How many examples Hypothesis tries: few where a newcomer waits, more in CI, very many at night.

A test with rare cases asks for a few times as many as the others: ``@settings(max_examples=example_count(3))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from hypothesis import HealthCheck, settings

Case = TypeVar("Case")

PROFILES: Final = {"quick": 30, "ci": 60, "nightly": 10_000}
"""By their names: ``pytest --hypothesis-profile=ci``."""


def register_profiles() -> None:
    """Make them known, and take the first one. Nothing is asserted about speed: a busy machine may take long."""
    for name, examples in PROFILES.items():
        settings.register_profile(
            name, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        )
    settings.load_profile(next(iter(PROFILES)))


def example_count(factor: float) -> int:
    """So many times the examples of the profile."""
    return max(round(factor * settings().max_examples), 1)


def some_of(cases: Sequence[Case], one_in: int = 3) -> Sequence[Case]:
    """Of cases that repeat what others show, one of so many where a newcomer waits, and all in CI."""
    return cases[::one_in] if settings.get_current_profile_name() == "quick" else cases


def is_nightly() -> bool:
    """Whether the run searches for what nobody has seen. Others repeat the same examples where a failure is no news."""
    return settings.get_current_profile_name() == "nightly"
