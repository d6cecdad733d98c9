"""A copy of the tracked files, so that nothing of earlier builds gets into a package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Final

from deploy.publishing.errors import PublishingError

ROOT: Final = Path(__file__).parents[2]
ADDRESS: Final = re.compile(r"https?://[\w.:-]+/[\w./~-]*")
BUILT: Final = ROOT / "build" / "dist"


def version() -> str:
    """The version in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def tracked_files(root: Path = ROOT) -> list[str]:
    """What git tracks and is there.

    Raises:
        PublishingError: It is no clone.
    """
    asked = ["git", "-C", str(root), "ls-files", "-z"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise PublishingError("Only a git clone can be published: its tracked files are.")
    return [each for each in listed.stdout.split("\0") if each and os.path.lexists(root / each)]


def stage(into: Path, root: Path = ROOT, under: str = "") -> Path:
    """Copy the tracked files below a folder of the repository; links become the files that they lead to."""
    for each in tracked_files(root):
        if each.startswith(under):
            place = into / each
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / each, place)
    return into


def with_source(pyproject: str, source: str) -> str:
    r"""The text of pyproject.toml with the address of the repository.

    >>> print(with_source('[project]\nname = "a"\n\n[project.scripts]\n', "https://git.example/a"))
    [project]
    name = "a"
    <BLANKLINE>
    [project.urls]
    Source = "https://git.example/a"
    <BLANKLINE>
    [project.scripts]
    <BLANKLINE>

    Raises:
        PublishingError: It is no address of a page.
    """
    require_address(source)
    return pyproject.replace("[project.scripts]", f'[project.urls]\nSource = "{source}"\n\n[project.scripts]', 1)


def require_address(source: str) -> None:
    """Refuse what is no address of a repository.

    Raises:
        PublishingError: It is none.
    """
    if ADDRESS.fullmatch(source) is None:
        raise PublishingError(
            f"SOURCE must be the address of the repository, as https://git.example/groupwatch: {source}"
        )


def last_commit_s() -> str:
    """When the last commit was made, in seconds since 1970: all files of a package get that time."""
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def revision() -> str:
    """The commit; ``unknown`` outside of a clone."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
