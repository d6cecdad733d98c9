"""Prints where the time of a run of CI went, which tests passed only when they were repeated, which never did, and why.

``python .ci/report_times.py FOLDER``: the folder has ``stages.tsv`` (stage, seconds, exit code; a line each) and for
each run of pytest its report in JUnit's format, ``TARGET.xml`` and ``TARGET-again.xml``. ``times.json`` is written
beside them. ``cpu.tsv``, if it is there, has the CPU seconds of each file of tests (.ci/watch_processes.py).
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

SLOWEST: Final = 20
AGAIN: Final = "-again"
LEFT_OUT: Final = "left out: no time is left"
REASON_CHARACTERS: Final = 300

Tests = dict[str, tuple[float, bool]]
"""By test, its seconds, and whether it did not fail."""


def cases_in(report: Path) -> Iterator[ElementTree.Element]:
    """The cases of a report; nothing of one that was cut off."""
    try:
        yield from ElementTree.parse(report).getroot().iter("testcase")
    except (OSError, ElementTree.ParseError):
        return


def name_of(case: ElementTree.Element) -> str:
    """The test that a case is of."""
    return f"{case.get('classname')}::{case.get('name')}"


def failures_of(case: ElementTree.Element) -> list[ElementTree.Element]:
    """Why the test failed, and its fixtures; empty if they did not."""
    return [found for found in map(case.find, ("failure", "error")) if found is not None]


def tests_in(report: Path) -> Tests:
    """Seconds of each test with its fixtures, and whether it did not fail."""
    found: dict[str, tuple[float, bool]] = defaultdict(lambda: (0.0, True))
    for case in cases_in(report):
        seconds, passed = found[name_of(case)]
        found[name_of(case)] = (seconds + float(case.get("time", 0)), passed and not failures_of(case))
    return dict(found)


def reasons_in(reports: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Each test that failed with the first line of why. What pytest itself prints may be cut off where it is read."""
    for case in (case for report in reports for case in cases_in(report)):
        for failure in failures_of(case):
            line = failure.get("message", "").partition("\n")[0]
            yield name_of(case), f"{failure.tag}: {line[:REASON_CHARACTERS]}"


def left_out_in(reports: Iterable[Path]) -> Counter[str]:
    """How many tests of which files did not begin, as no time was left (tests/support/time_left.py)."""
    cases = (case for report in reports for case in cases_in(report))
    skips = ((case.get("classname", ""), case.find("skipped")) for case in cases)
    return Counter(name for name, skip in skips if skip is not None and LEFT_OUT in skip.get("message", ""))


def stages_in(table: Path) -> list[dict[str, Any]]:
    """The stages in their order."""
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    return [{"stage": name, "seconds": int(seconds), "code": int(code)} for name, seconds, code in rows]


def cpu_in(table: Path) -> list[dict[str, Any]]:
    """The files of tests with the most CPU seconds, the most first; none if nobody has counted them."""
    if not table.exists():
        return []
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()[:SLOWEST]]
    return [{"file": file, "seconds": float(seconds)} for seconds, file in rows]


def failed_in(reports: Mapping[str, Tests]) -> Iterator[tuple[str, bool]]:
    """The tests that failed in the first run of their target, and whether they passed when they were repeated."""
    for target, tests in reports.items():
        if not target.endswith(AGAIN):
            again = reports.get(f"{target}{AGAIN}", {})
            for name, (_, passed) in tests.items():
                if not passed:
                    yield name, again.get(name, (0.0, False))[1]


def summary_of(folder: Path) -> dict[str, Any]:
    """All of it, as it is kept in ``times.json``."""
    written = sorted(folder.glob("*.xml"))
    reports = {report.stem: tests_in(report) for report in written}
    slowest = {
        target: [
            {"test": name, "seconds": round(seconds, 1)}
            for name, (seconds, _) in sorted(tests.items(), key=lambda each: -each[1][0])[:SLOWEST]
        ]
        for target, tests in reports.items()
    }
    stages = stages_in(folder / "stages.tsv")
    total = sum(stage["seconds"] for stage in stages)
    failed = list(failed_in(reports))
    return {
        "stages": stages,
        "seconds": total,
        "slowest": slowest,
        "cpu": cpu_in(folder / "cpu.tsv"),
        "left_out": left_out_in(written),
        "flaky": [name for name, passed_again in failed if passed_again],
        "failed": [name for name, passed_again in failed if not passed_again],
        "reasons": list(reasons_in(written)),
    }


def text_of(summary: dict[str, Any]) -> str:
    """The same to be read."""
    lines = []
    for target, tests in summary["slowest"].items():
        lines.append(f"The slowest tests of {target}:")
        lines += [f"{each['seconds']:8.1f} s  {each['test']}" for each in tests]
    if summary["cpu"]:
        lines.append("The files of tests with the most CPU seconds:")
        lines += [f"{each['seconds']:8.1f} s  {each['file']}" for each in summary["cpu"]]
    lines.append("Stages:")
    lines += [
        f"{stage['seconds']:6d} s  {stage['stage']}{'' if stage['code'] == 0 else ', failed'}"
        for stage in summary["stages"]
    ]
    lines.append(f"{summary['seconds']:6d} s  in all")
    lines += [f"{outcome}: {name}" for outcome in ("flaky", "failed") for name in summary[outcome]]
    lines += [f"why: {name}: {reason}" for name, reason in summary["reasons"]]
    lines += [f"left out, as no time was left: {name}, {tests} tests" for name, tests in summary["left_out"].items()]
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Write ``times.json``, and print."""
    summary = summary_of(folder)
    (folder / "times.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text_of(summary))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
