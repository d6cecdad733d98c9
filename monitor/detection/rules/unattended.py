"""Records that wait where nobody is to read them: the whole group is away, or it has turned away from a topic.

Neither is wrong by itself. A batch job has no members between its runs, and a group that reads another topic now keeps
its old offsets until the broker forgets them (``offsets.retention.minutes`` after the last commit, 7 days by default;
the rows vanish with them, so nothing is dropped here). It is told when records wait there for longer than a restart
takes.

A group that one member used for a short time, as others of such a name did before or after it, is information: it
is not expected back.

A group that is known by its commits only (a simple consumer that chooses its own partitions) lives as long as it
commits; when it stops, that is told as "not committing", because the log cannot tell whether it is gone or hangs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.lag.standstill import moved_ms
from monitor.detection.lag.waiting import in_vain_since_ms
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.open_transaction import Markers, is_held_back
from monitor.detection.rules.rule import Rule
from monitor.detection.rules.stuck_records import is_between_owners
from monitor.findings.lag import Abandoned, OneOff, Unattended
from monitor.findings.observation import Observation
from monitor.model import FindingKind, OrphanReason, PartitionVerdict, Phase, TopicPartition
from monitor.model.members import BATCH_MS

Since = dict[TopicPartition, int]
"""Since when records have waited in vain, by partition."""


def find_unattended(facts: Facts) -> Iterable[Observation]:
    """Records wait for a group that has no members, longer than a restart takes.

    Somebody may commit for such a group all the same, with partitions chosen by itself or by resetting offsets: the
    newest commit of any partition is a sign of life as good as the last member's leaving. What an open transaction
    holds back does not wait for members (monitor.detection.rules.open_transaction). A group whose owners leave one
    after the other has no members most of the time. That is reported instead.
    """
    if facts.group.phase is not Phase.EMPTY or not facts.waiting or is_between_owners(facts):
        return
    commits = facts.committed.values()
    sign_ms = max([facts.group.phase_ms, *[commit.committed_ms for commit in commits]])
    stood_ms = max([facts.group.phase_ms, *[moved_ms(commit) for commit in commits]])
    unread: Since = {}
    markers = Markers(facts)
    for row in facts.waiting:
        waits_for_members = row.orphan is OrphanReason.NO_MEMBERS and not is_held_back(row)
        since_ms = _unread_since_ms(facts, row, sign_ms, stood_ms) if waits_for_members else None
        if since_ms is not None and not markers.alone_wait(row):
            unread[TopicPartition(row.topic, row.partition)] = since_ms
    if unread:
        partitions, since_ms = tuple(sorted(unread)), min(unread.values())
        life = facts.losses.short_life if facts.losses.is_one_off else None
        yield Observation(
            kind=FindingKind.UNATTENDED,
            reason="no_members" if life is None else "one_off",
            since_ms=since_ms,
            evidence=Unattended() if life is None else OneOff(life.pattern, life.ended_ms - life.began_ms),
            partitions=partitions,
        )


def _unread_since_ms(facts: Facts, row: PartitionVerdict, sign_ms: int, stood_ms: int) -> int | None:
    """As :func:`in_vain_since_ms`; ``stood_ms`` is since when the commits until ``sign_ms`` repeat their offset.

    Who repeats a commit may be busy with one batch, and is not for longer than that may take.
    """
    since_ms = in_vain_since_ms(facts, row, stood_ms)
    repeated_ms = facts.committed[TopicPartition(row.topic, row.partition)].committed_ms
    if stood_ms == sign_ms or (since_ms is not None and repeated_ms >= since_ms + BATCH_MS):
        return since_ms
    return in_vain_since_ms(facts, row, sign_ms)


def find_abandoned(facts: Facts) -> Iterable[Observation]:
    """Records wait in topics that the group has committed and that no member subscribes any more.

    The age is that of the last commit: when the group turned away is not in the log, when it last read is. Of a share
    group that only its coordinator tells of, not even that is known; it has turned away at least since its epoch.
    """
    unsubscribed = [row for row in facts.waiting if row.orphan is OrphanReason.UNSUBSCRIBED]
    if not unsubscribed:
        return  # nearly every group
    unread: Since = {}
    markers = Markers(facts)
    for row in unsubscribed:
        place = TopicPartition(row.topic, row.partition)
        commit = facts.committed[place]
        sign_ms = commit.committed_ms or facts.group.generation_ms
        since_ms = _unread_since_ms(facts, row, sign_ms, min(sign_ms, moved_ms(commit) or sign_ms))
        if since_ms is not None and not markers.alone_wait(row):
            unread[place] = since_ms
    if unread:
        partitions, since_ms = tuple(sorted(unread)), min(unread.values())
        yield Observation(
            kind=FindingKind.ABANDONED,
            reason="unsubscribed",
            since_ms=since_ms,
            evidence=Abandoned(),
            partitions=partitions,
        )


RULES: Final = (
    Rule(find_unattended, of_owners=False, needs_lag=True),
    Rule(find_abandoned, of_owners=False, needs_lag=True),
)
