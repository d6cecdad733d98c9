"""A cap on the number of series: what is left out if there would be more (docs/decisions/0023).

Detail goes first: the series of partitions and members, then the sums of topics, then groups. Of each, the large groups
go first, the largest of them before the others, then the small ones of a bucket together, then nothing more than it
takes. A group has all of its series of a detail or none. The same series always give the same choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.metrics import specs
from monitor.metrics.exposition_format import Samples, labels
from monitor.metrics.series_filter import Detail
from monitor.metrics.spec_types import MetricScope
from monitor.metrics.specs import FAMILIES
from monitor.model import ClusterSnapshot, FamilyBlock, PackedBlock, Value
from monitor.model.cluster_label import CLUSTER_LABEL

LARGE: Final = 1_000
"""A group with so many series of its partitions and members is left out by itself, not with others of its bucket."""

CUT: Final = (Detail.PARTITION, Detail.TOPIC, Detail.GROUP)
"""What is left out first, and what then. What is said of clusters and of groupwatch itself always stays."""

_DETAILS: Final = {
    MetricScope.PARTITION: Detail.PARTITION,
    MetricScope.MEMBER: Detail.PARTITION,
    MetricScope.TOPIC: Detail.TOPIC,
    MetricScope.GROUP: Detail.GROUP,
}


class LeftOut(Value):
    """How many series of a detail were left out of a cluster's."""

    cluster: str
    detail: Detail
    series: int


class Fitted(Value):
    """The blocks that there is room for, and what was left out."""

    blocks: tuple[PackedBlock, ...]
    left_out: tuple[LeftOut, ...]


class _Unit(Value):
    """What is kept or left out as a whole; ``bucket`` None: the topics themselves, ``group`` "": all small groups."""

    cluster: str
    detail: Detail
    bucket: int | None
    group: str


def apart_if_large(group: str, blocks: tuple[FamilyBlock, ...]) -> tuple[FamilyBlock, ...]:
    """The blocks of one group; if it is large, those of its partitions and members are marked as its own."""
    fine = [block.family for block in blocks if _detail_of(block.family) is Detail.PARTITION]
    if sum(block.samples.count("\n") for block in blocks if block.family in fine) < LARGE:
        return blocks
    return tuple([replace(block, group=group) if block.family in fine else block for block in blocks])


def fitted(clusters: Sequence[ClusterSnapshot], room: int) -> Fitted:
    """As many of the clusters' blocks as there is room for, in series; those that always stay may be more."""
    placed = [(_unit_of(cluster.cluster, block), block) for cluster in clusters for block in cluster.blocks]
    sizes: Counter[_Unit] = Counter()
    for unit, block in placed:
        if unit is not None:
            sizes[unit] += block.samples.lines
    gone = _gone(sizes, sum(block.samples.lines for _, block in placed) - room)
    counts = Counter[tuple[str, Detail]]()
    for unit in gone:
        counts[unit.cluster, unit.detail] += sizes[unit]
    return Fitted(
        blocks=tuple([block for unit, block in placed if unit not in gone]),
        left_out=tuple([LeftOut(c.cluster, detail, counts[c.cluster, detail]) for c in clusters for detail in CUT]),
    )


def render_left_out(left_out: Iterable[LeftOut], label: str = CLUSTER_LABEL) -> tuple[FamilyBlock, ...]:
    """A series for each of these, also for what nothing was left out of; ``label`` names the cluster."""
    samples = Samples()
    for each in left_out:
        pairs = labels(**{label: each.cluster}, detail=each.detail.value)
        samples.add(specs.SERIES_LEFT_OUT, pairs, each.series)
    return samples.blocks()


def _gone(sizes: Counter[_Unit], excess: int) -> set[_Unit]:
    gone: set[_Unit] = set()
    for detail in CUT:
        units = [unit for unit in sizes if unit.detail is detail]
        for unit in sorted(units, key=lambda unit: _turn(unit, sizes[unit])):
            if excess <= 0:
                return gone
            gone.add(unit)
            excess -= sizes[unit]
    return gone


def _turn(unit: _Unit, size: int) -> tuple[bool, int, str, int, str]:
    """Large groups before small ones, the largest first; the rest makes the order the same every time."""
    return not unit.group, -size, unit.cluster, -1 if unit.bucket is None else unit.bucket, unit.group


def _unit_of(cluster: str, block: PackedBlock) -> _Unit | None:
    detail = _detail_of(block.family)
    if detail is None:
        return None
    return _Unit(cluster=cluster, detail=detail, bucket=block.bucket, group=block.group)


def _detail_of(family: str) -> Detail | None:
    return _DETAILS.get(FAMILIES[family].scope)
