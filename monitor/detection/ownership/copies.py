"""Partitions that an assignor gives to several members on purpose.

- ``faust`` (Faust): the worker that writes a changelog partition is its owner. The leader assigns it to others as
  well, as a standby copy, and writes which these are (monitor.protocol.kafka.faust_user_data). Where that cannot be
  read, the name of the topic counts. Of any other partition there is one owner, as everywhere.
- ``broadcast``, as many call an assignor of their own, or ``duplicated`` (kafka-webview): each member reads every
  partition of a topic. That is so on purpose only where all subscribers have a partition.

Kafka Streams assigns no standby tasks as partitions; its leader only names them to the members
(monitor.kinds.classic_streams).
"""

from __future__ import annotations

from typing import Final

from monitor.detection.ownership.context import Owners
from monitor.kinds.changelog_topics import is_changelog_topic
from monitor.model import FAUST, GroupState, Member, TopicPartition

BROADCASTS: Final = frozenset({"broadcast", "duplicated"})
"""The names of assignors that give everything to all members, as public code has them; no client library has one."""


def without_copies(group: GroupState, owners: Owners) -> tuple[Owners, frozenset[TopicPartition]]:
    """The owners without those that only keep a copy, and the partitions that still have several on purpose."""
    if group.protocol in BROADCASTS:
        return owners, _read_by_all(group, owners)
    if group.protocol != FAUST:
        return owners, frozenset()
    members = {member.member_id: member for member in group.members}
    own, shared = dict(owners), set[TopicPartition]()
    for place, holders in _double(owners):
        writers = tuple([holder for holder in holders if not _keeps_copy(members[holder], place)])
        is_told = all(members[holder].copies is not None for holder in holders)
        if not writers or (not is_told and is_changelog_topic(group, place.topic)):
            shared.add(place)
        else:
            own[place] = writers
    return own, frozenset(shared)


def _double(owners: Owners) -> list[tuple[TopicPartition, tuple[str, ...]]]:
    return [(place, holders) for place, holders in owners.items() if len(holders) > 1]


def _keeps_copy(member: Member, place: TopicPartition) -> bool:
    return any(each.topic == place.topic and place.partition in each.partitions for each in member.copies or ())


def _read_by_all(group: GroupState, owners: Owners) -> frozenset[TopicPartition]:
    subscribers: dict[str, set[str]] = {}
    for member in group.members:
        for topic in member.topics:
            subscribers.setdefault(topic, set()).add(member.member_id)
    return frozenset([p for p, holders in _double(owners) if subscribers.get(p.topic, set()).issubset(holders)])
