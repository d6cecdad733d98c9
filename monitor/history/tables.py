"""The tables of a recording, column by column. They lie in one folder, partitioned by cluster and day (UTC)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from monitor.model import Value

DAY_MS: Final = 86_400_000


class Column(Value):
    """A column: its name, its type as Spark writes it, and what it holds."""

    name: str
    type: str
    meaning: str


class Table(Value):
    """A table: its folder, what a row is, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> str:
        """The columns as Spark reads a schema."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)


PLACE: Final = (
    Column("cluster", "STRING", "the cluster's name in the configuration"),
    Column("day", "STRING", "the UTC date of recorded_ms, as 2026-11-22"),
    Column(
        "recorded_ms",
        "LONG",
        "when the row was recorded (ms since the epoch); rows that were recorded together have the same value",
    ),
)
"""What every table begins with."""

_ENTITY: Final = (
    Column("entity", "STRING", "what the row is about: group, topic, pass, listing or connect"),
    Column("name", "STRING", "the name of the group or topic"),
)

EVENTS: Final = Table(
    "events",
    "Everything that groupwatch read of a group or topic between two recordings, a minute apart.",
    (
        *PLACE,
        *_ENTITY,
        Column("position", "LONG", "orders the rows of one entity that were recorded together"),
        Column("first_ms", "LONG", "the time of the first of these events (ms since the epoch)"),
        Column("last_ms", "LONG", "the time of the last of these events (ms since the epoch)"),
        Column("version", "INT", "the version of the events"),
        Column("events", "BINARY", "the events, in MessagePack"),
    ),
)

STATES: Final = Table(
    "states",
    "What groupwatch knew of a group or topic after a recording; written once an hour.",
    (
        *PLACE,
        *_ENTITY,
        Column("state", "BINARY", "the state, in MessagePack with its version"),
    ),
)

SETTINGS: Final = Table(
    "settings",
    "The thresholds by which groups were evaluated from then on; written at each start of a job.",
    (*PLACE, Column("settings", "BINARY", "the thresholds, and which topics have configurations of Connect")),
)

TABLES: Final = (EVENTS, STATES, SETTINGS)


def day_of(at_ms: int) -> str:
    """The UTC date of an instant, as the tables are partitioned.

    >>> day_of(1_790_000_000_000)
    '2026-09-21'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")
