"""A finding as one text, for where the page is not at hand: whose it is, what, since when, and what to do."""

from __future__ import annotations

from monitor.findings.table import spec_of
from monitor.messages.names import shown, shown_group
from monitor.messages.notification import utc
from monitor.model import Finding
from monitor.model.cluster_findings import ClusterFinding


def finding_text(group: str, finding: Finding, kind: str, *, is_connect: bool = False) -> str:
    """The finding in full, of a group of this kind. It is the same text as long as nothing changes.

    >>> from monitor.model import FindingKind
    >>> finding = Finding(kind=FindingKind.DRIFT, reason="tie", since_ms=0, sentence="A tie.")
    >>> finding_text("payments", finding, "kafka-classic")
    "Group payments: A tie. Since 1970-01-01 00:00:00 UTC. No action needed: both results are the assignor's own."
    """
    advice = spec_of(finding.kind, finding.reason).advice_for(kind, is_connect=is_connect, library=finding.library)
    parts = (f"Group {shown_group(group)}: {finding.sentence}", f"Since {utc(finding.since_ms)}.", advice)
    return " ".join(part for part in parts if part)


def cluster_finding_text(cluster: str, finding: ClusterFinding) -> str:
    """The finding of a cluster in full."""
    return f"Cluster {shown(cluster)}: {finding.sentence} Since {utc(finding.since_ms)}. {finding.advice}"
