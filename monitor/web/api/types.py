"""What the API answers with, beside what the rest of groupwatch has values for already."""

from __future__ import annotations

from monitor.findings.alike import AlikeGroups
from monitor.model import (
    CollectorHealth,
    DriftCause,
    FindingKind,
    Library,
    TopicPartition,
    Value,
    WarmUpProgress,
)
from monitor.model.cluster_findings import ClusterFinding
from monitor.model.findings import Severity
from monitor.model.scaling import Scaling
from monitor.web.views.lag_history import LagPoint


class ApiAddress(Value):
    """An address of the API."""

    address: str
    """The path; percent-encode a name in braces as one piece."""
    meaning: str
    """What it returns."""
    parameters: tuple[str, ...] = ()
    """The parameters of its query."""


class ApiIndex(Value):
    """The addresses of the API."""

    version: str
    """The version of groupwatch."""
    shard: str
    """The share of the groups that this job watches: 1/1 is all, 2/3 is the second of three."""
    addresses: tuple[ApiAddress, ...]
    """The addresses of the API."""
    external_url: str | None = None
    """The address under which people open the page (`external_url` of `[http]`); absent: it is not set."""


class ClusterCondition(Value):
    """The state of a cluster, and how recent its groups' evaluation is.

    ``sentence`` is the problem if there is one, else whether it is ready, else what it waits for.
    """

    cluster: str
    ready: bool
    """Whether the backlog at the start has been read. Before that, groups may be of the last run."""
    stale: bool
    """Whether its groups are of the last run, of before it could not be read (`groupwatch_up` 0), or too old."""
    sentence: str
    """Its state, as in /readyz."""
    groups: int | None = None
    """Number of evaluated groups; absent: not known yet."""
    groups_with_findings: int | None = None
    """Number of groups with findings; absent: not known yet."""
    problem: str | None = None
    """Why the cluster cannot be read, in a sentence."""
    warning: str | None = None
    evaluated_ms: int | None = None
    """When its groups were evaluated (ms since the epoch); absent: not yet."""
    age_ms: int | None = None
    """How long ago that was (ms)."""
    batch_duration_ms: int | None = None
    """How long the newest micro-batch took (ms)."""
    input_lag: int | None = None
    """Offsets of the offsets topic that remain to be read."""
    catalog_ms: int | None = None
    """When the newest pass over its topics started (ms since the epoch)."""
    decode_errors: int = 0
    """Records that could not be decoded since the state was created."""
    evaluation_errors: int = 0
    """Groups that could not be evaluated, counted in every micro-batch since the job started."""
    warm_up: WarmUpProgress | None = None
    """Progress of reading the backlog, until the cluster is ready."""
    collectors: tuple[CollectorHealth, ...] = ()
    """Health of its collectors that run in this process."""
    findings: tuple[ClusterFinding, ...] = ()
    """Its own findings, worst first; findings of groups that follow from one are not in the list of findings."""
    alike: tuple[AlikeGroups, ...] = ()
    """Groups that are alike in a finding, such as those that one process used once; the page has a line for all."""
    carrier: str | None = None
    """The cluster whose topics have its events and findings (`via`); absent: they are its own."""
    late: bool = False
    """Whether its groups were evaluated more than a minute ago (or two triggers and 30 s), and are not stale yet."""
    unread: str | None = None
    """Which partitions of its offsets topic are not read now, in a sentence; groups of these may be missing."""


class OpenFinding(Value):
    """An open finding with its group, its severity and what to do."""

    id: str
    """The id of the finding, as in the findings topic: constant as long as the group has this finding."""
    cluster: str
    group: str
    kind: FindingKind
    """The kind of finding."""
    reason: str
    severity: Severity
    since_ms: int
    evaluated_ms: int
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    """The partitions of the finding."""
    members: tuple[str, ...] = ()
    """The member ids of the finding."""
    cause: DriftCause | None = None
    tasks: tuple[str, ...] = ()
    """The tasks of the finding, by name (Kafka Streams, Kafka Connect)."""
    library: Library | None = None
    """The client library of the group leader, if the advice depends on it; absent: it does not, or it is unknown."""
    advice: str | None = None
    alert_age_s: int | None = None
    settling_until_ms: int | None = None
    team: str | None = None
    """Whose group it is; absent: no file of expectations says it."""


class GroupLag(Value):
    """How a group's lag went in about the last 30 minutes.

    No points: the group came after the last round, which is kept every 15 s or so, or the job has just started.
    """

    cluster: str
    group: str
    points: tuple[LagPoint, ...]
    """The oldest first, at most 120."""


class GroupScaling(Scaling, kw_only=True):
    """How many members a group needs, as its entry `[[scale]]` asks."""

    cluster: str
    group: str
    evaluated_ms: int
