"""What a person can do first about a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.model import DriftKind, Finding, FindingKind, OrphanReason

Said = tuple[FindingKind, str]

_LET_GO: Final = (
    "If the group is not to read there any more, delete its offsets of the topic (Kafka: kafka-consumer-groups.sh "
    "--delete-offsets); else have a member subscribe to it again."
)
_STATIC: Final = "a static one has to be away for longer than its session"
_ONE_STRATEGY: Final = "Give all members the same allocateMessageQueueStrategy and restart those that have another."
_UPDATE_THE_CLIENT: Final = (
    "Find out which client libraries and versions the member and the group's leader run, and update them: other "
    "clients may fail on the same bytes. Until then, watch the group's lag."
)
_READ_ALL_THE_SAME: Final = "No hurry: what has an owner is read all the same."

ADVICE: Final[Mapping[Said, str]] = {
    (FindingKind.DOUBLE_OWNED, "same_generation"): (
        "Stop one of the owners: each of them processes every record there. Then compare their client libraries and "
        "assignors."
    ),
    (FindingKind.DOUBLE_OWNED, "mixed_strategy"): (f"{_ONE_STRATEGY} Until then each record there is processed twice."),
    (FindingKind.DOUBLE_OWNED, "duplicate_client_id"): (
        "Give each client an id of its own (setInstanceName) and restart it: until then each record there is processed "
        "by all of them."
    ),
    (FindingKind.ORPHANED, OrphanReason.MIXED_STRATEGY): _ONE_STRATEGY,
    (FindingKind.ORPHANED, OrphanReason.MIXED_SUBSCRIPTION): (
        "Have all members of the group subscribe to the same topics, or give those with other topics a group of their "
        "own; restart them with that."
    ),
    (FindingKind.ORPHANED, OrphanReason.NO_MEMBERS): (
        "Start a consumer of the group, or delete the group if nobody needs it any more."
    ),
    (FindingKind.ORPHANED, OrphanReason.GREW): (
        "Wait for the next metadata refresh (metadata.max.age.ms, 5 minutes by default; KIP-848: moments). If it lasts "
        f"longer, restart the leader, or another member ({_STATIC})."
    ),
    (FindingKind.ORPHANED, OrphanReason.UNSUBSCRIBED): _LET_GO,
    (FindingKind.ORPHANED, OrphanReason.ASSIGNOR_GAP): (
        f"To rebalance, restart a member ({_STATIC}). If the gap comes back, compare the members' client libraries, "
        "assignors and subscriptions."
    ),
    (FindingKind.ORPHANED, OrphanReason.LEADER_UNSUBSCRIBED): (
        "Let all members subscribe to the same topics, or give those with other topics a group of their own. An "
        "assignor that assigns the topics of all members helps as well; a restart only changes the leader."
    ),
    (FindingKind.ORPHANED, OrphanReason.NO_TASK): (
        "See that all instances run the same topology, as the leader makes the tasks of its own. Its log tells what "
        "failed (StreamsPartitionAssignor). To rebalance, restart an instance."
    ),
    (FindingKind.ORPHANED, OrphanReason.PENDING): (
        "Wait: the handover ends by itself. If it lasts, look at who is named: a member has to poll to let partitions "
        "go, and to take them. One that shares by ZooKeeper may have given up (its log tells): restart it."
    ),
    (FindingKind.ORPHANED, OrphanReason.REBALANCING): (
        "Wait: the broker chooses within moments. If it lasts, look at the log of the group's coordinator."
    ),
    (FindingKind.DRIFT, DriftKind.REPLAYED): (
        f"{_READ_ALL_THE_SAME} Compare the members' client libraries, versions and lists of assignors."
    ),
    (FindingKind.DRIFT, DriftKind.CURRENT): (
        f"{_READ_ALL_THE_SAME} The next rebalance puts it right; to have it now, restart a member ({_STATIC})."
    ),
    (FindingKind.DRIFT, DriftKind.TIE): "Nothing: both answers are the assignor's own.",
    (FindingKind.DRIFT, DriftKind.TARGET): (
        f"{_READ_ALL_THE_SAME} See whether the brokers have another version, or an assignor of their own."
    ),
    (FindingKind.DRIFT, DriftKind.PENDING): (
        "See whether the member hangs that is to give back, and restart it if it does. If it stays for longer than its "
        "max.poll.interval.ms, look at the log of the group's coordinator, too."
    ),
    (FindingKind.IMBALANCE, "partitions"): (
        "No hurry while the member keeps up. groupwatch what-if shows what another assignor would give (--assignor)."
    ),
    (FindingKind.IMBALANCE, "lag"): (
        "Nothing is lost while the topic keeps what waits: raise its retention.ms in time."
    ),
    (FindingKind.IDLE_MEMBERS, "no_partitions"): (
        "No hurry: they stand by for others that fail. If that is not meant, run fewer, or compare subscriptions where "
        "there are partitions enough; groupwatch what-if shows what would be (--members)."
    ),
    (FindingKind.LAG, "not_committing"): (
        "Look at who reads there: it may hang in processing (a thread dump tells), fail before it commits, or have "
        "stopped to commit."
    ),
    (FindingKind.LAG, "open_transaction"): (
        "Look at the producer, not at the group. If it is gone and its transaction.timeout.ms is over, find and abort "
        "the transaction with kafka-transactions.sh (find-hanging, abort)."
    ),
    (FindingKind.LAG, "former_log"): (
        "If the group reads there, see that it commits. If not, set its offsets before it starts "
        "(kafka-consumer-groups.sh --reset-offsets): where the old ones point in the new topic is chance."
    ),
    (FindingKind.LAG, "behind"): (
        "Look at what slows the members, or add members up to the number of partitions (groupwatch what-if --members)."
    ),
    (FindingKind.REBALANCE, "long"): (
        "If members are awaited, find the one that takes long with what it polled (its log or a thread dump tells) and "
        "restart it if it hangs. For good, let members poll less at once (max.poll.records)."
    ),
    (FindingKind.REBALANCE, "storm"): "The logs of its members say why each of them rejoined.",
    (FindingKind.RETENTION, "records_lost"): (
        "Keep the records longer (retention.ms): more may follow. Before the group goes on, look at its "
        "auto.offset.reset: latest passes over what is still kept."
    ),
    (FindingKind.RETENTION, "close_to_loss"): (
        "Keep the records longer (retention.ms, retention.bytes) until the group is faster, or runs again."
    ),
    (
        FindingKind.UNATTENDED,
        "no_members",
    ): "Start its consumers, or delete the group, and its offsets with it, if it is given up.",
    (FindingKind.ABANDONED, "unsubscribed"): _LET_GO,
    (FindingKind.UNREADABLE_MEMBERS, "assignment"): _UPDATE_THE_CLIENT,
    (FindingKind.UNREADABLE_MEMBERS, "subscription"): _UPDATE_THE_CLIENT,
    (FindingKind.DEAD_MEMBER, "silent"): "Look at what it hangs in (a thread dump tells), then restart it.",
    (FindingKind.DEAD_MEMBER, "no_answer"): (
        "See whether its process is stopped or its machine away; if it runs, look at what it hangs in (a thread dump "
        "tells). Restart or end it: until then nobody takes over."
    ),
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
