"""Groups that get no further because of transactions: their own are not committed, or one that is open holds offsets.

Rule 1: A partition is ``uncommitted`` when its owner has tried to commit there three times, and the broker has
committed none of these commits. The newest listing must be ``commit_silence_ms`` later than the first attempt.
Rule 2: It ends when the attempts end: after three times their usual interval, at least ``commit_silence_ms``.
Rule 3: The attempts are not those of one open transaction that is known.
Rule 4: Offsets are ``pending_offsets`` when they have been in the same open transaction for ``commit_silence_ms``.
Rule 5: Whoever owns a partition of one of the two is not blamed for its silence (rules of stalled_commits).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Final

from monitor.detection.lag.commit_cadence import RHYTHMS
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.current import held_since_ms
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.transactions import HeldOffsets, UncommittedAttempts
from monitor.model import CommittedOffset, FindingKind, PendingOffsets, Phase, TopicPartition
from monitor.model.commit_attempts import has_three_failed_attempts
from monitor.model.commit_history import columns_of

Attempts = dict[TopicPartition, CommittedOffset]
"""Partitions of rule 1, each with all commits that the log has."""

LONGEST_INTERVAL_MS: Final = 300_000
"""Attempts that are further apart than this are not taken for a loop."""


def pending_offsets(facts: Facts) -> dict[TopicPartition, PendingOffsets]:
    """The partitions whose offsets are in open transactions, also in ones that have just begun."""
    return {
        TopicPartition(some.topic, number): each
        for each in facts.group.pending_offsets
        for some in each.partitions
        for number in some.partitions
    }


def failing_attempts(facts: Facts) -> Attempts:
    """The partitions of rule 1 in which the attempts go on (rule 2)."""
    group = facts.group
    tried = [offset for offset in (*group.offsets, *group.unconfirmed) if offset.third_attempt_ms]
    if not tried:
        return {}
    held = pending_offsets(facts)
    found: Attempts = {}
    for offset in tried:
        place = TopicPartition(offset.topic, offset.partition)
        if place in facts.known and _is_failing(facts, offset, held.get(place)):
            found[place] = offset
    return found


def _is_failing(facts: Facts, offset: CommittedOffset, held: PendingOffsets | None) -> bool:
    if held is not None and held.sent_ms <= offset.third_attempt_ms:
        return False
    silence_ms = facts.settings.commit_silence_ms
    is_lasting = offset.listed_ms >= offset.attempts_since_ms + silence_ms
    if not is_lasting or not has_three_failed_attempts(offset):
        return False
    awaited_ms = max(silence_ms, RHYTHMS * _interval_ms(offset))
    return not facts.has_come(offset.committed_ms + awaited_ms)


def _interval_ms(offset: CommittedOffset) -> float:
    """The usual time between two attempts."""
    times, _ = columns_of(offset.history)
    own = [at_ms for at_ms in times if at_ms >= offset.attempts_since_ms]
    gaps = [after - before for before, after in pairwise(own)]
    return min(LONGEST_INTERVAL_MS, median(gaps)) if gaps else 0


def find_aborted_commits(facts: Facts) -> Iterable[Observation]:
    """Owners whose transactions are not committed again and again."""
    found = failing_attempts(facts)
    if not found:
        return
    partitions = tuple(sorted(found))
    owners = {owner for place in partitions for owner in facts.ownership.owners.get(place, ())}
    example = max(partitions, key=lambda place: found[place].attempts)
    yield Observation(
        kind=FindingKind.TRANSACTIONS,
        reason="uncommitted",
        since_ms=facts.not_later_than_now(min(offset.attempts_since_ms for offset in found.values())),
        evidence=UncommittedAttempts(
            owners=tuple(sorted(owners)),
            attempts=min(offset.attempts for offset in found.values()),
            example=example,
            committed=found[example].listed,
        ),
        partitions=partitions,
        members=tuple(sorted(owners)),
    )


def find_pending_offsets(facts: Facts) -> Iterable[Observation]:
    """Offsets that an open transaction holds, all in one finding, with the oldest transaction."""
    if facts.group.phase in {Phase.GONE, Phase.UNSEEN}:
        return
    held = {
        place: each
        for place, each in pending_offsets(facts).items()
        if place in facts.known and facts.has_come(each.sent_ms + facts.settings.commit_silence_ms)
    }
    if not held:
        return
    partitions = tuple(sorted(held))
    oldest = min(held.values(), key=lambda each: (each.since_ms, each.log_partition, each.start_offset))
    waiting = _waiting_owners(facts, held)
    yield Observation(
        kind=FindingKind.TRANSACTIONS,
        reason="pending_offsets",
        since_ms=facts.not_later_than_now(oldest.since_ms),
        evidence=HeldOffsets(transaction=oldest, waiting=waiting),
        partitions=partitions,
        members=waiting,
    )


def _waiting_owners(facts: Facts, held: dict[TopicPartition, PendingOffsets]) -> tuple[str, ...]:
    """The members that were given a partition after its offset had been sent."""
    since = {member.member_id: held_since_ms(facts.group, member) for member in facts.group.members}
    owned = [(own, each.sent_ms) for place, each in held.items() for own in facts.ownership.owners.get(place, ())]
    return tuple(sorted({own for own, sent_ms in owned if since.get(own, 0) > sent_ms}))


RULES: Final = (Rule(find_aborted_commits, of_owners=False), Rule(find_pending_offsets, of_owners=False))
