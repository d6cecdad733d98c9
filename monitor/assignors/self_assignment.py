"""The answer of a client that works out its own share, in systems without a leader that assigns."""

from __future__ import annotations

from typing import Generic, TypeVar

from monitor.model import Value

Queue = TypeVar("Queue")


class ClientShare(Value, Generic[Queue]):
    """What one client takes, in the order in which the original returns it.

    ``queues`` is None if the original returns null or throws; ``error`` is then what it throws ("Class: message"), or
    None for null.
    """

    client: str
    queues: tuple[Queue, ...] | None = None
    error: str | None = None
