"""Whether a verdict is as expected: a row for each key, which says met, not met or unknown, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from monitor.expectations.expectation import Expectation
from monitor.expectations.outcome import Check, GroupOutcome, group_outcome
from monitor.findings.table import spec_of
from monitor.messages.formatting import age, counted
from monitor.messages.names import listed, shown
from monitor.model import KINDS, Finding, FindingKind, GroupVerdict, Phase
from monitor.model.expectations import Met
from monitor.model.findings import Severity

Told = tuple[Met, str]

COUNTING: Final = frozenset({Severity.CRITICAL, Severity.WARNING})
"""Findings of these severities are not expected, unless they are allowed."""

NOT_THERE: Final = frozenset({Phase.GONE, Phase.UNSEEN})
"""In these states there is no such group."""

FINDINGS: Final = "findings"
CLUSTER: Final = "cluster"
_NOBODY: Final = "It has no members."


def check_group(expected: Expectation, verdict: GroupVerdict) -> GroupOutcome:
    """The checks of a group that its source has.

    Args:
        expected: what is expected of it.
        verdict: what it is.
    """
    if verdict.unjudged is not None or verdict.is_unknown:
        reason = verdict.unjudged or "nothing is known of it"
        return unknown_group(expected, verdict.cluster, verdict.group, f"It cannot be evaluated: {reason}")
    return group_outcome(verdict.cluster, verdict.group, _checks(expected, verdict), expected.team)


def unknown_group(expected: Expectation, cluster: str, group: str, sentence: str) -> GroupOutcome:
    """A group of which a source cannot say anything; the sentence says why."""
    return group_outcome(cluster, group, [Check(CLUSTER, Met.UNKNOWN, sentence)], expected.team)


def absent_group(expected: Expectation, cluster: str, group: str) -> GroupOutcome:
    """A group, or a pattern of groups, that a source with all groups of the cluster does not have."""
    sentence = f"{shown(cluster)} has no such group."
    if expected.exists is None:
        return unknown_group(expected, cluster, group, sentence)
    met = Met.NO if expected.exists else Met.YES
    return group_outcome(cluster, group, [Check("exists", met, sentence)], expected.team)


def absent_or_unknown(expected: Expectation, cluster: str, group: str, missing: str | None) -> GroupOutcome:
    """A group, or a pattern, that a source does not have. ``missing``: why it may lack groups; None: it lacks none."""
    if missing is None:
        return absent_group(expected, cluster, group)
    return unknown_group(expected, cluster, group, f"{shown(group)} is not among the known groups. {missing}")


def _checks(expected: Expectation, verdict: GroupVerdict) -> Iterator[Check]:
    is_there = verdict.state not in NOT_THERE
    if expected.exists is not None or not is_there:
        met = Met.UNKNOWN if expected.exists is None else Met.YES if is_there is expected.exists else Met.NO
        yield Check("exists", met, "The group exists." if is_there else "The group does not exist.")
    if not is_there or expected.exists is False:
        return
    for key, check in CHECKS.items():
        if getattr(expected, key) is not None:
            yield Check(key, *check(expected, verdict))
    yield Check(FINDINGS, *_check_findings(expected, verdict))


def _members(expected: Expectation, verdict: GroupVerdict) -> Told:
    if expected.members is None or verdict.state is Phase.OFFSETS_ONLY:
        return Met.UNKNOWN, "The group is known only by its commits, so its members are not."
    found = counted(len(verdict.members), "member")
    if is_rebalancing(verdict):
        return Met.UNKNOWN, f"The group rebalances; before, it had {found}."
    return _compare(len(verdict.members) in expected.members, f"It has {found}", str(expected.members))


def _protocol(expected: Expectation, verdict: GroupVerdict) -> Told:
    if verdict.state is Phase.OFFSETS_ONLY:
        return Met.UNKNOWN, "The group is known only by its commits, so its protocol is not."
    found = KINDS[verdict.kind].group_protocol or verdict.kind
    return _compare(found == expected.protocol, f"Its protocol is {found}", str(expected.protocol))


def _assignor(expected: Expectation, verdict: GroupVerdict) -> Told:
    if verdict.assignor is None:
        return Met.UNKNOWN, "Its assignor is not known." if verdict.members else _NOBODY
    is_met = verdict.assignor == expected.assignor
    return _compare(is_met, f"Its assignor is {shown(verdict.assignor)}", shown(str(expected.assignor)))


def _static(expected: Expectation, verdict: GroupVerdict) -> Told:
    if not verdict.members:
        return Met.UNKNOWN, _NOBODY
    static = sum(member.instance_id is not None for member in verdict.members)
    wanted = len(verdict.members) if expected.static else 0
    found = f"{static:,} of {counted(len(verdict.members), 'member')} {'has' if static == 1 else 'have'} an instance id"
    return _compare(static == wanted, found, "all" if expected.static else "none")


def _max_lag_s(expected: Expectation, verdict: GroupVerdict) -> Told:
    limit_ms = lag_limit_ms(expected)
    if verdict.is_connect:
        return Met.UNKNOWN, "A Connect cluster has no lag of its own; name the groups of its sinks."
    if verdict.lag == 0:
        return Met.YES, "It has no lag."
    least_ms = least_lag_ms(verdict)
    if least_ms > limit_ms:
        return _compare(is_met=False, found=f"Its lag is {age(least_ms)} old", wanted=f"at most {age(limit_ms)}")
    if verdict.lag is None:
        return Met.UNKNOWN, "Its lag is not known in all of its partitions."
    if verdict.lag_ms is None:
        return Met.UNKNOWN, "The age of its lag is not known."
    return Met.YES, f"Its lag is {age(verdict.lag_ms)} old."


def lag_limit_ms(expected: Expectation) -> int:
    """How old the oldest record of the lag may be; 0 without a limit."""
    return round(1000 * (expected.max_lag_s or 0))


def least_lag_ms(verdict: GroupVerdict) -> int:
    """How old it is at least; 0 if that is not known."""
    return max(verdict.lag_ms or 0, verdict.lag_at_least_ms or 0)


def _max_share(expected: Expectation, verdict: GroupVerdict) -> Told:
    ratio = verdict.imbalance_ratio
    if ratio is None:
        return Met.UNKNOWN, "How evenly its partitions are assigned is not known." if verdict.members else _NOBODY
    found = f"Its largest member owns {ratio:.3g} times as many partitions as in an optimal assignment"
    return _compare(ratio <= (expected.max_share or 0), found, f"at most {expected.max_share:g} times")


def _check_findings(expected: Expectation, verdict: GroupVerdict) -> Told:
    found = unexpected_findings(expected, verdict)
    if found:
        names = listed([f"{each.kind}/{each.reason}" for each in found])
        return Met.NO, f"It has {names}: {found[0].sentence}"
    return Met.YES, "It has no finding of severity warning or critical, but those that are allowed."


def unexpected_findings(expected: Expectation, verdict: GroupVerdict) -> list[Finding]:
    """The findings of severity warning or critical that are not allowed, worst first."""
    return [
        each
        for each in verdict.findings
        if each.kind is not FindingKind.EXPECTATION  # they say the same as the other checks
        and spec_of(each.kind, each.reason).severity in COUNTING
        and not expected.allows(each.kind, each.reason)
    ]


def is_rebalancing(verdict: GroupVerdict) -> bool:
    """Whether the group is known to rebalance, so that its members and owners are those of before."""
    return verdict.rebalancing_since_ms is not None


def _compare(is_met: bool, found: str, wanted: str) -> Told:
    return (Met.YES, f"{found}.") if is_met else (Met.NO, f"{found}; expected: {wanted}.")


CHECKS: Final[dict[str, Callable[[Expectation, GroupVerdict], Told]]] = {
    "members": _members,
    "protocol": _protocol,
    "assignor": _assignor,
    "static": _static,
    "max_lag_s": _max_lag_s,
    "max_share": _max_share,
}
"""By the key of an expectation."""
