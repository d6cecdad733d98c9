"""At which minute an error budget that is used up so fast raises an alert, by Prometheus; the minutes are worked out.

The objective is 99.5 %, so the budget is 0.005: a page from a ratio of 0.072 in an hour (14.4 times) or 0.03 in six (6
times); a ticket from 0.015 in a day (3 times) or 0.005 in three (once). A burn that starts after a healthy time and
makes a share s of each minute bad has a ratio of s * minutes / window.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alert_rules.objectives.burn_rates import NO_DATA, PAGE, TICKET, burn_rate_rules
from monitor.alert_rules.objectives.objective import ClusterObjective
from monitor.expectations.expectation import Objective
from tests.dashboards.promtool import run_cases

SIX_HOURS, THREE_DAYS = 360, 4_320


def rules(percent: float = 99.5) -> str:
    return burn_rate_rules([ClusterObjective("prod", "orders", Objective(percent, 30), "checkout")])


EXPRESSIONS = {rule["alert"]: rule["expr"] for group in yaml.safe_load(rules())["groups"] for rule in group["rules"]}
NO_RULES = "groups: []"
"""A condition that is looked at alone costs a thousandth of a rule that is evaluated at each minute of days."""


def given(healthy: int, share: float, minutes: int, met: str = "no", after: int = 0) -> list[dict[str, str]]:
    """Healthy for so many minutes, then a share of each is bad; then it is healthy again."""
    bad = 60 * share
    own = 'groupwatch_expectation_seconds_total{cluster="prod",expectation="orders",met="%s"}'
    other = "unknown" if met == "no" else "no"
    ended, good = bad * minutes, 60 * healthy + (60 - bad) * minutes
    yes = f"0+60x{healthy} {60 * healthy + 60 - bad:g}+{60 - bad:g}x{minutes - 1}"
    no = f"0x{healthy} {bad:g}+{bad:g}x{minutes - 1}"
    if after:
        yes, no = f"{yes} {good + 60:g}+60x{after - 1}", f"{no} {ended:g}x{after - 1}"
    rows = {"yes": yes, met: no, other: f"0x{healthy + minutes + after}"}
    return [{"series": own % name, "values": values} for name, values in rows.items()]


def looks(alert: str, *expected: tuple[int, bool]) -> list[dict[str, Any]]:
    """At which minutes the condition of an alert holds, and at which it does not."""
    told = [{"labels": "{}", "value": 1}]
    return [
        {"expr": f"count({EXPRESSIONS[alert]})", "eval_time": f"{minute}m", "exp_samples": told if holds else []}
        for minute, holds in expected
    ]


def case(name: str, series: list[dict[str, str]], *looks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "interval": "1m",
        "input_series": series,
        "promql_expr_test": [each for look in looks for each in look],
    }


def test_an_alert_fires_at_the_first_minute_at_which_its_condition_holds(tmp_path: Path):
    """All bad: 5 of 60 minutes are the first that exceed 0.072."""
    fires = 'count(ALERTS{alertname="%s",alertstate="firing",slo="prod--orders",team="checkout",severity="critical"})'
    told = [{"labels": "{}", "value": 1}]
    seen = [
        {"expr": fires % PAGE, "eval_time": f"{minute}m", "exp_samples": found}
        for minute, found in ((SIX_HOURS + 4, []), (SIX_HOURS + 5, told))
    ]
    run_cases(tmp_path, rules(), [case("all of it is bad", given(SIX_HOURS, 1, 6), seen)])


def test_conditions_hold_at_their_minute(tmp_path: Path):
    """Pages: 5 of 60 minutes if all is bad, 44 if a tenth is; 212 of six hours if a share of 0.051 is.

    Tickets: a share of 0.019 for 1,137 of the 1,440 minutes of a day, or 0.011 for 1,964 of the 4,320 of three days.
    The short window of five minutes ends the page of ten bad minutes once less than 0.36 of them are in it.
    """
    day, days = SIX_HOURS, THREE_DAYS
    run_cases(
        tmp_path,
        NO_RULES,
        [
            case("all of it is bad", given(day, 1, 30), looks(PAGE, (day + 4, False), (day + 5, True))),
            case("all of it is unknown", given(day, 1, 30, "unknown"), looks(PAGE, (day + 4, False), (day + 5, True))),
            case("twentyfold", given(day, 0.1, 100), looks(PAGE, (day + 43, False), (day + 44, True))),
            case("tenfold", given(day, 0.051, 300), looks(PAGE, (day + 211, False), (day + 212, True))),
            case("four bad minutes", given(day, 1, 4, after=60), looks(PAGE, *((day + n, False) for n in range(64)))),
            case("ten bad minutes", given(day, 1, 10, after=60), looks(PAGE, (day + 14, True), (day + 15, False))),
            case(
                "fourfold",
                given(days, 0.019, 1_200),
                looks(TICKET, (days + 1_136, False), (days + 1_137, True)),
                looks(PAGE, (days + 1_200, False)),
            ),
            case(
                "twofold",
                given(days, 0.011, 2_000),
                looks(TICKET, (days + 1_963, False), (days + 1_964, True)),
                looks(PAGE, (days + 2_000, False)),
            ),
            case(
                "within the budget",
                given(0, 0.0049, days),
                looks(TICKET, *((minute, False) for minute in (60, 600, 2_000, days))),
                looks(PAGE, *((minute, False) for minute in (60, 600, 2_000, days))),
            ),
        ],
    )


def restarted(down: int, lost: int, *, is_renamed: bool = False) -> list[dict[str, str]]:
    """Healthy for twelve hours, then away for so many minutes. ``lost`` seconds are unknown, shown a minute later."""
    before, own = 720, 'groupwatch_expectation_seconds_total{cluster="prod",expectation="orders",met="%s"%s}'
    rows = {
        "yes": (f"0+60x{before}", f"{60 * before} {60 * before + 60}+60x600"),
        "no": (f"0x{before}", "0x601"),
        "unknown": (f"0x{before}", f"0 {lost}x600"),
    }
    if not is_renamed:
        return [{"series": own % (met, ""), "values": f"{old} _x{down - 1} {new}"} for met, (old, new) in rows.items()]
    return [
        {"series": own % (met, f',instance="{name}"'), "values": values}
        for met, (old, new) in rows.items()
        for name, values in (("old", old), ("new", f"_x{before + down} {new}"))
    ]


def test_time_in_which_the_job_was_down_burns_the_budget_once_it_is_shown(tmp_path: Path):
    """7 of 19 hours, or 50 minutes: a page for half an hour, and a ticket for six. A new pod without a gap is none."""
    long, short, new = 720 + 420, 720 + 50, 720 + 1
    run_cases(
        tmp_path,
        NO_RULES,
        [
            case(
                "down for seven hours",
                restarted(420, 420 * 60),
                looks(PAGE, (long, False), (long + 1, True), (long + 29, True), (long + 31, False)),
                looks(TICKET, (long, False), (long + 1, True), (long + 359, True), (long + 361, False)),
            ),
            case(
                "another instance after 50 minutes",
                restarted(50, 50 * 60, is_renamed=True),
                looks(PAGE, (short, False), (short + 1, True), (short + 29, True), (short + 31, False)),
                looks(TICKET, (short, False), (short + 1, True)),
            ),
            case(
                "another instance after 20 seconds",
                restarted(1, 20, is_renamed=True),
                looks(PAGE, *((new + minute, False) for minute in range(60))),
                looks(TICKET, *((new + minute, False) for minute in range(60))),
            ),
        ],
    )


def test_nothing_that_counts_is_an_alert_after_ten_minutes(tmp_path: Path):
    fires = f'count(ALERTS{{alertname="{NO_DATA}",alertstate="firing",expectation="orders"}})'
    told = [{"labels": "{}", "value": 1}]
    seen = [{"expr": fires, "eval_time": f"{minute}m", "exp_samples": found} for minute, found in ((9, []), (10, told))]
    silent = [{"expr": fires, "eval_time": "30m", "exp_samples": []}]
    run_cases(tmp_path, rules(), [case("no series", [], seen), case("series", given(30, 1, 1), silent)])


def test_a_budget_of_all_of_the_time_has_no_ticket():
    """A rule without an expression makes Prometheus refuse the whole file."""
    names = [rule["alert"] for rule in yaml.safe_load(rules(1e-300))["groups"][0]["rules"]]
    assert names == [NO_DATA]
    assert "# prod--orders has no ticket: " in rules(1e-300)


@pytest.mark.parametrize(("percent", "has_page"), [(99.5, True), (84, True), (83, False), (50, False)])
def test_a_budget_that_cannot_be_used_up_so_fast_has_no_page_and_says_so(percent, has_page):
    """6 times a sixth is all of the time."""
    text = rules(percent)
    assert (f"alert: {PAGE}" in text) is has_page
    assert text.startswith("# prod--orders has no page: ") is not has_page
    assert f"alert: {TICKET}" in text
