"""The repository itself: pins, licences, and nothing in it that names a package index."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Put together here, so that this file does not hold them.
INDEX_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("deb", "debian", "org"),
        ("registry", "npmjs", "org"),
    )
)


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    pinned = {normalised(line.partition("==")[0]) for line in lines}
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    names = {normalised(re.split(r"[<>=!~; \[]", dependency)[0]) for dependency in wanted}
    assert names <= pinned


def test_no_tracked_file_names_a_package_index():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so there are no tracked files")
    found = [
        (name, host)
        for name in listed.stdout.splitlines()
        if not name.endswith((".gz", ".png"))
        for host in INDEX_HOSTS
        if host in (ROOT / name).read_text(encoding="utf-8")
    ]
    assert found == []


def test_the_licence_is_apache_2():
    assert PROJECT["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_every_decision_is_in_the_index():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = sorted(page.name for page in folder.glob("[0-9]*.md"))
    assert re.findall(r"\]\((\d[^)]+)\)", index) == pages
