"""One group judged twice: by the thresholds that were in force, and by others."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluate import judge, judge_by_each
from monitor.detection.ownership.assignment_view import AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.history.backtest.alerts import AlertFollower, alert_facts
from monitor.history.backtest.episodes import FindingFollower, Pair, finding_name, pair_episodes
from monitor.history.walk import GroupWalk
from monitor.model import GroupVerdict
from monitor.model.alert_ages import AlertAges

STEP_MS: Final = 60_000
"""How far apart the instants are at least that a group is judged at beside those at which something happened to it."""

FINE_STEP_MS: Final = 10_000
"""How far apart they are where the findings of a group have changed between two of them."""

PARTITIONS_A_STEP: Final = 1_000
"""A group with more partitions is judged less often: at every second step with up to twice as many, and so on."""

Verdicts = tuple[GroupVerdict | None, GroupVerdict | None]
"""By the thresholds in force, and by the others; None: there is no such group."""


class GroupTrial:
    """What was found of a group from one instant to the next, by both thresholds.

    ``step_ms`` is how far apart the instants are that a group is judged at, if it has 1,000 partitions or less.
    """

    def __init__(self, step_ms: int = STEP_MS) -> None:
        self.step_ms = step_ms
        self._findings = FindingFollower(), FindingFollower()
        self._alerts = AlertFollower(), AlertFollower()
        self.taken_ms: int | None = None
        """The newest instant that was taken."""

    def take(self, at_ms: int, verdicts: Verdicts, ages: tuple[AlertAges, AlertAges] = ((), ())) -> None:
        """The verdicts at the next instant, and the changed ages of alerts of both configurations."""
        sides = zip(verdicts, ages, self._findings, self._alerts, strict=True)
        for verdict, own_ages, findings, alerts in sides:
            findings.take(at_ms, () if verdict is None else verdict.findings)
            alerts.take(at_ms, None if verdict is None else alert_facts(verdict, own_ages))
        self.taken_ms = at_ms

    def is_change(self, verdicts: Verdicts) -> bool:
        """Whether there are other findings than at the instant that was taken last."""
        return any(
            follower.names != _names(verdict) for follower, verdict in zip(self._findings, verdicts, strict=True)
        )

    def findings(self, until_ms: int) -> list[Pair]:
        """The findings as they were with those that would have been, until an instant."""
        before, after = self._findings
        return pair_episodes(before.episodes(until_ms), after.episodes(until_ms))

    def alerts(self, until_ms: int) -> list[Pair]:
        """The alerts likewise."""
        before, after = self._alerts
        return pair_episodes(before.episodes(until_ms), after.episodes(until_ms))


def _names(verdict: GroupVerdict | None) -> set[str]:
    return set() if verdict is None else set(map(finding_name, verdict.findings))


def try_rules(trial: GroupTrial, walk: GroupWalk, rules: DetectionRules, since_ms: int, until_ms: int) -> None:
    """Judge a group between two instants by the thresholds that its walk has, and by others.

    It is judged every minute (a group with more than 1,000 partitions less often), and whenever something happened to
    its members. Where its findings changed in between, it is judged every ten seconds. The trial may have taken earlier
    spans: it goes on behind them.

    Raises:
        RecordingError: the recording cannot be read.
    """
    judged = _JudgedTwice(walk, rules)
    for at_ms in _instants(walk, since_ms, until_ms, trial):
        walk.mark()
        verdicts = judged.at(at_ms)
        if trial.taken_ms is not None and trial.is_change(verdicts):
            walk.go_back()
            for between_ms in range(_next(trial.taken_ms, FINE_STEP_MS), at_ms, FINE_STEP_MS):
                trial.take(between_ms, judged.at(between_ms), judged.ages)
        trial.take(at_ms, verdicts, judged.ages)


class _JudgedTwice:
    """The verdicts on a walk's group, made from the same inputs and the same view of its members."""

    def __init__(self, walk: GroupWalk, rules: DetectionRules) -> None:
        self._walk = walk
        self._settings = rules.of(walk.cluster, walk.group)
        self._views = AssignmentViews()
        self.ages: tuple[AlertAges, AlertAges] = (), self._settings.alert_ages
        """The changed ages of alerts at the instant that was judged last."""

    def at(self, at_ms: int) -> Verdicts:
        inputs = self._walk.inputs_at(at_ms)
        if inputs is None:
            return None, None
        self.ages = inputs.settings.alert_ages, self._settings.alert_ages
        topics = Topics(inputs.catalog)
        view = self._views.of(inputs.group, topics)
        if self._settings == inputs.settings:
            verdict = judge(inputs.group, topics, view, inputs.now_ms, self._settings)
            return verdict, verdict
        by = inputs.settings, self._settings
        before, after = judge_by_each(inputs.group, topics, view, inputs.now_ms, by)
        return before, after


def _instants(walk: GroupWalk, since_ms: int, until_ms: int, trial: GroupTrial) -> list[int]:
    """Those after the one that was taken. In each step, an instant is taken at which the group is known already."""
    taken_ms = trial.taken_ms
    apart_ms = trial.step_ms * max(1, -(-walk.partitions // PARTITIONS_A_STEP))
    first_ms = since_ms if taken_ms is None else max(since_ms, taken_ms + 1)
    happened = [at_ms for at_ms in walk.event_times if first_ms <= at_ms <= until_ms]
    most = max(1, (until_ms - since_ms) // apart_ms) * 10
    steps = range(_next(first_ms - 1, apart_ms), until_ms + 1, apart_ms)
    quiet = {at_ms // apart_ms: at_ms for at_ms in walk.quiet_times}
    chosen = [quiet.get(at_ms // apart_ms - 1, at_ms) for at_ms in steps]
    found = {*chosen, *happened[-most:], until_ms, *([since_ms] if taken_ms is None else [])}
    return sorted(at_ms for at_ms in found if at_ms >= first_ms)


def _next(at_ms: int, apart_ms: int) -> int:
    """The first multiple after an instant."""
    return (at_ms // apart_ms + 1) * apart_ms
