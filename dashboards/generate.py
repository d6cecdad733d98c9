"""Write the generated files: ``python -m dashboards``, or this module."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dashboards.alerts import rules_file
from dashboards.grafana.boards import BOARDS, board_file
from dashboards.alerts import RULES, rules_file
from dashboards.alerts.table import PAGE, with_table
from dashboards.grafana import dashboard

FOLDER: Final = Path(__file__).parent / "generated"

GRAFANA: Final = "grafana"
"""The folder of dashboards in FOLDER: Grafana is given it as a whole."""


def generated_files() -> dict[str, str]:
    """The text of every generated file by its path below FOLDER."""
    boards = {f"{GRAFANA}/{name}.json": board_file(board) for name, board in BOARDS.items()}
    return {**boards, "alerts.yml": rules_file()}


def main() -> None:
    """Write them all, and remove what is no longer generated."""
    files = generated_files()
    for path in [path for path in FOLDER.rglob("*.*") if str(path.relative_to(FOLDER)) not in files]:
        path.unlink()
    for name, text in files.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in generated_files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), RULES), encoding="utf-8")


if __name__ == "__main__":
    main()
