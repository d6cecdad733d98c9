"""Share groups (KIP-932): records that nobody answers for, and records that members do not accept.

A share group commits nothing and may have several owners of a partition, so the rules about commits and owners say
nothing of it. A record that was delivered once and is available again is normal: a consumer was restarted, or released
it. Only the last attempt counts, and what was given up. What members hold right now is in no log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.lag.deliveries import configs_of
from monitor.detection.lag.waiting import in_vain_since_ms
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.open_transaction import is_held_back
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import SHARE
from monitor.findings.observation import Observation
from monitor.findings.share import GivenUp, LastTries, StalledDeliveries
from monitor.model import DeliveryVerdict, FindingKind, TopicPartition

LOCK_MS: Final = 30_000
"""How long a member may hold a record by default (``group.share.record.lock.duration.ms``), if it is not known."""

REMEMBERED_MS: Final = 3_600_000
"""For so long it is told that records were given up."""


def find_stalled(facts: Facts) -> Iterable[Observation]:
    """Records wait, members may read them, and none has answered for longer than two locks last.

    Members that have just joined get as long as that. Of partitions for which nobody has ever answered nothing is said:
    what a member holds there, and where it began, is only in the broker's memory.
    """
    if facts.deliveries is None or not facts.group.members:
        return
    lock_ms = configs_of(facts.group).lock_ms or LOCK_MS
    patience_ms = max(facts.settings.commit_silence_ms, 2 * lock_ms)
    since: dict[TopicPartition, int] = {}
    for row in facts.waiting:
        place = TopicPartition(row.topic, row.partition)
        answered_ms = facts.deliveries[place].answered_ms
        if row.owners and row.orphan is None and answered_ms is not None and not is_held_back(row):
            since_ms = in_vain_since_ms(facts, row, max(answered_ms, facts.group.generation_ms))
            if since_ms is not None and facts.has_come(since_ms + patience_ms):
                since[place] = since_ms
    if since:
        yield Observation(
            kind=FindingKind.LAG,
            reason="stalled",
            since_ms=min(since.values()),
            evidence=StalledDeliveries(patience_ms),
            partitions=tuple(sorted(since)),
        )


def find_last_tries(facts: Facts) -> Iterable[Observation]:
    """Records that are given up if the next delivery fails."""
    found = [each for each in _deliveries(facts) if each.last_tries and each.last_tries_since_ms is not None]
    if found:
        yield Observation(
            kind=FindingKind.POISON,
            reason="last_try",
            since_ms=facts.not_later_than_now(min(each.last_tries_since_ms or 0 for each in found)),
            evidence=LastTries(
                records=sum(each.last_tries for each in found),
                offsets=found[0].last_try_offsets,
                limit=facts.delivery_limit,
                is_default=configs_of(facts.group).delivery_limit is None,
            ),
            partitions=tuple(map(_place, found)),
        )


def find_given_up(facts: Facts) -> Iterable[Observation]:
    """Records that were given up within the last hour."""
    found = [
        each
        for each in _deliveries(facts)
        if each.given_up_ms is not None and not facts.has_come(each.given_up_ms + REMEMBERED_MS)
    ]
    if found:
        newest = max(found, key=lambda each: each.given_up_ms or 0)
        yield Observation(
            kind=FindingKind.POISON,
            reason="given_up",
            since_ms=facts.not_later_than_now(min(each.given_up_ms or 0 for each in found)),
            evidence=GivenUp(
                records=sum(each.given_up for each in found),
                partition=_place(newest),
                offset=newest.given_up_offset or 0,
                limit=facts.delivery_limit,
                is_default=configs_of(facts.group).delivery_limit is None,
            ),
            partitions=tuple(map(_place, found)),
        )


def _deliveries(facts: Facts) -> tuple[DeliveryVerdict, ...]:
    return tuple(facts.deliveries.values()) if facts.deliveries is not None else ()


def _place(delivery: DeliveryVerdict) -> TopicPartition:
    return TopicPartition(delivery.topic, delivery.partition)


RULES: Final = (
    Rule(find_stalled, of_owners=False, needs_lag=True, kinds=SHARE),
    Rule(find_last_tries, of_owners=False, kinds=SHARE),
    Rule(find_given_up, of_owners=False, kinds=SHARE),
)
