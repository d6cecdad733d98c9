"""What is missing in a package, or too much, is told; and what it must have is named by the files that build it."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path

import pytest
import yaml

from deploy.publishing.contents import DATA, FILES, FOLDERS, PACKAGES, faults_of_sdist, faults_of_wheel
from deploy.publishing.errors import PublishingError
from deploy.publishing.staging import stage, version, with_source

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TRACKED = ["LICENSE", "docs/a.md", "monitor/a.py", "monitor/py.typed", "tests/test_a.py", "dashboards/compose/a.yml"]
WHEEL = {
    *("monitor/a.py", "monitor/py.typed"),
    "g-1.data/data/share/man/man1/groupwatch.1",
    "g-1.data/data/share/doc/groupwatch/groupwatch.example.toml",
    "g-1.data/data/share/doc/groupwatch/groupwatch.service",
    "g-1.data/data/share/doc/groupwatch/groupwatch-collect.service",
    *("g-1.dist-info/licenses/LICENSE", "g-1.dist-info/METADATA", "g-1.dist-info/WHEEL", "g-1.dist-info/RECORD"),
    *("g-1.dist-info/entry_points.txt", "g-1.dist-info/top_level.txt"),
}
SDIST = {
    f"g-1/{name}" for name in ("LICENSE", "PKG-INFO", "docs/a.md", "monitor/a.py", "monitor/py.typed", "setup.cfg")
}
SDIST |= {"g-1/groupwatch.egg-info/SOURCES.txt"}


def test_a_wheel_has_what_is_tracked_and_its_data_and_nothing_else():
    assert [*faults_of_wheel(WHEEL, TRACKED, "g-1")] == []
    without = WHEEL - {"monitor/py.typed", "g-1.data/data/share/man/man1/groupwatch.1"}
    assert [*faults_of_wheel(without | {"tests/test_a.py", "monitor/old.py"}, TRACKED, "g-1")] == [
        "the wheel lacks g-1.data/data/share/man/man1/groupwatch.1",
        "the wheel lacks monitor/py.typed",
        "the wheel has monitor/old.py, which is no part of it",
        "the wheel has tests/test_a.py, which is no part of it",
    ]


def test_a_source_distribution_has_documents_and_no_tests():
    assert [*faults_of_sdist(SDIST, TRACKED, "g-1")] == []
    assert [*faults_of_sdist(SDIST - {"g-1/docs/a.md"} | {"g-1/tests/test_a.py"}, TRACKED, "g-1")] == [
        "the sdist lacks docs/a.md",
        "the sdist has tests/test_a.py, which is no part of it",
    ]


def test_setuptools_is_told_of_all_that_a_package_must_have():
    patterns = [(place, each) for place, found in PROJECT["tool"]["setuptools"]["data-files"].items() for each in found]
    assert all((ROOT / source).is_file() for source in DATA)
    placed = {
        source: f"{place}/{Path(source).name}"
        for source in DATA
        for place, each in patterns
        if fnmatch.fnmatch(source, each)
    }
    assert placed == DATA
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").split()
    made = {"LICENSE", "README.md", "MANIFEST.in", "pyproject.toml"}
    assert (FILES - made) | set(FOLDERS) - set(PACKAGES) <= set(manifest)


def test_versions_are_those_of_the_package():
    chart = yaml.safe_load((ROOT / "deploy/helm/groupwatch/Chart.yaml").read_text(encoding="utf-8"))
    assert chart["version"] == chart["appVersion"] == version()
    assert f"\nARG VERSION={version()}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_classifiers_name_the_releases_that_are_tested():
    named = [each.split(" :: ")[-1] for each in PROJECT["project"]["classifiers"] if "Python :: 3." in each]
    assert named == ["3.11", "3.12", "3.13"]


def test_an_address_of_the_repository_is_added_and_anything_else_refused():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "urls" not in PROJECT["project"]
    added = tomllib.loads(with_source(text, "https://git.example/team/groupwatch"))["project"]
    assert added["urls"] == {"Source": "https://git.example/team/groupwatch"}
    assert added["scripts"] == PROJECT["project"]["scripts"]
    with pytest.raises(PublishingError, match="SOURCE must be the address"):
        with_source(text, 'x"]')


def test_links_are_staged_as_what_they_lead_to(tmp_path: Path):
    folder = "monitor/web/page/help/"
    assert (ROOT / folder / "runbooks.md").is_symlink()
    staged = stage(tmp_path, under=folder) / folder / "runbooks.md"
    assert not staged.is_symlink()
    assert staged.read_bytes() == (ROOT / "docs/runbooks.md").read_bytes()
