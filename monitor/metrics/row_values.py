"""What rows of the table of metrics take of a verdict that is more than a field, and of which groups they are given."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from monitor.model import (
    MOST,
    ClusterSnapshot,
    GroupVerdict,
    OffsetUnit,
    Phase,
    RecordingHealth,
    Sharing,
    Source,
    TopicState,
)
from monitor.model.kinds import kinds_with

# The members of an enumeration are slow to look up, and this is asked of each group in each micro-batch.
_OFFSETS_ONLY: Final = Phase.OFFSETS_ONLY
_EXCLUSIVE: Final = Sharing.EXCLUSIVE
_LOG: Final = Source.LOG

_IN_BYTES: Final = kinds_with(lambda traits: traits.unit is OffsetUnit.BYTE)
_SELF_ASSIGNED: Final = kinds_with(lambda traits: traits.is_self_assigned)
_WITHOUT_OWNERS: Final = kinds_with(lambda traits: not traits.has_owners)
_WITHOUT_MOVES: Final = _WITHOUT_OWNERS | kinds_with(lambda traits: traits.broker_assigns_tasks)
_BY_COMMITS: Final = kinds_with(lambda traits: traits.commits_to_log)
_BY_ZOOKEEPER: Final = kinds_with(lambda traits: traits.commits_to_zookeeper)
_WITHOUT_REDELIVERED: Final = _IN_BYTES | kinds_with(lambda traits: traits.acknowledges_records)  # commits no offsets


def recording_value(value: Callable[[RecordingHealth], int | None]) -> Callable[[ClusterSnapshot], int | None]:
    """What a cluster's recording gives; None without a recording."""
    return lambda cluster: None if cluster.recording is None else value(cluster.recording)


def expectations_value(cluster: ClusterSnapshot) -> int | None:
    """Whether the newest file of expectations is used; None without one."""
    return None if cluster.expectations is None else int(cluster.expectations.problem is None)


def in_bytes(verdict: GroupVerdict) -> bool:
    """Its offsets are bytes."""
    return verdict.kind in _IN_BYTES


def in_records(verdict: GroupVerdict) -> bool:
    """Its offsets are records."""
    return verdict.kind not in _IN_BYTES


def has_joined(verdict: GroupVerdict) -> bool:
    """It does not only commit: who its consumers are is known."""
    return verdict.state is not _OFFSETS_ONLY


def has_open_transaction(verdict: GroupVerdict) -> bool:
    """Something waits behind one. Else it would be the lag again, for each of many thousand groups."""
    return verdict.stable_lag != verdict.lag


def has_lost_records(verdict: GroupVerdict) -> bool:
    """Retention took some. Partitions of groups that lost nothing are not looked at one by one."""
    return bool(verdict.lost) and verdict.kind not in _IN_BYTES


def has_skips(verdict: GroupVerdict) -> bool:
    """Commits of the last hour passed records that it did not read, or perhaps not."""
    return bool(verdict.skips) and verdict.kind not in _IN_BYTES


def expired_partitions(verdict: GroupVerdict) -> int | None:
    """How many partitions have lost their committed offsets as these expired; None: none has."""
    return sum(each.is_certain for each in verdict.expired_offsets) or None


def fewest_skipped(verdict: GroupVerdict) -> int:
    """How many records it did not read of those that commits passed in the last hour, at least."""
    return sum(skip.at_least for skip in verdict.skips)


def most_skipped(verdict: GroupVerdict) -> int:
    """As :func:`fewest_skipped`, at most."""
    return sum(skip.at_most for skip in verdict.skips)


def counts_redelivered(verdict: GroupVerdict) -> bool:
    """It commits offsets of records; who commits without having joined may go back too."""
    return verdict.kind not in _WITHOUT_REDELIVERED


def is_rebalanced(verdict: GroupVerdict) -> bool:
    """How long its rebalances take is known: not of members that share by themselves."""
    return verdict.state is not _OFFSETS_ONLY and verdict.kind not in _SELF_ASSIGNED


def has_moves(verdict: GroupVerdict) -> bool:
    """Its members own partitions, each for itself."""
    is_exclusive = verdict.sharing is _EXCLUSIVE and verdict.kind not in _WITHOUT_MOVES
    return is_exclusive and verdict.state is not _OFFSETS_ONLY


def has_member_lag(verdict: GroupVerdict) -> bool:
    """Its members own partitions, each for itself, and its offsets are records."""
    is_owned = verdict.kind not in _WITHOUT_OWNERS and verdict.sharing is _EXCLUSIVE and verdict.connect is None
    return is_owned and verdict.kind not in _IN_BYTES and verdict.state is not _OFFSETS_ONLY


def has_pauses(verdict: GroupVerdict) -> bool:
    """Likewise, and how long partitions stood still is known: not from readings."""
    return verdict.source is _LOG and has_moves(verdict)


def commits_to_brokers(verdict: GroupVerdict) -> bool:
    """It commits offsets to Kafka's brokers, so kafka_exporter knows it."""
    return verdict.kind in _BY_COMMITS


def has_joined_brokers(verdict: GroupVerdict) -> bool:
    """Likewise, and its members have joined."""
    return verdict.kind in _BY_COMMITS and verdict.state is not _OFFSETS_ONLY


def commits_to_zookeeper(verdict: GroupVerdict) -> bool:
    """It keeps its offsets in ZooKeeper."""
    return verdict.kind in _BY_ZOOKEEPER


def is_connect_cluster(verdict: GroupVerdict) -> bool:
    """Its members are the workers of a Connect cluster."""
    return verdict.is_connect


def connect_tasks(verdict: GroupVerdict) -> int:
    """How many connectors and tasks workers run."""
    return sum([bool(task.owners) for task in verdict.tasks])


def connect_delay_until_ms(verdict: GroupVerdict) -> int | None:
    """Until when the Connect cluster waits for a worker; None: it does not."""
    return verdict.connect.delay_until_ms if verdict.connect is not None else None


def idle_members(verdict: GroupVerdict) -> int | None:
    """How many members own nothing; None: partitions are not what members are to have."""
    idle = [member.idle for member in verdict.members]
    return None if None in idle else idle.count(True)


def has_tasks(verdict: GroupVerdict) -> bool:
    """Its members run tasks, and which there are is known."""
    return bool(verdict.tasks)


def tasks_without_owner(verdict: GroupVerdict) -> int:
    """How many tasks nobody runs."""
    return sum([not task.owners for task in verdict.tasks])


def task_imbalance(verdict: GroupVerdict) -> float | None:
    """The busiest instance's tasks over what its threads must have; None: that is not judged."""
    return verdict.task_balance.ratio if verdict.task_balance is not None else None


def unreadable_members(verdict: GroupVerdict) -> int | None:
    """How many members cannot be read; None: none."""
    return sum([member.unreadable is not None for member in verdict.members]) or None


def consumed_per_s(verdict: GroupVerdict) -> float | None:
    """How fast the group reads, by second; None: not known, or nothing waits."""
    return verdict.pace.consumed_per_s if verdict.pace is not None else None


def produced_per_s(verdict: GroupVerdict) -> float | None:
    """How fast the same partitions are written, likewise."""
    return verdict.pace.produced_per_s if verdict.pace is not None else None


def by_the_machine(cluster: ClusterSnapshot, at_ms: int | None) -> int | None:
    """A time as others compare it with their clocks."""
    return None if at_ms is None else at_ms + cluster.clock_behind_ms


def is_answered(verdict: GroupVerdict) -> bool:
    """It is a share group of which groupwatch reads what became of its records."""
    return verdict.delivery_totals is not None


def waiting_redelivery(verdict: GroupVerdict) -> int:
    """How many records of a share group were delivered and are available again."""
    return sum(each.waiting_redelivery for each in verdict.deliveries)


def max_deliveries(verdict: GroupVerdict) -> int:
    """How often the record of these was delivered that was delivered most."""
    return max((each.max_deliveries for each in verdict.deliveries), default=0)


def last_tries(verdict: GroupVerdict) -> int:
    """How many records are given up if the next delivery fails."""
    return sum(each.last_tries for each in verdict.deliveries)


def records_given_up(verdict: GroupVerdict) -> int | None:
    """How many records the group has given up."""
    return verdict.delivery_totals.given_up if verdict.delivery_totals else None


def rejected_records(verdict: GroupVerdict) -> int | None:
    """How many records its members have rejected; in transactional topics, others are among them."""
    return verdict.delivery_totals.rejected if verdict.delivery_totals else None


def accepted_records(verdict: GroupVerdict) -> int | None:
    """How many records its members have accepted."""
    return verdict.delivery_totals.accepted if verdict.delivery_totals else None


def is_redelivered(verdict: GroupVerdict) -> bool:
    """It is a group of RocketMQ of which records were sent back or given up, or that reads by POP."""
    return verdict.redelivery is not None


def redelivery_number(name: str) -> Callable[[GroupVerdict], int | None]:
    """Reads a number of what became of these records."""
    read = attrgetter(name)
    return lambda verdict: None if verdict.redelivery is None else read(verdict.redelivery)


def last_answer_ms(verdict: GroupVerdict) -> int | None:
    """When a member last answered for a record; None: never."""
    return max([each.answered_ms for each in verdict.deliveries if each.answered_ms is not None], default=None)


def truncated_records(topic: TopicState) -> int | None:
    """The records by which ends of its partitions went back; None: without an id, that is not known."""
    if topic.topic_id is None:
        return None
    return min(MOST, sum(each.truncations.records for each in topic.partitions if each.truncations is not None))
