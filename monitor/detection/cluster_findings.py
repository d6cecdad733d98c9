"""What is wrong with a cluster as a whole: of that, many groups suffer at once, and none of them is to blame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from monitor.detection.offsets_topic import fault_of
from monitor.findings.cluster import ClusterObservation, NotWritable, cluster_findings_of
from monitor.model import Catalog, GroupSummary
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.offsets_topic import PartitionFault


def cluster_findings(catalog: Catalog, groups: Sequence[GroupSummary]) -> tuple[ClusterFinding, ...]:
    """The findings of a cluster, worst first.

    Args:
        catalog: what collectors know of it.
        groups: all its groups.
    """
    return cluster_findings_of(_not_writable(catalog, groups))


def _not_writable(catalog: Catalog, groups: Sequence[GroupSummary]) -> Iterator[ClusterObservation]:
    """Partitions of the offsets topic that take no records, by the reason."""
    health = catalog.offsets_topic
    lasting = () if health is None else health.lasting()
    if health is None or not lasting:
        return
    concerned = Counter([_place_of(each, catalog) for each in groups])
    by_reason = sorted(lasting, key=lambda each: each.reason)
    for reason, of_reason in groupby(by_reason, key=lambda each: each.reason):
        own = list(of_reason)
        worst = min(own, key=lambda each: each.in_sync - each.needed)
        yield ClusterObservation(
            kind=ClusterFindingKind.OFFSETS_TOPIC,
            reason=reason,
            since_ms=min(each.since_ms for each in own),
            evidence=NotWritable(health.partitions, worst.in_sync, worst.needed),
            groups=sum(concerned[each.partition] for each in own),
            partitions=tuple(sorted(each.partition for each in own)),
        )


def _place_of(group: GroupSummary, catalog: Catalog) -> int | None:
    """The partition with a fault that has the commits of a group; None: it has none."""
    fault: PartitionFault | None = fault_of(group.group, group.kind, catalog)
    return None if fault is None else fault.partition
