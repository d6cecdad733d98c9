"""Committed offsets that brokers are about to delete while records wait behind them, and those that they have deleted.

When they are due is in monitor.detection.lag.expiry. A consumer that starts after that begins where its
``auto.offset.reset`` says, so records are skipped, or read once more.

Rule 1: Only partitions with lag count. Without lag, a group loses nothing that it has not read.
Rule 2: It is forecast a day before, or for the last quarter of the retention, if that is shorter.
Rule 3: It is forecast no longer than two checks of the brokers after it was due: then the broker does not do it.
Rule 4: Of topics that a living group has turned away from, it is information: monitor.detection.rules.unattended has
        the topic as ``abandoned``. So is what has expired there. A group without members or protocol is alive if it
        has committed another topic within the time of rule 2.
Rule 5: What has expired is reported for seven days, or until the partition is committed again. It goes with its topic.
Rule 6: What was deleted before it was due did not expire, and is not reported.
Rule 7: Where the brokers do not return their retention, nothing is forecast. What was deleted in a group without
        members is information then: it expired, or was deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Evidence, Observation
from monitor.findings.offsets import Expired, Expiring
from monitor.model import FindingKind, TopicPartition
from monitor.model.expiry import CHECK_MS, ExpiredOffset

DAY_MS: Final = 86_400_000
LAST_PART: Final = 4
"""Of a retention of less than four days, the last quarter is a better time to warn than the last day."""


def find_expiring(facts: Facts) -> Iterable[Observation]:
    """Offsets with lag that expire within a day."""
    if not facts.losses.expiries or not facts.waiting:
        return
    due: dict[str, dict[TopicPartition, int]] = {"expire": {}, "unsubscribed": {}}
    for place in (TopicPartition(row.topic, row.partition) for row in facts.waiting):
        expires_ms = facts.losses.expiries.get(place)
        if expires_ms is not None and _is_near(facts, expires_ms):
            due["unsubscribed" if _has_turned_away(facts, place.topic) else "expire"][place] = expires_ms
    for reason, found in due.items():
        if found:
            first_ms = min(found.values())
            yield _finding(facts, reason, first_ms - _notice_ms(facts), Expiring(first_ms), found)


def _has_turned_away(facts: Facts, topic: str) -> bool:
    """Whether the group is alive, and reads other topics than this one (rule 4)."""
    if facts.group.members:
        return facts.ownership.complete and topic not in facts.ownership.subscribed
    if facts.group.protocol_type:
        return False
    newest_ms = max((each.committed_ms for place, each in facts.committed.items() if place.topic != topic), default=0)
    return bool(newest_ms) and not facts.has_come(newest_ms + _notice_ms(facts))


def _is_near(facts: Facts, expires_ms: int) -> bool:
    retention = facts.catalog.offsets_retention
    check_ms = CHECK_MS if retention is None else retention.check_ms
    return facts.has_come(expires_ms - _notice_ms(facts)) and not facts.has_come(expires_ms + 2 * check_ms + CHECK_MS)


def _notice_ms(facts: Facts) -> int:
    """How long before it an expiry is reported."""
    retention = facts.catalog.offsets_retention
    kept_ms = None if retention is None else retention.retention_ms
    return DAY_MS if kept_ms is None else min(DAY_MS, kept_ms // LAST_PART)


def find_expired(facts: Facts) -> Iterable[Observation]:
    """Offsets that have expired, or may have, with records behind them."""
    if not facts.losses.expired:
        return
    found: dict[str, list[ExpiredOffset]] = {"expired": [], "removed": []}
    for each in facts.losses.expired:
        if each.lag:
            is_loss = each.is_certain and not _has_turned_away(facts, each.topic)
            found["expired" if is_loss else "removed"].append(each)
    for reason, own in found.items():
        yield from _deletion_finding(facts, reason, own)


def _deletion_finding(facts: Facts, reason: str, found: list[ExpiredOffset]) -> Iterator[Observation]:
    if found:
        evidence = Expired(
            deleted_ms=min(each.deleted_ms for each in found),
            lowest=min(each.offset for each in found),
            highest=max(each.offset for each in found),
            lag=sum(each.lag for each in found),
        )
        places = [TopicPartition(each.topic, each.partition) for each in found]
        yield _finding(facts, reason, evidence.deleted_ms, evidence, places)


def _finding(
    facts: Facts, reason: str, since_ms: int, evidence: Evidence, places: Iterable[TopicPartition]
) -> Observation:
    return Observation(
        kind=FindingKind.OFFSETS,
        reason=reason,
        since_ms=facts.not_later_than_now(since_ms),
        evidence=evidence,
        partitions=tuple(sorted(places)),
    )


RULES: Final = (
    Rule(find_expired, of_owners=False),
    Rule(find_expiring, of_owners=False, needs_lag=True),
)
