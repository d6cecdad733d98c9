"""When brokers will delete the committed offsets of a group, as their coordinator decides it.

Rule 1: An offset with an expiry of its own, which a client requested, expires then.
Rule 2: In a classic group without members, offsets expire ``offsets.retention.minutes`` after the group became empty.
Rule 3: In a group without a protocol, an offset expires so long after its commit.
Rule 4: In a classic group with members, so does an offset of a topic to which no member subscribes. It must be a group
of consumers, and what all of them subscribe to must be known. While the group rebalances, nothing expires.
Rule 5: In KIP-848 and streams groups, so does an offset of a topic to which no member subscribes. Without members,
there is no subscription: there, too, the commit counts, not when the group became empty.
Rule 6: An offset with a pending one in an open transaction does not expire.
Rule 7: Nothing is known of groups that are not read from the log, nor while records of the group cannot be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.detection.moment import Moment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.ownership.context import Ownership
from monitor.kinds.offset_expiry import recent_deletions, retention_start_ms
from monitor.model import KINDS, CommittedOffset, GroupState, Phase, Source, TopicPartition, TopicPartitions
from monitor.model.expiry import DELETED_KEPT_MS, ExpiredOffset, OffsetsRetention, has_expired
from monitor.model.groups import SAMPLE_LIFETIME_MS

_WITHOUT_MEMBERS: Final = frozenset({Phase.EMPTY, Phase.OFFSETS_ONLY, Phase.GONE})
_CONSUMERS: Final = "consumer"


def expiries_of(
    group: GroupState,
    ownership: Ownership,
    committed: Mapping[TopicPartition, CommittedOffset],
    retention: OffsetsRetention | None,
    moment: Moment,
) -> dict[TopicPartition, int]:
    """When each committed offset expires that will, if nothing is committed there before (ms since the epoch).

    Args:
        group: with the names of its topics.
        ownership: who subscribes to what.
        committed: the offsets of the group.
        retention: for how long brokers keep offsets; None: not known, and nothing is forecast.
        moment: the instant.
    """
    retention_ms = None if retention is None else retention.retention_ms
    explicit = {TopicPartition(each.topic, each.partition): each.expires_ms for each in group.explicit_expiries}
    if (retention_ms is None and not explicit) or not _may_expire(group, moment):
        return {}
    kept = _topics_kept(group, ownership)
    if kept is None:
        return {}
    pending = {place for each in group.pending_offsets for topic in each.partitions for place in _places(topic)}
    found = {}
    for place, commit in committed.items():
        if place.topic in kept or place in pending:
            continue
        if place in explicit:
            found[place] = explicit[place]
        elif retention_ms is not None:
            found[place] = retention_start_ms(group, commit.committed_ms) + retention_ms
    return found


def expired_offsets(group: GroupState, topics: Topics, moment: Moment) -> tuple[ExpiredOffset, ...]:
    """The deleted offsets that have expired, or may have, in partitions that exist, sorted.

    Where the topic was recreated since, its offsets went with the topic before.
    """
    retention = topics.catalog.offsets_retention
    if not group.deleted_offsets or retention is None:
        return ()
    found = []
    for each in recent_deletions(group, retention, moment.now_ms):
        moment.has_come(each.deleted_ms + DELETED_KEPT_MS)
        state = topics.places(each.topic).get(TopicPartition(each.topic, each.partition))
        if state is None or state.end is None:
            continue
        if state.first_seen_ms > max(each.deleted_ms, topics.catalog.watched_ms):
            continue  # of another topic, which has the name since
        row = ExpiredOffset(
            topic=each.topic,
            partition=each.partition,
            offset=each.offset,
            committed_ms=each.committed_ms,
            deleted_ms=each.deleted_ms,
            lag=max(0, state.end - each.offset),
            is_certain=has_expired(each, retention) is True,
        )
        found.append(row)
    return tuple(found)


def _may_expire(group: GroupState, moment: Moment) -> bool:
    seen = group.sampled
    is_rebalancing = seen is not None and not seen.over and not moment.has_come(seen.last_ms + SAMPLE_LIFETIME_MS)
    is_read = group.source is Source.LOG and group.unread is None and group.share is None
    return is_read and not is_rebalancing and KINDS[group.kind].commits_to_log


def _topics_kept(group: GroupState, ownership: Ownership) -> frozenset[str] | None:
    """The topics whose offsets do not expire, as members subscribe to them; None: not known, or none expires."""
    if group.phase in _WITHOUT_MEMBERS:
        return frozenset()
    if not ownership.complete:
        return None
    if KINDS[group.kind].has_generations and group.protocol_type != _CONSUMERS:
        return None
    return ownership.subscribed


def _places(topic: TopicPartitions) -> list[TopicPartition]:
    return [TopicPartition(topic.topic, partition) for partition in topic.partitions]
