"""One topic: its partitions, what comes in, and every group that reads it. Pure."""

from __future__ import annotations

from collections import Counter

from monitor.detection.lag.inflow import partition_inflow, topic_inflow
from monitor.detection.lag.lag import total
from monitor.model import (
    GroupUse,
    GroupVerdict,
    PartitionId,
    PartitionState,
    PartitionVerdict,
    Sharing,
    TopicState,
    Value,
)
from monitor.topics.uses import has_known_readers, is_reader


class Truncation(Value):
    """The end of a partition went back."""

    from_ms: int
    """When the end was last seen where it was before (ms since the epoch)."""
    at_ms: int
    """When a poll first found it lower (ms since the epoch)."""
    before: int
    """The end before, by the last poll that saw it."""
    after: int
    """The lowest end after it, by the polls. At least the records between are gone."""


class LogPartition(Value):
    """A partition of the topic."""

    partition: PartitionId
    earliest: int | None = None
    """The offset at which the log starts; null: unknown."""
    end: int | None = None
    """The end of the log; null: unknown."""
    per_second: float | None = None
    readers: int = 0
    """Groups that read it now."""
    truncation: Truncation | None = None
    """The newest time in a week that its end went back; null: none."""


class GroupPartition(Value):
    """A partition as one group reads it."""

    partition: PartitionId
    owners: tuple[str, ...] = ()
    """The ids of the owners."""
    committed: int | None = None
    """The committed offset; null: none."""
    lag: int | None = None
    lag_ms: int | None = None
    margin: int | None = None
    """Offsets from the start of the log to the committed offset, which retention can remove without loss; negative:
    records are lost; null: unknown."""


class TopicGroup(Value):
    """A group that reads the topic, or that only has offsets in it."""

    group: str
    kind: str
    state: str
    is_reader: bool
    """Whether it reads the topic now; else it only has offsets in it."""
    members: int | None = None
    """Number of members; null: unknown."""
    lag: int | None = None
    """The lag in this topic in records (of MetaQ bytes); null: unknown."""
    lag_ms: int | None = None
    margin: int | None = None
    """The smallest margin of its partitions; null: unknown."""
    partitions: tuple[GroupPartition, ...] = ()
    """The partitions of this topic."""


class TopicDetail(Value):
    """The topic, its partitions, and the groups that read it or have offsets in it."""

    cluster: str
    topic: str
    evaluated_ms: int
    """When the groups were evaluated (ms since the epoch)."""
    pass_ms: int | None = None
    """When the poll began that saw the partitions (ms since the epoch); null: no collector sees the topic."""
    per_second: float | None = None
    skew: float | None = None
    partitions: tuple[LogPartition, ...] = ()
    """The partitions that exist."""
    groups: tuple[TopicGroup, ...] = ()
    """The groups; those that read the topic come first."""
    unread: tuple[PartitionId, ...] | None = None
    """Partitions that no group reads now; null: unknown, as not every group is evaluated here."""
    hidden: int = 0
    """Groups left out by limit."""
    failed: tuple[str, ...] = ()
    """Groups that cannot be evaluated."""
    rate_known_ms: int | None = None
    rate_polled_ms: int | None = None
    rate_unpolled: int = 0


class Reading(Value):
    """A group of the topic, and the verdict on it."""

    use: GroupUse
    verdict: GroupVerdict


class TopicInputs(Value):
    """All that a topic's detail is made of. ``state`` None: no collector sees it, though groups have to do with it.

    ``hidden`` groups were too many to look at, ``failed`` cannot be evaluated. ``elsewhere``: other jobs watch more.
    """

    cluster: str
    topic: str
    now_ms: int
    state: TopicState | None = None
    readings: tuple[Reading, ...] = ()
    hidden: int = 0
    failed: tuple[str, ...] = ()
    elsewhere: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether no group is missing, so that "no group" is certain."""
        return not self.hidden and not self.failed and not self.elsewhere


def topic_detail(inputs: TopicInputs) -> TopicDetail:
    """The topic with its partitions and groups."""
    topic, state = inputs.topic, inputs.state
    known = state.partitions if state is not None else ()
    readers = Counter(place for each in inputs.readings for place in _read_partitions(each, topic))
    inflow = topic_inflow(known)
    unread = tuple([each.partition for each in known if not readers[each.partition]])
    return TopicDetail(
        cluster=inputs.cluster,
        topic=topic,
        evaluated_ms=inputs.now_ms,
        pass_ms=state.pass_ms if state is not None else None,
        per_second=inflow.per_second,
        skew=inflow.skew,
        partitions=tuple([_log_partition(each, readers[each.partition]) for each in known]),
        groups=tuple([_topic_group(each, topic) for each in inputs.readings]),
        unread=unread if inputs.is_whole else None,
        hidden=inputs.hidden,
        failed=inputs.failed,
        rate_known_ms=inflow.known_ms,
        rate_polled_ms=inflow.polled_ms,
        rate_unpolled=inflow.unpolled,
    )


def _log_partition(state: PartitionState, readers: int) -> LogPartition:
    rate, cut = partition_inflow(state), state.truncation
    return LogPartition(
        partition=state.partition,
        earliest=state.earliest,
        end=state.end,
        per_second=None if rate is None else round(rate, 3),
        readers=readers,
        truncation=None if cut is None else Truncation(cut.from_ms, cut.at_ms, cut.before, cut.after),
    )


def _read_partitions(reading: Reading, topic: str) -> list[PartitionId]:
    """The partitions that the group reads now. Where members share records, or all read all, each partition is read."""
    rows = _rows(reading.verdict, topic)
    if not is_reader(reading.use, topic):
        return []
    if not has_known_readers(reading.use):
        return [row.partition for row in rows if row.committed is not None]
    if reading.verdict.sharing is not Sharing.EXCLUSIVE:
        return [row.partition for row in rows]
    return [row.partition for row in rows if row.owners]


def _topic_group(reading: Reading, topic: str) -> TopicGroup:
    verdict, use = reading.verdict, reading.use
    rows = tuple([_group_partition(row) for row in _rows(verdict, topic)])
    return TopicGroup(
        group=verdict.group,
        kind=verdict.kind,
        state=verdict.state.value,
        is_reader=is_reader(use, topic),
        members=len(verdict.members) if has_known_readers(use) else None,
        lag=total([row.lag for row in rows]),
        lag_ms=max([row.lag_ms for row in rows if row.lag_ms is not None], default=None),
        margin=min([row.margin for row in rows if row.margin is not None], default=None),
        partitions=rows,
    )


def _rows(verdict: GroupVerdict, topic: str) -> list[PartitionVerdict]:
    return [row for row in verdict.partitions if row.topic == topic]


def _group_partition(row: PartitionVerdict) -> GroupPartition:
    known = row.committed is not None and row.earliest is not None and row.lag is not None
    return GroupPartition(
        partition=row.partition,
        owners=row.owners,
        committed=row.committed,
        lag=row.lag,
        lag_ms=row.lag_ms,
        margin=(row.committed or 0) - (row.earliest or 0) if known else None,
    )
