"""Configuration files that tests write, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigError, load


def problems(path: Path) -> tuple[str, ...]:
    """The sentences with which a file is refused."""
    with pytest.raises(ConfigError) as caught:
        load(path)
    return tuple(caught.value.problems)
