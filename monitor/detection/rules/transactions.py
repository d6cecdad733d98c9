"""Groups that get no further because of transactions: their own are not committed, or one that is open holds offsets.

Rule 1: A partition is ``uncommitted`` when its owner has tried to commit there three times, and the broker has
committed none of these commits. The newest listing must be ``commit_silence_ms`` later than the first attempt.
Rule 2: It ends when the attempts end: after three times their usual interval, at least ``commit_silence_ms``.
Rule 3: The attempts are not those of one open transaction that is known.
Rule 4: Offsets are ``pending_offsets`` when they have been in the same open transaction for ``commit_silence_ms``. An
owner must wait for records there: one that began after the offsets were sent, and has committed nothing there since.
Rule 5: A transaction that its coordinator aborts within twice ``commit_silence_ms`` is awaited first.
Rule 6: Whoever fails by rule 1, or waits by rule 4, is not blamed for its silence (rules of stalled_commits).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Final

from monitor.detection.lag.commit_cadence import RHYTHMS
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.current import began_ms
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.transactions import HeldOffsets, UncommittedAttempts
from monitor.model import CommittedOffset, FindingKind, PendingOffsets, TopicPartition
from monitor.model.commit_attempts import LISTING_LIFETIME_MS, has_three_failed_attempts
from monitor.model.commit_history import columns_of

Attempts = dict[TopicPartition, CommittedOffset]
"""Partitions of rule 1, each with all commits that the log has."""

LONGEST_INTERVAL_MS: Final = 300_000
"""Attempts that are further apart than this are not taken for a loop."""

LONGEST_TIMEOUT_MS: Final = 900_000
"""The longest ``transaction.timeout.ms`` that a broker allows by default (``transaction.max.timeout.ms``)."""

ABORT_CHECK_MS: Final = 10_000
"""How often a coordinator looks for transactions whose time is over
(``transaction.abort.timed.out.transaction.cleanup.interval.ms``)."""

WORTH_TELLING: Final = 2
"""Times ``commit_silence_ms``: what ends by itself before that is awaited, or a finding would be over at once."""


def pending_offsets(facts: Facts) -> dict[TopicPartition, PendingOffsets]:
    """The partitions whose offsets are in open transactions, as far as a recent listing has them."""
    group = facts.group
    if not group.pending_offsets or facts.has_come(group.pending_listed_ms + LISTING_LIFETIME_MS):
        return {}
    return {
        TopicPartition(some.topic, number): each
        for each in group.pending_offsets
        for some in each.partitions
        for number in some.partitions
    }


def failing_attempts(facts: Facts) -> Attempts:
    """The partitions of rule 1 in which the attempts go on (rule 2)."""
    group = facts.group
    tried = [offset for offset in group.offsets if offset.third_attempt_ms]
    tried += [offset for offset in group.unconfirmed if offset.third_attempt_ms]
    if not tried:
        return {}
    held = pending_offsets(facts)
    found: Attempts = {}
    for offset in tried:
        place = TopicPartition(offset.topic, offset.partition)
        if place in facts.known and _is_failing(facts, offset) and not _may_be_one_transaction(offset, place, held):
            found[place] = offset
    return found


def _may_be_one_transaction(
    offset: CommittedOffset, place: TopicPartition, held: dict[TopicPartition, PendingOffsets]
) -> bool:
    """Whether one open transaction may have sent all attempts but two.

    Of a transaction, only its first offsets are known, so it may have sent those of other partitions while it lived.
    """
    own = held.get(place)
    if own is not None and own.sent_ms <= offset.third_attempt_ms:
        return True
    return any(
        each.sent_ms <= offset.third_attempt_ms and offset.committed_ms <= _aborted_ms(each) for each in held.values()
    )


def _aborted_ms(held: PendingOffsets) -> int:
    """When the coordinator aborts a transaction at the latest."""
    timeout_ms = LONGEST_TIMEOUT_MS if held.timeout_ms is None else held.timeout_ms
    return held.since_ms + timeout_ms + ABORT_CHECK_MS


def _is_failing(facts: Facts, offset: CommittedOffset) -> bool:
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
    awaited = owners_that_wait(facts)
    if not awaited:
        return
    held = {place: each for place, each in pending_offsets(facts).items() if place in awaited and _lasts(facts, each)}
    if not held:
        return
    partitions = tuple(sorted(held))
    oldest = min(held.values(), key=lambda each: (each.since_ms, each.log_partition, each.start_offset))
    waiting = tuple(sorted({owner for place in partitions for owner in awaited[place]}))
    yield Observation(
        kind=FindingKind.TRANSACTIONS,
        reason="pending_offsets",
        since_ms=facts.not_later_than_now(oldest.since_ms),
        evidence=HeldOffsets(transaction=oldest, waiting=waiting),
        partitions=partitions,
        members=waiting,
    )


def _lasts(facts: Facts, held: PendingOffsets) -> bool:
    """Whether a transaction has been open for long, and its coordinator is not about to abort it by itself."""
    silence_ms = facts.settings.commit_silence_ms
    if not facts.has_come(held.sent_ms + silence_ms):
        return False
    aborted_ms = _aborted_ms(held)
    is_soon = held.timeout_ms is not None and aborted_ms <= held.since_ms + WORTH_TELLING * silence_ms
    return not is_soon or facts.group.pending_listed_ms > aborted_ms


def owners_that_wait(facts: Facts) -> dict[TopicPartition, tuple[str, ...]]:
    """The partitions of rule 4, also in transactions that have just begun, with the owners that wait there."""
    held = pending_offsets(facts)
    if not held:
        return {}
    group, found = facts.group, dict[TopicPartition, tuple[str, ...]]()
    with_records = {TopicPartition(row.topic, row.partition) for row in facts.waiting} | facts.uncommitted.keys()
    since = {member.member_id: began_ms(group, member) for member in group.members}
    newest = {TopicPartition(c.topic, c.partition): c.committed_ms for c in (*group.offsets, *group.unconfirmed)}
    for place, each in held.items():
        committed_ms, listed_ms = newest.get(place, 0), group.pending_listed_ms
        if place in with_records and committed_ms <= max(each.sent_ms, listed_ms):
            owners = facts.ownership.owners.get(place, ())
            began = {own: since.get(own, 0) for own in owners}
            waiting = [
                own for own, at_ms in began.items() if each.sent_ms < at_ms < listed_ms and committed_ms <= at_ms
            ]
            if waiting:
                found[place] = tuple(waiting)
    return found


RULES: Final = (Rule(find_aborted_commits, of_owners=False), Rule(find_pending_offsets, of_owners=False))
