"""Records that a group passed without reading them, or perhaps so: its jumps beside the logs of its topics.

A jump (monitor.tracking.offsets.jumps) alone proves nothing: a consumer that is back may read a backlog faster than it
ever read before. So a skip has bounds. At most, all that the jump passed was not read.

Rule 1: If the log began well beyond the commit before a jump by then, retention has overtaken the group, or followed
        right behind it. So it has where the log began a little beyond it, and the jump passed all that the log held: a
        consumer continues at the end (auto.offset.reset=latest). At least, of what was removed, what the group cannot
        have read in the time was not read, even if it read STEEPER times as fast as it was ever seen to read any
        partition.
Rule 2: How fast a group can read is known only if it lagged: one that has read everything reads as fast as producers
        write. It lagged if the log already ended well beyond its commit before the jump when it made the oldest of
        the ten commits before the jump. And it must lag behind the jump, and go on: one that reads its backlog faster
        than ever before shows that by its next commits, or has reached the end of the log. Nor may the jump pass more
        records that are still in the log than the group can have read.
Rule 3: Without retention, nothing is proved: the group was slow for a reason that may be over. Such a jump counts only
        after a rebalance, and only if it passed all that the log held when the group began to read. A consumer that
        skips begins at the end; any other jump is a seek of the application.
Rule 4: A jump while the group had no members is no skip: an administrator has reset the offsets.
Rule 5: The first commit of a partition that came later than partition 0 passed what the log then held.
Rule 6: A group whose transaction was aborted has not skipped anything. Kafka Streams deletes the records of its
        repartition topics itself.
Rule 7: A skip counts for an hour.
Rule 8: A first commit since the offset was deleted passed what lay between, if it passed all that the log held when the
        group began to read. That proves nothing. The partition was seen before the deletion: else its topic may be new.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from math import ceil
from typing import Final

from monitor.detection.moment import Moment
from monitor.detection.ownership.catalog_view import Places
from monitor.kinds.repartition_topics import is_repartition_topic
from monitor.model import Catalog, CommittedOffset, GroupState, PartitionState, TopicPartition, traits_of
from monitor.model.commit_history import MIN_PASSED, STEEPER
from monitor.model.jumps import JUMP_KEPT_MS, Jump, Skip, SkipCause

SEEN_MS: Final = 60_000
"""A poll sees a cut so soon after it. A jump that the cut has caused may be older than the poll."""


def skips_of(
    group: GroupState,
    catalog: Catalog,
    known: Places,
    committed: Mapping[TopicPartition, CommittedOffset],
    moment: Moment,
) -> tuple[Skip, ...]:
    """What the group passed in the last hour without reading it, or perhaps so, by partition.

    Args:
        group: with the names of its topics.
        catalog: the topics that exist.
        known: the partitions that exist and concern the group.
        committed: the offsets of the group.
        moment: the instant.
    """
    jumps = [
        (place, commit, jump)
        for place, commit in committed.items()
        if commit.jump is not None
        for jump in commit.jump.both
        if place in known and _may_count(jump, known[place])
    ]
    if not jumps or not traits_of(group).commits_to_log:
        return ()
    found = [
        _skip(group, catalog, known, commit, jump)
        for place, commit, jump in jumps
        if _counts(jump, commit, known[place])
        and not moment.has_passed(jump.at_ms + JUMP_KEPT_MS)
        and not is_repartition_topic(group, place.topic)
    ]
    return tuple([skip for skip in found if skip is not None])


def _skip(group: GroupState, catalog: Catalog, known: Places, commit: CommittedOffset, jump: Jump) -> Skip | None:
    """What a jump skipped; None: nothing, as far as is known."""
    place, least = TopicPartition(commit.topic, commit.partition), 0
    if jump.before is None:
        cause = SkipCause.NEW_PARTITION if _came_later(catalog, known, place) else None
    elif jump.was_deleted:
        state, before_ms = known[place], jump.before_ms or 0
        is_known = jump.is_first and state.first_seen_ms <= before_ms
        cause = SkipCause.DELETED if is_known and _has_passed_all(jump, state) else None
    else:
        state = known[place]
        removed, has_passed_all = _start_by(state, jump.at_ms) - jump.before, _has_passed_all(jump, state)
        cause = SkipCause.REBALANCE if jump.is_first and has_passed_all else None
        if removed >= MIN_PASSED or (removed > 0 and cause is None and has_passed_all):
            cause = SkipCause.RETENTION
            readable = _readable(group, commit, jump, state)
            least = 0 if jump.distance - removed > readable else jump.distance - readable
    if cause is None:
        return None
    return Skip(place.topic, place.partition, cause, jump.at_ms, jump.before or 0, jump.offset, least, jump.distance)


def _may_count(jump: Jump, state: PartitionState) -> bool:
    """Whether a log can make a skip of the jump: what comes first after a rebalance, or retention has passed.

    Most jumps are neither: the second commit of each partition is one. So this comes first.
    """
    if jump.is_first or jump.before is None:
        return True
    return state.earliest is not None and state.earliest > jump.before


def _counts(jump: Jump, commit: CommittedOffset, state: PartitionState) -> bool:
    """Whether the commit still counts, in the same log (rule 6)."""
    is_of_former_log = state.former_ms >= (jump.at_ms if jump.before_ms is None else jump.before_ms)
    return commit.offset >= jump.offset and not is_of_former_log


def _has_passed_all(jump: Jump, state: PartitionState) -> bool:
    """Whether a jump passed all that the log held when the group began to read."""
    end = _end_by(state, jump.began_ms)
    return end is not None and jump.offset >= end


def _readable(group: GroupState, commit: CommittedOffset, jump: Jump, state: PartitionState) -> int:
    """How many records of a jump the group may have read; all of them where that is not known (rule 2)."""
    fastest, since_ms, before = group.fastest, jump.recent_since_ms, jump.before
    end = None if since_ms is None else _end_by(state, since_ms)
    lagged = before is not None and end is not None and end >= before + MIN_PASSED
    if not fastest or not lagged or not _lags_on(commit, jump, state):
        return jump.distance
    return min(jump.distance, ceil(STEEPER * fastest * max(0, jump.at_ms - jump.began_ms) / 1_000))


def _lags_on(commit: CommittedOffset, jump: Jump, state: PartitionState) -> bool:
    """Whether the group lagged behind the jump, and has committed since (rule 2)."""
    end = _end_by(state, jump.at_ms)
    return commit.offset > jump.offset and end is not None and end >= jump.offset + MIN_PASSED


def _came_later(catalog: Catalog, known: Places, place: TopicPartition) -> bool:
    """Whether the partition was seen to come, while its topic existed (rule 5)."""
    first, came_ms = known.get(TopicPartition(place.topic, 0)), known[place].first_seen_ms
    return first is not None and max(first.first_seen_ms, catalog.watched_ms) < came_ms


def _end_by(state: PartitionState, at_ms: int) -> int | None:
    """An end that the log had reached by an instant, the newest that is remembered; None: none is."""
    ends = [end.offset for end in chain(state.older, state.ends) if end.at_ms <= at_ms]
    return ends[-1] if ends else None


def _start_by(state: PartitionState, at_ms: int) -> int:
    """Where the log began at an instant, or soon after, by the next poll; 0: not known."""
    later = [start.offset for start in state.starts if start.at_ms >= at_ms]
    if later:
        return later[0]
    return state.earliest if state.earliest is not None and state.earliest_ms <= at_ms + SEEN_MS else 0
