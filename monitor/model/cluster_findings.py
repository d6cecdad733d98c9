"""What can be wrong with a cluster as a whole, beside the findings of its groups.

Their rows, evidence and sentences are in monitor.findings.cluster.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from monitor.model.findings import Severity
from monitor.model.values import Value


class ClusterFindingKind(StrEnum):
    """What a finding of a cluster is about."""

    OFFSETS_TOPIC = "offsets_topic"
    """The topic that has the committed offsets and the members of the groups."""
    TOPICS = "topics"
    """Topics that groups have committed."""
    BROKERS = "brokers"
    """Its brokers."""
    RECORDS = "records"
    """What the brokers write of groups."""
    EXPECTED_GROUPS = "expected_groups"
    """Groups that should exist; the reason is the severity that the file of expectations has chosen."""


NO_LEADER: Final = "topics/no_leader"
"""The name of the finding that partitions of topics have no leader, which findings of groups follow."""


class ClusterFinding(Value):
    """One thing that is wrong with a cluster: since when, how many of its groups it concerns, and what to do."""

    kind: ClusterFindingKind
    """What the finding is about."""
    reason: str
    severity: Severity
    since_ms: int
    sentence: str
    advice: str
    groups: int = 0
    """Number of groups that it concerns."""
    partitions: tuple[int, ...] = ()
    """The partitions of `__consumer_offsets` that it is about."""

    @property
    def name(self) -> str:
        """Its kind and reason, as findings of groups name the one that they follow."""
        return f"{self.kind.value}/{self.reason}"
