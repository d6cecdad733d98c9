"""A verdict as the API gives it."""

from __future__ import annotations

import msgspec
from msgspec.structs import asdict

from monitor.findings.alerts import settling_until_ms, worst_first
from monitor.findings.table import spec_of
from monitor.model import Finding, GroupVerdict
from monitor.model.ended_findings import EndedLately
from monitor.model.findings import Severity


class AdvisedFinding(Finding, kw_only=True):
    """A finding with its severity and what to do about it."""

    severity: Severity
    advice: str | None = None
    settling_until_ms: int | None = None


class ToldVerdict(GroupVerdict):
    """Everything that groupwatch knows of a group, its findings with severity and advice."""

    findings: tuple[AdvisedFinding, ...] = ()
    """Its findings, worst first, with severity and advice."""
    ended: EndedLately | None = None
    """Its findings that ended in the last 20 minutes; absent: not known, or `at` is given."""


def verdict_json(verdict: GroupVerdict, ended: EndedLately | None = None) -> bytes:
    """The whole verdict, its findings with advice; a field that has its default (null, 0, empty) is left out."""
    in_order = worst_first(verdict.findings, verdict.evaluated_ms)
    advised = tuple(_with_advice(verdict, finding) for finding in in_order)
    fields = {name: getattr(verdict, name) for name in verdict.__struct_fields__ if name != "findings"}
    return msgspec.json.encode(ToldVerdict(**fields, findings=advised, ended=ended))


def _with_advice(verdict: GroupVerdict, finding: Finding) -> AdvisedFinding:
    spec = spec_of(finding.kind, finding.reason)
    advice = spec.advice_for(verdict.kind, is_connect=verdict.is_connect, library=finding.library)
    until_ms = settling_until_ms(finding, verdict.evaluated_ms)
    return AdvisedFinding(**asdict(finding), severity=spec.severity, advice=advice, settling_until_ms=until_ms)
