"""A finding as a person is told it where the page is not at hand: which group, what, since when, and what to do."""

from __future__ import annotations

from typing import Final

import numpy as np

from monitor.detection.sentences import shown
from monitor.model import DriftKind, Finding, FindingKind, OrphanReason

Said = tuple[FindingKind, str]

_RESTART: Final = "wait five minutes, the clients' default metadata.max.age.ms, or restart one member to rebalance now"

ADVICE: Final[dict[Said, str]] = {
    (FindingKind.DOUBLE_OWNED, "same_generation"): (
        "Stop one of the owners: both process every record. Then look at its assignor; the clients' own never do this."
    ),
    (FindingKind.ORPHANED, OrphanReason.NO_MEMBERS): (
        "Start a consumer of the group; if it is not to come back, delete the group or its offsets."
    ),
    (FindingKind.ORPHANED, OrphanReason.ASSIGNOR_GAP): (
        "Restart one member to rebalance; if the same partitions are left out again, change the assignor of all."
    ),
    (FindingKind.ORPHANED, OrphanReason.GREW): f"Members will find them when they refresh their metadata: {_RESTART}.",
    (FindingKind.ORPHANED, OrphanReason.PENDING): (
        "Nothing yet, it passes; if it stays, look at the former owner: it does not give back (a slow poll loop)."
    ),
    (FindingKind.ORPHANED, OrphanReason.UNSUBSCRIBED): (
        "If nobody is to read them any more, delete the group's offsets of that topic; else subscribe it again."
    ),
    (FindingKind.DRIFT, DriftKind.REPLAYED): (
        "Everything is read; compare the client libraries and versions of the members before the next change."
    ),
    (FindingKind.DRIFT, DriftKind.CURRENT): f"The next rebalance puts it right: {_RESTART}.",
    (FindingKind.DRIFT, DriftKind.TIE): "Nothing: either answer of the assignor is right.",
    (FindingKind.DRIFT, DriftKind.TARGET): (
        "Everything is read; see whether the brokers have another version, or an assignor of their own."
    ),
    (FindingKind.DRIFT, DriftKind.PENDING): (
        "Look at the member that has not given back: it does not poll. Its broker fences it when its time is over."
    ),
    (FindingKind.IMBALANCE, "partitions"): (
        "If the large member is slow, take an assignor that evens out over all topics: cooperative-sticky, roundrobin."
    ),
    (FindingKind.IMBALANCE, "lag"): "Compare the member with the others before its lag reaches the retention.",
    (FindingKind.IDLE_MEMBERS, "no_partitions"): "Stop them, or add partitions, unless they stand by on purpose.",
    (FindingKind.LAG, "not_committing"): (
        "Look at the owner's log: it is stuck in one record, fails before it commits, or does not poll."
    ),
    (
        FindingKind.LAG,
        "former_log",
    ): "Set the group's offsets for the new topic, or let the group commit there.",
    (FindingKind.LAG, "behind"): "Add consumers up to the number of partitions, or make each faster.",
    (
        FindingKind.RETENTION,
        "records_lost",
    ): "Make the group go on, or keep the records longer, before more are removed.",
    (FindingKind.RETENTION, "close_to_loss"): "Make the group faster, or keep the records longer (retention.ms).",
    (FindingKind.UNATTENDED, "no_members"): "Start its consumers, or delete the group if it is given up.",
    (FindingKind.ABANDONED, "unsubscribed"): (
        "If nobody is to read them any more, delete the group's offsets of that topic; else subscribe it again."
    ),
    (FindingKind.DEAD_MEMBER, "silent"): "Look at what it hangs in (a stack dump), then restart it.",
}
"""What to do first about a finding, by its kind and reason."""


def told(group: str, finding: Finding) -> str:
    """The finding in full. It is the same text as long as nothing changes.

    >>> finding = Finding(kind=FindingKind.LAG, reason="behind", since_ms=0, sentence="More than 5 records wait.")
    >>> print(told("payments", finding))
    Group payments: More than 5 records wait. Since 1970-01-01 00:00:00 UTC. \
Add consumers up to the number of partitions, or make each faster.
    """
    return f"Group {shown(group)}: {finding.sentence} Since {utc(finding.since_ms)}. {advice(finding)}".rstrip()


def advice(finding: Finding) -> str:
    """What to do first; nothing for what is told by a newer version than this."""
    return ADVICE.get((finding.kind, finding.reason), "")


def utc(instant_ms: int) -> str:
    """An instant as a person reads it, to the second.

    >>> utc(1_795_315_215_999)
    '2026-11-22 02:40:15 UTC'
    """
    return f"{np.datetime64(instant_ms // 1000, 's')} UTC".replace("T", " ", 1)
