"""The topics that a group has to do with: those that its members read, and those of its committed offsets."""

from __future__ import annotations

from monitor.model.kinds import Phase
from monitor.model.values import PartitionId, Value


class TopicCommits(Value, array_like=True, gc=False):
    """The committed offsets of a group in a topic: of which partitions, and when the newest was committed."""

    topic: str
    partitions: tuple[PartitionId, ...]
    newest_ms: int


class GroupUse(Value):
    """A group with its topics. ``reads`` are those that its members subscribe to or own, sorted; so is ``commits``.

    ``phase_ms`` is when its phase began, ``protocol_type`` what its members call their protocol.
    ``is_complete``: all that the brokers write of it could be decoded, so there is no other topic that it reads.
    """

    group: str
    kind: str
    phase: Phase
    phase_ms: int = 0
    protocol_type: str = ""
    members: int = 0
    is_complete: bool = True
    reads: tuple[str, ...] = ()
    commits: tuple[TopicCommits, ...] = ()
