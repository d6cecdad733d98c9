"""Why a KIP-848, share or streams group has a new epoch, from the records that came before it.

The coordinator writes what happened to a member first and the group's new epoch after it, so what has happened since
the last epoch is the cause of the next. A member that leaves and one whose session ends leave the same records; only
for some it is certain that they cannot have left.
"""

from __future__ import annotations

from monitor.model import (
    STATIC_LEAVE_EPOCH,
    EpochStored,
    GroupState,
    Member,
    MembershipChange,
    MemberState,
    Rebalance,
    RebalanceCause,
    SubscribedTopicsStored,
)
from monitor.tracking.rebalances.history import ordered_causes


def epoch_rebalance(state: GroupState, event: EpochStored) -> Rebalance:
    """The rebalance that begins with this epoch."""
    changes = [change.cause for change in state.pending]
    if RebalanceCause.UPGRADE in changes:  # its members are not new, they only appear in other records now
        changes = [RebalanceCause.UPGRADE]
    elif not changes and state.generation_ms and state.metadata_hash != event.metadata_hash:
        changes = [RebalanceCause.TOPICS]
    return Rebalance(
        generation=event.epoch,
        started_ms=event.stored_ms,
        causes=ordered_causes(changes),
        joined=changes.count(RebalanceCause.JOIN),
        left=changes.count(RebalanceCause.LEAVE) + changes.count(RebalanceCause.TIMEOUT),
    )


def removal_cause(member: Member, removed_ms: int) -> RebalanceCause:
    """TIMEOUT if the member cannot have left: a static one that was away, or one that did not give back in time."""
    reconciliation = member.reconciliation
    if reconciliation is None:
        return RebalanceCause.LEAVE
    away = reconciliation.epoch == STATIC_LEAVE_EPOCH
    waited_ms = removed_ms - reconciliation.since_ms
    fenced = reconciliation.state is MemberState.UNREVOKED_PARTITIONS and waited_ms >= member.rebalance_timeout_ms > 0
    return RebalanceCause.TIMEOUT if away or fenced else RebalanceCause.LEAVE


def has_subscription_changed(before: Member, after: Member) -> bool:
    """Whether the member subscribes to other topics than before."""
    return set(before.topics) != set(after.topics) or before.regex != after.regex


def have_topics_changed(state: GroupState, event: SubscribedTopicsStored) -> bool:
    """Whether the topics themselves changed, not the members' subscriptions: both write the record again."""
    if not state.subscribed_topics or not event.topics or state.pending:
        return False
    return set(state.subscribed_topics) != set(event.topics)


def is_conversion(pending: tuple[MembershipChange, ...]) -> bool:
    """Whether members went without a new epoch for it: then they live on in a classic group."""
    return any(change.cause in (RebalanceCause.LEAVE, RebalanceCause.TIMEOUT) for change in pending)
