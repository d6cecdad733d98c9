"""What rules and dashboards ask in PromQL: series of the families of the table, with labels that these have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec

CLUSTER: Final = ("cluster",)


class UnknownMetric(Exception):  # noqa: N818 -- says what happened
    """A query names a label that the family does not have, or asks what its kind cannot tell."""


def check_labels(family: MetricSpec, labels: Iterable[str]) -> None:
    """Do nothing if a family has these labels.

    Raises:
        UnknownMetric: the family lacks one of the labels.
    """
    missing = [label for label in labels if label not in family.labels]
    if missing:
        raise UnknownMetric(f"{family.name} has no label {', '.join(missing)}")


def shard_shares(expr: str, labels: Sequence[str], cluster: Sequence[str] = CLUSTER) -> str:
    """An expression about a cluster, with these labels and the shard that exposes it, once for all its replicas.

    >>> shard_shares("groupwatch_cluster_lag", ["cluster"])
    'max by (cluster, shard, of) (groupwatch_cluster_lag * on (cluster, instance, job) group_left (shard, of) \
(max by (cluster, instance, job, shard, of) (groupwatch_shards) ^ 0))'
    """
    job = ", ".join((*cluster, "instance", "job"))
    shard = f"(max by ({job}, shard, of) ({specs.SHARDS.name}) ^ 0)"
    return f"max by ({', '.join((*labels, 'shard', 'of'))}) ({expr} * on ({job}) group_left (shard, of) {shard})"


def everywhere(family: MetricSpec) -> str:
    """The family's full name: all its series, for alert rules.

    >>> everywhere(specs.UP)
    'groupwatch_up'
    """
    return family.name


def in_state(state: str) -> str:
    """The groups that are in a state, for alert rules.

    >>> in_state("empty")
    'groupwatch_group_state{state="empty"} == 1'
    """
    return f'{specs.GROUP_STATE.name}{{state="{state}"}} == 1'
