"""A backtest fires the alerts that Prometheus fires: by the cases that promtool is given, worked out by hand there."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from monitor.findings.alerts import GROUP_ALERTS
from monitor.history.backtest.alerts import AlertFacts, AlertFollower, FoundThen
from monitor.history.backtest.episodes import Episode
from monitor.model import LagStatus
from tests.dashboards.alert_cases import CASES, SILENCES, Case, Series, Silence

MINUTE = 60_000
LOOKBACK = 5
"""For how many minutes Prometheus takes the last sample of a series, unless it is marked as ended."""

NAMES = {row.name for row in GROUP_ALERTS}
OF_GROUPS = [case for case in CASES if case.alert in NAMES]
SILENT = [case for case in SILENCES if case.interval == "1m" and any("_group_" in series for series in case.given)]


def samples(values: str) -> list[float | str | None]:
    """Promtool's notation: ``1+2x3 _x2 stale`` are 1, 3, 5, 7, None, None and "stale"."""
    return list(chain.from_iterable(map(_samples, values.split())))


def _samples(word: str) -> list[float | str | None]:
    if word == "stale":
        return ["stale"]
    found = re.fullmatch(r"(_|-?[\d.]+)(?:([+-])([\d.]+))?(?:x(\d+))?", word)
    assert found, word
    start, sign, step, times = found.groups()
    if start == "_":
        return [None] * int(times or 1)
    apart = float(f"{sign or '+'}{step or 0}")
    return [float(start) + apart * number for number in range(int(times or 0) + 1)]


def value(values: list[float | str | None], minute: int) -> float | None:
    seen = [each for each in values[max(0, minute - LOOKBACK + 1) : minute + 1] if each is not None]
    return None if not seen or isinstance(seen[-1], str) else seen[-1]


def test_the_notation_is_read():
    assert samples("1+2x2 _x2 stale 0x1") == [1, 3, 5, None, None, "stale", 0, 0]
    assert [value(samples("7 _x9"), minute) for minute in (0, 4, 5)] == [7, 7, None]


Labels = dict[str, str]


def series_at(given: Series, minute: int) -> list[tuple[str, Labels, float]]:
    """What Prometheus has of groups at a minute: names without their beginning, labels and values."""
    found = []
    for series, values in given.items():
        name, _, labels = series.partition("{")
        known = value(samples(values), minute)
        if known is not None and name.startswith("groupwatch_group_"):
            found.append((name.removeprefix("groupwatch_group_"), dict(re.findall(r'(\w+)="(.*?)"', labels)), known))
    return found


def found_then(name: str, labels: Labels, known: float, at_ms: int) -> FoundThen | None:
    """The finding that a series is about."""
    since_ms = at_ms - int(known * 1000)
    match name:
        case "finding_oldest_seconds":
            return FoundThen(labels["kind"], labels["reason"], since_ms, "")
        case "drift_oldest_seconds":
            return FoundThen("drift", labels["kind"], since_ms, "")
        case "unattended_seconds":
            return FoundThen("unattended", "no_members", since_ms, "")
        case "findings":
            return FoundThen(labels["kind"], labels["reason"], at_ms, "")
        case "dead_members" if known:
            return FoundThen("dead_member", "silent", at_ms, "")
    return None


def facts(given: Series, minute: int) -> AlertFacts:
    at_ms, known = minute * MINUTE, series_at(given, minute)
    numbers = {name: number for name, labels, number in known if not labels.keys() & {"reason", "status", "state"}}
    findings = {}
    for name, labels, number in known:
        if (found := found_then(name, labels, number, at_ms)) is not None:
            findings.setdefault((found.kind, found.reason), found)
    unattended, lag_s = findings.get(("unattended", "no_members")), numbers.get("lag_at_least_seconds")
    blocked_s = numbers.get("commits_blocked_seconds")
    failing = [[LagStatus(labels["status"])] * int(number) for name, labels, number in known if "failing" in name]
    return AlertFacts(
        at_ms=at_ms,
        findings=tuple(findings.values()),
        unattended_since_ms=None if unattended is None else unattended.since_ms,
        lag=int(numbers["lag"]) if "lag" in numbers else None,
        lag_at_least_ms=None if lag_s is None else int(lag_s * 1000),
        consumed_per_s=numbers.get("consumed_records_per_second"),
        is_empty=any((name, labels.get("state"), number) == ("state", "empty", 1) for name, labels, number in known),
        without_members=sum(int(number) for _, labels, number in known if labels.get("reason") == "no_members"),
        failing=tuple(chain.from_iterable(failing)),
        given_up=int(numbers["share_given_up_records_total"]) if "share_given_up_records_total" in numbers else None,
        unit="record",
        blocked_since_ms=None if blocked_s is None else at_ms - int(blocked_s * 1000),
    )


def alerts(given: Series, minutes: int) -> list[Episode]:
    follower = AlertFollower()
    follower.take(-MINUTE, None)  # Prometheus, too, knows nothing of the time before
    for minute in range(minutes + 1):
        follower.take(minute * MINUTE, facts(given, minute))
    return follower.episodes(minutes * MINUTE)


def case_id(case: Case | Silence) -> str:
    return f"{case.alert} at minute {case.fires}" if isinstance(case, Case) else case.name


@pytest.mark.parametrize("case", OF_GROUPS, ids=case_id)
def test_an_alert_fires_and_goes_when_it_does_in_prometheus(case: Case):
    """Up to a minute sooner: Prometheus looks every minute, and a backtest knows when an age is reached in between.

    When an alert goes differs by at most the sample that is exactly as old as a range is long.
    """
    found = alerts(case.given, case.gone + 1)
    assert {each.name for each in found} == {case.alert, *case.also}
    (own,) = (each for each in found if each.name == case.alert)
    assert case.fires - 1 <= own.from_ms / MINUTE <= case.fires
    assert case.gone - 1 <= own.until_ms / MINUTE <= case.gone
    assert own.is_closed


@pytest.mark.parametrize("case", SILENT, ids=case_id)
def test_no_alert_fires_where_none_does_in_prometheus(case: Silence):
    assert alerts(case.given, case.minutes) == []


def test_every_alert_about_groups_has_a_case():
    assert {case.alert for case in OF_GROUPS} == NAMES
