"""PromQL over the metrics of groupwatch: an expression names families of the table, and labels that they have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.metrics import specs
from monitor.metrics.promql import UnknownMetric, check_labels, shard_shares
from monitor.metrics.spec_types import HistogramMetric, MetricKind, MetricScope, MetricSpec

VARIABLES: Final = ("cluster", "group", "topic")
"""Labels for which dashboards have a variable of the same name, several values allowed."""

GROUP: Final = ("cluster", "group")
TOPIC: Final = ("cluster", "topic")
PARTITION: Final = ("cluster", "group", "topic", "partition")


def described(*families: MetricSpec) -> str:
    """What the families of a panel are, in their own words."""
    return "\n\n".join(family.help for family in families)


def chosen(family: MetricSpec, variables: Sequence[str] = VARIABLES, **only: str) -> str:
    """The series of a family that these variables of the dashboard choose, and that have these values.

    >>> chosen(specs.GROUP_LAG)
    'groupwatch_group_lag{cluster=~"$cluster",group=~"$group"}'
    >>> chosen(specs.GROUP_STATE, ["cluster"], state="empty")
    'groupwatch_group_state{cluster=~"$cluster",state="empty"}'
    >>> chosen(specs.BUILD_INFO)
    'groupwatch_build_info'

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    check_labels(family, only)
    matchers = [f'{label}=~"${label}"' for label in variables if label in family.labels]
    matchers += [f'{label}="{value}"' for label, value in only.items()]
    return f"{family.name}{{{','.join(matchers)}}}" if matchers else family.name


def across(operator: str, by: Sequence[str], family: MetricSpec, expr: str | None = None) -> str:
    """A family, or an expression that has all its labels, aggregated over all of them but these.

    >>> across("max", ["cluster"], specs.GROUP_LAG_SECONDS)
    'max by (cluster) (groupwatch_group_lag_seconds{cluster=~"$cluster",group=~"$group"})'

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    check_labels(family, by)
    return f"{operator} by ({', '.join(by)}) ({chosen(family) if expr is None else expr})"


def once(family: MetricSpec, expr: str | None = None) -> str:
    """A family, or an expression that has all its labels, with one series where replicas of a job expose it.

    A family about a cluster counts the groups of one shard, so it has one series for each shard. Each job counts what
    it does itself, so a family about groupwatch is as it is.

    >>> once(specs.GROUP_LAG)
    'max by (cluster, group) (groupwatch_group_lag{cluster=~"$cluster",group=~"$group"})'
    """
    expr = chosen(family) if expr is None else expr
    if family.scope is MetricScope.SELF:
        return expr
    if family.scope is MetricScope.CLUSTER:
        return shard_shares(expr, family.labels)
    return f"max by ({', '.join(family.labels)}) ({expr})"


def summed(family: MetricSpec, by: Sequence[str], expr: str | None = None) -> str:
    """A family, or an expression that has all its labels, summed over all of them but these; replicas count once.

    >>> summed(specs.GROUP_ORPHANED_PARTITIONS, ["cluster"])
    'sum by (cluster) (max by (cluster, group, reason) \
(groupwatch_group_orphaned_partitions{cluster=~"$cluster",group=~"$group"}))'
    >>> summed(specs.GROUP_LAG, GROUP)
    'max by (cluster, group) (groupwatch_group_lag{cluster=~"$cluster",group=~"$group"})'

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    if family.scope not in (MetricScope.CLUSTER, MetricScope.SELF) and set(by) == set(family.labels):
        return across("max", by, family, expr)
    return across("sum", by, family, once(family, expr))


def total(family: MetricSpec, expr: str | None = None) -> str:
    """A family, or an expression that has all its labels, summed over all of them; replicas count once.

    >>> total(specs.GROUP_LAG)
    'sum(max by (cluster, group) (groupwatch_group_lag{cluster=~"$cluster",group=~"$group"}))'
    """
    return f"sum({once(family, expr)})"


def increased(family: MetricSpec, window: str = "$__rate_interval") -> str:
    """How much each counter of a family grew within a window.

    Raises:
        UnknownMetric: the family is no counter.
    """
    return f"increase({_counter(family)}[{window}])"


def slowest(family: HistogramMetric, by: Sequence[str], share: float, window: str = "$__rate_interval") -> str:
    """How long such a share of what a histogram counted took at most, in seconds: 0.5 gives the median.

    Of several jobs, that which is worst off.

    >>> slowest(specs.MICRO_BATCH_SECONDS, ["cluster"], 0.99)
    'max by (cluster) (histogram_quantile(0.99, \
rate(groupwatch_micro_batch_seconds_bucket{cluster=~"$cluster"}[$__rate_interval])))'

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    matchers = [f'{label}=~"${label}"' for label in VARIABLES if label in family.labels]
    rates = f"rate({family.name}_bucket{{{','.join(matchers)}}}[{window}])"
    return across("max", by, family, f"histogram_quantile({share}, {rates})")


def since(family: MetricSpec) -> str:
    """The age of the instant that a family has in Unix time, in seconds.

    Raises:
        UnknownMetric: the family has no instant.
    """
    if not family.name.endswith("timestamp_seconds"):
        raise UnknownMetric(f"{family.name} is not a moment")
    return f"time() - {chosen(family)}"


def groups_with(expr: str) -> str:
    """How many groups an expression has a series for, with 0 where it has none but groups are known.

    There is no series at all for what is not watched: 0 would be good news without a source.
    """
    return f"count({expr}) or 0 * count({chosen(specs.GROUP_INFO)})"


def numbered(family: MetricSpec, label: str, values: Iterable[str]) -> str:
    """The number, from 0, of the value that holds in a family with one series of 0 or 1 for each value of a label.

    Raises:
        UnknownMetric: the family lacks the label.
    """
    held = [f"{place} * ({chosen(family, **{label: value})} == 1)" for place, value in enumerate(values)]
    return across("max", GROUP, family, " or ".join(held))


def renamed(family: MetricSpec, by: Sequence[str], label: str, new: str) -> str:
    """The largest of a family by these labels and one more, which gets a new name: two families may both have it.

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    check_labels(family, (*by, label))
    series = f'label_replace({chosen(family)}, "{new}", "$1", "{label}", "(.+)")'
    return f"max by ({', '.join(by)}, {new}) ({series})"


def _counter(family: MetricSpec) -> str:
    if family.kind is not MetricKind.COUNTER:
        raise UnknownMetric(f"{family.name} is no counter")
    return chosen(family)
