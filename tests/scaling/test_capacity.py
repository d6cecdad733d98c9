"""How fast members read: groups that are played second by second, so that the truth is known."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection.ownership.catalog_view import Topics
from monitor.model import TopicPartition
from monitor.model.scaling import MemberRate, ScaleMemory, ScaleTarget
from monitor.scaling.answer import case_of
from monitor.scaling.capacity import MOST_RATES, OLDEST_MS, capacity_of, with_rates
from monitor.scaling.signal import measure
from tests.scaling.fleet import Fleet, Rates, even

TARGET = ScaleTarget()


def rates_of(fleet: Fleet, memory: ScaleMemory | None = None) -> tuple[MemberRate, ...]:
    return measure(case_of(fleet.inputs(), TARGET), memory or ScaleMemory())[1].rates


def step(at: int, before: float, after: float) -> Rates:
    return lambda second: [before if second < at else after] * 4


def test_members_that_lag_show_how_fast_they_read():
    found = rates_of(Fleet(even(4, 100.0), [150.0, 120.0]).run(120))
    assert {each.member_id: each.per_s for each in found} == {
        "m00": pytest.approx(150, rel=0.02),
        "m01": pytest.approx(120, rel=0.02),
    }
    assert {each.host for each in found} == {"/10.0.0.1", "/10.0.0.2"}


def test_members_that_have_read_all_there_is_show_nothing():
    assert rates_of(Fleet(even(4, 100.0), [400.0, 400.0]).run(300)) == ()


def test_the_time_before_a_lag_began_does_not_count():
    """Two minutes at 50 of 150 records a second, then four times as much: what was read before is no capacity."""
    fleet = Fleet(step(120, 25.0, 100.0), [150.0, 150.0])
    assert rates_of(fleet.run(140)) == ()
    assert rates_of(fleet.run(60)) == (), "it may lag by what came since the newest poll"
    assert [each.per_s for each in rates_of(fleet.run(140))] == pytest.approx([150, 150], rel=0.03)


def test_a_partition_that_stands_still_does_not_keep_its_member_busy():
    """Its owner lags, but could read more if more came."""
    fleet = Fleet(even(2, 50.0), [200.0], stuck=frozenset({1})).run(200)
    assert fleet.state.offsets[1].offset == 0
    assert rates_of(fleet) == ()


def test_a_partition_that_moves_on_with_lag_keeps_its_member_busy():
    """Nothing waits in the other one, and it counts, too."""
    fleet = Fleet(lambda _: [300.0, 10.0], [200.0]).run(150)
    assert [each.per_s for each in rates_of(fleet)] == pytest.approx([200], rel=0.02)


def test_a_member_is_measured_again_at_the_first_poll_after_half_a_minute():
    fleet, memory = Fleet(even(4, 100.0), [150.0, 150.0]).run(100), ScaleMemory()
    times = []
    for _ in range(20):
        memory = ScaleMemory(rates=rates_of(fleet.run(5), memory))
        times = [each.at_ms for each in memory.rates if each.member_id == "m00"]
    assert [later - earlier for earlier, later in pairwise(times)] == [40_000] * 2


def test_the_newest_rates_are_kept():
    known = tuple([MemberRate(number, f"m{number}", "", 1.0) for number in range(MOST_RATES)])
    kept = with_rates(known, [MemberRate(100, "new", "", 2.0)], 100)
    assert len(kept) == MOST_RATES
    assert (kept[0].member_id, kept[-1].member_id) == ("m1", "new")


def test_one_stray_rate_is_no_capacity():
    rates = [MemberRate(number, "m", "a", 100.0) for number in range(19)]
    assert capacity_of([*rates, MemberRate(20, "m", "a", 900.0)]).per_s == 100.0


def test_hosts_differ_where_one_is_half_again_as_fast():
    def rates(host: str, per_s: float, count: int) -> list[MemberRate]:
        return [MemberRate(number, host, host, per_s) for number in range(count)]

    alike = capacity_of([*rates("a", 100.0, 5), *rates("b", 140.0, 5)])
    assert alike.by_host == {}
    differing = capacity_of([*rates("a", 100.0, 5), *rates("b", 150.0, 5), *rates("c", 10.0, 2)])
    assert differing.by_host == {"a": 100.0, "b": 150.0}
    assert (differing.on_host("b"), differing.on_host("new")) == (150.0, 100.0)
    assert capacity_of([]) is None


def test_a_week_old_measurement_counts_no_more():
    known = (MemberRate(0, "old", "", 1.0), MemberRate(5, "m", "", 2.0))
    assert with_rates(known, [], OLDEST_MS) == known
    assert with_rates(known, [], OLDEST_MS + 1) == known[1:]


def test_bursts_between_two_polls_are_no_lag():
    """6,000 records come just before each poll, and are read within 2 s: a member has time for much more."""
    burst = Fleet(lambda second: [6_000.0 if second % 20 == 19 else 0.0], [3_000.0]).run(300)
    assert rates_of(burst) == ()


def test_a_member_that_stood_still_for_half_of_the_time_shows_nothing():
    fleet = Fleet(even(2, 300.0), [200.0]).run(150)
    fleet.stuck = frozenset({0, 1})
    assert rates_of(fleet.run(40)) == ()


def test_offsets_that_retention_removed_are_no_reading():
    """The member reads 100 a second, and jumps 1,000 to the beginning of the log again and again."""
    fleet = Fleet(even(1, 400.0), [100.0]).run(200)
    for _ in range(20):
        fleet.run(5)
        fleet.read[0] += 1_000
    inputs = fleet.inputs()
    topic = inputs.catalog.topics["orders"]
    cut = replace(topic.partitions[0], earliest=int(fleet.read[0] - 4_000))
    catalog = replace(inputs.catalog, topics={"orders": replace(topic, partitions=(cut,))})
    whole, trimmed = (case_of(replace(inputs, catalog=each), TARGET) for each in (inputs.catalog, catalog))
    assert max(each.per_s for each in measure(whole, ScaleMemory())[1].rates) > 150
    assert measure(trimmed, ScaleMemory())[1].rates == ()


@pytest.mark.parametrize("batch", [100, 500, 2_000])
def test_a_member_that_reads_one_partition_after_the_other_is_measured(batch: int):
    """A commit passes nothing in most partitions and much in one: that is no jump of the member."""
    found = rates_of(Fleet(even(6, 100.0), [200.0], batch=batch).run(200))
    assert [each.per_s for each in found] == [pytest.approx(200, rel=0.1)]


def test_a_seek_while_a_member_reads_is_no_reading():
    """The application leaves out 8,000 records once, which its member reads in 80 s."""
    fleet = Fleet(even(1, 400.0), [100.0]).run(200)
    fleet.read[0] += 8_000
    for _ in range(12):
        assert max([each.per_s for each in rates_of(fleet.run(5))], default=0.0) < 125


def test_a_burst_is_measured_from_when_a_poll_saw_it():
    """Before it, little came in, and before the first commits nobody knows what was read."""
    fleet = Fleet(lambda second: [10_000.0 if second == 30 else 5.0] * 2, [200.0], batch=500).run(10)
    found = [each.per_s for _ in range(20) for each in rates_of(fleet.run(5))]
    assert found
    assert found == pytest.approx([200] * len(found), rel=0.05)


BATCHES = st.tuples(st.sampled_from([0, 100, 500, 4_000]), st.just(()))
"""Records of one partition before those of the next, all committed at once."""
THREADS = st.tuples(st.just(0), st.sampled_from([(0, 3, 7, 11, 16, 19), (0, 0, 1, 1, 2, 2), (5, 40, 55, 23, 17, 2)]))
"""All partitions at the same time, each committed by a thread of its own, some seconds later than the first."""


@example(load=3.0, reading=(4_000, ()), commit_s=1, poll_s=4, backlog=0)
@given(
    load=st.sampled_from([0.5, 0.8, 0.95, 1.5, 3.0]),
    reading=st.one_of(BATCHES, THREADS),
    commit_s=st.sampled_from([1, 2, 5, 10, 20, 25, 60]),
    poll_s=st.sampled_from([2, 4, 20, 30]),
    backlog=st.integers(0, 20_000),
)
def test_no_member_is_measured_wrongly_however_it_commits_and_whenever_it_is_polled(
    load: float, reading: tuple[int, tuple[int, ...]], commit_s: int, poll_s: int, backlog: int
):
    """A member reads 200 records a second of six partitions, which bring a part of that or more."""
    batch, phases = reading

    def rates(second: int) -> list[float]:
        return [load * 200 / 6 + (backlog / 6 if second == 70 else 0)] * 6

    fleet = Fleet(rates, [200.0], batch=batch, commit_s=commit_s, phases=phases, poll_s=poll_s).run(60)
    for _ in range(100):
        for each in rates_of(fleet.run(3)):
            assert each.per_s == pytest.approx(200, rel=0.15), fleet.second


def test_what_goes_back_is_no_reading():
    """An application reads 3,000 records again: what it reads then, nobody knows by the commits."""
    fleet = Fleet(even(6, 100.0), [200.0]).run(200)
    fleet.read[0] -= 3_000
    assert all(each.per_s == pytest.approx(200, rel=0.1) for _ in range(30) for each in rates_of(fleet.run(3)))


@pytest.mark.parametrize("what", ["shared", "never committed", "not polled"])
def test_a_member_that_reads_more_than_is_seen_is_not_measured(what: str):
    case = case_of(Fleet(even(3, 100.0), [200.0]).run(200).inputs(), TARGET)
    assert len(measure(case, ScaleMemory())[1].rates) == 1
    place = TopicPartition("orders", 0)
    match what:
        case "shared":
            case = case._replace(owners={**case.owners, place: ("m00", "m01")})
        case "never committed":
            case = case._replace(group=replace(case.group, offsets=case.group.offsets[1:]))
        case "not polled":
            topic = case.topics.catalog.topics["orders"]
            catalog = replace(case.topics.catalog, topics={"orders": replace(topic, partitions=topic.partitions[1:])})
            case = case._replace(topics=Topics(catalog))
    assert measure(case, ScaleMemory())[1].rates == ()
