"""The number of members: what is enough by hand, when it is held, and that nothing missing makes it lower."""

import pytest
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.catalog_view import Topics
from monitor.model import Finding, FindingKind, Phase, Rebalance
from monitor.model.scaling import EnoughMembers, MemberRate, ScaleHold, ScaleMemory, ScaleTarget
from monitor.scaling.answer import case_of, scale_plan
from monitor.scaling.shares import ShareTable
from monitor.scaling.signal import RENEWED_MS, Signal, judge_scaling, members_per_replica
from tests.scaling.fleet import Fleet, even
from tests.support.builders import member

TARGET = ScaleTarget()
MEASURED = ScaleMemory(rates=tuple([MemberRate(number, "m00", "h", 200.0) for number in range(10)]))
"""A member reads 200 records a second."""
MINUTE = 60_000


def known(fleet: Fleet, latest: int | None = None) -> ScaleMemory:
    """What is remembered of a group that has been known for long."""
    return replace(MEASURED, since_ms=fleet.now_ms - 20 * MINUTE, latest=latest or len(fleet.speeds))


def signal_of(fleet: Fleet, memory: ScaleMemory = MEASURED, target: ScaleTarget = TARGET) -> Signal:
    return judge_scaling(case_of(fleet.inputs(), target), memory)


def number_of(fleet: Fleet, memory: ScaleMemory = MEASURED, target: ScaleTarget = TARGET) -> int | None:
    return signal_of(fleet, memory, target).scaling.wanted_members


# --- what is enough ---------------------------------------------------------------------------------------------------


def test_a_number_at_which_the_largest_share_does_not_fall_is_no_answer():
    """60 records a second into each of 6 partitions, 200 are read: with the headroom of 0.8, a member has room for two
    (120 of 160). Three members have two each; 4 and 5 members would have two at most as well."""
    fleet = Fleet(even(6, 60.0), [400.0, 400.0]).run(700)
    assert number_of(fleet) == 3
    assert number_of(fleet, target=replace(TARGET, least=4)) == 4
    assert number_of(fleet, known(fleet), target=replace(TARGET, most=1)) == 1


def test_two_partitions_that_are_too_much_for_the_headroom_need_a_member_each():
    """90 + 90 is more than 160, so it takes six members, although 4 would have 135 each if partitions could be cut."""
    assert number_of(Fleet(even(6, 90.0), [400.0, 400.0]).run(700)) == 6


def test_what_waits_has_to_be_read_within_the_target():
    """About 7,200 wait in each of 4 partitions, and nothing comes in: 120 a second each within a minute, so a member of
    200 reads one. Within three minutes it is 40, and one member reads all four."""
    fleet = Fleet(lambda second: [7_200.0 if second == 1 else 0.0] * 4, [1.0, 1.0]).run(320)
    assert signal_of(fleet).scaling.waiting == pytest.approx(4 * 7_200, rel=0.03)
    assert number_of(fleet, known(fleet)) == 4
    assert number_of(fleet, known(fleet), target=replace(TARGET, target_ms=3 * MINUTE)) == 1


def test_what_comes_in_meanwhile_does_not_have_to_be_read_as_soon():
    """About 4,800 wait in each of 4 partitions, and 50 a second come in. Two partitions need 48 s for what waits, so no
    record waits for longer than a minute; two members have nothing left after 96 s."""
    fleet = Fleet(lambda second: [4_850.0 if second == 1 else 50.0] * 4, [100.0, 100.0]).run(320)
    plan = scale_plan(fleet.inputs(TARGET, known(fleet)), TARGET)
    assert plan.scaling.wanted_members == 2
    row = next(row for row in plan.rows if row.members == 2)
    assert (row.wait_ms, row.drain_ms) == pytest.approx((48_000, 96_000), rel=0.05)


def test_a_short_peak_uses_the_headroom_and_a_lasting_one_needs_it():
    """10 a second come in, then 90: two partitions bring 180 of the 200 that a member reads, more than the headroom of
    160. The mean of ten minutes is above 160 after 8 min 45 s."""
    fleet = Fleet(lambda second: [90.0 if second > 900 else 10.0] * 6, [400.0] * 3).run(900)
    told = {second: number_of(fleet.run(60), known(fleet)) for second in range(60, 720, 60)}
    assert [told[second] for second in (300, 360, 480, 600, 660)] == [3, 3, 3, 6, 6]


def test_slightly_too_much_is_enough_for_as_long_as_no_record_waits_too_long():
    """204 come in for a member that reads 200: after ten minutes, 12 s of work would wait. With 300, 300 s would."""
    fleet = Fleet(lambda second: [102.0 if second > 900 else 10.0] * 6, [400.0] * 3).run(1_140)
    assert number_of(fleet, known(fleet)) == 3
    steep = Fleet(lambda second: [150.0 if second > 900 else 10.0] * 6, [600.0] * 3).run(1_140)
    assert number_of(steep, known(steep)) == 6


def test_a_partition_that_waits_alone_is_read_in_turn_with_what_comes_into_the_others():
    """Partition 0 has 11,000 waiting, and 140 a second come into partition 1. One member of 200 a second reads both in
    turn: 110 s. Two members have one each: 55 s."""
    fleet = Fleet(lambda second: [11_000.0 if second == 300 else 0.0, 140.0], [400.0, 400.0]).run(301)
    fleet.speeds = [1.0, 140.0]
    plan = scale_plan(fleet.run(30).inputs(TARGET, known(fleet)), TARGET)
    assert [round(row.wait_ms / 1000) for row in plan.rows] == pytest.approx([110, 55], abs=4)
    assert plan.scaling.wanted_members == 2


def test_where_only_the_headroom_is_missing_the_number_with_most_of_it_counts():
    """24 partitions of 34 a second, at most 5 members of 200: 4 have six each (102%), 5 have five at most (85%)."""
    fleet = Fleet(even(24, 34.0), [210.0] * 5).run(900)
    told = signal_of(fleet, known(fleet), replace(TARGET, most=5)).scaling
    assert told.wanted_members == 5
    assert told.sentence == "No number of members leaves the headroom of 20%; 5 members come closest."


def test_a_backlog_in_one_partition_that_no_number_can_split_needs_no_more_members():
    """36,000 wait in one of 12 partitions, and nothing comes in: 180 s, whoever owns the others."""
    fleet = Fleet(lambda second: [36_000.0 if second == 300 else 0.0, *[0.0] * 11], [400.0]).run(299)
    fleet.speeds = [1.0]
    told = signal_of(fleet.run(200), known(fleet)).scaling
    assert (told.wanted_members, told.sentence) == (
        1,
        "No number of members reads all that waits within 1 min; 1 member comes closest.",
    )


def test_beside_such_a_backlog_the_others_count():
    """24,000 in partition 0 (120 s), 11,500 in 2 and 3. Range gives two partitions to each of three members: 2 and 3 to
    one, which is late. Of four, the first two have 0, 1 and 2, 3; of five, only the first has two."""
    backlog = [24_000.0, 0.0, 11_500.0, 11_500.0, 0.0, 0.0]
    fleet = Fleet(lambda second: backlog if second == 300 else [0.0] * 6, [400.0] * 3).run(301)
    fleet.speeds = [1.0] * 3
    assert number_of(fleet.run(60), known(fleet)) == 5


def test_a_backlog_that_an_owner_with_less_to_do_reads_sooner_needs_more():
    """Over 40,000 wait in partition 0, and 45 a second come into each of 4: its owner of 200 is late with any number.
    With another partition, it has nothing left after about 490 s; alone, after 300 s."""
    fleet = Fleet(lambda second: [40_000.0 + 45.0 if second == 700 else 45.0, *[45.0] * 3], [400.0] * 2).run(699)
    fleet.speeds = [1.0, 90.0]
    plan = scale_plan(fleet.run(150).inputs(TARGET, known(fleet)), TARGET)
    assert plan.scaling.wanted_members == 4
    times = {row.members: row.drain_ms for row in plan.rows}
    assert (times[2], times[4]) == (pytest.approx(490_000, rel=0.03), pytest.approx(300_000, rel=0.03))


def test_a_number_that_is_better_by_no_more_than_noise_is_no_answer():
    """Of six members, the last has the last two partitions: 160.5, where the headroom leaves 160. Of seven, they have a
    member each, but the first five still have two of 79."""
    rates = [*[79.0] * 10, 80.5, 80.0]
    fleet = Fleet(lambda _: rates, [400.0] * 6).run(900)
    told = signal_of(fleet, known(fleet)).scaling
    assert (told.wanted_members, told.sentence) == (6, "6 members are enough to read all that waits within 1 min.")
    rates[10:] = [90.0, 90.0]
    assert number_of(fleet.run(900), known(fleet)) == 7


def test_a_partition_beside_one_that_is_too_much_has_its_turns():
    """205 come into partition 0, 150 into 1, and a member reads 200. With one to three members, one has both and reads
    them in turn, so 1 gets 100 at most."""
    fleet = Fleet(lambda _: [205.0, 150.0, 20.0, 20.0], [200.0]).run(900)
    assert number_of(fleet, known(fleet)) == 4
    calm = Fleet(lambda _: [205.0, 60.0, 20.0, 20.0], [300.0, 200.0]).run(900)
    held = signal_of(calm, known(calm)).scaling
    assert (held.wanted_members, held.hold) == (2, ScaleHold.PARTITION)


def test_one_record_in_a_while_is_nothing_that_could_be_given_away():
    """190 of 200 come into partition 0, and a record every 200 s into partition 1: a second member would not help."""
    fleet = Fleet(lambda second: [190.0, 1.0 if second % 200 == 0 else 0.0], [400.0]).run(900)
    assert {number_of(fleet.run(30), known(fleet)) for _ in range(12)} == {1}


def test_the_present_number_may_be_a_little_short():
    """Two partitions of 82 are 164, where the headroom leaves 160: three members stay, and six do not become three."""
    fleet = Fleet(even(6, 82.0), [400.0] * 3).run(900)
    assert number_of(fleet, known(fleet)) == 3
    more = Fleet(even(6, 82.0), [400.0] * 6).run(900)
    assert number_of(more, known(more)) == 6
    fuller = Fleet(even(6, 85.0), [400.0] * 3).run(900)
    assert number_of(fuller, known(fuller)) == 6


def test_a_second_partition_that_is_late_does_not_hide_behind_the_first():
    """60,000 wait in partition 0 (300 s), 12,100 in 2 (60.5 s), 11,900 in 3: apart, 2 and 3 take a minute each."""
    backlog = [60_000.0, 0.0, 12_100.0, 11_900.0, 0.0, 0.0]
    fleet = Fleet(lambda second: backlog if second == 300 else [0.0] * 6, [400.0] * 3).run(299)
    fleet.speeds = [0.001] * 3
    assert number_of(fleet.run(200), known(fleet)) == 5


def test_more_members_than_a_backlog_needs_have_to_read_it_sooner_by_a_quarter():
    """Over 36,000 wait in partition 0, and 15 a second come into each of 4: with another partition, its owner has
    nothing left after about 240 s, alone after 205 s."""
    fleet = Fleet(lambda second: [36_000.0 + 15.0 if second == 700 else 15.0, *[15.0] * 3], [400.0] * 2).run(699)
    fleet.speeds = [1.0, 30.0]
    plan = scale_plan(fleet.run(150).inputs(TARGET, known(fleet)), TARGET)
    times = {row.members: row.drain_ms for row in plan.rows}
    assert (times[2], times[4]) == (pytest.approx(240_000, rel=0.03), pytest.approx(205_000, rel=0.03))
    assert plan.scaling.wanted_members == 2


def test_the_members_that_read_a_backlog_sooner_stay_until_it_is_read():
    """Two would take 240 s, which is no reason for four, but four take 205 s once they are there."""
    fleet = Fleet(lambda second: [36_000.0 + 15.0 if second == 700 else 15.0, *[15.0] * 3], [400.0] * 4).run(699)
    fleet.speeds = [1.0, *[30.0] * 3]
    assert number_of(fleet.run(150), known(fleet)) == 4


def test_the_largest_number_is_that_of_the_partitions_or_of_the_entry():
    fleet = Fleet(even(4, 190.0), [100.0, 100.0]).run(700)
    assert number_of(fleet) == 4
    assert number_of(fleet, target=replace(TARGET, most=3)) == 3
    assert number_of(fleet, known(fleet, 6), target=replace(TARGET, most=3)) == 3


def test_where_no_number_is_enough_it_says_so():
    fleet = Fleet(even(4, 190.0), [100.0, 100.0]).run(700)
    latest = signal_of(fleet, known(fleet), target=replace(TARGET, most=2)).scaling
    assert latest.sentence == "No number of members reads all that waits within 1 min; 2 members come closest."


def test_replicas_are_known_where_each_member_has_a_host_of_its_own():
    fleet = Fleet(even(6, 60.0), [400.0] * 4)
    own = signal_of(fleet.run(700), known(fleet)).scaling
    assert (own.members_per_replica, own.wanted_members, own.wanted_replicas) == (1, 3, 3)
    threads = signal_of(fleet, known(fleet), replace(TARGET, members_per_replica=2)).scaling
    assert (threads.wanted_members, threads.wanted_replicas) == (3, 2)


def test_several_members_of_a_host_are_no_number_of_replicas():
    """They may be threads of one pod, or pods behind one address: eight of these are not one replica."""
    fleet = Fleet(even(8, 90.0), [400.0] * 8, hosts=["/10.0.0.1"] * 8).run(700)
    told = signal_of(fleet, known(fleet)).scaling
    assert (told.members_per_replica, told.wanted_members, told.wanted_replicas) == (None, 8, None)
    assert members_per_replica([member("a", ["t"], host="h"), member("b", ["t"], host="")], TARGET) is None
    assert members_per_replica([], TARGET) is None


# --- lower numbers come late ------------------------------------------------------------------------------------------


def test_a_lower_number_has_to_have_been_enough_for_ten_minutes():
    fleet = Fleet(even(6, 10.0), [400.0] * 4).run(700)
    memory = replace(MEASURED, since_ms=fleet.now_ms, latest=4)
    first_ms, told = fleet.now_ms, {}
    for _ in range(25):
        found = signal_of(fleet.run(30), memory)
        told[fleet.now_ms], memory = found.scaling.wanted_members, found.memory
    fell_ms = min(at_ms for at_ms, wanted in told.items() if wanted == 1)
    assert fell_ms - first_ms == 10 * MINUTE
    assert {wanted for at_ms, wanted in told.items() if at_ms < fell_ms} == {4}
    assert {wanted for at_ms, wanted in told.items() if at_ms >= fell_ms} == {1}


def test_what_was_needed_within_the_ten_minutes_counts():
    fleet = Fleet(even(6, 10.0), [400.0] * 4).run(900)
    now_ms = fleet.now_ms
    within, before = now_ms - 10 * MINUTE - RENEWED_MS, now_ms - 10 * MINUTE - RENEWED_MS - 1
    recent = replace(known(fleet), enough=(EnoughMembers(within, 4), EnoughMembers(now_ms - MINUTE, 3)))
    assert number_of(fleet, recent) == 4
    assert number_of(fleet, replace(recent, enough=(EnoughMembers(before, 4), EnoughMembers(within, 3)))) == 3
    assert number_of(fleet, replace(recent, enough=(EnoughMembers(before, 4),))) == 1


def test_a_need_that_swings_lets_an_old_peak_go():
    """Once 4, and since then 1 and 2 in turn (40 a second in the mean): the peak counts for ten minutes, no longer."""
    fleet, memory = Fleet(lambda s: [20.0 if s // 300 % 2 else 60.0] * 6, [400.0] * 4).run(600), None
    memory = replace(known(fleet), enough=(EnoughMembers(fleet.now_ms, 4),))
    told = []
    for _ in range(50):
        found = signal_of(fleet.run(30), memory)
        memory = found.memory
        told.append(found.scaling.wanted_members)
    assert told[:19] == [4] * 19
    assert set(told[22:]) == {2}
    assert len(memory.enough) <= 4


def test_a_higher_number_counts_at_once():
    fleet = Fleet(even(6, 90.0), [400.0, 400.0]).run(700)
    assert number_of(fleet, replace(known(fleet), enough=(EnoughMembers(fleet.now_ms - 1, 2),))) == 6


# --- holds ------------------------------------------------------------------------------------------------------------


def test_a_capacity_that_is_unknown_holds_the_present_number():
    fleet = Fleet(even(6, 10.0), [400.0] * 3).run(700)
    latest = signal_of(fleet, replace(known(fleet), rates=())).scaling
    assert (latest.wanted_members, latest.hold) == (3, ScaleHold.CAPACITY)


def test_a_partition_that_brings_more_than_a_member_reads_holds_the_number():
    """300 a second into one partition of 6; the others have 10, for which two members are enough."""
    fleet = Fleet(lambda _: [300.0, *[10.0] * 5], [200.0] * 2).run(700)
    latest = signal_of(fleet, known(fleet)).scaling
    assert (latest.wanted_members, latest.hold) == (2, ScaleHold.PARTITION)
    assert latest.sentence == (
        "More members do not help: partition 0 of orders brings 150% of what one member reads, and all other "
        "partitions are read in time."
    )


def test_others_still_get_members_beside_such_a_partition():
    """The other five bring 90 each, so each needs a member of its own: beside the hot one, it would have every other
    turn of one, and 50,000 records wait in it."""
    fleet = Fleet(lambda _: [300.0, *[90.0] * 5], [200.0] * 2).run(700)
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
    fleet = Fleet(even(6, 90.0), [400.0, 400.0]).run(700)
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


@pytest.mark.parametrize(
    ("commit_s", "poll_s", "is_held"),
    [(1, 2, False), (60, 2, True), (1, 60, True)],
    ids=["both", "no commit", "no poll"],
)
def test_after_a_rebalance_commits_and_polls_are_awaited_but_not_for_long(commit_s: int, poll_s: int, is_held: bool):
    fleet = Fleet(even(6, 90.0), [100.0, 100.0], commit_s=1, poll_s=10).run(700)
    fleet.commit_s, fleet.poll_s = commit_s, poll_s
    ended_ms = fleet.now_ms
    case = case_of(fleet.run(8).inputs(), TARGET)
    case = case._replace(group=replace(case.group, generation_ms=ended_ms))
    held = judge_scaling(case, replace(MEASURED, latest=2))
    assert held.scaling.hold is (ScaleHold.SETTLING if is_held else None)
    assert (held.until_ms == ended_ms + 15_000) is is_held
    late = case._replace(verdict=replace(case.verdict, evaluated_ms=ended_ms + 15_000))
    assert judge_scaling(late, replace(MEASURED, latest=2)).scaling.hold is None


def test_what_comes_in_may_raise_the_number_before_commits_follow_a_rebalance():
    """90 records a second come into each of 6 partitions, a member reads 200, and the headroom is a fifth: three
    members would be busy for 90% with two partitions each, so it takes six."""
    fleet = Fleet(even(6, 90.0), [100.0, 100.0], commit_s=1, poll_s=10).run(700)
    fleet.commit_s, ended_ms = 60, fleet.now_ms
    case = case_of(fleet.run(8).inputs(), TARGET)
    case = case._replace(group=replace(case.group, generation_ms=ended_ms))
    found = judge_scaling(case, replace(MEASURED, latest=2))
    assert (found.scaling.hold, found.scaling.wanted_members) == (ScaleHold.SETTLING, 6)
    assert found.scaling.sentence == "A rebalance has just ended. What comes in needs 6 members."
    assert found.memory.enough[-1].members == 6, "it falls no sooner than any other"
    assert judge_scaling(case, replace(MEASURED, latest=8)).scaling.wanted_members == 8
    usual = Rebalance(generation=2, started_ms=0, ended_ms=5_000)
    soon = case._replace(group=replace(case.group, history=(usual,)))
    stuck = Finding(kind=FindingKind.LAG, reason="stuck_record", since_ms=1, sentence="It is so.")
    held = case._replace(verdict=replace(case.verdict, findings=(stuck,)))
    for other in (soon, held):
        found = judge_scaling(other, replace(MEASURED, latest=2))
        assert (found.scaling.hold, found.scaling.wanted_members) == (ScaleHold.SETTLING, 2)


def test_the_members_of_a_group_in_motion_are_no_number():
    """A job that starts during a rollout sees fewer members than there are to be."""
    fleet = Fleet(even(6, 90.0), [400.0, 400.0]).run(700)
    case = case_of(fleet.inputs(), TARGET)
    going_on = case._replace(verdict=replace(case.verdict, rebalancing_since_ms=1))
    assert judge_scaling(going_on, MEASURED).scaling.wanted_members is None
    assert judge_scaling(going_on, replace(known(fleet), latest=None)).scaling.wanted_members is None


def test_a_pod_more_during_a_rollout_is_no_number():
    """With maxSurge, the new pod is there before the old one goes."""
    fleet = Fleet(even(6, 60.0), [400.0] * 4).run(700)
    case = case_of(fleet.inputs(), TARGET)
    going_on = case._replace(verdict=replace(case.verdict, rebalancing_since_ms=1))
    assert judge_scaling(going_on, known(fleet, 3)).scaling.wanted_members == 3


def test_a_group_that_has_just_come_is_told_only_that_it_needs_more():
    """Two of its six pods may be there yet: the number of those is none to go by."""
    needs_more = Fleet(even(6, 90.0), [400.0, 400.0]).run(700)
    assert number_of(needs_more, MEASURED) == 6
    fleet = Fleet(even(6, 10.0), [400.0, 400.0]).run(700)
    first = signal_of(fleet, MEASURED)
    assert (first.scaling.wanted_members, first.scaling.sentence) == (
        None,
        "groupwatch has not known the group for 10 min, so its members may be fewer than usual.",
    )
    assert signal_of(fleet, ScaleMemory()).scaling.wanted_members is None
    later = fleet.run(600)
    assert signal_of(later, first.memory).scaling.wanted_members == 1


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


def polls_that_stopped(case):
    """A minute ago and more; commits go on past the end that was seen last."""
    return case._replace(verdict=replace(case.verdict, evaluated_ms=case.now_ms + 61_000))


def an_assignor_of_others(case):
    """What it would do with another number of members is not known."""
    strange = replace(case.group, protocol="acme")
    return case._replace(table=ShareTable(GroupInputs(strange, case.topics.catalog, case.now_ms), case.owners))


@pytest.mark.parametrize(
    "spoil",
    [
        without_members,
        without_lag,
        without_a_broker,
        not_evaluated,
        without_polls,
        polls_that_stopped,
        an_assignor_of_others,
    ],
)
def test_where_something_is_missing_there_is_no_number(spoil):
    fleet = Fleet(even(6, 10.0), [400.0] * 4).run(900)
    memory = known(fleet)
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
    assert (back.scaling.wanted_members, back.memory.unknown_ms) == (None, 0), "not before ten minutes"


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_table_has_the_numbers_at_which_the_busiest_member_has_less():
    fleet = Fleet(even(6, 60.0), [200.0, 200.0]).run(700)
    plan = scale_plan(fleet.inputs(TARGET, known(fleet)), TARGET)
    assert [(row.members, row.partitions) for row in plan.rows] == [(1, 6), (2, 3), (3, 2), (6, 1)]
    assert [row.busiest for row in plan.rows] == pytest.approx([1.8, 0.9, 0.6, 0.3], abs=0.01)
    assert [row.is_enough for row in plan.rows] == [False, False, True, True]
    assert plan.scaling.wanted_members == 3
    assert plan.rows[0].drain_ms is None


def test_a_skew_says_which_partitions_or_keys_would_help():
    fleet = Fleet(lambda _: [300.0, *[10.0] * 5], [200.0] * 2).run(700)
    plan = scale_plan(fleet.inputs(memory=MEASURED), TARGET)
    assert [each.sentence() for each in plan.skews] == [
        "300 records/s come into partition 0 of orders: 150% of what one member reads. "
        "Keys that spread evenly over the 6 partitions would help."
    ]
    one = scale_plan(Fleet(lambda _: [300.0], [200.0]).run(700).inputs(memory=MEASURED), TARGET)
    assert one.skews[0].sentence() == (
        "300 records/s come into partition 0 of orders: 150% of what one member reads. "
        "The topic needs 2 partitions, and keys that spread evenly over them."
    )


def test_another_target_than_that_of_the_entry_has_no_past():
    """What was enough for the entry says nothing of it; how fast members read does."""
    fleet = Fleet(even(6, 60.0), [400.0] * 4).run(700)
    memory = replace(known(fleet, 6), enough=(EnoughMembers(fleet.now_ms, 6),))
    own = replace(TARGET, target_ms=30_000)
    assert scale_plan(fleet.inputs(own, memory), own).scaling.wanted_members == 6
    asked = scale_plan(fleet.inputs(own, memory), replace(own, most=3)).scaling
    assert (asked.wanted_members, asked.sentence) == (3, "3 members are enough to read all that waits within 30 s.")


def test_a_group_with_very_many_partitions_has_no_number():
    fleet = Fleet(even(501, 1.0), [400.0] * 2).run(100)
    told = signal_of(fleet, known(fleet)).scaling
    assert (told.wanted_members, told.sentence) == (
        None,
        "groupwatch has numbers for groups of at most 500 partitions.",
    )


def test_a_quiet_group_is_not_looked_at_again_and_again():
    """Two thousand of them would keep a core busy. What is unknown may become known with the next poll."""
    quiet = Fleet(lambda second: [60.0 if second < 60 else 0.0] * 6, [400.0] * 3).run(900)
    case = case_of(quiet.inputs(), TARGET)
    assert judge_scaling(case, replace(known(quiet), rates=())).until_ms is None
    assert judge_scaling(case, replace(known(quiet), latest=1)).until_ms is None
    waits = judge_scaling(case, replace(MEASURED, since_ms=0, latest=None))
    assert waits.until_ms == quiet.now_ms + 10 * MINUTE
    gone = judge_scaling(without_members(case), replace(known(quiet), latest=3))
    assert gone.until_ms == quiet.now_ms + 5 * MINUTE + 1
    assert judge_scaling(without_members(case), replace(gone.memory, latest=None)).until_ms is None
    assert judge_scaling(without_polls(case), known(quiet)).until_ms == quiet.now_ms + RENEWED_MS
    busy = Fleet(even(6, 10.0), [400.0] * 3).run(900)
    assert signal_of(busy, replace(known(busy), rates=())).until_ms == busy.now_ms + RENEWED_MS


def test_a_group_of_which_no_job_remembers_anything_is_answered_by_what_it_shows_now():
    """From a recording, a snapshot of a group without an entry, or one look of the doctor."""
    lagging = Fleet(even(6, 90.0), [200.0, 200.0]).run(700)
    for target in (None, TARGET):
        assert scale_plan(lagging.inputs(target), TARGET).scaling.wanted_members == 6
    calm = scale_plan(Fleet(even(6, 10.0), [200.0, 200.0]).run(700).inputs(), TARGET).scaling
    assert (calm.wanted_members, calm.hold) == (2, ScaleHold.CAPACITY)
