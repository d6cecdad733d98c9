"""Names of assignors where there is little room: RocketMQ's strategies are known by the long names of their classes."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 40

_ROCKETMQ: Final = {
    "AllocateMessageQueueAveragely": "AVG",
    "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    "AllocateMessageQueueByConfig": "CONFIG",
    "AllocateMessageQueueByMachineRoom": "MACHINE_ROOM",
    "AllocateMessageQueueConsistentHash": "CONSISTENT_HASH",
    "AllocateMachineRoomNearby": "MACHINE_ROOM_NEARBY",
}
"""What ``getName()`` of these classes gives (rocketmq-client 5.5.0); tools and documents call them so."""

_CLASS: Final = re.compile(r"(?:[a-z_][A-Za-z0-9_]*\.)+([A-Z][A-Za-z0-9_$]*)")
"""A class with its package."""

_WORD: Final = re.compile(r"[^_.-]*?(?:[_.-]+|(?<=[a-z0-9])(?=[A-Z])|$)")


def short(name: str) -> str:
    """The name as it is short: a class without its package, a strategy of RocketMQ as RocketMQ calls it.

    >>> short("AllocateMessageQueueAveragelyByCircle"), short("com.example.OwnAssignor"), short("cooperative-sticky")
    ('AVG_BY_CIRCLE', 'OwnAssignor', 'cooperative-sticky')
    """
    path = _CLASS.fullmatch(name)
    of_class = path[1] if path else name
    known = _ROCKETMQ.get(of_class) or of_class.removeprefix("AllocateMessageQueue") or of_class
    return known if len(known) <= LONGEST else f"{known[:LONGEST]}\N{HORIZONTAL ELLIPSIS}"


def words(name: str) -> tuple[str, ...]:
    """The pieces between which a name may be broken into lines.

    >>> words("AVG_BY_CIRCLE"), words("OwnStickyAssignor2"), words("range")
    (('AVG_', 'BY_', 'CIRCLE'), ('Own', 'Sticky', 'Assignor2'), ('range',))
    """
    return tuple(piece for piece in _WORD.findall(name) if piece)
