"""What is odd about an assignment, found from what every assignment should be and not from how it was made.

Some originals break their own promises for some inputs (each strategy's module says which and why). A rebuilt one
does the same, and its answer says so, for a reader must not take a second owner for a mistake of this project.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from monitor.model import Assignment, Member, Quirk, TopicPartitions, TopicShape, numbers


def quirks_of(
    assignment: Assignment,
    members: Iterable[Member],
    topics: Iterable[TopicShape],
    *,
    shared: bool = False,
    assignable: Iterable[TopicPartitions] | None = None,
) -> tuple[Quirk, ...]:
    """The quirks of a Kafka assignment, each once, sorted.

    Takes 0.6 s for 1,000,000 partitions in as many entries: call it only for answers that can be odd, or on request.

    Args:
        assignment: what was given; its own ``quirks`` are not looked at.
        members: who subscribes to what; a member that has no entry in the assignment is given nothing.
        topics: what exists. A topic with no partitions, or fewer, is one that does not exist.
        shared: whether a partition may have several owners, as in a share group.
        assignable: the partitions that should have an owner if a member subscribes to them; None: all.

    >>> members = [Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t",))]
    >>> quirks_of(Assignment(), members, [TopicShape(topic="t", partitions=3)])
    (<Quirk.UNASSIGNED: 'unassigned'>,)
    >>> quirks_of(Assignment(), members, [])
    ()
    """
    asked = _asked_by_member(members)
    counts = {shape.topic: shape.partitions for shape in topics}
    given = _given_by_topic(assignment)
    found = {quirk for topic, partitions in given.items() for quirk in _out_of_range(partitions, counts.get(topic, 0))}
    if any(_takes_a_foreign_topic(assignment, asked)):
        found.add(Quirk.NOT_SUBSCRIBED)
    if not shared and _has_two_owners(assignment, given):
        found.add(Quirk.ASSIGNED_TWICE)
    wanted = frozenset(chain.from_iterable(set(asked.values())))
    if assignable is None:
        gaps = (_has_gaps(given.get(topic, []), counts.get(topic, 0)) for topic in wanted)
    else:
        gaps = (_lacks(given.get(entry.topic, []), entry, counts) for entry in assignable if entry.topic in wanted)
    if any(gaps):
        found.add(Quirk.UNASSIGNED)
    return tuple(sorted(found))


def quirks_of_queues(given: Mapping[str, Collection[Hashable]], existing: Collection[Hashable]) -> tuple[Quirk, ...]:
    """The quirks of an assignment of things that are not numbered from 0 and that every member asks for, sorted.

    >>> [quirk.value for quirk in quirks_of_queues({"C0": ["a", "b"], "C1": ["b", "z"]}, ["a", "b", "c"])]
    ['assigned_twice', 'does_not_exist', 'unassigned']
    """
    owners = Counter(queue for queues in given.values() for queue in set(queues))
    found = {
        Quirk.ASSIGNED_TWICE: any(count > 1 for count in owners.values()),
        Quirk.DOES_NOT_EXIST: not owners.keys() <= set(existing),
        Quirk.UNASSIGNED: not set(existing) <= owners.keys(),
    }
    return tuple(sorted(quirk for quirk, true in found.items() if true))


Subscriptions = dict[str, frozenset[str]]
"""The topics that each member subscribes to."""


def _asked_by_member(members: Iterable[Member]) -> Subscriptions:
    sets: dict[tuple[str, ...], frozenset[str]] = {}  # most groups have one subscription, perhaps a long one
    asked = {}
    for member in members:
        if member.topics not in sets:
            sets[member.topics] = frozenset(member.topics)
        asked[member.member_id] = sets[member.topics]
    return asked


def _given_by_topic(assignment: Assignment) -> dict[str, list[int]]:
    given: dict[str, list[int]] = defaultdict(list)
    for member in assignment.members:
        for entry in member.topics:
            given[entry.topic] += numbers(entry.partitions)
    return given


def _takes_a_foreign_topic(assignment: Assignment, asked: Subscriptions) -> Iterable[bool]:
    for member in assignment.members:
        subscription = asked.get(member.member_id, frozenset())
        yield any(entry.partitions and entry.topic not in subscription for entry in member.topics)


def _out_of_range(partitions: Sequence[int], count: int) -> Iterable[Quirk]:
    if partitions and (min(partitions) < 0 or max(partitions) >= count):
        yield Quirk.DOES_NOT_EXIST


def _has_gaps(partitions: Sequence[int], count: int) -> bool:
    if count <= 0 or len(partitions) < count:
        return count > 0
    given = np.unique(np.asarray(partitions, dtype=np.int64))
    return int(np.count_nonzero((given >= 0) & (given < count))) < count


def _lacks(partitions: Iterable[int], wanted: TopicPartitions, counts: Mapping[str, int]) -> bool:
    existing = range(counts.get(wanted.topic, 0))
    return not {partition for partition in wanted.partitions if partition in existing} <= set(partitions)


def _has_two_owners(assignment: Assignment, given: Mapping[str, Sequence[int]]) -> bool:
    """Whether two members share a partition; one that is given the same partition twice is no second owner."""
    repeated = {topic for topic, partitions in given.items() if _repeats(partitions)}
    owners: dict[tuple[str, int], int] = {}
    return any(
        owners.setdefault((entry.topic, partition), position) != position
        for position, member in enumerate(assignment.members if repeated else ())
        for entry in member.topics
        if entry.topic in repeated
        for partition in numbers(entry.partitions)
    )


def _repeats(partitions: Sequence[int]) -> bool:
    return len(np.unique(np.asarray(partitions, dtype=np.int64))) < len(partitions)
