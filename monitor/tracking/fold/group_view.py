"""A group as one struct to be shown: its state, members, tasks and partitions. What is not known is left out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from monitor.model import ConnectConfigsState, GroupState, traits_of
from monitor.tracking.fold.kind_views import (
    KindView,
    view_classic_streams,
    view_connect,
    view_share,
    view_streams,
)
from monitor.tracking.fold.member_view import MemberView, view_member
from monitor.tracking.fold.partition_view import PartitionView, Topics, committed_partitions, shared_partitions


class GroupView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A group. For ``owners``, ``idle`` and ``details`` see KindView."""

    group: str
    kind: str
    state: str
    generation: int
    protocol_type: str = ""
    protocol: str | None = None
    leader: str | None = None
    target_epoch: int | None = None
    members: tuple[MemberView, ...] = ()
    partitions: tuple[PartitionView, ...] = ()
    owners: dict[str, tuple[str, ...]] | None = None
    idle: tuple[dict[str, object], ...] | None = None
    details: dict[str, object] | None = None


def view_group(group: GroupState, topics: Topics, configs: ConnectConfigsState | None = None) -> GroupView:
    """The group as it is shown.

    Args:
        group: its state.
        topics: those that there are; empty: not known, and so is no lag.
        configs: the connectors of a Connect cluster; None: not known.
    """
    names = _names(group, topics)
    own = _kind_view(group, topics, configs)
    return GroupView(
        group=group.group,
        kind=group.kind.value,
        state=group.phase.value,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader,
        target_epoch=group.target_epoch,
        members=tuple(view_member(member, names) for member in sorted(group.members, key=lambda m: m.member_id)),
        partitions=(*committed_partitions(group, topics), *shared_partitions(group, topics, names)),
        owners=own.owners,
        idle=own.idle,
        details=own.details,
    )


def _names(group: GroupState, topics: Topics) -> Mapping[str, str]:
    """The names of topics by their ids: as the group's own log tells them, and as they are now."""
    share = group.share
    logged = {topic.topic_id: topic.topic for topic in (*share.initialized, *share.initializing)} if share else {}
    return logged | {known.id: name for name, known in topics.items() if known.id is not None}


def _kind_view(group: GroupState, topics: Topics, configs: ConnectConfigsState | None) -> KindView:
    counts = {name: max(known.end, default=-1) + 1 for name, known in topics.items()}
    traits = traits_of(group)
    if traits.acknowledges_records:
        return view_share(group)
    if traits.broker_assigns_tasks:
        return view_streams(group, counts)
    if traits.runs_connectors:
        return view_connect(group, configs)
    return view_classic_streams(group, counts) if traits.leader_assigns_tasks else KindView()
