"""Records of a RocketMQ group that its members did not process, and that no lag shows."""

from __future__ import annotations

from monitor.model import MOST, GroupState, RedeliveryVerdict


def redelivery_of(group: GroupState) -> RedeliveryVerdict | None:
    """What became of the records that were sent back; None: none was, or it is not known."""
    known = group.rocketmq.redelivery if group.rocketmq is not None else None
    if known is None:
        return None
    newest = known.newest
    return RedeliveryVerdict(
        sent_back=newest.sent_back,
        waiting=newest.waiting,
        waiting_since_ms=known.waiting_since_ms or None,
        given_up=newest.given_up,
        given_up_ms=newest.given_up_ms,
        dead_letters=newest.dead_letters,
        in_flight=newest.in_flight,
    )


def unreadable_records(group: GroupState) -> int:
    """The records in queues that may not be read."""
    return min(MOST, sum(each.unread for each in group.rocketmq.unreadable)) if group.rocketmq is not None else 0
