"""What a run costs, by sums that are done by hand; how old a record is; which variants there are; the picture."""

from __future__ import annotations

from dataclasses import asdict, replace
from xml.etree import ElementTree as ET

import pytest

from tests.autoscaling.consumers import Assignor
from tests.autoscaling.drains import Drain, Drained, Forecast, all_drains
from tests.autoscaling.holds import Held, Number, Trouble
from tests.autoscaling.hpa import Policy, Unit
from tests.autoscaling.keda_kafka import KafkaTrigger
from tests.autoscaling.loads import LOADS
from tests.autoscaling.loop import variant_of
from tests.autoscaling.outcome import Comparison, Cost, Sample, compared, cost
from tests.autoscaling.picture import picture
from tests.autoscaling.records import Ledger
from tests.autoscaling.run import report

CALM = Sample(
    at_s=0.0,
    replicas=2,
    owners=2,
    wanted=2.0,
    age_s=1.0,
    lag=10,
    generation=3,
    deaths=0,
    hold="",
    reason="",
    status=200,
    produced_per_s=300.0,
)
COURSE = (
    CALM,
    replace(CALM, at_s=1.0, age_s=13.0, wanted=None),
    replace(CALM, at_s=2.5, age_s=20.0, replicas=4, generation=5, hold="hot"),
    replace(CALM, at_s=4.0, age_s=5.0, replicas=3, generation=6, deaths=2),
    replace(CALM, at_s=6.0, generation=None, replicas=3),
)


def test_the_cost_is_summed_until_the_next_sample() -> None:
    """Above 12 s from 1 to 4 s; replicas 2 * 1 + 2 * 1.5 + 4 * 1.5 + 3 * 2; generations 3 to 6."""
    assert cost(COURSE, 12.0) == Cost(
        above_target_s=3.0,
        rebalances=3,
        consumer_s=17.0,
        changes=2,
        oldest_s=20.0,
        deaths=2,
        holds_s=1.5,
        unknown_s=1.5,
    )


def _cost(above_s: float, rebalances: int, consumer_s: float) -> Cost:
    return Cost(above_s, rebalances, consumer_s, 0, 0.0, 0, 0.0, 0.0)


KEDA = {"keda-100": _cost(5.0, 20, 900.0), "keda-500": _cost(5.0, 10, 800.0), "keda-even": _cost(9.0, 2, 100.0)}


@pytest.mark.parametrize(
    ("groupwatch", "comparison"),
    [
        pytest.param(_cost(5.0, 5, 840.0), Comparison("keda-500", True, True, True), id="just so"),
        pytest.param(_cost(5.1, 5, 840.0), Comparison("keda-500", False, True, True), id="longer above the target"),
        pytest.param(_cost(5.0, 6, 840.0), Comparison("keda-500", True, False, True), id="more rebalances than half"),
        pytest.param(_cost(5.0, 5, 841.0), Comparison("keda-500", True, True, False), id="more than 105 %"),
    ],
)
def test_groupwatch_is_compared_with_the_shortest_time_above_the_target_and_the_cheapest_of_these(
    groupwatch: Cost, comparison: Comparison
) -> None:
    assert compared(groupwatch, KEDA) == comparison
    assert comparison.is_won is (groupwatch == _cost(5.0, 5, 840.0))


def test_a_ledger_knows_when_the_oldest_unread_record_was_written() -> None:
    ledger = Ledger(2)
    for partition, records, at_s in ((0, 3, 10.0), (1, 5, 11.0), (0, 0, 12.0), (0, 2, 13.0)):
        ledger.add(partition, records, at_s)
    assert [ledger.written_at(0, offset) for offset in range(6)] == [10.0, 10.0, 10.0, 13.0, 13.0, None]
    assert ledger.oldest_unread_s({0: 3, 1: 1}) == 11.0
    assert ledger.oldest_unread_s({0: 3, 1: 5}) == 13.0
    assert ledger.oldest_unread_s({0: 5, 1: 5}) is None
    assert (ledger.lag({0: 3}), ledger.end(0)) == (2 + 5, 5)


def test_variants_have_keda_s_flags_and_a_run_s_times() -> None:
    """Times are a fifth of those of a cluster."""
    assert variant_of("keda-100").trigger == KafkaTrigger(100)
    assert variant_of("keda-even").trigger == KafkaTrigger(500, ensure_even_distribution=True)
    assert variant_of("keda-20-persistent-idle").trigger == KafkaTrigger(
        20, exclude_persistent_lag=True, allow_idle_consumers=True
    )
    assert variant_of("keda-100").spec(100.0).down.window_s == 60.0
    assert variant_of("keda-100").spec(100.0).up.policies[0] == Policy(Unit.PODS, 4, 3.0)
    assert variant_of("groupwatch").spec(1.0).down.window_s == 0.0
    assert variant_of("groupwatch-window").spec(1.0).down.window_s == 60.0
    for name in ("keda", "keda-odd", "other"):
        with pytest.raises(ValueError, match=r"no such variant|no flag"):
            variant_of(name)


def test_a_forecast_is_good_within_a_quarter_of_what_was_measured() -> None:
    drain = Drain(0, Assignor.RANGE, "even", 2, from_nothing=True)
    errors = {drain_s: Forecast(5.0, drain_s, 40.0) for drain_s in (30.0, 50.0, 29.0, 51.0)}
    good = [Drained(drain, 1, 45.0, (each,), "").is_good for each in errors.values()]
    assert good == [True, True, False, False]
    assert not Drained(drain, 1, 45.0, (), "").is_good


def test_sixty_drains_have_each_assignor_and_skew_ten_times() -> None:
    kinds = [(each.assignor, each.skew) for each in all_drains(60)]
    assert {kinds.count(each) for each in kinds} == {10}
    assert {(each.pods, each.from_nothing) for each in all_drains(60)} == {(n, x) for n in (2, 3, 4) for x in (0, 1)}


def _numbers(*wanted: float | None, hold: str = "") -> tuple[Number, ...]:
    return tuple(Number(float(at), each, hold, "", 200) for at, each in enumerate(wanted))


@pytest.mark.parametrize(
    ("trouble", "numbers", "is_right"),
    [
        pytest.param(Trouble.BROKER, _numbers(3.0, None, 3.0, 5.0), True, id="the same, none, or more"),
        pytest.param(Trouble.BROKER, _numbers(3.0, 2.0, 3.0), False, id="once a lower number"),
        pytest.param(Trouble.BROKER, _numbers(None, None), True, id="no number at all"),
        pytest.param(Trouble.HOT_KEY, _numbers(3.0, 3.0), False, id="a hot key without a hold"),
        pytest.param(Trouble.HOT_KEY, _numbers(3.0, 3.0, hold="partition"), True, id="a hot key with one"),
        pytest.param(Trouble.HOT_KEY, _numbers(3.0, 3.0, hold="capacity"), False, id="a hot key with another"),
        pytest.param(Trouble.POISON, _numbers(3.0, 3.0, hold="owner"), True, id="poison with a hold"),
        pytest.param(Trouble.POISON, _numbers(3.0, 2.0, hold="owner"), False, id="a hold that lets the number fall"),
    ],
)
def test_a_run_is_right_if_no_number_is_lower_and_a_hold_comes_where_it_should(
    trouble: Trouble, numbers: tuple[Number, ...], is_right: bool
) -> None:
    assert Held(0, "group", trouble, 3.0, numbers).is_right is is_right


def test_the_picture_has_a_line_for_groupwatch_and_one_for_keda_in_each_panel() -> None:
    samples = {"groupwatch": [*COURSE], "keda-100": [*COURSE], "keda-500": [*COURSE[:3]]}
    found = report(LOADS["poison"], samples, 6.0)
    root = ET.fromstring(picture([found, found]))
    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2 * 2 * 3, "two loads, two panels: what is needed or the target, groupwatch, KEDA's best"
    assert found["comparisons"]["groupwatch"]["best"] == "keda-500"
    assert found["samples"]["keda-500"][1] == asdict(COURSE[1])
