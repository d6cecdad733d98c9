"""Of the workers of a run of jobs, two start Spark beside programs, and any other has what does not; then all do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
import pytest
from tests.support.sharing_out import TwoWithSpark

def pytest_configure(config):
    for name in ("jobs", "spark"):
        config.addinivalue_line("markers", name)

class Scheduler(TwoWithSpark):
    programs = "test_a_program.py"

@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Scheduler(config, log)
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
    while {waits} and not Path("ended").exists():
        time.sleep(0.05)
"""


PROGRAM = """
import os
import time
from pathlib import Path
import pytest

pytestmark = [pytest.mark.jobs, pytest.mark.spark]

def ran(kind):
    lines = Path("ran").read_text().splitlines() if Path("ran").exists() else []
    return sum(line.startswith(f"test_{kind}") for line in lines)

@pytest.mark.parametrize("number", range(3))
def test_it(number):
    while ran("others") < 3 * 6 - 1 or ran("spark") < 3 * 3 + 1:  # the last of the others waits with its worker
        time.sleep(0.05)
    time.sleep(not number)  # the third worker would begin with Spark meanwhile
    with Path("ran").open("a") as file:
        file.write(f"{Path(__file__).stem} {os.environ['PYTEST_XDIST_WORKER']}\\n")
    if number == 2:
        Path("ended").touch()
"""


def run(folder: Path, *, first_dies: bool = False, has_program: bool = False) -> list[tuple[str, str]]:
    """What kind of file each test was of and which worker ran it, one after the other.

    Where there is a program, all files with Spark but the first three wait for its end.
    """
    if has_program:
        (folder / "test_a_program.py").write_text(PROGRAM)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for kind, count, marks in (("others", 6, ""), ("spark", 12, ", pytest.mark.spark")):
        for number in range(count):
            dies = first_dies and (kind, number) == ("spark", 0)
            waits = has_program and kind == "spark" and number >= 3
            text = TEST.format(marks=f"pytest.mark.jobs{marks}", dies=dies, waits=waits)
            (folder / f"test_{kind}_{number:02}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "3", "--no-loadscope-reorder"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [*command, "-m", "jobs"], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    assert (folder / "ran").exists(), done.stdout + done.stderr
    ran = [line.split() for line in (folder / "ran").read_text().splitlines()]
    assert len(ran) == 3 * len([*folder.glob("test_[so]*.py")]) + 3 * has_program, done.stdout
    return [(file.split("_")[1], worker) for file, worker in ran]


def workers(kind: str, ran: list[tuple[str, str]]) -> set[str]:
    return {worker for each, worker in ran if each == kind}


def test_beside_a_program_one_worker_starts_spark_and_after_it_all_three_do(tmp_path: Path):
    ran = run(tmp_path, has_program=True)
    last = max(number for number, (kind, _) in enumerate(ran) if kind == "a")
    before, after = ran[:last], ran[last:]
    (of_programs,), (beside,), (third,) = (workers(kind, before) for kind in ("a", "spark", "others"))
    assert len({of_programs, beside, third}) == 3
    assert len(workers("spark", after)) == 3


def test_after_one_of_them_has_died_every_file_is_run_all_the_same(tmp_path: Path):
    ran = run(tmp_path, first_dies=True)
    assert workers("spark", ran)
    assert workers("others", ran)
