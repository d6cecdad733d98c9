"""Records of a RocketMQ group that its members did not process: the lag of their topic does not show them.

The offset of a queue passes a record that is sent back, as if it were done (ConsumeMessageConcurrentlyService). It
comes back by the retry topic of the group. After the last attempt it comes into the dead-letter topic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import ROCKETMQ
from monitor.findings.observation import Observation
from monitor.findings.rocketmq import DeadLetters, SentBack
from monitor.model import FindingKind
from monitor.model.rocketmq import GIVEN_UP_MS, SENT_BACK_MS, Redelivery

FEW: Final = 10
"""So many records have to be sent back before it is found: a few errors are normal, and retries are for them."""

SHARE: Final = 2
"""One of so many consumed records is sent back at least. Each comes back after a delay, so that with a listener that
always fails, those that came back are half of those consumed at the first retry, and more later."""


def find_dead_letters(facts: Facts) -> Iterable[Observation]:
    """Records that were given up within the last hour."""
    known = _redelivery(facts)
    newest_ms = known.newest.given_up_ms if known is not None else None
    if known is None or newest_ms is None or facts.has_come(newest_ms + GIVEN_UP_MS):
        return
    yield Observation(
        kind=FindingKind.POISON,
        reason="dead_letters",
        since_ms=facts.not_later_than_now(known.given_up_since_ms or newest_ms),
        evidence=DeadLetters(known.newest.given_up, known.newest.dead_letters, newest_ms),
    )


def find_sent_back(facts: Facts) -> Iterable[Observation]:
    """A group of which at least half of what it consumes is sent back."""
    known = _redelivery(facts)
    if known is None or not known.sent_back_since_ms or not known.points:
        return
    first, newest = known.points[0], known.newest
    records, consumed = newest.sent_back - first.sent_back, newest.consumed - first.consumed
    if records < FEW or records * SHARE < consumed or facts.has_come(known.sent_back_ms + SENT_BACK_MS):
        return
    yield Observation(
        kind=FindingKind.POISON,
        reason="sent_back",
        since_ms=facts.not_later_than_now(known.sent_back_since_ms),
        evidence=SentBack(records, consumed, first.at_ms, newest.waiting, known.waiting_since_ms),
    )


def _redelivery(facts: Facts) -> Redelivery | None:
    state = facts.group.rocketmq
    return None if state is None else state.redelivery


RULES: Final = (
    Rule(find_dead_letters, of_owners=False, kinds=ROCKETMQ),
    Rule(find_sent_back, of_owners=False, kinds=ROCKETMQ),
)
