"""Columns of the recording's tables as Arrow has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from monitor.history.tables import Column

TYPES: Final = {
    "STRING": pa.string(),
    "LONG": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "BINARY": pa.binary(),
}
"""The types that monitor.history.tables names as Spark writes them."""


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The schema of these columns."""
    return pa.schema([(column.name, TYPES[column.type]) for column in columns])
