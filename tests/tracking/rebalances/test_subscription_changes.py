"""Whose coming and going made a group rebalance, by what they subscribe to."""

from __future__ import annotations

import msgspec

from monitor.model import MembershipStored, OffsetCommitted, Rebalance, SubscriptionChange
from monitor.tracking.group import fold_group
from tests.support.builders import member


def stored(number: int, members: dict[str, str], at_ms: int | None = None) -> MembershipStored:
    """A generation of members, each with the topics to which it subscribes."""
    joined = tuple(member(name, topics.split(), {topics.split()[0]: (0,)}) for name, topics in members.items())
    return MembershipStored("g", number, "consumer", "range", None, at_ms or number, joined)


def folded(*events):
    state = fold_group("c", "g", None, events)
    assert state is not None
    return state


def changes(*generations: dict[str, str]) -> list[tuple[SubscriptionChange, ...]]:
    state = folded(*[stored(number + 1, members) for number, members in enumerate(generations)])
    return [() if each.subscriptions is None else each.subscriptions.changes for each in state.history]


def test_members_of_equal_subscriptions_leave_no_trace():
    assert changes({"a": "t u"}, {"a": "t u", "b": "u t"}, {"b": "u t"}) == [(), (), ()]


def test_members_that_come_and_leave_are_counted_by_subscription():
    one, two = {"a": "t"}, {"a": "t", "b": "u v"}
    assert changes(one, two, {"a": "t", "c": "v u"}, one, {"a": "t", "d": "t"}) == [
        (),
        (SubscriptionChange(("u", "v"), 1, 0),),
        (SubscriptionChange(("u", "v"), 1, 1),),
        (SubscriptionChange(("u", "v"), 0, 1),),
        (SubscriptionChange(("t",), 1, 0),),
    ], "it goes on while the history has members of other topics"


def test_a_member_that_subscribes_to_other_topics_leaves_one_subscription_and_joins_another():
    assert changes({"a": "t", "b": "u"}, {"a": "t", "b": "v"})[1] == (
        SubscriptionChange(("u",), 0, 1),
        SubscriptionChange(("v",), 1, 0),
    )


def test_many_subscriptions_at_once_are_only_counted():
    many = {name: name for name in "abcde"}
    assert changes(many) == [(SubscriptionChange((), 5, 0),)]
    assert [len(each) for each in changes({name: name for name in "abcd"})] == [4]


def test_of_a_long_subscription_the_first_topics_are_kept():
    long = " ".join(f"t{number:02}" for number in range(20, 0, -1))
    (found,) = changes({"a": "x"}, {"a": "x", "b": long})[1]
    assert found.topics == tuple(f"t{number:02}" for number in range(1, 9))


def committed(topic: str, *points: tuple[int, int]) -> list[OffsetCommitted]:
    return [OffsetCommitted("g", topic, 0, offset, at_s * 1_000) for at_s, offset in points]


def test_the_pauses_of_those_that_did_not_restart_are_kept_apart():
    """Both commit every five seconds until 20 s, and then at 33 s: 8 s later than usual. ``b`` restarts at 22 s."""
    steady = [(5, 10), (10, 20), (15, 30), (20, 40)]
    before = [*committed("t", *steady), *committed("u", *steady)]
    after = [*committed("t", (33, 75)), *committed("u", (33, 75))]
    both = stored(1, {"a": "t", "b": "u"}), stored(2, {"a": "t", "b": "u"}, 1)
    state = folded(*both, *before, stored(3, {"a": "t", "c": "u"}, 22_000), *after)
    assert (state.history[-1].pause_ms, state.history[-1].subscriptions.others_pause_ms) == (16_000, 8_000)
    alike = {"a": "t u", "b": "t u"}
    state = folded(stored(1, alike), *before, stored(3, {"a": "t u", "c": "t u"}, 22_000), *after)
    assert (state.history[-1].pause_ms, state.history[-1].subscriptions) == (16_000, None)


def test_a_rebalance_of_equal_subscriptions_is_stored_as_before():
    (found,) = folded(stored(1, {"a": "t"})).history
    assert (
        msgspec.json.encode(found)
        == b'{"generation":1,"started_ms":1,"ended_ms":1,"causes":["join"],"joined":1,"is_first":true}'
    )
    assert msgspec.json.decode(msgspec.json.encode(found), type=Rebalance) == found
