"""A job without Spark: a real board and real evaluations over groups that are made up, published again and again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from monitor.detection.evaluate import judge
from monitor.detection.group_summary import summary_of
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.metrics.render import packed, render_groups
from monitor.model import (
    Catalog,
    ClusterSnapshot,
    CommittedOffset,
    EndOffsetAt,
    GroupState,
    GroupSummary,
    GroupVerdict,
    Member,
    PartitionState,
    Phase,
    TopicPartitions,
    TopicState,
)
from monitor.tracking.serialization import encode_state
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.driver.verdict_on_demand import AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.ingest.schemas import BucketRow, RowKind

CLUSTER: Final = "bench"
KINDS: Final = 20
"""Groups are alike but for their names and the state that their number modulo this gives them."""
HUGE: Final = "huge"


@dataclass(frozen=True)
class Shape:
    """A group's members and topics."""

    members: int
    topics: int
    partitions: int


@dataclass
class SimulatedJob:
    """Groups named ``group-00000`` and so on of 20 partitions each, every tenth with findings, and one huge group."""

    groups: int
    begun_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    store: SnapshotStore = field(default_factory=lambda: SnapshotStore([CLUSTER]))

    def __post_init__(self) -> None:
        self._view = ClusterView(CLUSTER)
        self._looked_at = AssignmentViewCache()
        self._topics = Topics(self._catalog())
        states = list(self._states())
        self._view.take([BucketRow(0, RowKind.GROUP, each.group, encode_state(each)) for each in states])
        self._summaries = tuple(sorted(self._judged(states), key=lambda each: each.group))
        self._blocks = packed(render_groups([self._verdict(each) for each in states[:KINDS]]))

    def publish(self, now_ms: int) -> None:
        """Put an evaluation of that time on the board; lags have changed a little."""
        moved = (now_ms // 1_000) % 1_000
        groups = tuple(
            msgspec.structs.replace(each, lag=None if each.lag is None else each.lag + moved)
            for each in self._summaries
        )
        shown = ClusterSnapshot(
            cluster=CLUSTER, ready=True, evaluated_ms=now_ms, input_lag=0, groups=groups, blocks=self._blocks
        )
        self.store.publish(shown, VerdictsOnDemand(self._view, self._looked_at, self._topics, now_ms, DetectionRules()))

    def _catalog(self) -> Catalog:
        topics = [self._topic(f"topic-{number:04}", 20, grown=number % 10 == 0) for number in range(500)]
        topics += [self._topic(f"wide-{number}", 1000, grown=False) for number in range(10)]
        return Catalog(cluster=CLUSTER, pass_ms=self.begun_ms, topics={state.topic: state for state in topics})

    def _topic(self, name: str, partitions: int, *, grown: bool) -> TopicState:
        """1,000 records a partition, written in the last ten minutes; the last partition came a minute ago."""
        hour_ago, now = self.begun_ms - 3_600_000, self.begun_ms
        return TopicState(
            cluster=CLUSTER,
            topic=name,
            pass_ms=now,
            partitions=tuple(
                PartitionState(
                    partition=number,
                    first_seen_ms=now - 60_000 if grown and number == partitions - 1 else hour_ago,
                    earliest=0,
                    end=1_000,
                    ends=(EndOffsetAt(now - 600_000, 0), EndOffsetAt(now, 1_000)),
                )
                for number in range(partitions)
            ),
        )

    def _states(self) -> Iterator[GroupState]:
        for number in range(self.groups):
            yield _group(
                f"group-{number:05}", [f"topic-{number % 500:04}"], Shape(4, 1, 20), number % KINDS, self.begun_ms
            )
        yield _group(HUGE, [f"wide-{number}" for number in range(10)], Shape(1000, 10, 1000), 0, self.begun_ms)

    def _verdict(self, state: GroupState) -> GroupVerdict:
        catalog = self._topics.catalog
        return judge(
            state,
            self._topics,
            view_assignment(state, catalog),
            self.begun_ms,
            DetectionRules().of(CLUSTER, state.group),
        )

    def _judged(self, states: list[GroupState]) -> Iterator[GroupSummary]:
        """One in 500 is judged, and its likes get its summary: it does not name the group."""
        known = [summary_of(self._verdict(each)) for each in states[:500]]
        for number, state in enumerate(states[:-1]):
            yield msgspec.structs.replace(known[number % 500], group=state.group)
        yield summary_of(self._verdict(states[-1]))


def _group(name: str, topics: list[str], shape: Shape, kind: int, now_ms: int) -> GroupState:
    """Each member has a run of each topic's partitions; the last partition of a topic that grew has nobody."""
    share = -(-shape.partitions // min(shape.members, shape.partitions))
    members = tuple(
        Member(
            member_id=f"consumer-{number:04}-5ae7d3f0-0000-4000-8000-00000000{number:04}",
            client_id=f"consumer-{number:04}",
            host=f"/10.0.{number // 256}.{number % 256}",
            topics=tuple(topics),
            assigned=tuple(
                TopicPartitions(each, tuple(range(number * share, min((number + 1) * share, shape.partitions - grown))))
                for each in topics
                for grown in (int(each.endswith("0") and shape.partitions == 20),)
            ),
        )
        for number in range(shape.members)
    )
    offsets = tuple(
        CommittedOffset(topic=each, partition=number, offset=1_000 - kind, committed_ms=now_ms - 5_000)
        for each in topics
        for number in range(shape.partitions)
    )
    return GroupState(
        cluster=CLUSTER,
        group=name,
        phase=Phase.STABLE,
        phase_ms=now_ms - 600_000,
        protocol="range",
        protocol_type="consumer",
        generation=3,
        generation_ms=now_ms - 600_000,
        members=members,
        offsets=offsets,
    )
