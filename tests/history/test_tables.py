"""docs/history.md has every column of every table; ``python -m tests.history.test_tables`` writes them there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monitor.history.tables import TABLES, Table, day_of

PAGE = Path(__file__).parents[2] / "docs" / "history.md"


def rows_of(table: Table) -> list[str]:
    return [f"| `{each.name}` | {each.type} | {each.meaning} |" for each in table.columns]


def written_page(page: str) -> str:
    """The page with the columns of now below the heads of their tables."""
    for table in TABLES:
        old = re.compile(rf"(### `{table.name}`\n.*?\|---\|\n)(\| `[^\n]*\n)*", re.DOTALL)
        page = old.sub(lambda found: found[1] + "".join(f"{row}\n" for row in rows_of(table)), page)  # noqa: B023
    return page


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_page_has_its_columns_in_their_order(table: Table):
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"### `{table.name}`\n")
    part = rest.partition("\n### ")[0]
    assert table.row in part.replace("\n", " ")
    rows = [line for line in part.splitlines() if line.startswith("| `")]
    assert rows == rows_of(table)


def test_a_day_ends_at_midnight_in_utc():
    assert (day_of(1_795_305_599_999), day_of(1_795_305_600_000)) == ("2026-11-21", "2026-11-22")


if __name__ == "__main__":
    PAGE.write_text(written_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
