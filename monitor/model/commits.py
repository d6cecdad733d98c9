"""What commits of one partition show when they follow one another."""

from __future__ import annotations

import msgspec

from monitor.model.values import Value


class CommitPoint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A commit in a history: when, and of which offset."""

    committed_ms: int
    offset: int


class Rewind(Value, array_like=True):
    """A commit of an offset lower than the one committed before it: records will be delivered again."""

    at_ms: int
    before: int
    after: int


class Standstill(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """That the newest commits of a partition are all of one offset: the first one's time, and how many they are."""

    since_ms: int
    commits: int
