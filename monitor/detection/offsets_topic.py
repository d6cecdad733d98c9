"""Which fault of the offsets topic concerns a group: its commits are in one partition of that topic."""

from __future__ import annotations

from monitor.detection.moment import Moment
from monitor.model import KINDS, Catalog, GroupState, GroupSummary
from monitor.model.offsets_topic import PartitionFault
from monitor.protocol.kafka.group_metadata import group_partition


def fault_of(group: GroupState | GroupSummary, catalog: Catalog) -> PartitionFault | None:
    """The newest fault of the partition that has the commits of a group; None: none is known lately."""
    health = catalog.offsets_topic
    if health is None or not health.faults or not KINDS[group.kind].commits_to_log:
        return None
    return health.faults.get(group_partition(group.group, catalog.log_partitions or health.partitions))


def hiding_fault(group: GroupState, catalog: Catalog, moment: Moment, silence_ms: int) -> PartitionFault | None:
    """The fault that hides how far a group has read; None: there is none.

    It lasts, or has ended less than ``silence_ms`` ago: members need that time to commit again.
    """
    fault = fault_of(group, catalog)
    if fault is None or (fault.ended_ms is not None and moment.has_come(fault.ended_ms + silence_ms)):
        return None
    return fault


def block_start_ms(group: GroupState, catalog: Catalog, lag_since_ms: int) -> int | None:
    """Since when the brokers take no commits of a group, at the earliest; None: they take them.

    Where no poll saw that they did, all of the lag may come from that; it began at ``lag_since_ms``.
    """
    fault = fault_of(group, catalog)
    if fault is None or fault.ended_ms is not None:
        return None
    return min(fault.since_ms, lag_since_ms) if fault.before_ms is None else fault.before_ms
