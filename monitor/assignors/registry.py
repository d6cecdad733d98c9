"""Assignors by the names that members announce."""

from __future__ import annotations

from typing import Final

from monitor.assignors.assignor import Assignor
from monitor.assignors.kafka_client.range_assignor import RangeAssignor
from monitor.assignors.kafka_client.roundrobin import RoundRobinAssignor
from monitor.model import Value

_ASSIGNORS: Final[tuple[Assignor, ...]] = (RangeAssignor(), RoundRobinAssignor())
_BY_NAME: Final = {assignor.name: assignor for assignor in _ASSIGNORS}


class UnknownAssignor(Value):
    """An assignor that is not rebuilt here: Connect's, Streams', somebody's own; or None, a group without one."""

    name: str | None


def find(name: str | None) -> Assignor | UnknownAssignor:
    """The assignor with this name on the wire (exact case), or the fact that it is unknown.

    >>> find("range").name, find("stream"), find(None)
    ('range', UnknownAssignor(name='stream'), UnknownAssignor(name=None))
    """
    return UnknownAssignor(name=name) if name is None else _BY_NAME.get(name, UnknownAssignor(name=name))
