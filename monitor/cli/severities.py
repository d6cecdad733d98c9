"""How findings look in a terminal: a label with the severity, and the text folded beside it."""

from __future__ import annotations

from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from monitor.model.findings import Severity

SEVERITY_WIDTH: Final = 10
"""The longest severity and a space."""

STYLES: Final = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold"}
"""The style of a label."""


def row_with_label(label: str, text: str, style: str) -> RenderableType:
    """A label, and a text that is folded beside it."""
    grid = Table.grid(padding=0)
    grid.add_column(min_width=SEVERITY_WIDTH, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"{label} ", style=style), Text(text, overflow="fold"))
    return grid
