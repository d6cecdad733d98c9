"""A verdict as it is listed, and as the API gives it."""

from __future__ import annotations

import msgspec

from monitor.model import GroupSummary, GroupVerdict, Phase


def summary_of(verdict: GroupVerdict) -> GroupSummary:
    """What the overview needs of a verdict."""
    return GroupSummary(
        cluster=verdict.cluster,
        group=verdict.group,
        kind=verdict.kind,
        state=verdict.state,
        assignor=verdict.assignor,
        members=None if verdict.state is Phase.OFFSETS_ONLY else len(verdict.members),
        lag=verdict.lag,
        findings=verdict.findings,
    )


def verdict_json(verdict: GroupVerdict) -> bytes:
    """The whole verdict; a field that has its default (null, 0, empty) is left out."""
    return msgspec.json.encode(verdict)
