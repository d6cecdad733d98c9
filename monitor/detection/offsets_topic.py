"""Which fault of the offsets topic concerns a group: its commits are in one partition of that topic."""

from __future__ import annotations

from monitor.model import KINDS, Catalog, GroupState, GroupSummary
from monitor.model.offsets_topic import PartitionFault
from monitor.protocol.kafka.group_metadata import group_partition


def fault_of(group: GroupState | GroupSummary, catalog: Catalog) -> PartitionFault | None:
    """The newest fault of the partition that has the commits of a group; None: none is known lately."""
    health = catalog.offsets_topic
    if health is None or not health.faults or not KINDS[group.kind].commits_to_log:
        return None
    return health.faults.get(group_partition(group.group, catalog.log_partitions or health.partitions))
