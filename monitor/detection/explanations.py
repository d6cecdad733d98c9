"""Which lasting findings of the cluster explain findings of a group: without them, these would be its own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from monitor.detection.offsets_topic import fault_of
from monitor.model import Catalog, GroupState
from monitor.model.cluster_findings import NO_LEADER, ClusterFindingKind


def explanations(group: GroupState, catalog: Catalog, *, has_no_leader: bool) -> Iterator[tuple[str, Catalog]]:
    """The name of each finding of the cluster, and the catalog without it and those before; none: nothing to explain.

    ``has_no_leader``: a partition that concerns the group has no leader.
    """
    fault = fault_of(group, catalog)
    if fault is not None and fault.ended_ms is None:
        catalog = replace(catalog, offsets_topic=None)
        yield f"{ClusterFindingKind.OFFSETS_TOPIC.value}/{fault.reason.value}", catalog
    if has_no_leader:
        yield NO_LEADER, replace(catalog, brokers=None)
