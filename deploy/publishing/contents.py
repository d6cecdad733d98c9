"""What a wheel and a source distribution must have, and what must not be in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Final

PACKAGES: Final = ("monitor", "streaming_jobs", "dashboards")
FOLDERS: Final = (*PACKAGES, "docs", "deploy")
"""Of the repository, what the source distribution has."""
FILES: Final = frozenset(
    {
        *("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "MANIFEST.in"),
        *("pyproject.toml", "constraints.txt", "groupwatch.example.toml"),
    }
)
COMPOSE: Final = "dashboards/compose/"
"""What belongs to docker-compose.yml, which only a clone has."""
NOT_INSTALLED: Final = (COMPOSE, "dashboards/generated/")
DATA: Final = {
    "docs/groupwatch.1": "share/man/man1/groupwatch.1",
    "groupwatch.example.toml": "share/doc/groupwatch/groupwatch.example.toml",
    "deploy/systemd/groupwatch.service": "share/doc/groupwatch/groupwatch.service",
    "deploy/systemd/groupwatch-collect.service": "share/doc/groupwatch/groupwatch-collect.service",
}
"""Files of the repository, and their places in an environment."""


def faults_of_wheel(files: Set[str], tracked: Iterable[str], release: str) -> Iterator[str]:
    """What is missing in a wheel, and what is in it that should not be; a line each.

    Args:
        files: The paths in the wheel.
        tracked: The paths in the repository.
        release: Name and version, as in ``groupwatch-0.1.0``.
    """
    wanted = {each for each in tracked if _top(each) in PACKAGES and not each.startswith(NOT_INSTALLED)}
    wanted |= {f"{release}.data/data/{place}" for place in DATA.values()}
    made = f"{release}.dist-info/"
    wanted |= {made + name for name in ("licenses/LICENSE", "METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    yield from _differences("wheel", files, wanted, {f"{made}top_level.txt"})


def faults_of_sdist(files: Set[str], tracked: Iterable[str], release: str) -> Iterator[str]:
    """The same of a source distribution, whose paths begin with name and version."""
    wanted = {each for each in tracked if (_top(each) in FOLDERS and not each.startswith(COMPOSE)) or each in FILES}
    made = {each for each in _without(files, release) if each.startswith("groupwatch.egg-info/")}
    yield from _differences("sdist", _without(files, release), wanted | {"PKG-INFO"}, {"setup.cfg", *made})


def _without(files: Set[str], release: str) -> set[str]:
    return {each.removeprefix(f"{release}/") for each in files}


def _top(path: str) -> str:
    return path.partition("/")[0]


def _differences(what: str, files: Set[str], wanted: Set[str], allowed: Set[str]) -> Iterator[str]:
    yield from (f"the {what} lacks {each}" for each in sorted(wanted - files))
    yield from (f"the {what} has {each}, which is no part of it" for each in sorted(files - wanted - allowed))
