"""Findings of groups that ended a short time ago: their alerts may still fire, so people come for them."""

from __future__ import annotations

from monitor.model.findings import FindingKind
from monitor.model.values import Value


class EndedFinding(Value):
    """A finding of a group that ended a short time ago."""

    group: str
    kind: FindingKind
    """The kind of finding."""
    reason: str
    since_ms: int
    ended_ms: int
    """The first evaluation without it (ms since the epoch)."""
    sentence: str
    was_settling: bool = False
    """True: it ended before it was old enough for its alert."""
    was_subordinate: bool = False
    """True: it followed from a finding of the cluster at the end, so no alert was about it."""


class EndedLately(Value):
    """The findings that ended in the last 20 minutes, as a job remembers them."""

    known_ms: int
    """From when on the list has all (ms since the epoch): the job remembers nothing of an earlier run that crashed."""
    findings: tuple[EndedFinding, ...] = ()
    """The findings, the newest end first."""
