"""`make dist` as a whole takes minutes; the suite looks at what it is told."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.publishing.distributions import main
from deploy.publishing.staging import BUILT, ROOT, version
from tests.repository.test_repository import PROJECT, pins

JARS = {"spark-core_2.13", "spark-sql-kafka-0-10_2.13", "kafka-clients", "delta-spark_4.2_2.13", "aws-msk-iam-auth"}


def named(bill: Path) -> dict[str, str]:
    """The version of each component of a bill of materials by its name."""
    return {each["name"]: each.get("version", "") for each in json.loads(bill.read_text("utf-8"))["components"]}


def test_the_tools_are_pinned():
    wanted = [Requirement(line) for line in (ROOT / "deploy/publishing/tools.txt").read_text("utf-8").splitlines()]
    pinned = pins()
    assert [str(each) for each in wanted if not each.specifier.contains(pinned[canonicalize_name(each.name)])] == []


def test_an_index_is_an_address(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["--publish", "packages"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "make dist: PUBLISH must be an address, as https://packages.example/upload/: packages\n"
    )


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_make_dist_builds_checks_and_lists():
    made = subprocess.run(["make", "dist", "SOURCE=https://git.example/groupwatch"], cwd=ROOT, check=False)
    assert made.returncode == 0
    with zipfile.ZipFile(BUILT / f"groupwatch-{version()}-py3-none-any.whl") as wheel:
        metadata = wheel.read(f"groupwatch-{version()}.dist-info/METADATA").decode("utf-8")
    assert "\nProject-URL: Source, https://git.example/groupwatch\n" in metadata
    alone, image = (BUILT / f"groupwatch-{version()}{end}.cdx.json" for end in ("", "-image"))
    needed = {canonicalize_name(Requirement(each).name) for each in PROJECT["dependencies"]}
    installed = {canonicalize_name(name): release for name, release in named(alone).items()}
    assert needed <= installed.keys()
    assert {name for name, release in installed.items() if pins()[name] != release} == set()
    assert "pyspark" not in installed
    assert {"pyspark", "gssapi", "opentelemetry-sdk"} | JARS <= named(image).keys()
    tools = subprocess.run(
        [ROOT / "build/publishing/bin/python", "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    )
    frozen = dict(line.split("==") for line in tools.stdout.splitlines())
    assert {name for name, release in frozen.items() if pins().get(canonicalize_name(name)) != release} == set()
