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
    """The end of a partition went back: polls saw it at ``before`` last at ``from_ms``, and lower from ``at_ms`` on."""

    from_ms: int
    at_ms: int
    before: int
    after: int


class LogPartition(Value):
    """A partition of the topic. ``per_second`` is what comes in; ``readers`` counts the groups that read it now.

    ``truncation`` is the newest of the last week, if its end went back.
    """

    partition: PartitionId
    earliest: int | None = None
    end: int | None = None
    per_second: float | None = None
    readers: int = 0
    truncation: Truncation | None = None


class GroupPartition(Value):
    """A partition as one group reads it. ``owners`` are member ids.

    ``margin`` counts the offsets from the start of the log to the committed offset: what retention can remove before
    the group loses records. It is negative if records are lost, and None if it is not known.
    """

    partition: PartitionId
    owners: tuple[str, ...] = ()
    committed: int | None = None
    lag: int | None = None
    lag_ms: int | None = None
    margin: int | None = None


class TopicGroup(Value):
    """A group that reads the topic, or that only has offsets in it (``is_reader`` False).

    ``members`` None: they are unknown. ``lag`` is in this topic; ``margin`` is the smallest of its partitions.
    """

    group: str
    kind: str
    state: str
    is_reader: bool
    members: int | None = None
    lag: int | None = None
    lag_ms: int | None = None
    margin: int | None = None
    partitions: tuple[GroupPartition, ...] = ()


class TopicDetail(Value):
    """The topic. ``pass_ms`` is when the poll began that saw its partitions.

    ``unread`` are the partitions that no group reads now; None: not every group could be looked at (``hidden`` were
    left out, ``failed`` cannot be evaluated).
    """

    cluster: str
    topic: str
    evaluated_ms: int
    pass_ms: int | None = None
    per_second: float | None = None
    skew: float | None = None
    partitions: tuple[LogPartition, ...] = ()
    groups: tuple[TopicGroup, ...] = ()
    unread: tuple[PartitionId, ...] | None = None
    hidden: int = 0
    failed: tuple[str, ...] = ()


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
