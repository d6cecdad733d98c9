"""The strategies of client libraries other than Kafka's own, by library: the same names often hide other rules."""

from monitor.assignors.dialects.dialect import (
    CheckedDialect,
    Exactness,
    Group,
    ReplayedDialect,
    UnknownLeaderError,
)
from monitor.assignors.dialects.registry import DIALECTS, DialectRow, dialects_of

__all__ = [
    "DIALECTS",
    "CheckedDialect",
    "DialectRow",
    "Exactness",
    "Group",
    "ReplayedDialect",
    "UnknownLeaderError",
    "dialects_of",
]
