"""A finding as one text, for where the page is not at hand: which group, what, since when, and what to do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from monitor.messages.names import shown_group
from monitor.model import Finding

_LAST_S: Final = 253_402_300_799
"""The end of the year 9999, the last that can be written. No decoder lets a later time through (wire.bounds)."""


def finding_text(group: str, finding: Finding, kind: str, *, is_connect: bool = False) -> str:
    """The finding in full, of a group of this kind. It is the same text as long as nothing changes.

    >>> from monitor.model import FindingKind
    >>> finding = Finding(kind=FindingKind.DRIFT, reason="tie", since_ms=0, sentence="A tie.")
    >>> finding_text("payments", finding, "kafka-classic")
    "Group payments: A tie. Since 1970-01-01 00:00:00 UTC. No action needed: both results are the assignor's own."
    """
    advice = finding.spec.advice_for(kind, is_connect=is_connect)
    parts = (f"Group {shown_group(group)}: {finding.sentence}", f"Since {utc(finding.since_ms)}.", advice)
    return " ".join(part for part in parts if part)


def utc(instant_ms: int) -> str:
    """An instant as a person reads it, to the second.

    >>> utc(1_795_315_215_999)
    '2026-11-22 02:40:15 UTC'
    """
    second = min(max(instant_ms // 1000, 0), _LAST_S)
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S} UTC"
