"""Write the generated files: ``python -m dashboards``, or this module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from dashboards.alerts import RULES, rules_file
from dashboards.alerts.table import PAGE, with_table
from dashboards.grafana import dashboard

FOLDER: Final = Path(__file__).parent / "generated"


def generated_files() -> dict[str, str]:
    """The text of every generated file by its name."""
    return {"groupwatch.json": json.dumps(dashboard(), indent=2) + "\n", "alerts.yml": rules_file()}


def main() -> None:
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in generated_files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), RULES), encoding="utf-8")


if __name__ == "__main__":
    main()
