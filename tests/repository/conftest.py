"""Fixtures of the tests of Helm's chart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.support.helm_chart import Rendered, Values, helm

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """What Helm made of values: many tests look at the same."""
    return {}


@pytest.fixture
def rendered(tmp_path: Path, templates: dict[str, str]) -> Callable[..., Rendered]:
    """The objects that these values give."""

    def render(values: Values, *options: str) -> Rendered:
        given = repr((values, options))
        if given not in templates:
            done = helm("template", tmp_path, values, *options)
            assert done.returncode == 0, done.stderr
            templates[given] = done.stdout
        return [each for each in yaml.load_all(templates[given], Loader) if each]

    return render


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[Values], str]:
    """What Helm says of these values."""

    def refusal(values: Values) -> str:
        done = helm("template", tmp_path, values)
        assert done.returncode != 0, "the values were taken"
        return done.stderr

    return refusal
