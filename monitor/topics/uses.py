"""Which topics a group reads or has committed."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.detection.ownership.assignment_view import without_offsets
from monitor.detection.ownership.kip848 import named
from monitor.model import (
    KINDS,
    Catalog,
    CommittedOffset,
    GroupState,
    GroupUse,
    PartitionId,
    Phase,
    TopicCommits,
)


def group_use(state: GroupState, catalog: Catalog) -> GroupUse:
    """The topics of the group. ``catalog`` names the topics that its records name by ids only."""
    own = named(without_offsets(state), catalog)
    members = own.members
    reads = {topic for member in members for topic in member.topics}
    reads.update(entry.topic for member in members for entry in member.assigned)
    return GroupUse(
        group=state.group,
        kind=state.kind,
        phase=state.phase,
        phase_ms=state.phase_ms,
        protocol_type=own.protocol_type,
        members=len(members),
        is_complete=not _is_unread(state) and all(member.unreadable is None for member in members),
        reads=tuple(sorted(reads)),
        commits=(*_commits((*state.offsets, *state.unconfirmed)), *_share_commits(state, catalog)),
    )


def _is_unread(state: GroupState) -> bool:
    return state.unread is not None or bool(state.unread_commits)


def has_known_readers(use: GroupUse) -> bool:
    """Whether the consumers of the group are known. Those that only commit never join; a Spark query has no members."""
    only_commits = use.phase in (Phase.OFFSETS_ONLY, Phase.UNSEEN)
    return not only_commits and KINDS[use.kind].has_members


def all_topics(use: GroupUse) -> frozenset[str]:
    """The topics that the group has to do with: it reads them, or has offsets in them."""
    return frozenset([*use.reads, *[each.topic for each in use.commits]])


def read_topics(use: GroupUse) -> frozenset[str]:
    """The topics that the group reads now: by its members, or by its commits if its consumers are unknown."""
    return frozenset(use.reads) if has_known_readers(use) else all_topics(use)


def is_reader(use: GroupUse, topic: str) -> bool:
    """Whether the group reads the topic now."""
    return topic in read_topics(use)


def _commits(offsets: Iterable[CommittedOffset]) -> list[TopicCommits]:
    partitions: dict[str, list[PartitionId]] = {}
    newest: dict[str, int] = {}
    for offset in offsets:
        partitions.setdefault(offset.topic, []).append(offset.partition)
        newest[offset.topic] = max(newest.get(offset.topic, 0), offset.committed_ms)
    return [TopicCommits(topic, tuple(partitions[topic]), newest[topic]) for topic in sorted(partitions)]


def _share_commits(state: GroupState, catalog: Catalog) -> list[TopicCommits]:
    """The topics of which a share group has share state. When that was written is not looked at."""
    if state.share is None:
        return []
    partitions: dict[str, list[PartitionId]] = {}
    for entry in state.share.partitions:
        topic = catalog.names.get(entry.topic_id)
        if topic is not None:
            partitions.setdefault(topic, []).append(entry.partition)
    return [TopicCommits(topic, tuple(partitions[topic]), state.phase_ms) for topic in sorted(partitions)]
