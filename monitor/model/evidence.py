"""What detection works out of a group, and what is evidence of a finding: values without a sentence."""

from __future__ import annotations

from enum import StrEnum

from monitor.model.client_libraries import Library
from monitor.model.values import TopicPartition, Value


class DriftCause(StrEnum):
    """The most likely cause of a drift (monitor.detection.rules.drift_causes)."""

    METADATA_STALE = "metadata_stale"
    """Topics came, went or changed, and the members still have the older metadata."""
    MIXED_ASSIGNORS = "mixed_assignors"
    """The members seem to have different assignors under one name, or offer different ones."""
    MIXED_SUBSCRIPTIONS = "mixed_subscriptions"
    FOREIGN_CLIENT = "foreign_client"
    """The member that assigns uses a library, or a release of it, whose assignor differs from the one replayed."""
    RACKS_CHANGED = "racks_changed"
    TIE = "tie"
    UNKNOWN = "unknown"


class Growth(Value):
    """A topic whose number of partitions is another now than the newest generation was assigned for.

    ``since_ms`` is when a collector first saw the newest partition; None for a topic that lost partitions. ``is_seen``:
    collectors saw it change after the generation; else the assignment shows that its leader knew it otherwise.
    """

    topic: str
    before: int
    after: int
    since_ms: int | None = None
    is_seen: bool = True


class Difference(Value):
    """Partitions with another owner than expected, sorted, and both owners (member ids) of the first: the example."""

    partitions: tuple[TopicPartition, ...]
    expected: tuple[str, ...]
    actual: tuple[str, ...]


class Cause(Value):
    """A cause with what was seen of it: assignors by name or client libraries, and the members concerned, sorted.

    ``is_exact``: it was recomputed, and explains every partition.
    """

    cause: DriftCause
    seen: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    is_exact: bool = False
    libraries: tuple[Library, ...] = ()


class ReplayedAssignor(Value):
    """The assignor of a client library that is replayed or checked, and the release whose rule that is."""

    library: Library
    release: str


class Alternative(Value):
    """Another assignor, and how many partitions its largest member would have."""

    assignor: str
    largest: int


class Balance(Value):
    """The member with most partitions, how many they are, and how many the largest member must have at least.

    ``alternative`` is an assignor that would be more even; None: there is none, or none was asked. ``topics`` are
    those of which something is owned.
    """

    member_id: str
    largest: int
    optimum: int
    alternative: Alternative | None = None
    topics: int = 0

    @property
    def ratio(self) -> float:
        """1.0 is as even as the subscriptions allow."""
        return self.largest / self.optimum


class TaskBalance(Value):
    """The process with most tasks by thread, of Kafka Streams, or the worker with most tasks, of Kafka Connect.

    Its members are its threads.
    """

    process: str
    members: tuple[str, ...]
    """The ids of its members."""
    tasks: int
    """Its number of active tasks."""
    fair: int
    """Tasks of the busiest thread in an even assignment."""

    @property
    def ratio(self) -> float:
        """1.0 or less is as even as it can be."""
        return self.tasks / (self.fair * len(self.members))


class Skew(StrEnum):
    """Why most of a group's lag is that of one member."""

    KEYS = "keys"
    """One of its partitions gets most of the records: key skew."""
    ASSIGNMENT = "assignment"
    """Several busy partitions are together there, and others could take some."""
    MEMBER = "member"
    """Its partitions get no more records than others."""


class RefusalReason(StrEnum):
    """Why an assignor cannot have given an assignment, named from that assignment."""

    FAILS = "fails"
    """The original fails for this group: it gives nothing."""
    UNKNOWN_MEMBER = "unknown_member"
    """The owner is no member of the group."""
    DOES_NOT_EXIST = "does_not_exist"
    """The topic does not have this partition."""
    NOT_SUBSCRIBED = "not_subscribed"
    """The owner does not subscribe to the topic."""
    ASSIGNED_TWICE = "assigned_twice"
    """Two members own the partition."""
    UNASSIGNED = "unassigned"
    """Nobody owns the partition, which the assignor would give to a member."""
    NOT_ASSIGNABLE = "not_assignable"
    """The partition has an owner, and the assignor gives it to no member."""
    OTHER_OWNER = "other_owner"
    """The assignor gives the partition to another member."""
    UNEVEN = "uneven"
    """A move of the partition, or moves that begin with it, would make the group more even."""
    NOT_KEPT = "not_kept"
    """A member lost the partition that it could have kept with an assignment as even."""
    NOT_WITHHELD = "not_withheld"
    """The partition moved although the member that claims it has not given it up yet."""
    RACK = "rack"
    """The assignor prefers members on the partition's rack in another way."""


class Refusal(Value):
    """Why an assignment is refused. The fields that do not belong to the reason are None.

    Attributes:
        reason: what is wrong.
        partition: where.
        member: who owns the partition in the assignment that was given.
        other: the member who should own it, may claim it, or owns it too.
        failure: the error of the original, where it fails.
    """

    reason: RefusalReason
    partition: TopicPartition | None = None
    member: str | None = None
    other: str | None = None
    failure: str | None = None
