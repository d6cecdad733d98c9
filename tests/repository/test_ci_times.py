"""What CI prints of its time at its end: stages, the slowest tests, and which of them are flaky."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci" / "report_times.py"

FIRST = """<testsuites><testsuite>
<testcase classname="tests.a.test_a" name="test_quick" time="0.2"/>
<testcase classname="tests.a.test_a" name="test_slow" time="7.26"/>
<testcase classname="tests.a.test_a" name="test_flaky" time="3.0"><failure message="assert 1 == 2&#10;+"/></testcase>
<testcase classname="tests.a.test_a" name="test_broken" time="2.0"><error message="failed on setup"/></testcase>
</testsuite></testsuites>"""

AGAIN = """<testsuites><testsuite>
<testcase classname="tests.a.test_a" name="test_flaky" time="1.0"/>
<testcase classname="tests.a.test_a" name="test_broken" time="1.0"><error message="no"/></testcase>
</testsuite></testsuites>"""


def printed(folder: Path) -> str:
    (folder / "stages.tsv").write_text("venv\t90\t0\ntest\t400\t2\ntest, again\t20\t2\n")
    done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=True)
    return done.stdout


def test_stages_are_summed_up_and_the_slowest_tests_come_first(tmp_path: Path):
    (tmp_path / "test.xml").write_text(FIRST)
    lines = printed(tmp_path).splitlines()
    assert lines[:3] == [
        "The slowest tests of test:",
        "     7.3 s  tests.a.test_a::test_slow",
        "     3.0 s  tests.a.test_a::test_flaky",
    ]
    assert lines[-9:] == [
        "Stages:",
        "    90 s  venv",
        "   400 s  test, failed",
        "    20 s  test, again, failed",
        "   510 s  in all",
        "failed: tests.a.test_a::test_flaky",
        "failed: tests.a.test_a::test_broken",
        "why: tests.a.test_a::test_flaky: failure: assert 1 == 2",
        "why: tests.a.test_a::test_broken: error: failed on setup",
    ]
    kept = json.loads((tmp_path / "times.json").read_text())
    assert kept["stages"][1] == {"stage": "test", "seconds": 400, "code": 2}
    assert kept["slowest"]["test"][0] == {"test": "tests.a.test_a::test_slow", "seconds": 7.3}


def test_the_cpu_seconds_of_files_are_told_where_they_were_counted(tmp_path: Path):
    """Of a run that was cut off, they are all that is known of its last stage."""
    (tmp_path / "cpu.tsv").write_text("91.5\ttests/a/test_a.py\n3.0\ttests/a/test_b.py\n")
    assert printed(tmp_path).splitlines()[:4] == [
        "The files of tests with the most CPU seconds:",
        "    91.5 s  tests/a/test_a.py",
        "     3.0 s  tests/a/test_b.py",
        "Stages:",
    ]
    kept = json.loads((tmp_path / "times.json").read_text())
    assert kept["cpu"][1] == {"file": "tests/a/test_b.py", "seconds": 3.0}


def test_what_was_left_out_for_want_of_time_is_told_last(tmp_path: Path):
    """By files; .ci/run fails then (docs/decisions/0093-the-time-of-ci.md)."""
    skip = '<skipped type="pytest.skip" message="left out: no time is left; make test-jobs runs it"/>'
    (tmp_path / "test-jobs.xml").write_text(
        f"""<testsuites><testsuite>
<testcase classname="tests.a.test_a" name="test_one" time="0.0">{skip}</testcase>
<testcase classname="tests.a.test_a" name="test_two" time="0.0">{skip}</testcase>
<testcase classname="tests.a.test_b" name="test_it" time="0.0"><skipped message="no gssapi"/></testcase>
</testsuite></testsuites>"""
    )
    assert printed(tmp_path).splitlines()[-1] == "left out, as no time was left: tests.a.test_a, 2 tests"
    assert json.loads((tmp_path / "times.json").read_text())["left_out"] == {"tests.a.test_a": 2}


def test_what_passes_when_it_is_repeated_is_flaky_and_what_fails_again_is_not(tmp_path: Path):
    (tmp_path / "test.xml").write_text(FIRST)
    (tmp_path / "test-again.xml").write_text(AGAIN)
    assert printed(tmp_path).splitlines()[-5:] == [
        "flaky: tests.a.test_a::test_flaky",
        "failed: tests.a.test_a::test_broken",
        "why: tests.a.test_a::test_broken: error: no",
        "why: tests.a.test_a::test_flaky: failure: assert 1 == 2",
        "why: tests.a.test_a::test_broken: error: failed on setup",
    ]


def test_a_report_that_was_cut_off_is_left_out(tmp_path: Path):
    (tmp_path / "test.xml").write_text(FIRST[:90])
    assert "   400 s  test, failed" in printed(tmp_path)
