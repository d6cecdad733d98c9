"""The broker's targets of a streams group against what its ``StickyTaskAssignor`` promises (KIP-1071).

What it gives depends on the targets before, which the log no longer has. So it is asked again only where the targets
break what it never breaks: every task is in the target of one member, and no member is to have more active tasks than
their number by the number of members, rounded up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.sticky_task import StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import owners_by_partition
from monitor.detection.ownership.targets import is_chosen
from monitor.detection.ownership.tasks.inputs import partition_counts, partitions_of
from monitor.kinds.streams import expected_tasks, member_tasks, task_counts, topology_of
from monitor.model import Catalog, GroupState, Member, MemberAssignment, Phase, Topology


def recomputed_tasks(group: GroupState, catalog: Catalog) -> Owners:
    """What the assignor gives, by partition, where the targets cannot be its; empty where they may be.

    Nothing is said while the group is not ready, or before a pass of the collectors has begun since its epoch.
    """
    topology = topology_of(group)
    if topology is None or not group.members or group.phase is Phase.NOT_READY or not is_chosen(group):
        return {}
    if catalog.pass_ms <= group.generation_ms:
        return {}  # topics may have come or gone: the next pass tells
    counts = partition_counts(topology, catalog)
    if _may_be_given(group.members, topology, counts):
        return {}
    return _assign_again(group, topology, counts)


def _may_be_given(members: tuple[Member, ...], topology: Topology, counts: Mapping[str, int]) -> bool:
    targets = [aim.active for member in members if (aim := member_tasks(member).target) is not None]
    given = Counter(task for own in targets for task in own)
    wanted = frozenset(expected_tasks(topology, counts))
    if given.keys() != wanted:
        return True  # the broker knows topics otherwise than the catalog does, or has yet to notice
    share = -(-len(wanted) // len(members))
    return max(given.values(), default=0) <= 1 and max(map(len, targets), default=0) <= share


def _assign_again(group: GroupState, topology: Topology, counts: Mapping[str, int]) -> Owners:
    numbers, known = task_counts(topology, counts), group.streams
    parts = [
        SubtopologyTasks(part.subtopology_id, numbers[part.subtopology_id], is_stateful=bool(part.changelogs))
        for part in topology.subtopologies
    ]
    members = [_as_member(member) for member in group.members]
    try:
        given = StickyTaskAssignor().assign(members, parts, (known.standby_replicas if known else None) or 0)
    except AssignorError:
        return {}
    return owners_by_partition(
        MemberAssignment(member_id=each.member_id, topics=partitions_of(topology, each.active, counts))
        for each in given
    )


def _as_member(member: Member) -> TaskMember:
    now, client = member.reconciliation, member.streams_client
    return TaskMember(
        member_id=member.member_id,
        process_id=client.process_id if client else "",
        active=(now.target or ()) if now else (),
        standby=now.spare_target.standby if now and now.spare_target else (),
    )
