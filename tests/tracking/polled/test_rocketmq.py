"""What RocketMQ's groups sent back and gave up, folded from poll to poll. Times are in seconds."""

from __future__ import annotations

from monitor.model import GroupKind, GroupObserved, GroupState, Source
from monitor.model.rocketmq import ConsumptionPoint, Redelivery, RedeliveryObserved
from monitor.tracking.group import fold_group

S = 1_000


def polled(at_s: int, redelivery: RedeliveryObserved | None) -> GroupObserved:
    return GroupObserved(
        cluster="mq",
        group="g",
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        pass_ms=at_s * S,
        observed_ms=at_s * S,
        redelivery=redelivery,
    )


def folded(*polls: tuple[int, RedeliveryObserved | None]) -> Redelivery | None:
    state: GroupState | None = None
    for at_s, seen in polls:
        state = fold_group("mq", "g", state, [polled(at_s, seen)])
    assert state is not None
    return state.rocketmq and state.rocketmq.redelivery


def seen(sent_back: int = 0, waiting: int = 0, *, dead: int = 0, at_s: int | None = None, consumed: int = 0):
    given_up_ms = None if at_s is None else at_s * S
    return RedeliveryObserved(sent_back, waiting, dead, given_up_ms, dead, consumed)


def test_a_group_that_sends_nothing_back_costs_nothing():
    assert folded((100, seen(consumed=50)), (110, seen(consumed=90))) is None


def test_the_oldest_that_waits_has_waited_since_a_poll_that_saw_it():
    """Of 5 records that came by 110 s, the last is consumed at 140 s: from then on, what came by then may be newer."""
    first = folded((100, seen(0)), (110, seen(5, 5)), (120, seen(9, 9)), (130, seen(9, 5)))
    assert first is not None
    assert (first.waiting_since_ms, first.newest.waiting) == (110 * S, 5)
    then = folded((100, seen(0)), (110, seen(5, 5)), (120, seen(9, 9)), (130, seen(9, 5)), (140, seen(9, 4)))
    assert then is not None
    assert then.waiting_since_ms == 140 * S
    done = folded((100, seen(0)), (110, seen(5, 5)), (150, seen(9, 0)))
    assert done is not None
    assert done.waiting_since_ms == 0


def test_records_that_were_given_up_within_an_hour_of_each_other_are_one_run():
    one = (100, seen(dead=2, at_s=95))
    two, three = (3_600, seen(dead=3, at_s=3_595)), (7_300, seen(dead=4, at_s=7_196))
    found = folded((50, seen()), one, two)
    assert found is not None
    assert found.given_up_since_ms == 95 * S
    again = folded((50, seen()), one, two, three)
    assert again is not None
    assert again.given_up_since_ms == 7_196 * S


def test_what_was_given_up_before_the_first_poll_began_with_the_newest_of_it():
    found = folded((100, seen(dead=7, at_s=40)))
    assert found is not None
    assert (found.given_up_since_ms, found.sent_back_since_ms) == (40 * S, 0)


def test_points_are_half_a_window_apart():
    """What the first poll finds may be of any time, so only more of it counts."""
    found = folded(*((at_s, seen(at_s, consumed=2 * at_s)) for at_s in range(0, 1_000, 10)))
    assert found is not None
    assert found.points == (ConsumptionPoint(610 * S, 610, 1_220), ConsumptionPoint(910 * S, 910, 1_820))
    assert (found.sent_back_since_ms, found.sent_back_ms) == (20 * S, 990 * S)


def test_a_pause_of_ten_minutes_ends_a_run():
    begun = (0, seen(1)), (10, seen(2))
    found, later = folded(*begun, (610, seen(3))), folded(*begun, (611, seen(3)))
    assert found is not None
    assert later is not None
    assert (found.sent_back_since_ms, later.sent_back_since_ms) == (10 * S, 611 * S)


def test_recreated_topics_and_reset_offsets_begin_again():
    fewer = folded((0, seen(0)), (10, seen(50, consumed=100)), (20, seen(3, consumed=100)))
    assert fewer is not None
    assert (fewer.sent_back_since_ms, fewer.points) == (0, (ConsumptionPoint(20 * S, 3, 100),))
    reset = folded((0, seen(0)), (10, seen(50, consumed=100)), (20, seen(51, consumed=10)))
    assert reset is not None
    assert reset.points == (ConsumptionPoint(20 * S, 51, 10),)


def test_a_poll_without_one_of_the_brokers_changes_nothing():
    known = folded((0, seen(0)), (10, seen(50, 9, consumed=100)))
    assert known is not None
    assert folded((0, seen(0)), (10, seen(50, 9, consumed=100)), (20, None)) == known
