"""Partitions in which a client committed an offset below 0: brokers store it, and return it as no committed offset.

Rule 1: It counts from the first such commit until the next commit that is not below 0, or until it is deleted.
Rule 2: Only partitions with records count: elsewhere, a consumer that starts has nothing to skip, or to read again.
Rule 3: The last offset before it is named, unless the topic of that name is a newer one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.lag.uncommitted import last_offset, records_in
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.offsets import Invalid
from monitor.model import FindingKind, InvalidCommit, PartitionState, TopicPartition


def find_invalid(facts: Facts) -> Iterable[Observation]:
    """Commits of offsets below 0."""
    found: dict[TopicPartition, InvalidCommit] = {}
    for each in facts.group.invalid_commits:
        place = TopicPartition(each.topic, each.partition)
        if place in facts.known and records_in(facts.known[place]):
            found[place] = each
    if not found:
        return
    since_ms = min(each.since_ms for each in found.values())
    offsets = {place: last_offset(each, facts.known[place], facts.catalog) for place, each in found.items()}
    last = {place: offset for place, offset in offsets.items() if offset is not None}
    evidence = Invalid(
        committed_ms=since_ms,
        committed=tuple(sorted({each.offset for each in found.values()}, reverse=True)),
        lowest=min(last.values(), default=None),
        highest=max(last.values(), default=None),
        lag=sum(_lag(facts.known[place], offset) for place, offset in last.items()),
    )
    yield Observation(
        kind=FindingKind.OFFSETS,
        reason="invalid",
        since_ms=facts.not_later_than_now(since_ms),
        evidence=evidence,
        partitions=tuple(sorted(found)),
    )


def _lag(state: PartitionState, offset: int) -> int:
    return max(0, (state.end or 0) - offset)


RULES: Final = (Rule(find_invalid, of_owners=False),)
