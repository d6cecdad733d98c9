"""The gate for a rollout: looks at its groups until nothing is missing for long enough, or the time is up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from monitor.cli.errors import SourceError
from monitor.cli.sources.verifying import VerifiedCluster
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.look import Look, look_at
from monitor.expectations.outcome import GroupOutcome, combine
from monitor.expectations.rollout import RolloutLimits, RolloutProgress, look_again
from monitor.expectations.verification import hidden_groups, unknown_cluster, verify_group
from monitor.explain.rollout_cost import RolloutForecast, RolloutQuestion, forecast
from monitor.explain.rollout_plan import Rollout
from monitor.model import Value
from monitor.model.expectations import Met

LOOK_EVERY_S: Final = 1.0

GroupThen = Callable[[str], GroupInputs | None]
"""A group as it was when the rollout started, before the first look; None: not known."""


class GroupRollout(Value):
    """How the rollout of one group ended. ``progress`` None: nothing is known of it.

    ``forecast``: what it would cost, by the group at its start. ``no_forecast``: why that was requested and is unknown.
    """

    group: str
    outcome: GroupOutcome
    progress: RolloutProgress | None = None
    forecast: RolloutForecast | None = None
    no_forecast: str = ""


class GateResult(Value):
    """How a gate ended: met, not met when the time was up or a limit was exceeded, or unknown.

    ``waited_ms``: how long it took. ``since_ms``: the start of the rollout.
    """

    cluster: str
    met: Met
    groups: tuple[GroupRollout, ...]
    since_ms: int
    waited_ms: int


class GateOptions(NamedTuple):
    """What a person wants of a gate; ``group`` None: all groups of which something is expected.

    ``is_replaced``: no member of before may be left. ``plan``: how pods are replaced, for a forecast; None: without it.
    """

    cluster: str
    group: str | None
    limits: RolloutLimits
    wait_s: float
    is_replaced: bool = False
    plan: Rollout | None = None


class Clock(NamedTuple):
    """A clock (seconds that never go back), and how to wait for so many of them."""

    now_s: Callable[[], float]
    wait: Callable[[float], object]


class Gate:
    """Looks at the groups of one cluster again and again. Without ``group_then``, it starts with the first look."""

    def __init__(
        self,
        expectations: Expectations,
        source: VerifiedCluster,
        options: GateOptions,
        group_then: GroupThen | None = None,
    ) -> None:
        self._expectations = expectations
        self._source = source
        self._options = options
        self._group_then = group_then
        self._first: dict[str, Look] = {}
        self._progress: dict[str, RolloutProgress] = {}

    def wait(self, clock: Clock, tell: Callable[[Sequence[GroupRollout]], object]) -> GateResult:
        """Wait until all rollouts are over, one is lost, or the time is up. ``tell`` gets the groups of each look."""
        began_s = clock.now_s()
        while True:
            groups = self._look()
            tell(groups)
            is_over = bool(groups) and all(each.progress is not None and each.progress.is_over for each in groups)
            is_lost = any(each.progress is not None and each.progress.is_lost for each in groups)
            waited_s = clock.now_s() - began_s
            if is_over or is_lost or waited_s >= self._options.wait_s:
                return self._result(groups, waited_s, is_over=is_over)
            clock.wait(LOOK_EVERY_S)

    def _result(self, groups: Sequence[GroupRollout], waited_s: float, *, is_over: bool) -> GateResult:
        met = combine([each.outcome.met for each in groups])
        if met is Met.YES and not is_over:  # it was not for long enough
            met = Met.NO
        options = self._options
        return GateResult(
            cluster=options.cluster,
            met=met,
            groups=tuple(map(self._with_forecast, groups)),
            since_ms=options.limits.since_ms,
            waited_ms=round(1000 * waited_s),
        )

    def _look(self) -> list[GroupRollout]:
        cluster, only = self._options.cluster, self._options.group
        try:
            known = self._source.known_groups()
        except SourceError as error:
            self._progress.clear()
            return [GroupRollout(only or "", unknown_cluster(cluster, str(error), only))]
        names = sorted(known.names) if only is None else [only]
        found = [(name, self._expectations.of(cluster, name)) for name in names]
        groups = [self._rollout(name, each, known.missing) for name, each in found if each is not None]
        if only is None:
            entries = EntriesOfCluster(self._expectations, cluster)
            groups += [GroupRollout(each.group, each) for each in hidden_groups(entries, cluster, known)]
        return groups

    def _rollout(self, group: str, expected: Expectation, missing: str | None) -> GroupRollout:
        """The rollout of one group after another look. A group that is away is not there yet."""
        read = self._source.read(group)
        look = look_at(read) if isinstance(read, GroupInputs) else read
        if not isinstance(look, Look):
            self._progress.pop(group, None)
            needed = replace(expected, exists=True) if expected.exists is None else expected
            return GroupRollout(group, verify_group(needed, self._options.cluster, group, look, missing))
        first = self._first.setdefault(group, look)
        progress = look_again(expected, self._limits(group), look, self._progress.get(group), first)
        self._progress[group] = progress
        return GroupRollout(group, progress.outcome, progress)

    def _at_start(self, group: str) -> GroupInputs | None:
        """The group when its rollout started; None: not known."""
        if self._group_then is not None:
            return self._group_then(group)
        first = self._first.get(group)
        return None if first is None else first.inputs

    def _limits(self, group: str) -> RolloutLimits:
        if not self._options.is_replaced:
            return self._options.limits
        then = self._at_start(group)
        before = None if then is None else frozenset(member.member_id for member in then.group.members)
        return replace(self._options.limits, is_replaced=True, before=before)

    def _with_forecast(self, rollout: GroupRollout) -> GroupRollout:
        """The same with the forecast beside it. It is computed at the end, as no look may wait for it."""
        plan = self._options.plan
        if plan is None:
            return rollout
        then = self._at_start(rollout.group)
        if rollout.progress is None or then is None:
            return replace(rollout, no_forecast="What the group was at the start, or became, is not known.")
        try:
            return replace(rollout, forecast=forecast(then, RolloutQuestion(plan), is_alone=True))
        except QuestionError as error:
            return replace(rollout, no_forecast=str(error))
