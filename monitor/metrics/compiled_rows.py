"""Functions that write the samples of rows of the table, made from the rows once, when this is imported.

Groups are rendered in every micro-batch, and a loop over the rows takes 15 to 20 % longer for a group than a line of
code for each family. This makes those lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from monitor.metrics.exposition_format import Samples, number, seconds
from monitor.metrics.spec_types import Described, Unit, ValueMetric, unit_of

AddValues = Callable[[Samples, str, Described], None]
"""Adds one sample of each family that has a value of what is described, with these label pairs."""

AddColumns = Callable[[Samples, Sequence[tuple[str, Described]]], None]
"""Adds one sample of each family for everything that has a value; before it, what stands between name and value."""

_VALUES: Final = """\
def add(samples, pairs, source):
    lines = samples.lines
"""

_VALUE: Final = """\
    value = {value}
    if value is not None:
        lines["{name}"].append(f"{name}{{{{{{pairs}}}}}} {{{text}}}\\n")
"""

_COLUMNS: Final = """\
def add(samples, rows):
    lines = samples.lines
"""

_COLUMN: Final = """\
    column = [f"{name}{{head}}{{{text}}}\\n" for head, source in rows if (value := {value}) is not None]
    if column:
        lines["{name}"].extend(column)
"""


def add_values(rows: Iterable[ValueMetric[Described]]) -> AddValues[Described]:
    """A function that does it for these families."""
    return _made(_VALUES, _VALUE, rows, whole="number(value)")


def add_columns(rows: Iterable[ValueMetric[Described]]) -> AddColumns[Described]:
    """Likewise for many sources, which are the bulk of the text: family by family. Their values are whole numbers."""
    return _made(_COLUMNS, _COLUMN, rows, whole="value")


def _made(head: str, line: str, rows: Iterable[ValueMetric[Described]], whole: str) -> Callable[..., None]:
    known: dict[str, Any] = {"number": number, "seconds": seconds}
    code = [head]
    for place, row in enumerate(rows):
        text = "seconds(value)" if unit_of(row) is Unit.SECONDS else whole
        known[f"value_{place}"] = row.value
        code.append(line.format(name=row.name, text=text, value=_expression(row, place)))
    exec("".join(code), known)  # nothing of it is from elsewhere: names and fields are those of the table
    made: Callable[..., None] = known["add"]
    return made


def _expression(row: ValueMetric[Described], place: int) -> str:
    """The code that reads the value; a field is read without a call."""
    if isinstance(row.value, attrgetter):
        return f"source.{row.value.__reduce__()[1][0]}"
    return f"value_{place}(source)"
