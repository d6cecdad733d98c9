"""PromQL over the metrics of groupwatch: an expression can only name a family and labels that METRICS has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.metrics.specs import METRICS, MetricSpec

_SPECS: Final = {spec.name: spec for spec in METRICS}

VARIABLES: Final = ("cluster", "group")
"""Labels for which the dashboard has a variable of the same name, several values allowed."""


class UnknownMetric(Exception):  # noqa: N818 -- says what happened
    """A query names a metric, or a label of one, that groupwatch does not expose."""


def spec_of(name: str) -> MetricSpec:
    """The spec of a family, given without the prefix ``groupwatch_``.

    Raises:
        UnknownMetric: there is no such family.
    """
    spec = _SPECS.get(f"groupwatch_{name}")
    if spec is None:
        raise UnknownMetric(f"groupwatch_{name} is not in monitor.metrics.specs.METRICS")
    return spec


def chosen(name: str, variables: Sequence[str] = VARIABLES) -> str:
    """The series of a family that these variables of the dashboard choose.

    >>> chosen("group_lag")
    'groupwatch_group_lag{cluster=~"$cluster",group=~"$group"}'
    >>> chosen("build_info")
    'groupwatch_build_info'
    """
    spec = spec_of(name)
    matchers = ",".join(f'{label}=~"${label}"' for label in variables if label in spec.labels)
    return f"{spec.name}{{{matchers}}}" if matchers else spec.name


def summed(name: str, by: Sequence[str]) -> str:
    """A family summed over all its labels but these.

    >>> summed("group_orphaned_partitions", ["reason"])
    'sum by (reason) (groupwatch_group_orphaned_partitions{cluster=~"$cluster",group=~"$group"})'

    Raises:
        UnknownMetric: the family is not there, or lacks one of the labels.
    """
    missing = [label for label in by if label not in spec_of(name).labels]
    if missing:
        raise UnknownMetric(f"groupwatch_{name} has no label {', '.join(missing)}")
    return f"sum by ({', '.join(by)}) ({chosen(name)})"


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
