"""Groups that one member used for a short time, by the pattern of their names."""

from __future__ import annotations

from monitor.model.values import Value


class ShortLife(Value):
    """The life of a group that one member used for a short time (monitor.kinds.short_lives)."""

    pattern: str
    """The group's name with * for each part that looks made up."""
    began_ms: int
    """When its member joined (ms since the epoch)."""
    ended_ms: int
    """When its member left (ms since the epoch)."""


class ShortLives(Value):
    """Of all such groups of a pattern: when the first few ended, and when the last few began, in this order."""

    ended_ms: tuple[int, ...]
    began_ms: tuple[int, ...]
