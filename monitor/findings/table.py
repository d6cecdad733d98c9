"""All findings, worst first. Each list that is sorted by severity uses this order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from monitor.findings import (
    balance,
    capacity,
    connect,
    double_owned,
    drift,
    expectation,
    lag,
    members,
    offsets,
    orphaned,
    rebalances,
    retention,
    rocketmq,
    share,
    skipped,
    streams,
    subscriptions,
    transactions,
    uncommitted,
)
from monitor.findings.spec import FindingSpec
from monitor.model import Finding, FindingKind

FAMILIES: Final[tuple[tuple[FindingSpec, ...], ...]] = (
    retention.ROWS,
    skipped.ROWS,
    double_owned.ROWS,
    orphaned.ROWS,
    lag.ROWS,
    uncommitted.ROWS,
    offsets.ROWS,
    subscriptions.ROWS,
    members.ROWS,
    transactions.ROWS,
    rebalances.ROWS,
    drift.ROWS,
    balance.ROWS,
    capacity.ROWS,
    streams.ROWS,
    connect.ROWS,
    share.ROWS,
    rocketmq.ROWS,
    expectation.ROWS,
)
"""The rows by family: those that every group can have, then those of one kind. Rows of one rank have this order."""

FINDINGS: Final[tuple[FindingSpec, ...]] = tuple(
    sorted((spec for rows in FAMILIES for spec in rows), key=lambda spec: spec.rank.value)
)
"""All findings, worst first."""

FINDING_KINDS: Final[tuple[FindingKind, ...]] = tuple(dict.fromkeys(spec.kind for spec in FINDINGS))
"""The kinds of findings, each by the worst of its reasons."""

_SPECS: Final[Mapping[tuple[str, str], FindingSpec]] = {(spec.kind, str(spec.reason)): spec for spec in FINDINGS}

_RANKS: Final[Mapping[tuple[str, str], int]] = {key: rank for rank, key in enumerate(_SPECS)}


def spec_of(kind: str, reason: str) -> FindingSpec:
    """The row of a finding.

    >>> spec_of(FindingKind.DRIFT, "tie").advice
    "No action needed: both results are the assignor's own."

    Raises:
        KeyError: the table has no such finding. No verdict has one, as verdicts are sorted by :func:`rank`.
    """
    return _SPECS[kind, reason]


def rank(kind: str, reason: str) -> int:
    """How bad a finding is among all; 0 is the worst.

    >>> rank(FindingKind.RETENTION, "records_lost")
    0

    Raises:
        KeyError: the table has no such finding.
    """
    return _RANKS[kind, reason]


def by_rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, worst first; those of one rank as they come."""
    return tuple(sorted(findings, key=lambda each: rank(each.kind, each.reason)))
