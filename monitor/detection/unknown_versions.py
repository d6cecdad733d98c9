"""Records of a group that brokers write in versions which groupwatch does not read."""

from __future__ import annotations

from typing import Final

from monitor.model import GroupState, UnknownVersion, UnreadCommit, UnreadRecord

COMMITS: Final = "OffsetCommit"
"""Kafka's name for the records of committed offsets."""


def unknown_versions(group: GroupState) -> tuple[UnknownVersion, ...]:
    """What the brokers write of the group in versions that are not known: each type of record, the members first."""
    found: dict[str, UnknownVersion] = {}
    for record in group.unread.records if group.unread is not None else ():
        found[record.record] = _with_record(found.get(record.record), record, partitions=0)
    for commit in group.unread_commits:
        found[COMMITS] = _with_record(found.get(COMMITS), commit, partitions=1)
    return tuple(found.values())


def _with_record(known: UnknownVersion | None, each: UnreadRecord | UnreadCommit, partitions: int) -> UnknownVersion:
    record = each.record if isinstance(each, UnreadRecord) else COMMITS
    if known is None:
        return UnknownVersion(record, each.version, each.newest, each.since_ms, partitions)
    return UnknownVersion(
        record,
        max(known.version, each.version),
        each.newest,
        min(known.since_ms, each.since_ms),
        known.partitions + partitions,
    )
