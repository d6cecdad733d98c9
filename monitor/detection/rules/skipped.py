"""Records that a group passed without reading them, or perhaps so (monitor.detection.lag.skips).

Rule 1: Where retention had removed records, a skip counts from MIN_PASSED of a partition on: hardly any healthy group
        has that.
Rule 2: The others count from FEWEST records of the group on: every consumer that restarts reads a backlog.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.skipped import Passed
from monitor.model import FindingKind, TopicPartition
from monitor.model.jumps import Skip, SkipCause

FEWEST: Final = 1_000
"""Fewer records, read or skipped, give no finding."""


def find_skipped(facts: Facts) -> Iterable[Observation]:
    """What the group skipped in the last hour, by cause; what it perhaps skipped comes last."""
    skips = facts.losses.skips
    if not skips:
        return
    yield from _finding(facts, "retention", [skip for skip in skips if skip.at_least])
    perhaps = [skip for skip in skips if not skip.at_least]
    if sum(skip.at_most for skip in perhaps) < FEWEST:
        perhaps = [skip for skip in perhaps if skip.cause is SkipCause.RETENTION]
    new = [skip for skip in perhaps if skip.cause is SkipCause.NEW_PARTITION]
    yield from _finding(facts, "new_partition", new)
    yield from _finding(facts, "perhaps", [skip for skip in perhaps if skip not in new])


def _finding(facts: Facts, reason: str, own: Sequence[Skip]) -> Iterable[Observation]:
    """The finding about some skips, if there are any."""
    if not own:
        return
    largest = max(own, key=lambda skip: skip.at_most)
    yield Observation(
        kind=FindingKind.SKIPPED,
        reason=reason,
        since_ms=facts.not_later_than_now(min(skip.at_ms for skip in own)),
        evidence=Passed(
            _place(largest),
            largest.before,
            largest.offset,
            sum(skip.at_least for skip in own),
            sum(skip.at_most for skip in own),
            tuple(sorted({_place(skip) for skip in own if skip.cause is SkipCause.DELETED})),
            tuple(sorted({_place(skip) for skip in own if skip.cause is SkipCause.RETENTION})),
        ),
        partitions=tuple(sorted(set(map(_place, own)))),
    )


def _place(skip: Skip) -> TopicPartition:
    return TopicPartition(skip.topic, skip.partition)


RULES: Final = (Rule(find_skipped, of_owners=False),)
