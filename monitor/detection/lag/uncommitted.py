"""Partitions with records in which the group has no committed offset: the lag there is not known.

Where a member starts without a committed offset is in its settings (``auto.offset.reset``), which no log has. With
``earliest`` all records of the log wait, with ``latest`` none of those that were there. So the lag of the group is not
known either: it is at least the sum of what is known (a part of a sum is no sum).

A partition without records hides nothing. Nor do these, so they do not count:

- a partition that was without records FIRST_COMMIT_MS ago, or not there: who reads it has not had the time to commit,
- a partition that is committed in a version that is not known (``GroupState.unread_commits``),
- a topic from which the application restores its state: no member commits there.

Where a client has committed an offset below 0, the partition counts in any case: its former offset is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from monitor.detection.moment import Moment
from monitor.detection.ownership.catalog_view import Places, Topics
from monitor.kinds.changelog_topics import is_changelog_topic
from monitor.model import (
    MOST,
    Catalog,
    CommittedOffset,
    GroupState,
    InvalidCommit,
    PartitionState,
    Phase,
    Sharing,
    TopicPartition,
    traits_of,
)

FIRST_COMMIT_MS: Final = 20_000
"""How long after the last poll without records a first commit is awaited: the usual time between two polls (10 s), and
twice that between two commits (``auto.commit.interval.ms``, 5 s by default). Until then, the partition hides no lag."""


def left_behind(group: GroupState, topics: Topics, committed: Mapping[TopicPartition, CommittedOffset]) -> Places:
    """Of a group without members: the partitions with records that it has not committed.

    They are of topics that it has committed, or that its last members subscribed to. A group that only commits chooses
    its partitions itself.
    """
    was_lived_in = group.phase is Phase.EMPTY and group.protocol_type == "consumer" and group.generation > 0
    if not was_lived_in or not traits_of(group).has_reset_policy:
        return {}
    return {
        place: state
        for topic in sorted({*group.left_topics, *[place.topic for place in committed]})
        for place, state in topics.places(topic).items()
        if place not in committed and records_in(state)
    }


def invalid_places(group: GroupState) -> Collection[TopicPartition]:
    """The partitions whose newest commit is of an offset below 0."""
    if not group.invalid_commits:
        return ()
    return frozenset([TopicPartition(each.topic, each.partition) for each in group.invalid_commits])


def last_offset(invalid: InvalidCommit, state: PartitionState, catalog: Catalog) -> int | None:
    """The last offset before one below 0; None: it is not known, or the topic of that name is a newer one."""
    last = invalid.last
    if last is None or state.first_seen_ms > max(last.committed_ms, catalog.watched_ms):
        return None
    return last.offset


def uncommitted_records(
    group: GroupState,
    catalog: Catalog,
    known: Places,
    committed: Mapping[TopicPartition, CommittedOffset],
    moment: Moment,
) -> dict[TopicPartition, int]:
    """The partitions of the group with records and without a committed offset, in order, each with its records.

    Args:
        group: with the names of its topics.
        catalog: the topics that exist.
        known: the partitions that exist and concern the group.
        committed: the offsets of the group.
        moment: the instant.
    """
    if committed.keys() >= known.keys() or not traits_of(group).commits_partitions:
        return {}
    if group.sharing is not Sharing.EXCLUSIVE:
        return {}
    unread = {TopicPartition(each.topic, each.partition) for each in group.unread_commits}
    restored = {topic for topic in {place.topic for place in known} if is_changelog_topic(group, topic)}
    invalid = invalid_places(group)
    return {
        place: records
        for place, state in known.items()
        if place not in committed
        and (records := records_in(state))
        and place not in unread
        and (place in invalid or (place.topic not in restored and not _is_fresh(state, catalog, moment)))
    }


def records_in(state: PartitionState) -> int:
    """How many records the partition has at most: compaction and transactions leave offsets without a record.

    >>> records_in(PartitionState(0, 0, earliest=400, end=1000)), records_in(PartitionState(0, 0, end=None))
    (600, 0)
    """
    return 0 if state.end is None else min(MOST, max(0, state.end - (state.earliest or 0)))


def _is_fresh(state: PartitionState, catalog: Catalog, moment: Moment) -> bool:
    """Whether the first record of the partition came a moment ago.

    That is known if an end without records was seen before, or the partition was not there before.
    """
    empty_ms = [end.at_ms for end in state.ends if end.offset <= (state.earliest or 0)]
    if empty_ms:
        return not moment.has_come(empty_ms[-1] + FIRST_COMMIT_MS)
    return state.first_seen_ms > catalog.watched_ms and not moment.has_come(state.first_seen_ms + FIRST_COMMIT_MS)
