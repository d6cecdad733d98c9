"""What a rule yields: evidence, in no words."""

from __future__ import annotations

from monitor.model import DriftCause, FindingKind, Library, TopicPartition, Value


class Evidence(Value):
    """What was seen of a finding, beside its partitions and members: all that its sentence needs, in no words.

    Each kind of evidence has one sentence (monitor.findings.sentences).
    """


class Observation(Value):
    """What a rule has found, in no words; it becomes a :class:`Finding` at the end of the verdict.

    ``tasks`` are those of Kafka Streams or Kafka Connect, by name. ``library`` is that of the finding.
    """

    kind: FindingKind
    reason: str
    since_ms: int
    evidence: Evidence
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()
    cause: DriftCause | None = None
    tasks: tuple[str, ...] = ()
    library: Library | None = None
