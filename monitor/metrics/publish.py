"""A verdict as it is published: what the overview needs at hand, and the whole as JSON."""

from __future__ import annotations

import msgspec

from monitor.model import GroupSummary, GroupVerdict, Phase, PublishedGroup


def published(verdict: GroupVerdict) -> PublishedGroup:
    """The summary and the JSON of a verdict. In the JSON a field that has its default (null, 0, empty) is left out.

    Raises:
        UnicodeEncodeError: a name holds half a surrogate pair, which no JSON can carry.
    """
    summary = GroupSummary(
        cluster=verdict.cluster,
        group=verdict.group,
        kind=verdict.kind,
        state=verdict.state,
        assignor=verdict.assignor,
        members=None if verdict.state is Phase.OFFSETS_ONLY else len(verdict.members),
        lag=verdict.lag,
        findings=verdict.findings,
        evaluated_ms=verdict.evaluated_ms,
    )
    return PublishedGroup(summary=summary, verdict_json=msgspec.json.encode(verdict))
