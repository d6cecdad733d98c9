"""The repository itself: pins, licences, and nothing in it that names a package index."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from monitor.cli.extras import EXTRAS as KNOWN_EXTRAS
from monitor.cli.extras import Extra, missing_extra

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OWN_EXTRA = "groupwatch[demo,mcp,otlp,iam]"
"""What the suite has."""
ALL = [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
DEPENDENCIES = [each for each in ALL if not each.startswith("groupwatch[")]
MAY_BE_ABSENT = frozenset({"gssapi", "properdocs", "properdocs-theme-mkdocs"})
"""Distributions that need more than pip, or serve only `make docs`; the names of what they need are pinned, too."""

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


def pins() -> dict[str, str]:
    """The pinned version of every distribution, by its normalised name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def wanted_here(dependencies: Iterable[str]) -> list[Requirement]:
    """Those of the dependencies that count on this machine, without extras of their own."""
    requirements = [Requirement(dependency) for dependency in dependencies]
    return [each for each in requirements if each.marker is None or each.marker.evaluate({"extra": ""})]


def test_every_dependency_is_pinned_to_a_version_that_it_may_have():
    """pip refuses to install when a pin contradicts a range, and then neither of the two commands works."""
    dependencies = wanted_here(DEPENDENCIES)
    pinned = pins()
    unfit = [
        str(each) for each in dependencies if not each.specifier.contains(pinned.get(canonicalize_name(each.name), "0"))
    ]
    assert unfit == []


def test_what_the_dependencies_need_is_pinned_too():
    pinned = pins()
    waiting = wanted_here(DEPENDENCIES)
    reached: set[str] = set()
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in reached:
            reached.add(name)
            with suppress(importlib.metadata.PackageNotFoundError) if name in MAY_BE_ABSENT else nullcontext():
                waiting += wanted_here(importlib.metadata.requires(name) or [])
    assert sorted(reached - pinned.keys()) == []


def test_the_suite_has_the_job_and_the_doctor_does_not():
    """Nothing of Spark comes with the distribution itself, by no detour."""
    assert OWN_EXTRA in EXTRAS["dev"]
    reached = installed_with(PROJECT["dependencies"])
    assert reached & {name for extra in ("job", "collect", "history") for name in named_in(extra)} == set()


def test_collectors_and_readers_of_a_recording_do_without_spark():
    assert "groupwatch[collect,history]" in EXTRAS["job"]
    assert {"pyspark", "pandas"} <= named_in("job")
    reached = installed_with([*EXTRAS["collect"], *EXTRAS["history"]])
    assert reached & named_in("job") == set()


def installed_with(dependencies: list[str]) -> set[str]:
    """The distributions that these bring, by whatever detour."""
    waiting, reached = wanted_here(dependencies), set[str]()
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in reached:
            reached.add(name)
            waiting += wanted_here(importlib.metadata.requires(name) or [])
    return reached


def named_in(extra: str) -> set[str]:
    """The distributions that an extra names, without those of the extras that it has."""
    return {canonicalize_name(Requirement(each).name) for each in EXTRAS[extra]} - {"groupwatch"}


@pytest.mark.parametrize("extra", KNOWN_EXTRAS, ids=lambda each: each.name)
def test_a_missing_module_of_an_extra_is_explained(extra: Extra):
    """Each distribution of the extra has a module that the sentence knows."""
    distributions = importlib.metadata.packages_distributions()
    named = {canonicalize_name(name) for each in extra.modules for name in distributions[each.split(".")[0]]}
    assert named >= named_in(extra.name)
    thin = {each for module in ("kafka", "msgspec", "numpy", "typer") for each in [missing_extra(module)]}
    assert thin == {None}


def test_no_tracked_file_names_a_package_index():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so there are no tracked files")
    found = [
        (name, host)
        for name in listed.stdout.splitlines()
        for host in INDEX_HOSTS
        if host.encode() in (ROOT / name).read_bytes()
    ]
    assert found == []


def test_every_module_can_be_imported():
    """Also one without a test and without doctests, which pytest does not import."""
    for package in ("monitor", "streaming_jobs", "dashboards", "tests"):
        for file in sorted((ROOT / package).rglob("*.py")):
            place = file.relative_to(ROOT).with_suffix("")
            if place.name != "__main__" and "programs" not in place.parts:  # these are copied to where they run
                importlib.import_module(".".join(place.parts).removesuffix(".__init__"))


def test_the_licence_is_apache_2():
    assert PROJECT["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_every_decision_is_in_the_index():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = sorted(page.name for page in folder.glob("[0-9]*.md"))
    assert re.findall(r"\]\((\d[^)]+)\)", index) == pages


def test_the_command_is_installed_and_names_its_commands():
    script = Path(sys.executable).with_name("groupwatch")
    shown = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    assert "run" in shown
    assert "demo" in shown
