"""PromQL over the metrics of groupwatch: an expression can only name a family and labels that METRICS has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.metrics.specs import METRICS, MetricKind, MetricSpec

_SPECS: Final = {spec.name: spec for spec in METRICS}

VARIABLES: Final = ("cluster", "group", "topic")
"""Labels for which dashboards have a variable of the same name, several values allowed."""

CLUSTER: Final = ("cluster",)
GROUP: Final = ("cluster", "group")
TOPIC: Final = ("cluster", "topic")
PARTITION: Final = ("cluster", "group", "topic", "partition")


class UnknownMetric(Exception):  # noqa: N818 -- says what happened
    """A query names a metric, or a label of one, that groupwatch does not expose, or asks what its kind cannot tell."""


def spec_of(name: str) -> MetricSpec:
    """The spec of a family, given without the prefix ``groupwatch_``.

    Raises:
        UnknownMetric: there is no such family.
    """
    spec = _SPECS.get(f"groupwatch_{name}")
    if spec is None:
        raise UnknownMetric(f"groupwatch_{name} is not in monitor.metrics.specs.METRICS")
    return spec


def check_labels(name: str, labels: Iterable[str]) -> None:
    """Do nothing if a family, given without the prefix, has these labels.

    Raises:
        UnknownMetric: the family is not there, or lacks one of the labels.
    """
    missing = [label for label in labels if label not in spec_of(name).labels]
    if missing:
        raise UnknownMetric(f"groupwatch_{name} has no label {', '.join(missing)}")


def described(*names: str) -> str:
    """What the families of a panel are, in their own words."""
    return "\n\n".join(spec_of(name).help for name in names)


def chosen(name: str, variables: Sequence[str] = VARIABLES, **only: str) -> str:
    """The series of a family that these variables of the dashboard choose, and that have these values.

    >>> chosen("group_lag")
    'groupwatch_group_lag{cluster=~"$cluster",group=~"$group"}'
    >>> chosen("group_state", ["cluster"], state="empty")
    'groupwatch_group_state{cluster=~"$cluster",state="empty"}'
    >>> chosen("build_info")
    'groupwatch_build_info'

    Raises:
        UnknownMetric: the family is not there, or lacks one of the labels.
    """
    spec = spec_of(name)
    check_labels(name, only)
    matchers = [f'{label}=~"${label}"' for label in variables if label in spec.labels]
    matchers += [f'{label}="{value}"' for label, value in only.items()]
    return f"{spec.name}{{{','.join(matchers)}}}" if matchers else spec.name


def across(operator: str, by: Sequence[str], name: str, expr: str | None = None) -> str:
    """A family, or an expression that has all its labels, aggregated over all of them but these.

    >>> across("max", ["cluster"], "group_lag_seconds")
    'max by (cluster) (groupwatch_group_lag_seconds{cluster=~"$cluster",group=~"$group"})'

    Raises:
        UnknownMetric: the family is not there, or lacks one of the labels.
    """
    check_labels(name, by)
    return f"{operator} by ({', '.join(by)}) ({chosen(name) if expr is None else expr})"


def summed(name: str, by: Sequence[str], expr: str | None = None) -> str:
    """A family, or an expression that has all its labels, summed over all of them but these.

    >>> summed("group_orphaned_partitions", ["reason"])
    'sum by (reason) (groupwatch_group_orphaned_partitions{cluster=~"$cluster",group=~"$group"})'

    Raises:
        UnknownMetric: the family is not there, or lacks one of the labels.
    """
    return across("sum", by, name, expr)


def increased(name: str, window: str = "$__rate_interval") -> str:
    """How much each counter of a family grew within a window.

    Raises:
        UnknownMetric: the family is not there, or is no counter.
    """
    return f"increase({_counter(name)}[{window}])"


def since(name: str) -> str:
    """How long ago the moment is that a family tells in Unix time, in seconds.

    Raises:
        UnknownMetric: the family is not there, or tells no moment.
    """
    if not name.endswith("timestamp_seconds"):
        raise UnknownMetric(f"groupwatch_{name} is not a moment")
    return f"time() - {chosen(name)}"


def groups_with(expr: str) -> str:
    """How many groups an expression has a series for, with 0 where it has none but groups are known.

    Nothing at all is told of what is not watched: 0 would be good news that nobody has.
    """
    return f"count({expr}) or 0 * count({chosen('group_info')})"


def numbered(name: str, label: str, values: Iterable[str]) -> str:
    """Of a family with one series of 0 or 1 for each value of a label: the number of the value that holds, from 0.

    Raises:
        UnknownMetric: the family is not there, or lacks the label.
    """
    held = [f"{place} * ({chosen(name, **{label: value})} == 1)" for place, value in enumerate(values)]
    return summed(name, GROUP, " or ".join(held))


def renamed(name: str, by: Sequence[str], label: str, new: str) -> str:
    """The largest of a family by these labels and one more, which gets a new name: two families may both have it.

    Raises:
        UnknownMetric: the family is not there, or lacks one of the labels.
    """
    check_labels(name, (*by, label))
    series = f'label_replace({chosen(name)}, "{new}", "$1", "{label}", "(.+)")'
    return f"max by ({', '.join(by)}, {new}) ({series})"


def everywhere(name: str) -> str:
    """The family's full name: all its series, for alert rules.

    >>> everywhere("up")
    'groupwatch_up'
    """
    return spec_of(name).name


def in_state(state: str) -> str:
    """The groups that are in a state, for alert rules.

    >>> in_state("empty")
    'groupwatch_group_state{state="empty"} == 1'
    """
    return f'{spec_of("group_state").name}{{state="{state}"}} == 1'


def _counter(name: str) -> str:
    if spec_of(name).kind is not MetricKind.COUNTER:
        raise UnknownMetric(f"groupwatch_{name} is no counter")
    return chosen(name)
