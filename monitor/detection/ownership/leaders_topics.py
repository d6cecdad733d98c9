"""Topics of which nothing was assigned because the leader of the group does not subscribe to them.

Kafka's own assignors deal out the topics of all members, and so do those of most libraries. KafkaJS and
@platformatic/kafka hand theirs only the topics to which the leader itself subscribes: ``topicsSubscribed`` in
consumerGroup.js, and partitions-assigners.js. What they leave out lacks an owner until the members subscribe alike, or
another member leads. No topic has grown, and no refresh of metadata helps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.catalog_view import first_seen_ms, is_older_than_generation
from monitor.detection.ownership.client_libraries import KAFKAJS, library_of
from monitor.detection.ownership.context import Ownership
from monitor.model import STREAM, Catalog, GroupKind, GroupState, Member

_MAY_DO_SO: Final = frozenset({KAFKAJS, None})
"""What a client id may tell of a leader that assigns only its own topics; @platformatic/kafka makes up no client id."""


def topics_left_out(group: GroupState, catalog: Catalog, ownership: Ownership) -> frozenset[str]:
    """The topics that the leader left out; none where something else can explain that nothing of them is owned.

    Nothing is assigned but the leader's topics, and of the others that members subscribe to, those count that were
    there when the leader assigned, and that no member had before (they may be on their way to another). If the leader
    is not known, it may be any member.
    """
    if group.kind is not GroupKind.CLASSIC or group.protocol == STREAM or not ownership.owners_known:
        return frozenset()
    if len({member.topics for member in group.members}) < 2:
        return frozenset()  # as in most groups: the leader subscribes to what all do
    if is_older_than_generation(catalog, group):
        return frozenset()  # one that has no owner may be gone: the next pass tells
    assigned = {place.topic for place in ownership.owners}
    had = {entry.topic for member in group.members for entry in member.owned}
    missing = {topic for topic in ownership.subscribed - assigned - had if _was_there(topic, group, catalog)}
    for leader in _possible_leaders(group) if assigned and missing else ():
        left_out = frozenset(missing.difference(leader.topics))
        if left_out and assigned.issubset(leader.topics) and library_of(leader, group.group) in _MAY_DO_SO:
            return left_out
    return frozenset()


def _possible_leaders(group: GroupState) -> Iterable[Member]:
    readable = [member for member in group.members if member.unreadable is None]
    if any(member.member_id == group.leader for member in group.members):
        return [member for member in readable if member.member_id == group.leader]
    return readable


def _was_there(topic: str, group: GroupState, catalog: Catalog) -> bool:
    """Whether it exists, and is not known to have come after the generation."""
    state = catalog.topics.get(topic)
    if state is None or not state.partitions:
        return False
    return first_seen_ms(state) <= max(group.generation_ms, catalog.watched_ms)
