"""Of the workers of a run of jobs, two start Spark, and any other has what does not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

CONFTEST = """
import pytest
from tests.support.sharing_out import TwoWithSpark

def pytest_configure(config):
    for name in ("jobs", "spark"):
        config.addinivalue_line("markers", name)

@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return TwoWithSpark(config, log)
"""
TEST = """
import os
import time
from pathlib import Path
import pytest

pytestmark = [{marks}]

@pytest.mark.parametrize("number", range(3))
def test_it(number):
    time.sleep(0.05)  # the others get theirs meanwhile
    if {dies} and not Path("died").exists():
        Path("died").touch()
        os._exit(1)
    with Path("ran").open("a") as ran:
        ran.write(f"{{Path(__file__).stem}} {{os.environ['PYTEST_XDIST_WORKER']}}\\n")
"""


def workers(folder: Path, *, first_dies: bool = False) -> dict[str, set[str]]:
    """Who ran the files with Spark, and who the others."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for number in range(6):
        for kind, marks in (("others", ""), ("spark", ", pytest.mark.spark")):
            dies = first_dies and (kind, number) == ("spark", 0)
            text = TEST.format(marks=f"pytest.mark.jobs{marks}", dies=dies)
            (folder / f"test_{kind}_{number}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "3", "--no-loadscope-reorder"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [*command, "-m", "jobs"], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    ran = [line.split() for line in (folder / "ran").read_text().splitlines()]
    assert len(ran) == 3 * len([*folder.glob("test_*.py")]), done.stdout
    found = defaultdict(set)
    for file, worker in ran:
        found[file.split("_")[1]].add(worker)
    return found


def test_in_a_run_of_jobs_two_of_three_workers_start_spark_and_the_third_does_not(tmp_path: Path):
    found = workers(tmp_path)
    assert len(found["spark"]) == 2
    assert len(found["others"] - found["spark"]) == 1


def test_after_one_of_them_has_died_every_file_is_run_all_the_same(tmp_path: Path):
    assert workers(tmp_path, first_dies=True).keys() == {"spark", "others"}
