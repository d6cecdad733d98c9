"""What detection works out of a group, and what is evidence of a finding: values without a sentence."""

from __future__ import annotations

from enum import StrEnum

from monitor.model.values import TopicPartition, Value


class DriftCause(StrEnum):
    """The most likely cause of a drift (monitor.detection.rules.drift_causes)."""

    METADATA_STALE = "metadata_stale"
    """Topics came, went or changed, and the members still have the older metadata."""
    MIXED_ASSIGNORS = "mixed_assignors"
    """The members seem to have different assignors under one name, or offer different ones."""
    MIXED_SUBSCRIPTIONS = "mixed_subscriptions"
    FOREIGN_CLIENT = "foreign_client"
    """The member that assigns uses a library whose assignor differs from Kafka's."""
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
    """A cause with what was seen of it: words (libraries, assignors), and the members concerned, sorted.

    ``is_exact``: it was recomputed, and explains every partition.
    """

    cause: DriftCause
    seen: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    is_exact: bool = False


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


class Skew(StrEnum):
    """Why most of a group's lag is that of one member."""

    KEYS = "keys"
    """One of its partitions gets most of the records: key skew."""
    ASSIGNMENT = "assignment"
    """Several busy partitions are together there, and others could take some."""
    MEMBER = "member"
    """Its partitions get no more records than others."""
