"""Another assignor that would deal out the same partitions more evenly, found by asking it."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.assignors import AssignorError, UnknownAssignor, find
from monitor.detection.ownership.context import Ownership
from monitor.detection.ownership.expected import visible_counts
from monitor.model import KINDS, Assigner, GroupState, Member, TopicShape
from monitor.model.evidence import Alternative, Balance

CANDIDATES: Final = ("cooperative-sticky", "roundrobin")
"""The first wins where they are equal: it also moves the least, without stopping the group (KIP-429)."""

MOST: Final = 5_000
"""No other assignor is tried for a group with more partitions: a sticky one takes seconds for tens of thousands."""


def alternative_to(group: GroupState, ownership: Ownership, balance: Balance) -> Alternative | None:
    """The assignor of Kafka's clients with the smallest largest member, if that is smaller than the group's.

    Each assigns the partitions that are owned now to members that join for the first time. None if the broker assigns
    (KIP-848), if a partition below an owned one has no owner, and for very large groups.
    """
    if KINDS[group.kind].assigns is not Assigner.LEADER or balance.largest <= balance.optimum:
        return None
    counts = visible_counts(ownership.owners)
    if not counts or len(ownership.owners) > MOST:
        return None
    members = [replace(member, owned=(), generation=-1, user_data=None) for member in group.members]
    topics = [TopicShape(topic=topic, partitions=counts[topic]) for topic in sorted(counts)]
    tried = [_asked(name, members, topics) for name in CANDIDATES if name != group.protocol]
    answers = [answer for answer in tried if answer is not None]
    best = min(answers, key=lambda answer: answer.largest, default=None)
    return best if best is not None and best.largest < balance.largest else None


def _asked(name: str, members: list[Member], topics: list[TopicShape]) -> Alternative | None:
    assignor = find(name)
    if isinstance(assignor, UnknownAssignor):
        return None
    try:
        given = assignor.assign(members, topics).members
    except AssignorError:
        return None
    loads = [sum(len(entry.partitions) for entry in member.topics) for member in given]
    return Alternative(assignor=name, largest=max(loads, default=0))
