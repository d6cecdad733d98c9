"""The base of all events."""

from __future__ import annotations

from monitor.model.values import Value


class Event(Value, tag_field="event", tag=str.lower):
    """Base of everything that can happen to a group, a topic or a source."""
