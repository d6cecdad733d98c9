"""Break the code in places chosen by a seed, one at a time, and see which fast tests notice.

``python -m tests.breaks.run --help``. All happens in a copy below ``--folder``: the checkout stays as it is.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.breaks.order import near_files
from tests.breaks.places import Place, chosen, found_again
from tests.breaks.trace import FAST, Ran, append, broken, copied, entries, put, pytest, what_ran
from tests.support.progress import say

ROOT: Final = Path(__file__).parents[2]
CAUGHT, SURVIVED, NOT_RUN, GONE = "caught", "survived", "no fast test runs it", "its code has changed"
TEST_LIMIT_S: Final = 120
FIRST_FILES: Final = 4
MAX_FLAKY: Final = 4
"""So many tests that fail without a break as well are left out; then the batch notices nothing."""


@dataclass
class Verdict:
    """What became of one break: by which test it was caught, and how the failure begins.

    ``tests`` ran the place and passed.
    """

    verdict: str
    by: str = ""
    because: str = ""
    tests: int = 0
    mypy: bool | None = None
    place: dict[str, Any] = field(default_factory=dict)


def main() -> int:
    """Print a line for each break and the numbers; 1 if one survived."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what runs ends, and nothing stays broken
    checkout = Path(options.checkout).resolve()
    folder = Path(options.folder or tempfile.mkdtemp(prefix="groupwatch-breaks-"))
    places, gone = _places(checkout, options)
    say(f"{len(places)} places of {checkout}, in {folder}")
    copy = copied(checkout, folder)
    for place in places:  # an interrupted run may have left one of them broken
        put(copy / place.file, (checkout / place.file).read_bytes())
    verdicts = [*gone, *Breaking(copy, folder, options.limit_s, options.mypy).verdicts(places, near=options.near)]
    if options.json:
        text = json.dumps([asdict(verdict) for verdict in verdicts], indent=1)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    for name, count in Counter(verdict.verdict for verdict in verdicts).most_common():
        say(f"{count} {name}")
    return int(any(verdict.verdict == SURVIVED for verdict in verdicts))


def _places(checkout: Path, options: argparse.Namespace) -> tuple[list[Place], list[Verdict]]:
    """The places to break, and a verdict for each of ``--same`` that is no longer there."""
    if not options.same:
        return chosen(checkout, options.seed, options.breaks), []
    before = [entry["place"] for entry in json.loads(Path(options.same).read_text(encoding="utf-8"))]
    names = ["file", "inside", "operator", "before", "after", "nth"]
    found = [found_again(checkout, tuple(str(place[name]) for name in names)) for place in before]
    gone = [Verdict(GONE, place=place) for place, again in zip(before, found, strict=True) if again is None]
    return [place for place in found if place is not None], gone


@dataclass(frozen=True)
class Breaking:
    """A copy to be broken, a folder for what is observed, and how many seconds the tests near a break may take."""

    copy: Path
    folder: Path
    limit_s: float
    has_mypy: bool = False

    def verdicts(self, places: Sequence[Place], *, near: bool = False) -> list[Verdict]:
        """The verdict on each break, printed at once. Those of an interrupted run are taken from its folder.

        The tests near a place come first. Then all fast tests run once with all the breaks that are left together, and
        what fails is repeated with each of them. ``near`` leaves that out.
        """
        found = dict(self._stage("near", dict(enumerate(places)), self._near))
        left = {number: places[number] for number, verdict in found.items() if verdict.verdict != CAUGHT}
        if left and not near:
            ran = self._together(left)
            found |= self._stage("all", left, lambda number, place: self._apart(number, place, ran))
        return [found[number] for number in sorted(found)]

    def _stage(
        self, stage: str, places: Mapping[int, Place], verdict_on: Callable[[int, Place], Verdict]
    ) -> Iterator[tuple[int, Verdict]]:
        file = self.folder / f"verdicts-{stage}.jsonl"
        known = {entry["number"]: Verdict(**entry["verdict"]) for entry in entries(file)}
        for number, place in places.items():
            verdict = known.get(number) or verdict_on(number, place)
            if number not in known:
                append(file, {"number": number, "verdict": asdict(verdict)})
            say(line_of(number, place, verdict))
            yield number, verdict

    def _near(self, number: int, place: Place) -> Verdict:
        """The first files alone: the others take longer, and most breaks are caught by then."""
        files = near_files(place, self.copy)
        both = (files[:FIRST_FILES], files[FIRST_FILES:])
        failure = next((found for some in both if some and (found := self._failure(number, place, some))), None)
        return self._verdict(number, place, failure, what_ran(self.folder / f"break-{number}"))

    def _together(self, places: Mapping[int, Place]) -> Ran:
        folder = self.folder / "together"
        if not (folder / "complete").is_file():
            shutil.rmtree(folder, ignore_errors=True)
            with broken(self.copy, places):
                run_tests(self.copy, [], folder, "--continue-on-collection-errors")
            (folder / "complete").touch()
        return what_ran(folder)

    def _apart(self, number: int, place: Place, ran: Ran) -> Verdict:
        """Which of the tests that failed with all breaks fails with this one alone."""
        here = ran.tests.get(number, set())
        failed = [test for test in ran.failed if "" in here or test in here or "::" not in test]
        failure = next((found for test in failed if (found := self._failure(number, place, [test]))), None)
        return self._verdict(number, place, failure, ran)

    def _verdict(self, number: int, place: Place, failure: tuple[str, str] | None, ran: Ran) -> Verdict:
        here = ran.tests.get(number, set())
        by, because = failure or ("", "")
        mypy = self._mypy_notices(number, place) if self.has_mypy and failure is None else None
        verdict = CAUGHT if failure else SURVIVED if here else NOT_RUN
        return Verdict(verdict, by, because, tests=len(here - {"", by}), mypy=mypy, place=asdict(place))

    def _failure(self, number: int, place: Place, tests: list[str]) -> tuple[str, str] | None:
        """The first of some tests that fails because of the break, and how: without the break it passes."""
        folder = self.folder / f"break-{number}"
        skipped: list[str] = []
        while len(skipped) < MAX_FLAKY:
            with broken(self.copy, {number: place}):
                run_tests(self.copy, tests, folder, "-x", limit_s=self.limit_s, skipped=skipped)
            failed = what_ran(folder).failed
            if not failed:
                return None
            test, text = next(iter(failed.items()))
            alone = [] if "::" in test else ["--collect-only"]  # a file that cannot be imported
            if run_tests(self.copy, [test], folder / "whole", *alone, limit_s=self.limit_s) == 0:
                return test, reason(text)
            skipped.append(test)
        return None

    def _mypy_notices(self, number: int, place: Place) -> bool:
        """Whether the type checker refuses the break: no test, but CI runs it, too."""
        command = [sys.executable, "-m", "mypy", "--cache-dir", str(self.folder / "mypy"), place.file]
        with broken(self.copy, {number: place}):
            return subprocess.run(command, cwd=self.copy, capture_output=True, check=False).returncode != 0


def run_tests(
    copy: Path,
    tests: Sequence[str],
    folder: Path,
    *options: str,
    limit_s: float | None = None,
    skipped: Sequence[str] = (),
) -> int | None:
    """The exit code of pytest with the fast ones of some tests or files, or with all; None after the limit."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ended.jsonl").unlink(missing_ok=True)
    deselected = [f"--deselect={test}" for test in skipped]
    always = ["-q", "--tb=short", "-m", FAST, f"--timeout={TEST_LIMIT_S}"]
    return pytest(copy, folder, *always, *options, *deselected, *tests, limit_s=limit_s)


def reason(text: str) -> str:
    """The line of a failure that has the difference."""
    lines = [line for line in text.splitlines() if line.startswith(("E  ", "Expected"))]
    return (lines[0] if lines else text[-200:]).removeprefix("E").strip()[:200]


def line_of(number: int, place: Place, verdict: Verdict) -> str:
    """A row of the table."""
    change = " -> ".join(" ".join(text.split())[:40] for text in (place.before, place.after))
    notes = f" {verdict.tests} tests" if verdict.verdict == SURVIVED else ""
    notes += ", but mypy refuses it" if verdict.mypy else ""
    return f"{number:3} {place.file}:{place.line} {change} | {verdict.verdict}{notes} {verdict.by}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.breaks.run", description=__doc__)
    parser.add_argument("--seed", type=int, default=40, help="chooses the places (40)")
    parser.add_argument("--breaks", type=int, default=60, help="how many (60)")
    parser.add_argument("--json", help="a file for the verdicts")
    parser.add_argument("--checkout", default=str(ROOT), help="what to break instead of this checkout")
    parser.add_argument("--same", help="the verdicts of an earlier run: its places are found again, whatever the seed")
    parser.add_argument("--folder", help="for the copy and verdicts; a run that was interrupted goes on there")
    parser.add_argument("--near", action="store_true", help="only tests near a place: not all fast tests")
    parser.add_argument("--limit-s", type=float, default=300, help="for the tests near a break (300)")
    parser.add_argument("--mypy", action="store_true", help="note which survivors the type checker refuses")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
