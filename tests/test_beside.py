"""Programs beside the tests: their reports come back, one runs at a time, and none outlives the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.beside import Beside
from tests.support.job_process import eventually, processes_of


def test_each_report_is_the_last_line_of_its_program(tmp_path: Path):
    with Beside() as programs:
        for number in range(2):
            file = tmp_path / f"{number}.json"
            file.write_text(f'{{"number": {number}}}', encoding="utf-8")
            programs.begin(file.stem, "json.tool", "--compact", str(file))
        assert [programs.report(str(number)) for number in (1, 0)] == [{"number": 1}, {"number": 0}]


def test_a_program_without_a_report_is_told_with_what_it_said():
    with Beside() as programs:
        programs.begin("calendar", "calendar", "--no-such-option")
        with pytest.raises(AssertionError, match=r"ended with 2 and no report:\n(.|\n)*usage"):
            programs.report("calendar")


def test_at_the_end_what_runs_is_interrupted_and_what_waits_never_starts(tmp_path: Path):
    with Beside() as programs:
        programs.begin("server", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(tmp_path))
        programs.begin("next", "zipfile", "--create", str(tmp_path / "made.zip"), __file__)
        process = eventually(lambda: programs._process, "the start of the first program")
    assert process.returncode is not None
    assert processes_of(process.pid) == []
    assert list(tmp_path.iterdir()) == []
