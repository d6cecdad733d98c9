"""Transactions that keep a group from going on: its own are not committed, or one that is open holds its offsets."""

from __future__ import annotations

from typing import Final

from monitor.findings.clauses import record_command
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import grouped, round_down
from monitor.messages.names import partition, people, places, seconds, shown
from monitor.model import FindingKind, GroupState, PendingOffsets, TopicPartition

ROWS: Final = (
    FindingSpec(
        FindingKind.TRANSACTIONS,
        "uncommitted",
        Rank.IN_TRANSACTIONS,
        advice=(
            "The application's log says why it aborts its transactions. Usually it cannot process a record: fix that, "
            "or let it skip the record."
        ),
        mark="transactions are not committed",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.TRANSACTIONS,
        "pending_offsets",
        Rank.IN_TRANSACTIONS,
        advice=(
            "Start the producer again with the same transactional.id: that ends the transaction. If it is gone for "
            "good, abort the transaction with that command. Do not delete the group."
        ),
        mark="offsets in an open transaction",
    ),
)


class UncommittedAttempts(Evidence):
    """Commits in transactions of which none was committed. ``attempts`` is the least number of them in a partition.

    ``example`` is the partition with most attempts, and ``committed`` its committed offset (None: there is none).
    """

    owners: tuple[str, ...]
    attempts: int
    example: TopicPartition
    committed: int | None


@sentence.register
def _uncommitted_attempts(evidence: UncommittedAttempts, found: Observation, group: GroupState) -> str:
    """The number grows with each attempt, so the sentence has few steps of it."""
    owners, partitions = evidence.owners, found.partitions
    head = f"The group has tried to commit offsets of {places(partitions)} in transactions."
    if owners:
        role, have = ("owner", "has") if len(owners) == 1 else ("owners", "have")
        who = f"The {role} of {places(partitions)}, {people(owners, group)},"
        head = f"{who} {have} tried to commit there in transactions."
    attempts = f"At least {grouped(round_down(evidence.attempts, (1, 3)))} attempts in a row were not committed."
    command = None if evidence.committed is None else record_command(evidence.example, evidence.committed)
    record = f" {command} prints the record there." if command else ""
    return f"{head} {attempts} {_committed_offset(evidence, len(partitions))}{record}"


def _committed_offset(evidence: UncommittedAttempts, partitions: int) -> str:
    example = partition(evidence.example)
    start = "T" if partitions == 1 else "For example, t"
    if evidence.committed is not None:
        return f"{start}he committed offset of {example} is still {grouped(evidence.committed)}."
    return "There is no committed offset." if partitions == 1 else f"{start}here is no committed offset of {example}."


class HeldOffsets(Evidence):
    """Offsets in a transaction that is open. ``waiting`` are owners that began after it, one at least."""

    transaction: PendingOffsets
    waiting: tuple[str, ...]


@sentence.register
def _held_offsets(evidence: HeldOffsets, found: Observation, group: GroupState) -> str:
    held, waiting = evidence.transaction, evidence.waiting
    name = "" if held.transactional_id is None else f" (transactional.id {shown(held.transactional_id)})"
    transaction = f"an open transaction of producer {held.producer_id}{name}"
    own = "owns" if len(waiting) == 1 else "own"
    noun = "the partition" if len(found.partitions) == 1 else "these partitions"
    blocked = f"{people(waiting, group)} {own} {noun} and cannot start before the transaction ends."
    head = f"Offsets of {places(found.partitions)} are pending in {transaction}."
    return f"{head} {blocked} {_end(held)} {_command(held)}"


def _end(held: PendingOffsets) -> str:
    if held.timeout_ms is None:
        return "The brokers do not say when it ends."
    return f"Its coordinator aborts it {seconds(held.timeout_ms)} after its start, if nothing ends it before."


def _command(held: PendingOffsets) -> str:
    return (
        "kafka-transactions.sh --bootstrap-server BROKER abort --topic __consumer_offsets "
        f"--partition {held.log_partition} --start-offset {held.start_offset} aborts it."
    )
