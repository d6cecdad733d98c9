"""A completed generation of a group, wherever it is known from: a record of the log, or two polls that differ."""

from __future__ import annotations

from monitor.model import Member, Value


class Generation(Value):
    """The members of a group between two rebalances, with what each owns.

    ``number`` counts the generations. ``started_ms`` is when the rebalance that made it is known to have been under
    way, ``ended_ms`` when the generation was complete (a poll knows no beginning, and both are its own time).
    ``protocol`` is the assignor that all members agreed on; ``leader`` the member that assigned.
    """

    number: int
    members: tuple[Member, ...]
    protocol_type: str
    protocol: str | None
    started_ms: int
    ended_ms: int
    leader: str | None = None
