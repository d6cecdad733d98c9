"""How often a group.instance.id passes from one member to the next. Times are in seconds."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.model import CurrentRemoved, EpochStored, GroupKind, Member, MemberRemoved, MembershipStored, MemberStored
from monitor.model.static_ids import StaticIdRun
from monitor.tracking.group import fold_group
from monitor.tracking.rebalances.static_ids import MAX_IDS
from tests.support.builders import member

S = 1_000


def life(name: str) -> Member:
    """A member; what is before a ``#`` is its instance id, and what follows tells its lives apart."""
    instance, _, number = name.partition("#")
    return member(name, ["t"], {"t": (0,)}, instance_id=instance if number else None, client_id="app", host="/h")


def stored(at_s: float, *names: str, generation: int = 1) -> MembershipStored:
    members = tuple(life(name) for name in names)
    return MembershipStored("g", generation, "consumer", "range" if members else None, None, int(at_s * S), members)


def runs(events: Sequence[object]) -> tuple[StaticIdRun, ...]:
    state = fold_group("c", "g", None, events)
    assert state is not None
    return state.static_ids


def test_two_processes_that_fence_each_other_are_counted_in_one_generation():
    """As the program of aio-libs/aiokafka PR #1188 leaves it in the log: one generation, a new member id each time."""
    found = runs([stored(3 * number, "x#a" if number % 2 else "x#b", "y#1") for number in range(6)])
    assert found == (StaticIdRun("x", 3 * S, 15 * S, times=5, longest_gap_ms=3 * S),)


def test_the_same_is_counted_where_each_replacement_is_a_new_generation():
    events = [stored(3 * number, f"x#{number}", generation=number + 1) for number in range(4)]
    assert runs(events) == (StaticIdRun("x", 3 * S, 9 * S, times=3, longest_gap_ms=3 * S),)


def test_a_member_that_was_away_for_longer_than_its_session_is_replaced_when_it_is_back():
    events = [
        stored(0, "x#1", "y#1"),
        stored(45, "y#1", generation=2),
        stored(80, "x#2", "y#1", generation=3),
        stored(125, "y#1", generation=4),
        stored(180, "x#3", "y#1", generation=5),
    ]
    assert runs(events) == (StaticIdRun("x", 80 * S, 180 * S, times=2, longest_gap_ms=100 * S),)


def test_the_only_member_of_a_group_is_replaced_too():
    events = [stored(0, "x#1"), stored(45, generation=2), stored(60, "x#2", generation=3)]
    assert runs(events) == (StaticIdRun("x", 60 * S, 60 * S, times=1),)


def test_members_without_an_id_that_join_and_leave_are_not_counted():
    assert runs([stored(number, f"m-{number}", generation=number + 1) for number in range(9)]) == ()


def test_a_first_join_is_no_replacement():
    assert runs([stored(0, "x#1"), stored(1, "x#1", "y#1", generation=2)]) == ()


def test_a_static_member_that_rejoins_by_its_member_id_is_not_replaced():
    assert runs([stored(number, "x#1", "y#1", generation=number + 1) for number in range(9)]) == ()


def test_replacements_more_than_ten_minutes_apart_begin_anew():
    deployed = [stored(601 * number, f"x#{number}") for number in range(6)]
    assert runs(deployed) == (StaticIdRun("x", 3005 * S, 3005 * S, times=1),)
    slow = [stored(600 * number, f"x#{number}") for number in range(6)]
    assert runs(slow) == (StaticIdRun("x", 600 * S, 3000 * S, times=5, longest_gap_ms=600 * S),)


def test_an_old_run_is_forgotten_with_the_next_replacement_of_any_member():
    events = [stored(0, "x#1", "y#1"), stored(10, "x#2", "y#1"), stored(1811, "x#2", "y#2")]
    assert [run.instance_id for run in runs(events)] == ["y"]


def test_a_clock_that_goes_back_leaves_no_negative_times():
    events = [stored(10, "x#1"), stored(20, "x#2"), stored(5, "x#3")]
    assert runs(events) == (StaticIdRun("x", 20 * S, 20 * S, times=2),)


def test_of_a_large_group_the_ids_that_were_replaced_most_often_are_kept():
    def lives(number: int) -> list[str]:
        return [f"x{each:03}#{number if number < 2 or each == 400 else 1}" for each in range(500)]

    found = runs([stored(number, *lives(number)) for number in range(7)])
    assert len(found) == MAX_IDS
    assert found[-1] == StaticIdRun("x400", 2 * S, 6 * S, times=5, longest_gap_ms=S), "the first of six had no room"


def test_a_member_of_kip_848_that_closes_and_comes_back_is_counted():
    """The records that the broker writes for it: tombstones of the old member, then the new one, in the same epoch."""
    kind = GroupKind.CONSUMER

    def joins(name: str, at_s: int) -> MemberStored:
        return MemberStored("g", kind, life(name), at_s * S)

    events: list[object] = [EpochStored("g", kind, 1, 0), joins("x#0", 0)]
    for number in range(1, 4):
        at_ms = number * 7 * S
        gone = f"x#{number - 1}"
        events += [CurrentRemoved("g", kind, gone, at_ms), MemberRemoved("g", kind, gone, at_ms)]
        events.append(joins(f"x#{number}", number * 7))
    assert runs(events) == (StaticIdRun("x", 7 * S, 21 * S, times=3, longest_gap_ms=7 * S),)
