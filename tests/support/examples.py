"""How many examples Hypothesis tries: few where a newcomer waits, more in CI, very many at night.

A test with rare cases asks for a few times as many as the others: ``@settings(max_examples=example_count(3))``.
"""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, settings

PROFILES: Final = {"quick": 30, "ci": 100, "nightly": 10_000}
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


def is_nightly() -> bool:
    """Whether the run searches for what nobody has seen. Others repeat the same examples where a failure is no news."""
    return settings.get_current_profile_name() == "nightly"
