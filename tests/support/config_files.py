"""Configuration files that tests write, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigError, Settings, load

CLUSTER = '[clusters.prod]\nbootstrap_servers = "broker1:9092"\n'


def settings_with(folder: Path, section: str, text: str) -> Settings:
    """The settings of a file with a cluster and this section.

    Raises:
        ConfigError: the file is refused.
    """
    file = folder / "groupwatch.toml"
    file.write_text(f"{CLUSTER}[{section}]\n{text}", encoding="utf-8")
    return load(file)


def problems_with(folder: Path, section: str, text: str) -> tuple[str, ...]:
    """The sentences with which such a file is refused."""
    with pytest.raises(ConfigError) as caught:
        settings_with(folder, section, text)
    return tuple(caught.value.problems)


def problems(path: Path) -> tuple[str, ...]:
    """The sentences with which a file is refused."""
    with pytest.raises(ConfigError) as caught:
        load(path)
    return tuple(caught.value.problems)
