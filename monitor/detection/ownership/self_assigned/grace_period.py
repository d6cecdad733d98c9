"""The grace period of a group whose members share partitions among themselves, before its owners are judged.

A collector reads such a group every few seconds, and its members need some more to agree. A poll in between may show
partitions with no owner, or with two, although nothing is wrong.
"""

from __future__ import annotations

from typing import Final

from monitor.detection.moment import Moment
from monitor.detection.ownership.self_assigned.duplicate_ids import duplicates_of
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import KINDS, GroupState, PartitionState, Phase, Source
from monitor.model.kinds import kinds_with

_REPORT_ENDS: Final = kinds_with(lambda traits: traits.reports_ends)  # looked up for each of a million partitions


def as_of_ms(group: GroupState, pass_ms: int, now_ms: int) -> int:
    """The instant of which anything is known: that of the newest poll, of a group that a collector reads.

    While that collector is away it sees no commits, which is no sign that there are none. A system's members, offsets
    and topics come from one collector. The topics that a Spark query reads come from another one, whose passes prove
    nothing about the query. With ADMIN as its source, an unchanged group is written again only now and then: its age
    proves nothing.

    Args:
        group: the group.
        pass_ms: when the newest complete reading of its system began.
        now_ms: now.
    """
    if group.source is Source.CHECKPOINT:
        return min(now_ms, group.observed_ms)
    return min(now_ms, max(group.observed_ms, pass_ms)) if KINDS[group.kind].is_self_assigned else now_ms


def told_until(group: GroupState, state: PartitionState, as_of: Moment) -> Moment:
    """The instant up to which anything is known of a partition of the group.

    A RocketMQ broker reports both, where its queues end and what was committed there. While it reports neither, no
    commit is seen, and groupwatch must not report that there is none.
    """
    if group.kind not in _REPORT_ENDS or not state.ends:
        return as_of
    return as_of if state.ends[-1].at_ms >= as_of.now_ms else Moment(state.ends[-1].at_ms)


def settles_ms(group: GroupState, grown_ms: int, settings: DetectionSettings) -> int:
    """From when on the assignment counts. 0 of groups that are known from a log: what a log has is complete.

    Args:
        group: with what its members have held since ``generation_ms``.
        grown_ms: when the newest partition of its topics came, if after that (0: none).
        settings: the times.
    """
    traits = KINDS[group.kind]
    if not traits.is_self_assigned or group.phase is not Phase.STABLE:
        return 0
    if not traits.refreshes_routes:
        return max(group.generation_ms, grown_ms) + settings.zookeeper_settling_ms
    known_ms = grown_ms + settings.route_refresh_ms if grown_ms else 0
    return max(group.generation_ms, known_ms) + settings.rocketmq_settling_ms


def next_settling_ms(group: GroupState, grown_ms: int, settings: DetectionSettings, moment: Moment) -> int | None:
    """When a grace period of the group ends; None: none is running."""
    if not KINDS[group.kind].is_self_assigned:
        return None
    instants = [settles_ms(group, grown_ms, settings)]
    if duplicates_of(group):
        instants.append(group.generation_ms + settings.connection_expiry_ms)
    return min([instant for instant in instants if not moment.has_come(instant)], default=None)
