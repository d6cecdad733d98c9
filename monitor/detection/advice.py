"""What a person can do first about a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.model import DriftKind, Finding, FindingKind, OrphanReason

Said = tuple[FindingKind, str]

_LET_GO: Final = (
    "If nobody is to read them any more, delete the group's offsets of that topic; else subscribe it again."
)

ADVICE: Final[Mapping[Said, str]] = {
    (FindingKind.DOUBLE_OWNED, "same_generation"): (
        "Stop one of the owners: both process every record. Then compare their client libraries and assignors."
    ),
    (FindingKind.ORPHANED, OrphanReason.NO_MEMBERS): (
        "Start a consumer of the group, or delete the group if nobody needs it any more."
    ),
    (FindingKind.ORPHANED, OrphanReason.GREW): (
        "Wait until the members refresh their metadata (metadata.max.age.ms, 5 minutes by default); if it lasts "
        "longer, restart one member so that the group rebalances."
    ),
    (FindingKind.ORPHANED, OrphanReason.UNSUBSCRIBED): _LET_GO,
    (FindingKind.ORPHANED, OrphanReason.ASSIGNOR_GAP): (
        "Restart one member so that the group rebalances; if it comes back, compare the members' client libraries, "
        "assignors and subscriptions."
    ),
    (FindingKind.ORPHANED, OrphanReason.PENDING): (
        "Wait: the handover ends by itself. If it lasts, look at the former owner, which has to poll to let go."
    ),
    (FindingKind.ORPHANED, OrphanReason.REBALANCING): (
        "Wait: the broker chooses within moments. If it lasts, look at the log of the group's coordinator."
    ),
    (FindingKind.DRIFT, DriftKind.REPLAYED): (
        "Everything is read. Compare the members' client libraries, versions and lists of assignors."
    ),
    (FindingKind.DRIFT, DriftKind.CURRENT): (
        "Nothing is urgent: the next rebalance puts it right. Restart one member to have it now."
    ),
    (FindingKind.DRIFT, DriftKind.TIE): "Nothing: both answers are the assignor's own.",
    (FindingKind.DRIFT, DriftKind.TARGET): (
        "Everything is read. See whether the brokers have another version, or an assignor of their own."
    ),
    (FindingKind.DRIFT, DriftKind.PENDING): (
        "Look at the member that has not given back: it does not poll. Its broker fences it when its time is over."
    ),
    (FindingKind.IMBALANCE, "partitions"): "Ask groupwatch what-if what another assignor would give (--assignor).",
    (FindingKind.IMBALANCE, "lag"): "Compare the member with the others before its lag reaches the retention.",
    (FindingKind.IDLE_MEMBERS, "no_partitions"): (
        "Stop them, or give the topics more partitions; groupwatch what-if shows either (--members, --partitions)."
    ),
    (FindingKind.LAG, "not_committing"): (
        "Look at the owners: they may hang in processing, fail before they commit, or not commit at all."
    ),
    (FindingKind.LAG, "open_transaction"): (
        "Look at the producer, not at the group. If it is gone and its transaction.timeout.ms is over, find and abort "
        "the transaction with kafka-transactions.sh (find-hanging, abort)."
    ),
    (FindingKind.LAG, "former_log"): "Have the group commit again, or reset its offsets to where it is to read on.",
    (FindingKind.LAG, "behind"): (
        "Look at what slows the members, or add members up to the number of partitions (groupwatch what-if --members)."
    ),
    (FindingKind.REBALANCE, "long"): (
        "Find the member that takes long with what it has polled; smaller batches (max.poll.records) and a lower "
        "max.poll.interval.ms end the waiting earlier."
    ),
    (FindingKind.REBALANCE, "storm"): "The logs of its members say why each of them rejoined.",
    (FindingKind.RETENTION, "records_lost"): "Make the group go on, or keep the records longer: more may follow.",
    (FindingKind.RETENTION, "close_to_loss"): "Make the group faster, or keep the records longer (retention.ms).",
    (FindingKind.UNATTENDED, "no_members"): "Start its consumers, or delete the group if it is given up.",
    (FindingKind.ABANDONED, "unsubscribed"): _LET_GO,
    (FindingKind.DEAD_MEMBER, "silent"): "Look at what it hangs in (a thread dump tells), then restart it.",
    (FindingKind.DEAD_MEMBER, "unnoticed"): (
        "See whether it runs. If it is gone, start it again or wait for its session to end (session.timeout.ms); if "
        "not, look at what it hangs in."
    ),
}
"""By kind and reason."""


def advice(finding: Finding) -> str | None:
    """What to do about it; None: there is no general advice.

    >>> advice(Finding(kind=FindingKind.DRIFT, reason="tie", since_ms=0, sentence=""))
    "Nothing: both answers are the assignor's own."
    """
    return ADVICE.get((finding.kind, str(finding.reason)))
