"""What assignors take and give: topics with their partitions, and the partitions of each member."""

from __future__ import annotations

from enum import StrEnum

from monitor.model.values import TopicPartitions, Value


class TopicShape(Value):
    """What an assignor knows of a topic: how many partitions, and the racks of each partition's replicas.

    ``racks`` is empty when no rack is known, else one tuple for each partition (None: a broker without a rack).
    ``topic_id`` is the topic's Uuid in Kafka's text form (22 characters of base64); only the broker's assignors use it.
    """

    topic: str
    partitions: int
    racks: tuple[tuple[str | None, ...], ...] = ()
    topic_id: str | None = None


class MemberAssignment(Value):
    """What one member gets, topic by topic."""

    member_id: str
    topics: tuple[TopicPartitions, ...] = ()


class Quirk(StrEnum):
    """Something odd that an original assignor really does, and that its rebuilt twin therefore does too."""

    NOT_SUBSCRIBED = "not_subscribed"
    """A member is given a partition of a topic it did not ask for."""
    ASSIGNED_TWICE = "assigned_twice"
    """Two members are given the same partition."""
    UNASSIGNED = "unassigned"
    """A partition that somebody asked for is given to nobody."""
    DOES_NOT_EXIST = "does_not_exist"
    """A member is given a partition that the topic does not have."""


class Assignment(Value):
    """The answer of an assignor: one entry for every member, also for one that gets nothing.

    ``quirks`` names what is odd about it, sorted; empty for an answer as one would expect it.
    """

    members: tuple[MemberAssignment, ...] = ()
    quirks: tuple[Quirk, ...] = ()
