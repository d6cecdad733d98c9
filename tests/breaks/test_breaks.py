"""The tool that breaks the code: what it changes, what it chooses, and what it makes of a test that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.breaks.order import distance, near_files
from tests.breaks.places import Place, chosen, compiles, files_by_package, found_again, places_in
from tests.breaks.run import CAUGHT, NOT_RUN, SURVIVED, Breaking, Verdict
from tests.breaks.trace import copied

ROOT = Path(__file__).parents[2]

EVERY = b'''"""A docstring with 3 and == in it."""
LIMIT: Final = 7


def late(lags: dict[str, int], at: int = 4) -> list[str]:
    """Names, "and" texts."""
    found = []
    for name, lag in lags.items():
        if lag <= LIMIT and name != "":
            log.warning("%s has %d", name, lag - 1)
            continue
        found.append(name)
    return found + [lags["other"]]
'''

CHANGES = [
    ("number", 2, "LIMIT: Final = 8"),
    ("condition", 9, '        if not (lag <= LIMIT and name != ""):'),
    ("and/or", 9, '        if lag <= LIMIT or name != "":'),
    ("comparison", 9, '        if lag < LIMIT and name != "":'),
    ("comparison", 9, '        if lag <= LIMIT and name == "":'),
    ("loop", 11, "            break"),
    ("call", 12, "        pass"),
    ("return", 13, "    return None"),
    ("arithmetic", 13, '    return found - [lags["other"]]'),
    ("key", 13, '    return found + [lags["other_"]]'),
]
"""The kind, and the only line that differs."""


def test_each_kind_of_change_differs_in_one_place_and_texts_logs_and_defaults_stay():
    lines = EVERY.decode().splitlines()
    found = []
    for place in places_in("a.py", EVERY):
        broken = place.broken(EVERY).decode().splitlines()
        different = [(at + 1, line) for at, line in enumerate(broken) if line != lines[at]]
        assert [at for at, _ in different] == [place.line]
        found += [(place.operator, *each) for each in different]
    assert found == CHANGES


def test_broken_and_traced_texts_compile():
    for place in places_in("a.py", EVERY):
        assert compiles(place.broken(EVERY))
        assert compiles(place.wrapped(EVERY, "seen(1)"))


def test_a_place_calls_what_observes_it_and_has_its_value_as_before():
    """The condition of line 9 and the end of line 13 run with the value that they have."""
    calls: list[int] = []
    names: dict[str, object] = {"Final": int, "seen": calls.append}
    places = places_in("a.py", EVERY)
    source = EVERY
    for number in (9, 1):  # the later one first: it moves nothing that is before it
        source = places[number].wrapped(source, f"seen({number})")
    exec(compile(source, "a.py", "exec", dont_inherit=True), names)
    late = names["late"]
    assert callable(late)
    assert late({"other": 8}) == ["other", 8]
    assert calls == [1, 9]


def test_the_same_seed_chooses_the_same_places_in_every_package(product: Path):
    first = chosen(product, 40, 4)
    assert first == chosen(product, 40, 4)
    assert {place.file.rpartition("/")[0] for place in first} >= {"monitor/web", "streaming_jobs"}
    assert len({place.file for place in first}) == len(first) == 3
    assert any(chosen(product, seed, 4) != first for seed in range(10))


def test_the_packages_of_the_product_have_a_break_each_out_of_60():
    packages = files_by_package(ROOT)
    assert {"monitor", "monitor/web", "streaming_jobs/runtime", "dashboards/grafana"} <= packages.keys()
    assert len(packages) <= 60


def test_a_place_is_found_again_where_lines_have_moved_and_not_where_its_code_has_changed(product: Path):
    file = product / "monitor" / "web" / "a.py"
    number, _, _, comparison, *_ = places_in("monitor/web/a.py", EVERY)
    file.write_bytes(b"# one more line\n" + EVERY.replace(b"= 7", b"= 9"))
    moved = found_again(product, comparison.name)
    assert moved is not None
    assert moved.line == comparison.line + 1
    assert found_again(product, number.name) is None


def test_tests_of_the_same_name_and_folder_are_the_nearest(product: Path):
    tests = ["web/page/test_links.py", "web/test_page.py", "test_all.py"]
    assert [distance(f"tests/{test}", "monitor/web/page/links.py") for test in tests] == [1, 2, 3]
    assert distance("monitor/web/page/links.py", "monitor/web/page/links.py") == 0
    (place,) = places_of(product, "monitor/web/sums.py", "arithmetic")
    for name in ("tests/web/test_sums.py", "tests/web/test_others.py", "tests/push/test_far.py"):
        (product / name).parent.mkdir(exist_ok=True)
        (product / name).write_text("", encoding="utf-8")
    assert near_files(place, product) == ["tests/web/test_sums.py", "tests/test_sums.py", "tests/web/test_others.py"]


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """A checkout with three modules and one test."""
    root = tmp_path / "checkout"
    texts = {
        "monitor/web/a.py": EVERY,
        "monitor/web/sums.py": b"def total(one: int, two: int) -> int:\n    return one + two\n",
        "streaming_jobs/b.py": b"LIMIT = 3\n",
        "dashboards/empty.py": b"",
        "tests/test_sums.py": TEST,
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text)
    return root


TEST = b"""from monitor.web.sums import total


def test_total():
    assert total(2, 0) == 2


def test_total_of_two():
    assert total(2, 3) == 5


def test_nothing():
    pass


def test_that_fails_anyway():
    assert total(1, 1) == 3
"""


def verdicts_on(product: Path, folder: Path, places: list[Place], *, near: bool = False) -> list[Verdict]:
    """Breaks a copy of the checkout, and sees that it is whole again."""
    folder.mkdir()
    copy = copied(product, folder)
    verdicts = Breaking(copy, folder, limit_s=60).verdicts(places, near=near)
    for place in places:
        assert (copy / place.file).read_bytes() == (product / place.file).read_bytes()
    return verdicts


def places_of(product: Path, file: str, operator: str) -> list[Place]:
    return [place for place in places_in(file, (product / file).read_bytes()) if place.operator == operator]


def test_a_break_is_caught_by_the_test_that_fails_of_those_that_run_it(product: Path, tmp_path: Path):
    """2 - 0 is 2, and 2 - 3 is -1. What failed before it was broken notices nothing."""
    places = [place for kind in ("return", "arithmetic") for place in places_of(product, "monitor/web/sums.py", kind)]
    verdicts = verdicts_on(product, tmp_path / "run", places)
    assert [(each.verdict, each.by, each.because) for each in verdicts] == [
        (CAUGHT, "tests/test_sums.py::test_total", "assert None == 2"),
        (CAUGHT, "tests/test_sums.py::test_total_of_two", "assert -1 == 5"),
    ]


def test_a_break_survives_tests_that_all_pass_and_what_no_test_runs_is_named(product: Path, tmp_path: Path):
    text = "from monitor.web.sums import total\n\n\ndef test_it():\n    total(1, 2)\n"
    (product / "tests" / "test_sums.py").write_text(text, encoding="utf-8")
    places = [
        *places_of(product, "monitor/web/sums.py", "arithmetic"),
        *places_of(product, "monitor/web/a.py", "loop"),
    ]
    verdicts = verdicts_on(product, tmp_path / "run", places)
    assert [(each.verdict, each.tests) for each in verdicts] == [(SURVIVED, 1), (NOT_RUN, 0)]
