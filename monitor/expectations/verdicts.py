"""The expectations of a group in its verdict: what became of them, and a finding if one is not met."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from monitor.detection.evaluate import Judged
from monitor.expectations.checks import CHECKS, NOT_THERE, check_group, lag_limit_ms, least_lag_ms
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.outcome import Check
from monitor.findings.alerts import changed_age_s
from monitor.findings.expectation import NotAsExpected
from monitor.findings.observation import Observation
from monitor.findings.sentences import sentence_of
from monitor.findings.table import by_rank
from monitor.messages.formatting import age
from monitor.model import Finding, FindingKind, GroupState, GroupVerdict
from monitor.model.alert_ages import AlertAges
from monitor.model.expectations import GroupExpectations, Met

REMEMBERED: Final = 100_000
"""Of how many groups the expectations are kept: they are asked for with every verdict."""

_LAG: Final = "max_lag_s"
_EXISTS: Final = "exists"


class _Case(NamedTuple):
    """A verdict, what is expected of its group by which file, and the state that it is of."""

    expected: Expectation
    expectations: Expectations
    verdict: GroupVerdict
    group: GroupState

    def sentence(self, check: Check) -> str:
        """That of a check, or one without an age: the sentence of a finding stays the same while nothing changes."""
        if check.key == _LAG:
            return f"The oldest record of its lag is older than {age(lag_limit_ms(self.expected))}."
        if check.key == _EXISTS:
            return "It exists; expected: no such group."
        return check.sentence

    def since_ms(self, check: Check) -> int:
        """Since when it is not met: the lag since it is so old, all else since the newest generation, or before."""
        now_ms = self.verdict.evaluated_ms
        if check.key == _LAG:
            return now_ms - max(0, least_lag_ms(self.verdict) - lag_limit_ms(self.expected))
        changed_ms = self.group.generation_ms or self.group.phase_ms
        return min(now_ms, changed_ms) if changed_ms else now_ms


def with_expectations(judged: Judged, expectations: Expectations, group: GroupState, ages: AlertAges = ()) -> Judged:
    """A verdict with what is expected of its group, and until when both hold.

    An expectation that is unknown makes no finding, and neither does that of a group that does not exist: that is a
    finding of its cluster.

    Args:
        judged: the verdict without.
        expectations: those of all groups.
        group: the state of which the verdict is.
        ages: the ages that a deployment has chosen for its alerts.
    """
    case = _case(judged.verdict, expectations, group)
    return judged if case is None else judged.with_addition(_expected_verdict(case, ages), _late_ms(case))


def expected_verdict(
    verdict: GroupVerdict, expectations: Expectations, group: GroupState, ages: AlertAges = ()
) -> GroupVerdict:
    """As :func:`with_expectations`, where it does not matter until when it holds."""
    case = _case(verdict, expectations, group)
    return verdict if case is None else _expected_verdict(case, ages)


def expectation_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those of these findings that a file of expectations has made."""
    return tuple([each for each in findings if each.kind is FindingKind.EXPECTATION])


def _case(verdict: GroupVerdict, expectations: Expectations, group: GroupState) -> _Case | None:
    expected = _expectation(expectations, group.cluster, group.group)
    return None if expected is None else _Case(expected, expectations, verdict, group)


@lru_cache(maxsize=REMEMBERED)
def _expectation(expectations: Expectations, cluster: str, group: str) -> Expectation | None:
    return expectations.of(cluster, group)


def _expected_verdict(case: _Case, ages: AlertAges) -> GroupVerdict:
    outcome = check_group(case.expected, case.verdict)
    unmet = [each for each in outcome.checks if each.met is Met.NO]
    became = GroupExpectations(
        met=outcome.met,
        not_met=tuple([each.key for each in unmet]),
        unknown=tuple([each.key for each in outcome.checks if each.met is Met.UNKNOWN]),
        team=case.expected.team,
    )
    own = [each for each in unmet if _makes_finding(each, case.verdict)]
    if not own:
        return replace(case.verdict, expectations=became)
    found = by_rank([*case.verdict.findings, _finding(case, own, ages)])
    return replace(case.verdict, expectations=became, findings=found)


def _makes_finding(unmet: Check, verdict: GroupVerdict) -> bool:
    """Whether it makes a finding. Findings that are not allowed are findings themselves."""
    if unmet.key == _EXISTS:
        return verdict.state not in NOT_THERE
    return unmet.key in CHECKS


def _finding(case: _Case, unmet: list[Check], ages: AlertAges) -> Finding:
    reason, group = case.expectations.severity.value, case.group
    entry = case.expectations.source(group.cluster, group.group, unmet[0].key) or case.expected
    found = Observation(
        kind=FindingKind.EXPECTATION,
        reason=reason,
        since_ms=min([case.since_ms(each) for each in unmet]),
        evidence=NotAsExpected(entry.groups, tuple([case.sentence(each) for each in unmet])),
    )
    return Finding(
        kind=found.kind,
        reason=reason,
        since_ms=found.since_ms,
        sentence=sentence_of(found, group),
        alert_age_s=changed_age_s(found.kind, reason, ages),
    )


def _late_ms(case: _Case) -> int | None:
    """When the lag becomes older than expected if nothing is read; None: it is, or there is none or no limit."""
    known_ms, limit_ms = least_lag_ms(case.verdict), lag_limit_ms(case.expected)
    if case.expected.max_lag_s is None or case.verdict.lag == 0 or not known_ms or known_ms > limit_ms:
        return None
    return case.verdict.evaluated_ms + limit_ms - known_ms + 1
