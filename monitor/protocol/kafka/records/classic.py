"""Committed offsets and the groups of the classic protocol: records of the types 0, 1 and 2."""

from __future__ import annotations

from typing import Annotated, ClassVar

from monitor.protocol.wire.schema import Int32, Int64, LossyText, Message, Uuid, only, since, tagged


class OffsetCommitKey(Message):
    """Whose committed offset of which partition."""

    group: str
    topic: str
    partition: Int32


class OffsetCommitValue(Message, kw_only=True):
    """A committed offset; ``expire_timestamp`` only from clients that ask for a retention time of their own."""

    newest: ClassVar[int] = 4
    flexible: ClassVar[int | None] = 4

    offset: Int64
    leader_epoch: Annotated[Int32, since(3)] = -1
    metadata: LossyText
    commit_timestamp: Int64
    expire_timestamp: Annotated[Int64, only(1)] = -1
    topic_id: Annotated[Uuid, tagged(0, since=4)] = "AAAAAAAAAAAAAAAAAAAAAA"


class GroupMetadataKey(Message):
    """The id of a classic group."""

    group: str


class ClassicMember(Message, kw_only=True):
    """A member of a completed generation; how to read its bytes depends on the group's protocol type."""

    member_id: str
    group_instance_id: Annotated[str | None, since(3)] = None
    client_id: str
    client_host: str
    rebalance_timeout: Annotated[Int32, since(1)] = -1
    session_timeout: Int32
    subscription: bytes
    assignment: bytes


class GroupMetadataValue(Message, kw_only=True):
    """A completed generation of a classic group."""

    newest: ClassVar[int] = 4
    flexible: ClassVar[int | None] = 4

    protocol_type: str
    generation: Int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: Annotated[Int64, since(2)] = -1
    members: tuple[ClassicMember, ...]
