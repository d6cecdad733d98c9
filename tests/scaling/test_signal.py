"""The number of members: what is enough by hand, when it is held, and that nothing missing makes it lower."""

import pytest
from msgspec.structs import replace

from monitor.detection.ownership.catalog_view import Topics
from monitor.model import Finding, FindingKind, Phase, Rebalance
from monitor.model.scaling import EnoughMembers, MemberRate, ScaleHold, ScaleMemory, ScaleTarget
from monitor.scaling.answer import case_of, scale_plan
from monitor.scaling.signal import Signal, judge_scaling, members_per_host
from tests.scaling.fleet import Fleet, even
from tests.support.builders import member

TARGET = ScaleTarget()
MEASURED = ScaleMemory(rates=tuple([MemberRate(number, "m00", "h", 200.0) for number in range(10)]))
"""A member reads 200 records a second."""
MINUTE = 60_000


def signal_of(fleet: Fleet, memory: ScaleMemory = MEASURED, target: ScaleTarget = TARGET) -> Signal:
    return judge_scaling(case_of(fleet.inputs(), target), memory)


def number_of(fleet: Fleet, memory: ScaleMemory = MEASURED, target: ScaleTarget = TARGET) -> int | None:
    return signal_of(fleet, memory, target).scaling.wanted_members


# --- what is enough ---------------------------------------------------------------------------------------------------


def test_a_number_at_which_the_largest_share_does_not_fall_is_no_answer():
    """60 records a second into each of 6 partitions, 200 are read: with the headroom of 0.8, a member has room for two
    (120 of 160). Three members have two each; 4 and 5 members would have two at most as well."""
    fleet = Fleet(even(6, 60.0), [400.0, 400.0]).run(300)
    assert number_of(fleet) == 3
    assert number_of(fleet, target=replace(TARGET, least=4)) == 4


def test_two_partitions_that_are_too_much_for_the_headroom_need_a_member_each():
    """90 + 90 is more than 160, so it takes six members, although 4 would have 135 each if partitions could be cut."""
    assert number_of(Fleet(even(6, 90.0), [400.0, 400.0]).run(300)) == 6


def test_what_waits_has_to_be_read_within_the_target():
    """4 partitions with 10 a second and 6,000 that wait in each: 110 a second within a minute, 60 within two."""
    fleet = Fleet(lambda s: [10.0 if s != 100 else 6_000.0] * 4, [1e-9, 1e-9], stuck=frozenset(range(4)))
    fleet.run(100)
    fleet.stuck = frozenset()
    fleet.run(2)
    fleet.run(18)
    waits = signal_of(fleet, replace(MEASURED, latest=2))
    assert waits.scaling.waiting == pytest.approx(4 * 7_180, rel=0.02)


def test_the_largest_number_is_that_of_the_partitions_or_of_the_entry():
    fleet = Fleet(even(4, 190.0), [100.0, 100.0]).run(300)
    assert number_of(fleet) == 4
    assert number_of(fleet, target=replace(TARGET, most=3)) == 3


def test_where_no_number_is_enough_it_says_so():
    fleet = Fleet(even(4, 190.0), [100.0, 100.0]).run(300)
    latest = signal_of(fleet, target=replace(TARGET, most=2)).scaling
    assert latest.sentence == "No number of members reads all that waits within 1 min; 2 members come closest."


def test_replicas_have_as_many_members_as_most_hosts():
    fleet = Fleet(even(6, 60.0), [400.0] * 4, hosts=["/a", "/a", "/b", "/b"]).run(300)
    latest = signal_of(fleet, replace(MEASURED, latest=4)).scaling
    assert (latest.members_per_replica, latest.wanted_members, latest.wanted_replicas) == (2, 4, 2)
    assert signal_of(fleet, target=replace(TARGET, members_per_replica=3)).scaling.wanted_replicas == 2


def test_members_per_host_are_those_of_most_hosts():
    def members(*hosts: str):
        return [member(f"m{number}", ["t"], host=host) for number, host in enumerate(hosts)]

    assert members_per_host(members("a", "a", "b", "b", "c")) == 2
    assert members_per_host(members("a", "a", "b")) == 1
    assert members_per_host(members("a", "a", "")) == 1
    assert members_per_host([]) == 1


# --- lower numbers come late ------------------------------------------------------------------------------------------

QUIET = Fleet(even(6, 10.0), [400.0] * 4)


def test_a_lower_number_has_to_have_been_enough_for_ten_minutes():
    fleet, memory = Fleet(even(6, 10.0), [400.0] * 4).run(300), MEASURED
    latest = {}
    for _ in range(25):
        found = signal_of(fleet.run(30), memory)
        latest[fleet.now_ms], memory = found.scaling.wanted_members, found.memory
    first_ms = min(latest)
    assert {at_ms - first_ms for at_ms, wanted in latest.items() if wanted == 1} == set(range(600_000, 721_000, 30_000))
    assert {wanted for wanted in latest.values() if wanted != 1} == {4}


def test_what_was_needed_within_the_ten_minutes_counts():
    fleet = Fleet(even(6, 10.0), [400.0] * 4).run(900)
    now_ms = fleet.now_ms
    memory = replace(
        MEASURED,
        since_ms=now_ms - 20 * MINUTE,
        latest=4,
        enough=(EnoughMembers(now_ms - 12 * MINUTE, 4), EnoughMembers(now_ms - 9 * MINUTE, 3)),
    )
    assert number_of(fleet, memory) == 4  # for 3 of the minutes
    later = replace(memory, enough=(EnoughMembers(now_ms - 14 * MINUTE, 4), EnoughMembers(now_ms - 11 * MINUTE, 3)))
    assert number_of(fleet, later) == 3
    long_ago = replace(memory, enough=(EnoughMembers(now_ms - 14 * MINUTE, 1),))
    assert number_of(fleet, long_ago) == 1


def test_a_higher_number_counts_at_once():
    fleet = Fleet(even(6, 90.0), [400.0, 400.0]).run(300)
    memory = replace(MEASURED, since_ms=fleet.now_ms - 20 * MINUTE, latest=2, enough=(EnoughMembers(1, 2),))
    assert number_of(fleet, memory) == 6


# --- holds ------------------------------------------------------------------------------------------------------------


def test_a_capacity_that_is_unknown_holds_the_present_number():
    latest = signal_of(Fleet(even(6, 10.0), [400.0] * 3).run(300), ScaleMemory()).scaling
    assert (latest.wanted_members, latest.hold) == (3, ScaleHold.CAPACITY)


def test_a_partition_that_brings_more_than_a_member_reads_holds_the_number():
    """300 a second into one partition of 6; the others have 10, for which two members are enough."""
    fleet = Fleet(lambda _: [300.0, *[10.0] * 5], [200.0] * 2).run(300)
    latest = signal_of(fleet).scaling
    assert (latest.wanted_members, latest.hold) == (2, ScaleHold.PARTITION)
    assert latest.sentence == "More members do not help: partition 0 of orders brings 150% of what one member reads."


def test_others_still_get_members_beside_such_a_partition():
    """The other five bring 90 each, so each needs a member of its own."""
    fleet = Fleet(lambda _: [300.0, *[90.0] * 5], [200.0] * 2).run(300)
    latest = signal_of(fleet).scaling
    assert (latest.wanted_members, latest.hold) == (6, None)


@pytest.mark.parametrize(
    ("kind", "reason", "hold"),
    [
        (FindingKind.LAG, "stuck_record", ScaleHold.RECORD),
        (FindingKind.LAG, "not_committing", ScaleHold.OWNER),
        (FindingKind.DEAD_MEMBER, "silent", ScaleHold.OWNER),
        (FindingKind.DOUBLE_OWNED, "same_generation", ScaleHold.TWO_OWNERS),
        (FindingKind.ORPHANED, "pending", ScaleHold.REBALANCE),
        (FindingKind.ORPHANED, "assignor_gap", ScaleHold.OWNER),
        (FindingKind.TRANSACTIONS, "uncommitted", ScaleHold.TRANSACTION),
    ],
)
def test_what_more_members_do_not_end_holds_the_number(kind, reason, hold):
    fleet = Fleet(even(6, 90.0), [400.0, 400.0]).run(300)
    case = case_of(fleet.inputs(), TARGET)
    finding = Finding(kind=kind, reason=reason, since_ms=1, sentence="It is so.")
    case = case._replace(verdict=replace(case.verdict, findings=(finding,)))
    found = judge_scaling(case, replace(MEASURED, latest=5))
    assert (found.scaling.wanted_members, found.scaling.hold) == (5, hold)


def test_a_rebalance_holds_the_number_and_twice_its_usual_length_after_it():
    fleet = Fleet(even(6, 90.0), [400.0, 400.0]).run(70)
    history = (Rebalance(generation=2, started_ms=0, ended_ms=40_000),)
    case = case_of(fleet.inputs(), TARGET)
    case = case._replace(group=replace(case.group, history=history))
    held = judge_scaling(case, replace(MEASURED, latest=4))
    assert (held.scaling.wanted_members, held.scaling.hold) == (4, ScaleHold.SETTLING)
    assert held.until_ms == fleet.now_ms + 10_000  # 80 s after it
    short = case._replace(group=replace(case.group, history=(replace(history[0], ended_ms=30_000),)))
    assert judge_scaling(short, replace(MEASURED, latest=4)).scaling.hold is None
    going_on = case._replace(verdict=replace(case.verdict, rebalancing_since_ms=1))
    assert judge_scaling(going_on, replace(MEASURED, latest=4)).scaling.hold is ScaleHold.REBALANCE


def test_the_members_of_a_group_in_motion_are_no_number():
    """A job that starts during a rollout sees fewer members than there are to be."""
    case = case_of(Fleet(even(6, 90.0), [400.0, 400.0]).run(300).inputs(), TARGET)
    going_on = case._replace(verdict=replace(case.verdict, rebalancing_since_ms=1))
    assert judge_scaling(going_on, MEASURED).scaling.wanted_members is None


# --- what is missing --------------------------------------------------------------------------------------------------


def without_members(case):
    return case._replace(verdict=replace(case.verdict, members=(), state=Phase.EMPTY))


def without_lag(case):
    return case._replace(verdict=replace(case.verdict, lag=None))


def without_a_broker(case):
    return case._replace(verdict=replace(case.verdict, missed_brokers=(1,)))


def not_evaluated(case):
    return case._replace(verdict=replace(case.verdict, unjudged="A rule failed."))


def without_polls(case):
    return case._replace(topics=Topics(replace(case.topics.catalog, topics={})))


@pytest.mark.parametrize("spoil", [without_members, without_lag, without_a_broker, not_evaluated, without_polls])
def test_where_something_is_missing_there_is_no_number(spoil):
    fleet = Fleet(even(6, 10.0), [400.0] * 4).run(900)
    memory = replace(MEASURED, since_ms=1, latest=4, enough=(EnoughMembers(1, 1),))
    case = case_of(fleet.inputs(), TARGET)
    assert judge_scaling(case, memory).scaling.wanted_members == 1  # all is known
    found = judge_scaling(spoil(case), memory)
    assert (found.scaling.wanted_members, found.scaling.wanted_replicas, found.scaling.hold) == (None, None, None)
    assert found.scaling.sentence.endswith((".", "failed."))
    again = judge_scaling(case, found.memory)
    assert again.scaling.wanted_members == 4, "what was enough before says nothing of the time in between"


def test_the_latest_number_counts_no_more_after_five_minutes_without_one():
    """A group that was stopped for the night comes back with two pods; its eight of yesterday are no number."""
    fleet = Fleet(even(6, 10.0), [400.0, 400.0]).run(900)
    case = case_of(fleet.inputs(), TARGET)
    memory = replace(MEASURED, latest=8)
    for later_ms, latest in ((0, 8), (300_000, 8), (300_001, None)):
        then = without_members(case)._replace(
            verdict=replace(case.verdict, members=(), evaluated_ms=case.now_ms + later_ms)
        )
        memory = judge_scaling(then, memory).memory
        assert memory.latest == latest
    back = judge_scaling(case, memory)
    assert (back.scaling.wanted_members, back.memory.unknown_ms) == (2, 0)


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_table_has_the_numbers_at_which_the_busiest_member_has_less():
    fleet = Fleet(even(6, 60.0), [200.0, 200.0]).run(200)
    plan = scale_plan(fleet.inputs(memory=MEASURED), TARGET)
    assert [(row.members, row.partitions) for row in plan.rows] == [(1, 6), (2, 3), (3, 2), (6, 1)]
    assert [row.busiest for row in plan.rows] == pytest.approx([2.25, 1.125, 0.75, 0.3], abs=0.01)
    assert plan.scaling.wanted_members == 3
    assert plan.rows[0].drain_ms is None


def test_a_skew_says_which_partitions_or_keys_would_help():
    fleet = Fleet(lambda _: [300.0, *[10.0] * 5], [200.0] * 2).run(300)
    plan = scale_plan(fleet.inputs(memory=MEASURED), TARGET)
    assert [each.sentence() for each in plan.skews] == [
        "300 records/s come into partition 0 of orders: 150% of what one member reads. "
        "Keys that spread evenly over the 6 partitions would help."
    ]
    one = scale_plan(Fleet(lambda _: [300.0], [200.0]).run(300).inputs(memory=MEASURED), TARGET)
    assert one.skews[0].sentence() == (
        "300 records/s come into partition 0 of orders: 150% of what one member reads. "
        "The topic needs 2 partitions, and keys that spread evenly over them."
    )
