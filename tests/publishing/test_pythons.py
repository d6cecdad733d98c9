"""Which interpreters `make test-pythons` takes, and what it says of those that are not here."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.publishing.pythons import IGNORED, PURE, folders, interpreters, main

ROOT = Path(__file__).parents[2]


def program(folder: Path, release: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"python{release}"
    place.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
    place.chmod(0o755)
    return place


def test_the_first_program_that_is_of_its_release_is_taken(tmp_path: Path):
    """A shim of pyenv is in PATH and only says how to choose one; what is not executable is none."""
    program(tmp_path / "shims", "3.12", "echo 'pyenv: python3.12: command not found' >&2; exit 127")
    program(tmp_path / "old", "3.12", "echo 3.11")
    right = program(tmp_path / ".pyenv/versions/3.12.1/bin", "3.12", "echo 3.12")
    program(tmp_path / ".pyenv/versions/3.12.9/bin", "3.12", "echo 3.12")
    program(tmp_path / ".pyenv/versions/3.13.0/bin", "3.13", "echo 3.13").chmod(0o644)
    by_uv = program(tmp_path / ".local/share/uv/python/cpython-3.13.1/bin", "3.13", "echo 3.13")
    places = folders({"PATH": f"{tmp_path}/shims:{tmp_path}/old", "HOME": str(tmp_path)})
    assert interpreters(("3.12", "3.13", "3.14"), places) == {"3.12": right, "3.13": by_uv}


@pytest.mark.parametrize(
    ("words", "code"), [pytest.param([], 2, id="asked for"), pytest.param(["--short"], 0, id="CI")]
)
def test_what_is_not_here_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], code: int
):
    for name in ("PATH", "HOME", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = "Python 3.12 and 3.13: not run, as it is not installed here.\n"
    assert (ended.value.code, capsys.readouterr().out) == (code, said)


def test_every_folder_of_pure_tests_is_there():
    files = [*(f"{each}/__init__.py" for each in PURE), *IGNORED]
    assert [each for each in files if not (ROOT / "tests" / each).is_file()] == []
