"""Classic groups of Kafka Streams: what their leader says of its own assignment.

Streams assigns tasks, not partitions: the active and standby tasks of a subtopology, balanced over processes (KIP-441).
A cooperative rebalance of it is several generations, and each tells its members whether another one follows. So owners
are not replayed, and a member with few or no partitions may have all that it is to have.
"""

from __future__ import annotations

from typing import Final

from monitor.model import STREAM, GroupKind, GroupState, Member

VERSION_PROBING: Final = 2
"""The error with which members are told to join again, with an older version of their subscription."""

_TELLS_WHAT_FOLLOWS: Final = 7
"""The version of the assignment that does first (Kafka 2.6)."""


def is_streams(group: GroupState) -> bool:
    """Whether the group is a classic one of Kafka Streams."""
    return group.kind is GroupKind.CLASSIC and group.protocol_type == "consumer" and group.protocol == STREAM


def is_half_done(group: GroupState) -> bool:
    """Whether the leader has told members that another generation follows at once: what nobody has, it hands over."""
    return any(_expects_another(member) for member in group.members)


def tells_what_follows(group: GroupState) -> bool:
    """Whether the leader has told every member if another generation follows."""
    told = [member.streams for member in group.members]
    return all(each is not None and each.version >= _TELLS_WHAT_FOLLOWS for each in told)


def _expects_another(member: Member) -> bool:
    told = member.streams
    return told is not None and (told.next_rebalance_ms == 0 or told.error == VERSION_PROBING)


def error_of(group: GroupState) -> int:
    """Why the leader assigned nothing, by its number (``AssignorError``); 0: it tells no error."""
    return max((member.streams.error for member in group.members if member.streams is not None), default=0)
