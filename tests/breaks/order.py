"""Which tests are near a place, so that they run first."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from tests.breaks.places import PRODUCT, Place

MAX_NEAR: Final = 12
"""Few files are imported sooner than all."""


def distance(test: str, file: str) -> int:
    """0 for the module's own doctests, 1 for tests of its folder, and so on."""
    path = PurePosixPath(test.partition("::")[0])
    if str(path) == file:
        return 0
    ours, wanted = path.parts[1:-1], PurePosixPath(file).parts[:-1]
    wanted = wanted[1:] if wanted[0] == "monitor" else wanted  # tests/web is for monitor/web
    same = next((at for at, pair in enumerate(zip(ours, wanted, strict=False)) if len(set(pair)) == 2), len(wanted))
    return 1 + len(wanted) - min(same, len(ours))


def near_files(place: Place, checkout: Path) -> list[str]:
    """The module itself if it has doctests, the tests of its name, and those that import it or are in its folder.

    Then those that import what imports it, as far as they are near: together no more than ``MAX_NEAR``.
    """
    module, imports, further = module_of(place.file), _imports(checkout), set(importing(place.file, checkout))
    ranks = {}
    for file, names in imports.items():
        away = distance(file, place.file)
        if PurePosixPath(file).name.startswith("test_") and (module in names or away <= 1 or file in further):
            rank = away if module in names or away <= 1 else away + 1
            has_name = PurePosixPath(file).name == f"test_{PurePosixPath(place.file).name}"
            ranks[file] = (not has_name, rank, module not in names, (checkout / file).stat().st_size, file)
    own = [place.file] if b">>>" in (checkout / place.file).read_bytes() else []
    return [*own, *sorted(ranks, key=ranks.__getitem__)][:MAX_NEAR]


def importing(file: str, checkout: Path) -> list[str]:
    """The files of tests that import a module, or what imports it."""
    imports = _imports(checkout)
    module = module_of(file)
    steps = {module, *(module_of(each) for each, names in imports.items() if module in names)}
    return [each for each, names in imports.items() if each.startswith("tests/") and names & steps]


def module_of(file: str) -> str:
    """``monitor/web/__init__.py`` is monitor.web."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def _imports(checkout: Path) -> dict[str, set[str]]:
    """The modules that each file imports."""
    paths = sorted(path for top in (*PRODUCT, "tests") for path in (checkout / top).rglob("*.py"))
    return {str(path.relative_to(checkout)): set(_imported(path)) for path in paths}


def _imported(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names
