"""Which lasting findings of the cluster explain findings of a group: without them, these would be its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from monitor.detection.brokers import topics_without_leader
from monitor.detection.offsets_topic import fault_of
from monitor.model import Catalog, GroupState, PartitionVerdict
from monitor.model.cluster_findings import NO_LEADER, ClusterFindingKind


def explanations(
    group: GroupState, partitions: Iterable[PartitionVerdict], catalog: Catalog
) -> Iterator[tuple[str, Catalog]]:
    """The name of each finding of the cluster, and the catalog without it and those before; none: nothing to explain.

    ``partitions`` are all that concern the group.
    """
    fault = fault_of(group, catalog)
    if fault is not None and fault.ended_ms is None:
        catalog = replace(catalog, offsets_topic=None)
        yield f"{ClusterFindingKind.OFFSETS_TOPIC.value}/{fault.reason.value}", catalog
    if topics_without_leader(partitions, catalog):
        yield NO_LEADER, replace(catalog, brokers=None)
