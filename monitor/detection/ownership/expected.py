"""Who should own what: the assignor's answer for the inputs of the generation, and for the inputs of now.

The generation's record has every input of the leader but one: the number of partitions that its client knew. Kafka
clients refresh topic metadata every five minutes (``metadata.max.age.ms``), so a leader may assign fewer partitions
than exist. The assignment itself shows what it knew: if the assignor gives exactly the actual assignment for the
partitions that appear in it, the leader computed correctly from older metadata, and nothing is wrong with the
assignor.

The same name hides another rule in nearly every client library. Kafka's own is replayed first, because most leaders
have it; then those of the libraries that the leader may use (monitor.detection.ownership.assigners). Only what none of
them explains is drift.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from monitor.assignors import AssignorError, UnknownAssignor, find
from monitor.assignors.dialects import DialectRow, Exactness, dialects_of
from monitor.detection.ownership.assigners import possible_assigners, possible_leaders
from monitor.detection.ownership.catalog_view import count_at, count_now, is_older_than_generation
from monitor.detection.ownership.context import Expectation, Owners, Ownership
from monitor.detection.ownership.late_partitions import horizon_ms
from monitor.detection.ownership.leaders_topics import topics_left_out
from monitor.detection.ownership.replays import COOPERATIVE, DialectReplay, JavaReplay, Replay, ReplayInputs
from monitor.model import Catalog, ClientLibrary, GroupState, Member, TopicPartition, number
from monitor.model.evidence import Growth
from monitor.protocol.kafka.sticky_user_data import is_foreign as is_foreign_memory

STICKY: Final = "sticky"

Counts = dict[str, int]
"""The number of partitions by topic; a topic without partitions has no entry, as if it did not exist."""


def expect(
    group: GroupState, catalog: Catalog, ownership: Ownership, libraries: Mapping[str, ClientLibrary]
) -> Expectation:
    """Both expectations of the group. See the module for how older metadata and other libraries are recognised.

    Where no assignor that is known here gives an answer for what the members claim, only invariants can be judged: the
    assignment that the group has was made from something else.
    """
    left_out = topics_left_out(group, catalog, ownership, libraries)
    if not ownership.complete:
        return Expectation(kind="none", left_out=left_out)
    return _Search(group, catalog, ownership, libraries).expectation(left_out)


def visible_counts(owners: Owners) -> Counts | None:
    """The partition counts that the assignment shows: the highest assigned partition and one, for each topic.

    None if a partition below the highest has no owner: then no assignor that gives out every partition can
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


def _with_claimed(group: GroupState, owners: Owners) -> Owners:
    """The owners with what a cooperative assignor has taken from a member, and gives to another in the next generation.

    Only of topics of which it has given something: of others it may not have known that they exist.
    """
    if group.protocol != COOPERATIVE:
        return owners
    known = {place.topic for place in owners}
    claimed = {
        TopicPartition(entry.topic, partition): (member.member_id,)
        for member in group.members
        for entry in member.owned
        for partition in entry.partitions
        if entry.topic in known
    }
    return claimed | owners


def _counts_then(group: GroupState, catalog: Catalog, ownership: Ownership) -> Counts:
    known = (catalog.topics[topic] for topic in ownership.subscribed if topic in catalog.topics)
    return {state.topic: count for state in known if (count := count_at(state, group.generation_ms))}


class _Search:
    """Asks one assignor after the other whether it explains who owns what."""

    def __init__(
        self, group: GroupState, catalog: Catalog, ownership: Ownership, libraries: Mapping[str, ClientLibrary]
    ) -> None:
        self._group = group
        self._catalog = catalog
        self._owners = ownership.owners
        self._assigners = possible_assigners(group, libraries)
        self._visible = visible_counts(_with_claimed(group, ownership.owners))
        self._now = counts_now(group, catalog, ownership.subscribed, self._visible)
        self._then = _counts_then(group, catalog, ownership)
        self._inputs = ReplayInputs(group, catalog, ownership.owners, libraries)
        assignor = find(group.protocol)
        self._java = None if isinstance(assignor, UnknownAssignor) else JavaReplay(assignor, self._inputs)
        self._dialects = tuple(DialectReplay(row, self._inputs) for row in self._assigners.dialects)

    def expectation(self, left_out: frozenset[str]) -> Expectation:
        """What the first assignor expects that explains the owners; else what the likeliest one does."""
        for replay in self._candidates():
            for counts in self._possible_counts():
                if _explains(replay, counts):
                    return self._matching_expectation(replay, counts, left_out)
        is_javas = self._java is not None and self._assigners.may_be_java
        for dialect in () if is_javas else self._dialects:
            if any(map(dialect.explains_as_listed, self._possible_counts())):
                return Expectation(kind="checked", dialect=dialect.row, left_out=left_out)
        return self._drift_expectation(left_out)

    def _candidates(self) -> Iterator[Replay]:
        """The candidates, likeliest first. Kafka's own is always one: libraries change, and all of them imitate it."""
        java = () if self._java is None else (self._java,)
        yield from (*java, *self._dialects) if self._assigners.may_be_java else (*self._dialects, *java)

    def _possible_counts(self) -> Iterator[Counts]:
        """The partitions that the leader may have known: those of then, or fewer, as the assignment shows."""
        yield self._then
        if self._visible is not None and self._visible != self._then:
            yield self._visible

    def _matching_expectation(self, replay: Replay, counts: Counts, left_out: frozenset[str]) -> Expectation:
        if not replay.gives_owners:
            return Expectation(kind="checked", dialect=replay.dialect, left_out=left_out)
        if left_out and replay.dialect is None:  # Kafka's own leaves no topic out: it is another of the same name
            return Expectation(kind="invariants", left_out=left_out)
        found = self._expecting(replay, counts, self._owners, left_out)
        return replace(found, stale_metadata=counts is not self._then)

    def _drift_expectation(self, left_out: frozenset[str]) -> Expectation:
        """No rule that the leader may have gives these owners; what is expected follows the likeliest one."""
        if self._may_have_come_back():
            return Expectation(kind="invariants", left_out=left_out)
        if self._java is not None and self._assigners.may_be_java:
            return self._unlike_java(self._java, left_out)
        for replay in self._dialects:
            if replay.has_every_answer():
                return self._unlike_dialect(replay, left_out)
        return Expectation(kind="invariants", left_out=left_out)

    def _unlike_java(self, java: JavaReplay, left_out: frozenset[str]) -> Expectation:
        """Kafka's own does not give the owners; if the leader may not use it, only invariants can be judged."""
        is_abridged = any(member.is_abridged for member in possible_leaders(self._group))
        is_foreign = self._group.protocol == STICKY and any(is_foreign_memory(m.user_data) for m in self._group.members)
        if left_out or is_abridged or is_foreign:
            return Expectation(kind="invariants", left_out=left_out)
        try:
            replayed = java.owners(self._then)
            has_tie = java.has_tie(self._then)
            found = self._expecting(java, self._then, replayed, left_out)
        except AssignorError:
            return Expectation(kind="invariants", left_out=left_out)
        return replace(found, tie=has_tie, like=() if has_tie else self._like())

    def _unlike_dialect(self, replay: DialectReplay, left_out: frozenset[str]) -> Expectation:
        if not replay.gives_owners:
            refusal = replay.refusal(self._then)
            return Expectation(kind="checked", dialect=replay.dialect, refusal=refusal, left_out=left_out)
        try:
            found = self._expecting(replay, self._then, replay.owners(self._then), left_out)
        except AssignorError:
            return Expectation(kind="invariants", left_out=left_out)
        return replace(found, like=self._like())

    def _expecting(self, replay: Replay, counts: Counts, replayed: Owners, left_out: frozenset[str]) -> Expectation:
        """What an assignor with one answer expects, for the partitions of then and of now."""
        is_settled = replay.dialect is not None and replayed == self._owners and counts == self._now
        return Expectation(
            kind="exact",
            dialect=replay.dialect,
            current=replayed if is_settled else self._owners_now(replay, replayed),
            replayed=replayed,
            changes=self._changes(counts),
            pending=replay.pending(counts, replayed),
            left_out=left_out,
        )

    def _may_have_come_back(self) -> bool:
        """Whether a static member may have come back before the group was first seen, to what its predecessor had.

        Its record then has nothing that it owned when it joined, and what the assignor received of it is lost.
        """
        group = self._group
        is_sticky = group.protocol in (STICKY, COOPERATIVE)
        return is_sticky and group.rebalances <= 1 and any(map(self._took_over, group.members))

    def _took_over(self, member: Member) -> bool:
        remembers = bool(member.owned) or (self._group.protocol == STICKY and bool(member.user_data))
        return member.instance_id is not None and bool(member.assigned) and not remembers

    def _owners_now(self, replay: Replay, replayed: Owners) -> Owners:
        try:
            return replay.owners_now(self._now)
        except AssignorError:  # the next leader fails, so all owners stay
            return replayed

    def _like(self) -> tuple[DialectRow, ...]:
        """Whose assignors of the same name give exactly these owners, though the leader does not seem to use them."""
        others = [row for row in dialects_of(self._group.protocol or "") if row not in self._assigners.dialects]
        replays = (DialectReplay(row, self._inputs) for row in others if row.exactness is not Exactness.CHECKED)
        return tuple([each.row for each in replays if any(map(each.explains, self._possible_counts()))])

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


def _explains(replay: Replay, counts: Counts) -> bool:
    try:
        return replay.explains(counts)
    except AssignorError:
        return False
