"""Handovers of a KIP-848 group that take longer than they may."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.messages.findings import drift_pending
from monitor.detection.ownership.context import Facts
from monitor.model import DriftKind, Finding, FindingKind, Handover

USUAL_MS: Final = 300_000
"""How long a handover may take if the member's rebalance timeout is not known: ``max.poll.interval.ms`` as it is."""


def find_late_handovers(facts: Facts) -> Iterable[Finding]:
    """Handovers that take longer than they may: ``handover_ms``, or else the owner's rebalance timeout."""
    late = [handover for handover in facts.expectation.handovers if _is_late(handover, facts)]
    if late:
        first = min(late, key=lambda handover: (handover.since_ms, handover.owner))
        partitions = tuple(sorted(place for handover in late for place in handover.partitions))
        yield Finding(
            kind=FindingKind.DRIFT,
            reason=DriftKind.PENDING,
            since_ms=facts.not_later_than_now(first.since_ms),
            sentence=drift_pending(partitions, first, facts.group),
            partitions=partitions,
            members=tuple(sorted({handover.owner for handover in late})),
        )


def _is_late(handover: Handover, facts: Facts) -> bool:
    chosen = facts.settings.handover_ms
    grace_ms = chosen if chosen is not None else handover.grace_ms or USUAL_MS
    return facts.now_ms - handover.since_ms > grace_ms
