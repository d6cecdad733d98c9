"""A fleet of groups as they are judged for real, every fortieth with something wrong: what the page is tried on."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.group_summary import summary_of
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import (
    Catalog,
    ClusterSnapshot,
    CommittedOffset,
    EndOffsetAt,
    GroupState,
    GroupUse,
    GroupVerdict,
    Member,
    PartitionState,
    Phase,
    Rebalance,
    RebalanceCause,
    Snapshot,
    TopicPartitions,
    TopicState,
)
from monitor.snapshot_file import ClusterInputs
from monitor.topics.uses import group_use
from monitor.web.views.lag_history import LagPoint

NOW_MS = 1_790_000_000_000
MINUTE_MS = 60_000
CREATED_MS = NOW_MS - 86_400_000
END = 1_000_000

PARTITIONS = 20
"""Of each topic; a group reads one topic."""

_AREAS = ("payments", "orders", "billing", "search", "mail", "fraud", "stock", "audit")
_TASKS = ("writer", "indexer", "notifier", "archiver", "scorer")
TROUBLES = ("drift", "double", "orphan")


@dataclass
class Fleet:
    """A source of the app. ``states`` may be replaced, and ``judge_again`` judges what was."""

    states: dict[str, dict[str, GroupState]]
    catalogs: dict[str, Catalog]
    now_ms: int = NOW_MS
    shown: Snapshot = field(default_factory=Snapshot)
    kept_uses: dict[str, tuple[tuple[GroupState, ...], tuple[GroupUse, ...]]] = field(default_factory=dict)

    def judge_again(self) -> Fleet:
        """Judge all groups as of ``now_ms``."""
        self.shown = Snapshot(clusters=tuple(self._judged(cluster) for cluster in self.states))
        return self

    def _judged(self, cluster: str) -> ClusterSnapshot:
        verdicts = (self.verdict(cluster, name) for name in sorted(self.states[cluster]))
        groups = tuple(summary_of(verdict) for verdict in verdicts if verdict is not None)
        return ClusterSnapshot(cluster=cluster, ready=True, evaluated_ms=self.now_ms, groups=groups, input_lag=0)

    def read(self) -> Snapshot:
        """The newest snapshot."""
        return self.shown

    def verdict(self, cluster: str, group: str) -> GroupVerdict | None:
        """The group as it is judged at ``now_ms``."""
        state = self.states[cluster].get(group)
        return state and evaluate(state, self.catalogs[cluster], self.now_ms, DetectionSettings())

    def history(self, cluster: str, group: str, every: int = 1) -> tuple[LagPoint, ...]:
        """A lag that rises and falls, and was not known for a while."""
        lags = {n: 200 + 37 * n % 400 if n not in (60, 61, 62) else None for n in range(119, -1, -every)}
        return tuple(LagPoint(self.now_ms - (119 - n) * 15_000, lags[n]) for n in reversed(lags))

    def uses(self, cluster: str) -> tuple[GroupUse, ...]:
        """The groups with their topics; the same tuple while the states are the same, as the driver gives it."""
        states = tuple(self.states[cluster].values())
        known = self.kept_uses.get(cluster)
        if known is None or known[0] != states:
            uses = tuple(group_use(each, self.catalogs[cluster]) for each in sorted(states, key=lambda own: own.group))
            known = self.kept_uses[cluster] = (states, uses)
        return known[1]

    def inputs(self, cluster: str) -> ClusterInputs | None:
        """What the verdicts of a cluster are made of."""
        return _Inputs(self, cluster)


@dataclass(frozen=True)
class _Inputs:
    fleet: Fleet
    cluster: str

    @property
    def catalog(self) -> Catalog:
        """The topics of the cluster."""
        return self.fleet.catalogs[self.cluster]

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict on the group is made of."""
        state = self.fleet.states[self.cluster].get(group)
        return state and GroupInputs(group=state, catalog=self.catalog, now_ms=self.fleet.now_ms)


def fleet(count: int, *more: GroupState, topics: Iterable[TopicState] = ()) -> Fleet:
    """So many groups of ``PARTITIONS`` partitions each in cluster "main", with ``more`` groups and topics."""
    states = {state.group: state for state in map(fleet_group, range(count))}
    states |= {state.group: state for state in more}
    known = {topic_name(number): topic(topic_name(number)) for number in range(min(count, 500))}
    known |= {each.topic: each for each in topics}
    known["grown"] = _grown()
    catalog = Catalog(cluster="main", pass_ms=NOW_MS, topics=known)
    return Fleet({"main": states}, {"main": catalog}).judge_again()


def fleet_group(number: int) -> GroupState:
    """The group of that number: four members that share by range; something is wrong in every fortieth."""
    name = f"{_AREAS[number % 8]}.{_TASKS[number % 5]}-{number:05}"
    trouble = TROUBLES[number // 40 % len(TROUBLES)] if number % 40 == 0 else ""
    reads = "grown" if trouble == "orphan" else topic_name(number % 500)
    return group(name, reads, trouble=trouble)


def topic_name(number: int) -> str:
    """The topic that the groups of that number (of 500) read."""
    return f"{_AREAS[number % 8]}.events-{number:03}"


def group(name: str, reads: str, *, trouble: str = "", partitions: int = PARTITIONS, members: int = 4) -> GroupState:
    """A group that has read one topic for an hour, shared by range."""
    share = partitions // members
    given = [tuple(range(n * share, (n + 1) * share)) for n in range(members)]
    if trouble == "drift":
        given[0], given[1] = (*given[0][:-1], given[1][0]), (given[0][-1], *given[1][1:])
    if trouble == "double":
        given[2] = (*given[2], given[3][0])
    history = Rebalance(
        generation=7,
        started_ms=NOW_MS - 60 * MINUTE_MS,
        ended_ms=NOW_MS - 60 * MINUTE_MS + 3_000,
        causes=(RebalanceCause.JOIN,),
        joined=1,
        moved=5,
        avoidable=0,
    )
    return GroupState(
        cluster="main",
        group=name,
        phase=Phase.STABLE,
        phase_ms=NOW_MS - 60 * MINUTE_MS,
        protocol_type="consumer",
        protocol="range",
        generation=7,
        generation_ms=NOW_MS - 60 * MINUTE_MS,
        members=tuple(_member(n, reads, own) for n, own in enumerate(given)),
        offsets=tuple(_commit(reads, n) for n in range(partitions)),
        history=(history,),
        rebalances=7,
        rebalance_ms=21_000,
        moved_partitions=12,
    )


def _member(number: int, reads: str, own: tuple[int, ...]) -> Member:
    return Member(
        member_id=f"worker-{number:02}-0f{number:02}-4e1b-9c55-{number:012}",
        topics=(reads,),
        assigned=(TopicPartitions(reads, own),) if own else (),
        client_id=f"worker-{number:02}",
        host=f"/10.0.{number // 200}.{10 + number % 200}",
    )


def _commit(reads: str, partition: int) -> CommittedOffset:
    """Each partition is three records further behind than the one before."""
    return CommittedOffset(topic=reads, partition=partition, offset=END - 3 * partition, committed_ms=NOW_MS - 2_000)


@functools.cache
def topic(name: str, partitions: int = PARTITIONS) -> TopicState:
    """A topic whose partitions grow by 100 records a second."""
    return TopicState(
        cluster="main",
        topic=name,
        pass_ms=NOW_MS,
        partitions=tuple(_partition(number, CREATED_MS) for number in range(partitions)),
    )


def _grown() -> TopicState:
    """A topic to which two partitions came ten minutes ago."""
    came = tuple(_partition(PARTITIONS + n, NOW_MS - 10 * MINUTE_MS) for n in range(2))
    return replace(topic("grown"), partitions=(*topic("grown").partitions, *came))


def _partition(number: int, first_seen_ms: int) -> PartitionState:
    ends = tuple(EndOffsetAt(at_ms=NOW_MS - n * MINUTE_MS, offset=END - n * 6_000) for n in range(20, -1, -1))
    return PartitionState(partition=number, first_seen_ms=first_seen_ms, earliest=0, end=END, ends=ends)
