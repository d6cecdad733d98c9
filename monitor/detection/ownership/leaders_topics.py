"""Topics of which nothing was assigned because the leader of the group does not subscribe to them.

Kafka's own assignors deal out the topics of all members, and so do those of most libraries. KafkaJS and
@platformatic/kafka hand theirs only the topics to which the leader itself subscribes: ``topicsSubscribed`` in
consumerGroup.js, and partitions-assigners.js. What they leave out lacks an owner until the members subscribe alike, or
another member leads. No topic has grown, and no refresh of metadata helps.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from monitor.detection.ownership.assigners import possible_leaders
from monitor.detection.ownership.catalog_view import first_seen_ms, is_older_than_generation
from monitor.detection.ownership.context import Ownership
from monitor.model import UNKNOWN_LIBRARY, Catalog, ClientLibrary, GroupState, Library, traits_of

LEADERS_TOPICS_ONLY: Final = frozenset({Library.KAFKAJS, Library.PLATFORMATIC})
"""The libraries whose leaders assign only their own topics."""


def topics_left_out(
    group: GroupState, catalog: Catalog, ownership: Ownership, libraries: Mapping[str, ClientLibrary]
) -> frozenset[str]:
    """The topics that the leader left out; none where something else can explain that nothing of them is owned.

    Nothing is assigned but the leader's topics, and of the others that members subscribe to, those count that were
    there when the leader assigned, and that no member had before (they may be on their way to another). If the leader
    is not known, it may be any member.
    """
    if not ownership.owners_known or not traits_of(group).leader_assigns_partitions:
        return frozenset()
    if len({member.topics for member in group.members}) < 2:
        return frozenset()  # as in most groups: the leader subscribes to what all do
    if is_older_than_generation(catalog, group):
        return frozenset()  # one that has no owner may be gone: the next pass shows it
    assigned = {place.topic for place in ownership.owners}
    had = {entry.topic for member in group.members for entry in member.owned}
    missing = {topic for topic in ownership.subscribed - assigned - had if _was_there(topic, group, catalog)}
    for leader in possible_leaders(group) if missing else ():
        left_out = frozenset(missing.difference(leader.topics))
        library = libraries.get(leader.member_id, UNKNOWN_LIBRARY)
        if left_out and assigned.issubset(leader.topics) and _assigns_only_its_topics(library, assigned):
            return left_out
    return frozenset()


def _assigns_only_its_topics(library: ClientLibrary, assigned: AbstractSet[str]) -> bool:
    """Whether the library may be one that does, or nothing is known of it.

    If nothing at all was assigned, it has to be one that does: others may have lacked the metadata of the topics.
    """
    if not assigned:
        return library.one in LEADERS_TOPICS_ONLY
    return not library.libraries or not LEADERS_TOPICS_ONLY.isdisjoint(library.libraries)


def _was_there(topic: str, group: GroupState, catalog: Catalog) -> bool:
    """Whether it exists, and is not known to have come after the generation."""
    state = catalog.topics.get(topic)
    if state is None or not state.partitions:
        return False
    return first_seen_ms(state) <= max(group.generation_ms, catalog.watched_ms)
