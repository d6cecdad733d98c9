"""What only groups of RocketMQ have, folded from one poll to the next."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from monitor.model import GroupObserved, GroupState
from monitor.model.expressions import differing_expressions
from monitor.model.rocketmq import (
    GIVEN_UP_MS,
    NOTHING_SPECIAL,
    SENT_BACK_MS,
    ConsumptionPoint,
    Redelivery,
    RedeliveryObserved,
    RocketMQGroupState,
    UnreadableQueue,
)


def with_poll(before: GroupState, event: GroupObserved) -> RocketMQGroupState | None:
    """What is known after the poll; None: nothing, as of most groups and of all other systems."""
    known = before.rocketmq or NOTHING_SPECIAL
    since_ms = (known.mixed_since_ms or event.observed_ms) if differing_expressions(event.members) else 0
    redelivery = known.redelivery
    if event.redelivery is not None:
        redelivery = _with_redelivery(redelivery, event.redelivery, event.observed_ms)
    unreadable = known.unreadable
    if event.unreadable is not None:
        unreadable = _with_unreadable(unreadable, event.unreadable, event.observed_ms)
    state = RocketMQGroupState(since_ms, redelivery, unreadable)
    return None if state == NOTHING_SPECIAL else state


def _with_unreadable(
    before: Iterable[UnreadableQueue], found: Iterable[UnreadableQueue], now_ms: int
) -> tuple[UnreadableQueue, ...]:
    since_ms = {(each.topic, each.partition): each.since_ms for each in before}
    return tuple([replace(each, since_ms=since_ms.get((each.topic, each.partition), now_ms)) for each in found])


def _with_redelivery(before: Redelivery | None, newest: RedeliveryObserved, now_ms: int) -> Redelivery | None:
    """What is known with the poll. Where topics were recreated, or offsets reset, it begins again."""
    if before is None and not (newest.sent_back or newest.given_up or newest.in_flight is not None):
        return None
    if before is None or newest.sent_back < before.newest.sent_back or newest.consumed < before.newest.consumed:
        before = Redelivery(newest=newest, given_up_since_ms=newest.given_up_ms or 0)
    is_sent_back = newest.sent_back > before.newest.sent_back
    follows = now_ms - before.sent_back_ms <= SENT_BACK_MS
    since_ms = before.sent_back_since_ms if follows else 0
    waiting_since_ms, passed = _waiting(before, newest, now_ms)
    return Redelivery(
        newest=newest,
        waiting_since_ms=waiting_since_ms,
        passed=passed,
        given_up_since_ms=_first_given_up_ms(before, newest),
        sent_back_since_ms=(since_ms or now_ms) if is_sent_back else since_ms,
        sent_back_ms=now_ms if is_sent_back else before.sent_back_ms,
        points=_points(before, newest, now_ms),
    )


def _waiting(before: Redelivery, newest: RedeliveryObserved, now_ms: int) -> tuple[int, int]:
    """A time at which one of the waiting records waited already, and what has to be consumed until none of then does.

    Of what came so far, as much has been consumed as does not wait.
    """
    done = newest.sent_back - newest.waiting
    if not newest.waiting:
        return 0, 0
    if before.waiting_since_ms and done < before.passed:
        return before.waiting_since_ms, before.passed
    return now_ms, newest.sent_back


def _first_given_up_ms(before: Redelivery, newest: RedeliveryObserved) -> int:
    given_up_ms = newest.given_up_ms or 0
    if newest.given_up == before.newest.given_up or not given_up_ms:
        return before.given_up_since_ms
    follows = before.given_up_since_ms and given_up_ms - (before.newest.given_up_ms or 0) <= GIVEN_UP_MS
    return before.given_up_since_ms if follows else given_up_ms


def _points(before: Redelivery, newest: RedeliveryObserved, now_ms: int) -> tuple[ConsumptionPoint, ...]:
    """The two points, each half of SENT_BACK_MS after the one before it. After a pause, both are of before it."""
    points = before.points or (ConsumptionPoint(now_ms, before.newest.sent_back, before.newest.consumed),)
    if now_ms - points[-1].at_ms < SENT_BACK_MS // 2:
        return points
    return (points[-1], ConsumptionPoint(now_ms, newest.sent_back, newest.consumed))
