"""What a person can do about a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.model import DriftKind, Finding, FindingKind, OrphanReason

_ADVICE: Final[Mapping[tuple[FindingKind, str], str]] = {
    (FindingKind.ORPHANED, OrphanReason.NO_MEMBERS): (
        "Start a consumer of the group, or delete the group if nobody needs it any more."
    ),
    (FindingKind.ORPHANED, OrphanReason.GREW): (
        "Wait until the members refresh their metadata (metadata.max.age.ms, 5 minutes by default); "
        "if it lasts longer, restart one member so that the group rebalances."
    ),
    (FindingKind.ORPHANED, OrphanReason.UNSUBSCRIBED): (
        "Subscribe to the topic again, or delete the group's offsets of it if that was intended."
    ),
    (FindingKind.ORPHANED, OrphanReason.ASSIGNOR_GAP): (
        "Restart one member so that the group rebalances; if it comes back, compare the members' client libraries, "
        "assignors and subscriptions."
    ),
    (FindingKind.ORPHANED, OrphanReason.PENDING): (
        "Wait: the handover ends by itself. If it lasts, look at the former owner, which has to poll to let go."
    ),
    (FindingKind.DOUBLE_OWNED, "same_generation"): (
        "Restart the owners one after the other, and compare their client libraries and assignors."
    ),
    (FindingKind.DRIFT, DriftKind.REPLAYED): "Compare the members' client libraries, versions and lists of assignors.",
    (FindingKind.DRIFT, DriftKind.CURRENT): (
        "Nothing is urgent: the next rebalance puts it right. Restart one member to have it now."
    ),
    (FindingKind.DRIFT, DriftKind.TIE): "Nothing: both answers are the assignor's own.",
    (FindingKind.IMBALANCE, "partitions"): "Ask groupwatch what-if what another assignor would give (--assignor).",
    (FindingKind.IDLE_MEMBERS, "no_partitions"): (
        "Stop them, or give the topics more partitions; groupwatch what-if shows either (--members, --partitions)."
    ),
    (FindingKind.LAG, "not_committing"): (
        "Look at the owners: they may hang in processing, fail before they commit, or not commit at all."
    ),
    (FindingKind.LAG, "former_log"): ("Have the group commit again, or reset its offsets to where it is to read on."),
    (FindingKind.LAG, "behind"): (
        "Look at what slows the members, or add members up to the number of partitions (groupwatch what-if --members)."
    ),
}


def advice(finding: Finding) -> str | None:
    """What to do about it; None: there is no general advice.

    >>> advice(Finding(kind=FindingKind.DRIFT, reason="tie", since_ms=0, sentence=""))
    "Nothing: both answers are the assignor's own."
    """
    return _ADVICE.get((finding.kind, str(finding.reason)))
