"""Who should own what: the assignor's answer for the inputs of the generation, and for the inputs of now.

The generation's record has every input of the leader but one: the number of partitions that its client knew. Kafka
clients refresh topic metadata every five minutes (``metadata.max.age.ms``), so a leader may assign fewer partitions
than exist. The assignment itself shows what it knew: if the assignor gives exactly the actual assignment for the
partitions that appear in it, the leader computed correctly from older metadata, and nothing is wrong with the
assignor.
"""

from __future__ import annotations

from monitor.assignors import UnknownAssignor, find
from monitor.detection.facts import Expectation, Growth, Judgement, Owners, Ownership
from monitor.detection.ownership import owners_by_partition
from monitor.detection.topics import count_at, count_now, shape_of
from monitor.model import Catalog, GroupState

Counts = dict[str, int]
"""The number of partitions by topic; a topic without partitions has no entry, as if it did not exist."""


def expect(group: GroupState, catalog: Catalog, ownership: Ownership) -> Expectation:
    """Both expectations of the group. See the module for how older metadata is recognised.

    Raises:
        AssignorError: the assignor cannot give an answer for these members.
    """
    kind = judgement(group, ownership)
    if kind != "exact":
        return Expectation(kind=kind)
    visible = visible_counts(ownership.owners)
    now = _counts_now(group, catalog, ownership, visible)
    then = _counts_then(group, catalog, ownership)
    current = _assign(group, catalog, now)
    replayed = current if then == now else _assign(group, catalog, then)
    stale = False
    if replayed != ownership.owners and visible is not None and visible != then:
        again = _assign(group, catalog, visible)
        stale = again == ownership.owners
        if stale:
            then, replayed = visible, again
    return Expectation(
        kind=kind, current=current, replayed=replayed, stale_metadata=stale, changes=_changes(catalog, then, now)
    )


def judgement(group: GroupState, ownership: Ownership) -> Judgement:
    """How much can be said: "none" without readable consumers, "exact" where we have the group's assignor."""
    if not ownership.complete:
        return "none"
    return "invariants" if isinstance(find(group.protocol), UnknownAssignor) else "exact"


def visible_counts(owners: Owners) -> Counts | None:
    """The partition counts that the assignment shows: the highest assigned partition and one, for each topic.

    None if a partition below the highest is assigned to nobody: then no assignor that gives out every partition can
    have made it. (The check also keeps a corrupt partition number from becoming a count of billions.)

    >>> from monitor.model import TopicPartition
    >>> visible_counts({TopicPartition("t", 0): ("C0",), TopicPartition("t", 1): ("C1",)})
    {'t': 2}
    >>> visible_counts({TopicPartition("t", 1): ("C1",)}) is None
    True
    """
    highest: Counts = {}
    for place in owners:
        highest[place.topic] = max(highest.get(place.topic, -1), place.partition)
    counts = {topic: partition + 1 for topic, partition in highest.items()}
    return counts if sum(counts.values()) == len(owners) else None


def _counts_now(group: GroupState, catalog: Catalog, ownership: Ownership, visible: Counts | None) -> Counts:
    """The partitions that exist now: by the catalog, or by the assignment if that is newer than the catalog.

    A topic may have grown, and the group have been assigned, since the last collector pass began; until the next pass
    the assignment is the better witness.
    """
    known = (catalog.topics[topic] for topic in ownership.subscribed if topic in catalog.topics)
    counts = {state.topic: count for state in known if (count := count_now(state))}
    if visible is not None and catalog.pass_ms <= group.generation_ms:
        counts |= {topic: max(count, counts.get(topic, 0)) for topic, count in visible.items()}
    return counts


def _counts_then(group: GroupState, catalog: Catalog, ownership: Ownership) -> Counts:
    known = (catalog.topics[topic] for topic in ownership.subscribed if topic in catalog.topics)
    return {state.topic: count for state in known if (count := count_at(state, group.generation_ms))}


def _assign(group: GroupState, catalog: Catalog, counts: Counts) -> Owners:
    assignor = find(group.protocol)
    if isinstance(assignor, UnknownAssignor):
        return {}
    racks = any(member.rack is not None for member in group.members)
    shapes = [shape_of(topic, counts[topic], catalog.topics.get(topic), with_racks=racks) for topic in sorted(counts)]
    return owners_by_partition(assignor.assign(group.members, shapes).members)


def _changes(catalog: Catalog, then: Counts, now: Counts) -> tuple[Growth, ...]:
    topics = sorted(topic for topic in then.keys() | now.keys() if then.get(topic) != now.get(topic))
    return tuple(_change(catalog, topic, then.get(topic, 0), now.get(topic, 0)) for topic in topics)


def _change(catalog: Catalog, topic: str, before: int, after: int) -> Growth:
    state = catalog.topics.get(topic)
    seen = [known.first_seen_ms for known in state.partitions if known.partition >= before] if state else []
    return Growth(topic=topic, before=before, after=after, since_ms=max(seen, default=None))
