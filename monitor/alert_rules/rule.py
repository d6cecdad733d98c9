"""What an alert rule is, how its times are written, and the expressions and texts that rules are made of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from monitor.findings.alerts import KEPT_S, FindingAlert, GroupAlert, LagAlert
from monitor.metrics import specs
from monitor.metrics.promql import check_labels, everywhere
from monitor.metrics.spec_types import MetricSpec
from monitor.model.findings import Severity

RUNBOOKS: Final = "docs/runbooks.md"
"""Where the runbooks are, in this repository: each rule has a section of its name."""


BY_CLUSTER: Final = "cluster, exported_cluster"
"""The labels of a watched cluster. Where the target has a label ``cluster``, Prometheus names ours ``exported_cluster``
unless it honors our labels: rules must not match the groups of two Kafka clusters then."""

OF_GROUP: Final = f"on ({BY_CLUSTER}, group)"
"""Matches the series of one group, of this groupwatch or of a replica of it."""


class Pace(msgspec.Struct, frozen=True):
    """How long the rules wait: their normal times (``divisor`` 1), or so many times less, for the demo.

    ``ages`` (s) are those that a deployment chooses for some alerts, by name.
    """

    divisor: int = 1
    ages: Mapping[str, int] = {}

    def seconds(self, meant: int) -> int:
        """So many seconds at this pace; never none of some.

        >>> Pace().seconds(600), Pace(60).seconds(600), Pace(60).seconds(30)
        (600, 10, 1)
        """
        return max(min(1, meant), meant // self.divisor)

    def age_s(self, row: FindingAlert | LagAlert) -> int:
        """The age of a finding or a lag from which the alert of a row is about it; 0: it goes by no age."""
        return self.seconds(self.ages.get(row.name, row.age_s or 0))


class Scope(StrEnum):
    """Whose series a rule is about; two deployments have other clusters, collectors and processes."""

    CLUSTER = "cluster"
    COLLECTOR = "collector"
    PROCESS = "process"
    EVERYTHING = "everything"


class AlertRule(msgspec.Struct, frozen=True):
    """One rule: an expression, how long it has to hold, and how long the alert stays after it. Both in seconds.

    ``summary`` is one line with the numbers, ``description`` says what they mean; both are templates of Prometheus.
    ``labels`` are those besides the severity, ``links`` annotations with addresses; none: its section of the runbooks.
    """

    name: str
    severity: Severity
    expr: str
    hold_s: int
    summary: str
    description: str
    keep_s: int = KEPT_S
    labels: Mapping[str, str] = {}
    links: Mapping[str, str] = {}
    scope: Scope = Scope.CLUSTER

    def runbook(self, page: str = RUNBOOKS) -> str:
        """Its section of the page of runbooks, which is a path in this repository or an address."""
        return f"{page}#{self.name.lower()}"


def duration(seconds: int) -> str:
    """A time in Prometheus' notation.

    >>> duration(0), duration(90), duration(600), duration(7200)
    ('0s', '90s', '10m', '2h')
    """
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def series(family: MetricSpec, **matchers: str) -> str:
    """The series of a family, chosen by values or regular expressions; after ``!`` is what they must not be.

    >>> series(specs.GROUP_FINDINGS, kind="rebalance", reason="!long|storm")
    'groupwatch_group_findings{kind="rebalance",reason!~"long|storm"}'
    >>> series(specs.UP)
    'groupwatch_up'

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    check_labels(family, matchers)
    written = ",".join(_matcher(label, wanted) for label, wanted in matchers.items())
    return f"{everywhere(family)}{{{written}}}" if written else everywhere(family)


def _matcher(label: str, wanted: str) -> str:
    value = wanted.removeprefix("!")
    is_plain = value.replace("_", "").isalnum()
    sign = ("!=" if is_plain else "!~") if value != wanted else ("=" if is_plain else "=~")
    return f'{label}{sign}"{value}"'


def finding_age(kind: str, reason: str) -> str:
    """How long the oldest findings of a kind and of reasons (regular expressions) have been true, in seconds.

    >>> finding_age("drift", "current")
    'groupwatch_group_finding_oldest_seconds{kind="drift",reason="current"}'
    """
    return series(specs.GROUP_FINDING_OLDEST_SECONDS, kind=kind, reason=reason)


TEAM_LABEL: Final = "team"
TEAM: Final = (
    f"{{{{ range query (printf `topk(1, {series(specs.GROUP_EXPECTATION_INFO)}"
    "{cluster=%q,exported_cluster=%q,group=%q})` $labels.cluster $labels.exported_cluster $labels.group) }}"
    "{{ .Labels.team }}{{ end }}"
)
"""The team of the alert's group, for its label; empty, which is no label, where the file of expectations has none."""


def row_rule(row: GroupAlert, pace: Pace, *, summary: str, description: str, expr: str | None = None) -> AlertRule:
    """The rule of a row of monitor.findings.alerts, at a pace. Without ``expr``, it goes by the age of the findings."""
    return AlertRule(
        name=row.name,
        severity=row.severity,
        expr=_by_age(row, pace) if expr is None else expr,
        hold_s=pace.seconds(row.hold_s),
        keep_s=pace.seconds(row.keep_s),
        summary=summary,
        description=description,
        labels={TEAM_LABEL: TEAM},
    )


def _by_age(row: GroupAlert, pace: Pace) -> str:
    if not isinstance(row, FindingAlert):
        raise TypeError(f"{row.name} is not about the age of findings: give its expression")
    limit = ">= 0" if row.age_s is None else f"> {pace.age_s(row)}"
    return f"{finding_age(row.kinds, row.reasons)} {limit}"


def looked_up(text: str, family: MetricSpec, *more: str, window: str = "") -> str:
    """A template: words with another number of the alert's group in place of #; no words where it is not known.

    It is that of the family's series that have the alert's cluster and group, and what ``more`` labels name of it: the
    largest, as replicas expose the same. With a ``window``, as "10m", it is the increase within it: Prometheus
    extrapolates that, so it is rounded.

    >>> looked_up(", # records", specs.GROUP_LAG)
    '{{ range query (printf `max(groupwatch_group_lag{cluster=%q,exported_cluster=%q,group=%q})` \
$labels.cluster $labels.exported_cluster $labels.group) }}, {{ .Value | humanize }} records{{ end }}'
    """
    labels = (*BY_CLUSTER.split(", "), "group", *more)
    chosen = f"{series(family)}{{{','.join(f'{label}=%q' for label in labels)}}}"
    query = f"round(max(increase({chosen}[{window}])))" if window else f"max({chosen})"
    values = " ".join(f"$labels.{label}" for label in labels)
    words = text.replace("#", f"{{{{ .Value | {'humanize1024' if family.name.endswith('_bytes') else 'humanize'} }}}}")
    return f"{{{{ range query (printf `{query}` {values}) }}}}{words}{{{{ end }}}}"


AGE: Final = "{{ $value | humanizeDuration }}"
"""The value of the expression, which is a time."""

COUNT: Final = "{{ $value | humanize }}"
"""The value of the expression, which is a number."""

ROUNDED: Final = '{{ $value | printf "%.0f" }}'
"""The value of an expression with ``increase``, which Prometheus extrapolates."""

WAITING: Final = looked_up(", # records", specs.GROUP_LAG) + looked_up(", #bytes", specs.GROUP_LAG_BYTES)
"""How much waits for the alert's group; of MetaQ, in bytes."""

GROUP: Final = "{{ $labels.group }}"
CLUSTER: Final = "{{ or $labels.exported_cluster $labels.cluster }}"

WHICH: Final = f"{GROUP} of {CLUSTER}"
"""The group in a summary, which may stand alone in a message: several clusters may have groups of one name."""
