"""What the API answers with, beside what the rest of groupwatch has values for already."""

from __future__ import annotations

from monitor.model import (
    CollectorHealth,
    DriftCause,
    FindingKind,
    TopicPartition,
    Value,
    WarmUpProgress,
)
from monitor.model.findings import Severity
from monitor.web.views.lag_history import LagPoint


class ApiError(Value):
    """The reason of a failed request, in a sentence; ``not_ready`` are requested clusters that are not ready."""

    error: str
    not_ready: tuple[str, ...] = ()


class ApiAddress(Value):
    """An address of the API."""

    address: str
    meaning: str
    parameters: tuple[str, ...] = ()


class ApiIndex(Value):
    """The addresses of the API. ``shard`` is the share of the groups that this job watches: 1/1 is all."""

    version: str
    shard: str
    addresses: tuple[ApiAddress, ...]


class ClusterCondition(Value):
    """The state of a cluster, and how recent its groups' evaluation is.

    ``sentence`` is its line of /readyz: the problem if there is one, else whether it is ready, else what it waits for.
    ``warning`` is what a person should know although the cluster is read and evaluated.
    """

    cluster: str
    ready: bool
    stale: bool
    sentence: str
    groups: int | None = None
    groups_with_findings: int | None = None
    problem: str | None = None
    warning: str | None = None
    evaluated_ms: int | None = None
    age_ms: int | None = None
    batch_duration_ms: int | None = None
    input_lag: int | None = None
    catalog_ms: int | None = None
    decode_errors: int = 0
    evaluation_errors: int = 0
    warm_up: WarmUpProgress | None = None
    collectors: tuple[CollectorHealth, ...] = ()


class OpenFinding(Value):
    """An open finding with its group, its severity and what to do (None: there is no general advice).

    ``id`` is that of the findings topic.
    """

    id: str
    cluster: str
    group: str
    kind: FindingKind
    reason: str
    severity: Severity
    since_ms: int
    evaluated_ms: int
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()
    cause: DriftCause | None = None
    tasks: tuple[str, ...] = ()
    advice: str | None = None


class GroupHistory(Value):
    """How a group's lag went in about the last 30 minutes, the oldest point first, at most 120 of them.

    No points: the group came after the last round, which is kept every 15 s or so, or the job has just started.
    """

    cluster: str
    group: str
    points: tuple[LagPoint, ...]
