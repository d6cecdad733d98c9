"""Who should own what: the assignor's answer for the inputs of the generation, and for the inputs of now.

The generation's record has every input of the leader but one: the number of partitions that its client knew. Kafka
clients refresh topic metadata every five minutes (``metadata.max.age.ms``), so a leader may assign fewer partitions
than exist. The assignment itself shows what it knew: if the assignor gives exactly the actual assignment for the
partitions that appear in it, the leader computed correctly from older metadata, and nothing is wrong with the
assignor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.assignors import Assignor, AssignorError, UnknownAssignor, find, order_sensitive, rejoining
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.assignors.other_clients import VARIANTS
from monitor.detection.ownership.catalog_view import count_at, count_now, is_older_than_generation, shape_of
from monitor.detection.ownership.context import Expectation, Judgement, Owners, Ownership
from monitor.detection.ownership.current import owners_by_partition
from monitor.detection.ownership.late_partitions import horizon_ms
from monitor.detection.ownership.leaders_topics import topics_left_out
from monitor.model import Catalog, GroupState, Member, TopicPartition, TopicShape, number
from monitor.model.evidence import Growth
from monitor.protocol.kafka.sticky_user_data import is_foreign

LARGE: Final = 20_000
"""From so many partitions on, only two other orders of the members are tried in search of a tie, instead of sixteen."""

Counts = dict[str, int]
"""The number of partitions by topic; a topic without partitions has no entry, as if it did not exist."""


def expect(group: GroupState, catalog: Catalog, ownership: Ownership) -> Expectation:
    """Both expectations of the group. See the module for how older metadata is recognised.

    Where the assignor cannot give an answer for what the members claim, only invariants can be judged: the assignment
    that the group has was made from something else.
    """
    kind, left_out = judgement(group, ownership), topics_left_out(group, catalog, ownership)
    assignor = find(group.protocol)
    if kind == "exact" and left_out:
        kind = "invariants"  # it bears the name of one of Kafka's, which assign the topics of all members
    if kind != "exact" or isinstance(assignor, UnknownAssignor):
        return Expectation(kind=kind, left_out=left_out)
    try:
        return _Replay(assignor, group, catalog, ownership).expectation()
    except AssignorError:
        return Expectation(kind="invariants")


def judgement(group: GroupState, ownership: Ownership) -> Judgement:
    """How much can be said: "none" if a consumer cannot be read, "exact" where we have the group's assignor.

    kafka-python has a ``sticky`` of its own, with other answers. It can be told by what its members remember. Libraries
    that abridge their subscriptions have assignors of their own under the names of Kafka's, all of them.
    """
    if not ownership.complete:
        return "none"
    assignor = find(group.protocol)
    foreign = isinstance(assignor, StickyAssignor) and any(is_foreign(member.user_data) for member in group.members)
    foreign = foreign or any(member.is_abridged for member in _who_may_have_assigned(group))
    return "invariants" if foreign or isinstance(assignor, UnknownAssignor) else "exact"


def _who_may_have_assigned(group: GroupState) -> Sequence[Member]:
    """The leader; if that is not known, any member."""
    return [member for member in group.members if member.member_id == group.leader] or group.members


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
        highest[place.topic] = max(highest.get(place.topic, -1), number(place.partition))
    counts = {topic: partition + 1 for topic, partition in highest.items()}
    return counts if sum(counts.values()) == len(owners) else None


def counts_now(group: GroupState, catalog: Catalog, subscribed: Iterable[str], visible: Counts | None) -> Counts:
    """The partitions that exist now: by the catalog, or by the assignment if that is newer than the catalog.

    A topic may have grown or gone, and the group have been assigned, since the last collector pass began; until the
    next pass the assignment is the better witness. ``visible`` is what it shows (None: it shows nothing reliable).
    """
    known = (catalog.topics[topic] for topic in subscribed if topic in catalog.topics)
    counts = {state.topic: count for state in known if (count := count_now(state))}
    if visible is not None and is_older_than_generation(catalog, group):
        counts = {topic: max(count, counts.get(topic, 0)) for topic, count in visible.items()}
    return counts


def _counts_then(group: GroupState, catalog: Catalog, ownership: Ownership) -> Counts:
    known = (catalog.topics[topic] for topic in ownership.subscribed if topic in catalog.topics)
    return {state.topic: count for state in known if (count := count_at(state, group.generation_ms))}


class _Replay:
    """Asks the group's assignor again."""

    def __init__(self, assignor: Assignor, group: GroupState, catalog: Catalog, ownership: Ownership) -> None:
        self._assignor = assignor
        self._group = group
        self._catalog = catalog
        self._owners = ownership.owners
        self._visible = visible_counts(ownership.owners)
        self._now = counts_now(group, catalog, ownership.subscribed, self._visible)
        self._then = _counts_then(group, catalog, ownership)

    def expectation(self) -> Expectation:
        then, replayed, stale = self._then, self._assigned(self._then), False
        if replayed != self._owners and self._visible is not None and self._visible != then:
            again = self._assigned(self._visible)
            if again == self._owners:
                then, replayed, stale = self._visible, again, True
        has_tie = replayed != self._owners and self._has_tie(then)
        return Expectation(
            kind="exact",
            current=self._current(),
            replayed=replayed,
            stale_metadata=stale,
            changes=self._changes(then),
            pending=self._pending(then, replayed),
            tie=has_tie,
            like=None if has_tie or replayed == self._owners else self._like(),
        )

    def _like(self) -> str | None:
        """Whose known variant of the assignor gives exactly these owners, for the partitions then or those visible."""
        for variant in VARIANTS.get(self._assignor.name, ()):
            seen = variant.sees(self._group.members)
            if seen == self._group.members:
                continue  # it would answer as Kafka's own, which has been asked
            for counts in (self._then, self._visible):
                if counts is not None and self._answer(seen, counts) == self._owners:
                    return variant.clients
        return None

    def _assigned(self, counts: Counts) -> Owners:
        return self._answer(self._group.members, counts)

    def _answer(self, members: Sequence[Member], counts: Counts) -> Owners:
        return owners_by_partition(self._assignor.assign(members, self._shapes(counts)).members)

    def _current(self) -> Owners:
        return self._target(rejoining(self._group.members, self._group.generation), self._now)

    def _target(self, members: Sequence[Member], counts: Counts) -> Owners:
        """Who is to own what in the end, where partitions take two generations to get there."""
        assignor = self._assignor
        assign = assignor.target if isinstance(assignor, CooperativeStickyAssignor) else assignor.assign
        return owners_by_partition(assign(members, self._shapes(counts)).members)

    def _pending(self, counts: Counts, replayed: Owners) -> frozenset[TopicPartition]:
        if not isinstance(self._assignor, CooperativeStickyAssignor):
            return frozenset()
        return frozenset(self._target(self._group.members, counts).keys() - replayed.keys())

    def _has_tie(self, counts: Counts) -> bool:
        orders = {"orders": 2} if sum(counts.values()) > LARGE else {}
        return order_sensitive(self._assignor, self._group.members, self._shapes(counts), **orders)

    def _changes(self, then: Counts) -> tuple[Growth, ...]:
        topics = sorted(topic for topic in then.keys() | self._now.keys() if then.get(topic) != self._now.get(topic))
        return tuple(self._change(topic, then.get(topic, 0), self._now.get(topic, 0)) for topic in topics)

    def _change(self, topic: str, before: int, after: int) -> Growth:
        state = self._catalog.topics.get(topic)
        if state is None:
            return Growth(topic=topic, before=before, after=after)
        seen = [known.first_seen_ms for known in state.partitions if number(known.partition) >= before]
        horizon = horizon_ms(self._group, self._catalog, topic, owned=before > 0)
        is_seen = all(seen_ms > horizon for seen_ms in seen)
        return Growth(topic=topic, before=before, after=after, since_ms=max(seen, default=None), is_seen=is_seen)

    def _shapes(self, counts: Counts) -> list[TopicShape]:
        racks = any(member.rack is not None for member in self._group.members)
        known = self._catalog.topics
        return [shape_of(topic, counts[topic], known.get(topic), with_racks=racks) for topic in sorted(counts)]
