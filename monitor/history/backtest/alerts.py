"""Which of the shipped alerts about groups fire, by the verdicts of a backtest instead of Prometheus' samples.

The conditions are those of ``monitor.alert_rules``, row by row of :mod:`monitor.findings.alerts`. A verdict stands for
a sample. When a finding or a record becomes older than a limit is known exactly, also between two verdicts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from monitor.findings import alerts as rows
from monitor.findings.alerts import GROUP_ALERTS, GroupAlert, LagAlert, StatusAlert, finding_alerts
from monitor.history.backtest.episodes import Episode, finding_name
from monitor.messages.formatting import age, counted
from monitor.messages.units import unit_of
from monitor.metrics.row_values import consumed_per_s, in_records, records_given_up
from monitor.model import KINDS, FindingKind, GroupVerdict, LagStatus, OrphanReason, Phase
from monitor.model.alert_ages import AlertAges, chosen_age_s

MINUTE_MS: Final = 60_000
WINDOW_MS: Final = 15 * MINUTE_MS
"""How far back the conditions look."""

_OF_OWNERS: Final = (FindingKind.UNATTENDED, FindingKind.DEAD_MEMBER)
"""The findings whose alerts look at a series that only groups have whose members own partitions."""

_FAILING: Final = frozenset({LagStatus.STOP, LagStatus.STALL, LagStatus.REWIND})


class FoundThen(NamedTuple):
    """The oldest finding of a kind and reason: since when, and in words."""

    kind: str
    reason: str
    since_ms: int
    sentence: str


class AlertFacts(NamedTuple):
    """What the alerts look at of a verdict, as the metrics have it. None: the metric is absent."""

    at_ms: int
    findings: tuple[FoundThen, ...]
    unattended_since_ms: int | None
    lag: int | None
    lag_at_least_ms: int | None
    consumed_per_s: float | None
    is_empty: bool
    without_members: int
    failing: tuple[LagStatus, ...]
    given_up: int | None
    unit: str
    blocked_since_ms: int | None = None
    ages: AlertAges = ()


def alert_facts(verdict: GroupVerdict, ages: AlertAges = ()) -> AlertFacts:
    """What the alerts look at of this verdict, with the ages that are changed."""
    owns = KINDS[verdict.kind].has_owners and verdict.state is not Phase.OFFSETS_ONLY
    findings = tuple(_oldest(verdict, owns=owns)) if verdict.findings else ()
    unattended = [each.since_ms for each in findings if each.kind == FindingKind.UNATTENDED]
    may_lack = owns and not verdict.members
    orphans = [row for row in verdict.partitions if row.orphan is OrphanReason.NO_MEMBERS] if may_lack else []
    failing = [row.status for row in verdict.partitions if row.status in _FAILING] if _is_failing(verdict) else []
    is_by_records = in_records(verdict)
    return AlertFacts(
        at_ms=verdict.evaluated_ms,
        findings=findings,
        unattended_since_ms=min(unattended, default=None),
        lag=(verdict.lag if verdict.lag_at_least is None else verdict.lag_at_least) if is_by_records else None,
        lag_at_least_ms=verdict.lag_at_least_ms,
        consumed_per_s=consumed_per_s(verdict) if is_by_records else None,
        is_empty=verdict.state is Phase.EMPTY,
        without_members=len(orphans),
        failing=tuple([status for status in failing if status is not None]),
        given_up=records_given_up(verdict),
        unit=unit_of(verdict.kind),
        blocked_since_ms=verdict.blocked_since_ms,
        ages=ages,
    )


def _is_failing(verdict: GroupVerdict) -> bool:
    return verdict.status is LagStatus.ERR


def _oldest(verdict: GroupVerdict, *, owns: bool) -> Iterator[FoundThen]:
    known: dict[str, FoundThen] = {}
    for finding in verdict.findings:
        if finding.kind in _OF_OWNERS and not owns:
            continue
        name = finding_name(finding)
        since_ms = min(finding.since_ms, verdict.evaluated_ms)
        if name not in known or since_ms < known[name].since_ms:
            known[name] = FoundThen(finding.kind.value, finding.reason, since_ms, finding.sentence)
    yield from known.values()


class Condition(NamedTuple):
    """An alert whose condition is true, and since when if that is known better than by the verdicts."""

    alert: GroupAlert
    finding: str
    since_ms: int
    sentence: str


def conditions(window: Sequence[AlertFacts]) -> Iterator[Condition]:
    """The alerts whose condition is true at the end of a window of at least a quarter of an hour, oldest first."""
    now = window[-1]
    for found in now.findings:
        for alert in finding_alerts(found.kind, found.reason):
            age_s = chosen_age_s(alert.name, alert.age_s, now.ages)
            since_ms = found.since_ms + (age_s or 0) * 1000
            if age_s is None or since_ms < now.at_ms:
                yield Condition(alert, f"{found.kind}/{found.reason}", since_ms, found.sentence)
    if now.lag_at_least_ms is not None or now.lag is not None:
        yield from _lag_conditions(now, window)
    if now.failing:
        yield from _status_conditions(now, window)
    yield from _share_conditions(now, window)


def _lag_conditions(now: AlertFacts, window: Sequence[AlertFacts]) -> Iterator[Condition]:
    for alert in (row for row in GROUP_ALERTS if isinstance(row, LagAlert)):
        since_ms = _behind_since_ms(alert, now)
        if since_ms is not None and not _is_away(now, window):
            yield Condition(alert, "", since_ms, _lag_sentence(now))


def _behind_since_ms(alert: LagAlert, now: AlertFacts) -> int | None:
    """Since when the lag has been as old, or as large, as the alert's limit; None: it is not.

    A lag that became so while the brokers took no commits does not count (``_BLOCKED`` of monitor.alert_rules.lag).
    """
    age_s = chosen_age_s(alert.name, alert.age_s, now.ages)
    if age_s is not None:
        if now.lag_at_least_ms is None:
            return None
        since_ms = now.at_ms - now.lag_at_least_ms + age_s * 1000
        return since_ms if since_ms < (now.at_ms if now.blocked_since_ms is None else now.blocked_since_ms) else None
    if now.blocked_since_ms is not None:
        return None
    is_many = alert.records is not None and now.lag is not None and now.lag > alert.records
    return now.at_ms if is_many and now.lag_at_least_ms is None else None


def _lag_sentence(now: AlertFacts) -> str:
    lag = "" if now.lag is None else f" The lag was {counted(now.lag, now.unit)}."
    if now.lag_at_least_ms is None:
        return f"The age of the lag was not known.{lag}"
    return f"The oldest record of the lag was at least {age(now.lag_at_least_ms)} old.{lag}"


def _status_conditions(now: AlertFacts, window: Sequence[AlertFacts]) -> Iterator[Condition]:
    left_out = {
        rows.PARTITION_STALLED.status: _is_unattended_or_blocked,
        rows.PARTITION_SILENT.status: _is_away_or_blocked,
        rows.OFFSETS_REWOUND.status: _is_reset,
    }
    for alert in (row for row in GROUP_ALERTS if isinstance(row, StatusAlert)):
        count = now.failing.count(alert.status)
        if count and not left_out[alert.status](now, window):
            sentence = f"{counted(count, 'partition')} had the Burrow status {alert.status.value}."
            yield Condition(alert, "", now.at_ms, sentence)


def _share_conditions(now: AlertFacts, window: Sequence[AlertFacts]) -> Iterator[Condition]:
    alert = rows.RECORDS_GIVEN_UP
    found = next((each for each in now.findings if (each.kind, each.reason) == (alert.kinds, alert.reasons)), None)
    if found is None or now.given_up is None:
        return
    lately = [each.given_up for each in _within(window, alert.window_s * 1000) if each.given_up is not None]
    if now.given_up > lately[0]:
        yield Condition(alert, f"{found.kind}/{found.reason}", now.at_ms, found.sentence)


def _is_unattended(now: AlertFacts, window: Sequence[AlertFacts]) -> bool:
    """``NOT_UNATTENDED`` of monitor.alert_rules.lag leaves the group out."""
    if now.unattended_since_ms is None:
        return False
    before = _within(window, 15 * MINUTE_MS, 10 * MINUTE_MS)
    is_recent = now.at_ms - now.unattended_since_ms < 10 * MINUTE_MS
    return not (is_recent and any(each.unattended_since_ms is not None for each in before))


def _is_away(now: AlertFacts, window: Sequence[AlertFacts]) -> bool:
    """``NOT_AWAY`` of monitor.alert_rules.lag leaves the group out."""
    if _is_unattended(now, window):
        return True
    paces = [each.consumed_per_s for each in _within(window, 5 * MINUTE_MS) if each.consumed_per_s is not None]
    return now.without_members > 0 and bool(paces) and max(paces) == 0


def _is_unattended_or_blocked(now: AlertFacts, window: Sequence[AlertFacts]) -> bool:
    """``NOT_UNATTENDED`` or ``NOT_BLOCKED`` of monitor.alert_rules.lag leaves the group out."""
    return now.blocked_since_ms is not None or _is_unattended(now, window)


def _is_away_or_blocked(now: AlertFacts, window: Sequence[AlertFacts]) -> bool:
    """``NOT_AWAY`` or ``NOT_BLOCKED`` of monitor.alert_rules.lag leaves the group out."""
    return now.blocked_since_ms is not None or _is_away(now, window)


def _is_reset(now: AlertFacts, window: Sequence[AlertFacts]) -> bool:
    """``NOT_RESET`` of monitor.alert_rules.lag leaves the group out."""
    was_empty = all(each.is_empty for each in _within(window, 6 * MINUTE_MS))
    return now.is_empty and not ((now.consumed_per_s or 0) > 0 and was_empty)


def _within(window: Sequence[AlertFacts], range_ms: int, offset_ms: int = 0) -> list[AlertFacts]:
    """The samples that a range of Prometheus has: not the one at its very beginning."""
    end_ms = window[-1].at_ms
    return [each for each in window if end_ms - range_ms < each.at_ms <= end_ms - offset_ms]


class _Alarm:
    """An alert whose condition is or was true. ``ended_ms``: the condition has ended, and the alert still stays."""

    __slots__ = ("condition", "ended_ms", "fired_ms", "since_ms")

    def __init__(self, condition: Condition, since_ms: int) -> None:
        self.condition, self.since_ms = condition, since_ms
        self.fired_ms: int | None = None
        self.ended_ms: int | None = None

    @property
    def stays_until_ms(self) -> int | None:
        return None if self.ended_ms is None else self.ended_ms + self.condition.alert.keep_s * 1000


class AlertFollower:
    """Follows the alerts of a group from verdict to verdict, as Prometheus does from one evaluation to the next."""

    def __init__(self) -> None:
        self._window: deque[AlertFacts] = deque()
        self._alarms: dict[tuple[str, str], _Alarm] = {}
        self._ended: list[Episode] = []
        self._begin_ms: int | None = None
        self._last_ms: int | None = None

    def take(self, at_ms: int, facts: AlertFacts | None) -> None:
        """What the alerts look at at the next instant; None: there is no such group."""
        self._begin_ms = at_ms if self._begin_ms is None else self._begin_ms
        while self._window and self._window[0].at_ms <= at_ms - WINDOW_MS:
            self._window.popleft()
        found: Iterable[Condition] = ()
        if facts is not None:
            self._window.append(facts)
            found = conditions(tuple(self._window)) if _may_alert(facts) else ()
        now = {(each.alert.name, each.finding): each for each in found}
        for key in self._alarms.keys() - now.keys():
            self._miss(key, at_ms)
        for key, condition in now.items():
            self._meet(key, condition, at_ms)
        self._last_ms = at_ms

    def episodes(self, until_ms: int) -> list[Episode]:
        """All that fired, those that stay until this instant at most."""
        going_on = [self._episode(each, until_ms) for each in self._alarms.values() if each.fired_ms is not None]
        return [*self._ended, *going_on]

    def _meet(self, key: tuple[str, str], condition: Condition, at_ms: int) -> None:
        alarm = self._alarms.get(key)
        if alarm is not None and alarm.stays_until_ms is not None and at_ms > alarm.stays_until_ms:
            self._end(key, at_ms)
            alarm = None
        if alarm is None:
            last_ms = self._last_ms if self._last_ms is not None else condition.since_ms
            alarm = self._alarms[key] = _Alarm(condition, min(at_ms, max(condition.since_ms, last_ms)))
        alarm.ended_ms = None
        fires_ms = alarm.since_ms + condition.alert.hold_s * 1000
        is_older = condition.since_ms < at_ms  # an age that is reached is not exceeded yet: it holds from then on
        if alarm.fired_ms is None and (fires_ms < at_ms if is_older else fires_ms <= at_ms):
            alarm.fired_ms, alarm.condition = fires_ms, condition

    def _miss(self, key: tuple[str, str], at_ms: int) -> None:
        alarm = self._alarms[key]
        if alarm.fired_ms is None:
            del self._alarms[key]
        elif alarm.stays_until_ms is None:
            alarm.ended_ms = at_ms
        elif at_ms > alarm.stays_until_ms:
            self._end(key, at_ms)

    def _end(self, key: tuple[str, str], at_ms: int) -> None:
        self._ended.append(self._episode(self._alarms.pop(key), at_ms))

    def _episode(self, alarm: _Alarm, until_ms: int) -> Episode:
        begin_ms, fired_ms = self._begin_ms or 0, alarm.fired_ms or 0
        stays_ms = alarm.stays_until_ms
        return Episode(
            name=alarm.condition.alert.name,
            from_ms=max(fired_ms, begin_ms),
            until_ms=until_ms if stays_ms is None else min(until_ms, stays_ms),
            sentence=alarm.condition.sentence,
            finding=alarm.condition.finding,
            was_open=fired_ms <= begin_ms,
            is_closed=stays_ms is not None and stays_ms <= until_ms,
        )


def _may_alert(facts: AlertFacts) -> bool:
    """Whether any condition can be true: of most groups, most of the time, none can."""
    return bool(facts.findings or facts.failing or facts.lag_at_least_ms or facts.lag)
