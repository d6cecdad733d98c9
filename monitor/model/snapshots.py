"""What a job knows and serves: the newest verdicts of every cluster, prepared for readers."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from monitor.model.client_libraries import LibraryMembers
from monitor.model.cluster_findings import ClusterFinding
from monitor.model.ended_findings import EndedLately
from monitor.model.expectations import ExpectationsHealth, GroupExpectations
from monitor.model.findings import Finding, SubordinateFinding
from monitor.model.kinds import Phase
from monitor.model.scaling import Scaling
from monitor.model.short_lives import ShortLife
from monitor.model.topics import SourceState
from monitor.model.values import Value
from monitor.model.verdicts import UnknownVersion

EMPTY_GZIP: Final = bytes.fromhex("1f8b08000000000000ff03000000000000000000")
"""No text at all, in gzip."""

LATE_MS: Final = 60_000
"""An older evaluation is late: a quiet cluster is evaluated each half a minute, unless the trigger is longer."""


class AgeLimits(Value):
    """An evaluation that is older than ``late_ms`` is late, one that is older than ``stale_ms`` says nothing of now."""

    late_ms: int
    stale_ms: int


class FamilyBlock(Value):
    """Rendered samples of one metric family, without its HELP and TYPE lines; every line ends with a newline.

    ``group``: that group's alone, kept apart since it has so many; "": of any groups.
    """

    family: str
    samples: str
    group: str = ""


class Deflated(Value):
    """A text in raw deflate, cut so that pieces can follow one another (monitor.metrics.gzip_join).

    ``crc`` is the CRC-32 of the text, ``size`` its length in bytes, ``lines`` how many lines it has. ``has_instants``:
    it is not to be shown as it is (monitor.metrics.age_instants).
    """

    data: bytes
    crc: int
    size: int
    lines: int = 0
    has_instants: bool = False


class PackedBlock(Value):
    """A FamilyBlock with its samples compressed, as it travels and waits.

    ``bucket`` is that of the groups, None where it is not about groups of one bucket.
    """

    family: str
    samples: Deflated
    group: str = ""
    bucket: int | None = None


class GroupSummary(Value):
    """One line of the overview: enough to list a group without judging it again.

    ``evaluated_ms`` is the same for all groups of a cluster, so it is 0 until they are listed.
    """

    cluster: str
    group: str
    kind: str
    state: Phase
    assignor: str | None
    """The assignor that the group uses; null: none, or unknown."""
    members: int | None
    """Number of members; null: the group is known only by its commits."""
    lag: int | None
    """The lag in records (of MetaQ bytes); null: unknown, or a Connect cluster, which has none of its own."""
    findings: tuple[Finding, ...]
    """Its findings, worst first."""
    evaluated_ms: int = 0
    unjudged: str | None = None
    """Why it could not be evaluated; other fields are then of the previous evaluation. Null: evaluated."""
    is_unknown: bool = False
    """True: it could not be evaluated, and there is no previous evaluation, so nothing is known of it."""
    libraries: tuple[LibraryMembers, ...] = ()
    """Its members by client library, most first; absent: none, or no Kafka group."""
    sink_groups: tuple[str, ...] = ()
    """Of a Connect cluster: the consumer groups that its connectors have if they are sinks."""
    is_connect: bool = False
    """True: a Connect cluster. Its lag is null: it has none; the groups of its sinks have."""
    unknown_versions: tuple[UnknownVersion, ...] = ()
    """Versions of its records that groupwatch does not read, so its members or offsets are unknown; absent: none."""
    lag_at_least: int | None = None
    short_life: ShortLife | None = None
    """Of a group that one member used for a short time, and left by itself; absent: it is none."""
    subordinate: tuple[SubordinateFinding, ...] = ()
    """Findings that follow from a finding of the cluster; no alert is about them. Absent: none."""
    hidden_topics: tuple[str, ...] = ()
    """Topics that it has committed and that polls do not see: deleted, or not permitted. Absent: none."""
    missed_brokers: tuple[int, ...] = ()
    """Ids of brokers that are away and were its coordinator, or led partitions that it has committed. Absent: none."""
    topics_without_leader: tuple[str, ...] = ()
    """Its topics with partitions that have no leader now, so these cannot be read. Absent: none."""
    lag_since_ms: int | None = None
    """When the oldest record of the lag was written (ms since the epoch); absent: unknown, or no record waits."""
    lag_before_ms: int | None = None
    """When it was written at the latest (ms since the epoch), where only that is known."""
    expectations: GroupExpectations | None = None
    """Whether it is as the file of expectations says; absent: the file says nothing of it, or the job has none."""
    scaling: Scaling | None = None
    """How many members it needs; absent: no entry `[[scale]]` is for it."""

    @property
    def team(self) -> str | None:
        """Whose group it is; None: no file of expectations says it."""
        return None if self.expectations is None else self.expectations.team

    @property
    def known_lag(self) -> int | None:
        """The lag, or its lower bound where it is unknown; None: nothing of it is known."""
        return self.lag if self.lag_at_least is None else self.lag_at_least


class Shard(Value):
    """Which share of the groups a job watches: that of number ``number`` (from 1) of ``of`` jobs. 1 of 1 is all.

    The first shard also does what only one of the jobs may do.
    """

    number: int = 1
    of: int = 1

    @property
    def is_first(self) -> bool:
        """Whether it does what only one of the jobs may do."""
        return self.number == 1

    @property
    def is_all(self) -> bool:
        """Whether there is no other."""
        return self.of == 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


ALL_GROUPS: Final = Shard()
"""The shard of a job that shares the groups with no other."""


class WarmUpProgress(Value):
    """How far the backlog that was seen at start has been read, in offsets: a compacted log has fewer records."""

    total: int
    """Offsets of the backlog."""
    remaining: int
    """Offsets that remain to be read."""
    left_ms: int | None = None
    """Estimated time for them (ms)."""


class CollectorHealth(Value):
    """How the passes of one collector go; ``problem`` and ``warning`` are of the newest one.

    A pass is ``incomplete`` if something did not answer, and failed if nothing of it was written.
    """

    cluster: str
    collector: str
    """The system that it polls, in one word."""
    name: str
    """The name of that system in the configuration."""
    complete: int = 0
    """Complete passes since its process started."""
    incomplete: int = 0
    """Passes with missing responses."""
    failed: int = 0
    """Passes without a usable response."""
    last_success_ms: int | None = None
    """When its newest complete pass was written (ms since the epoch)."""
    pass_ms: int | None = None
    """How long its newest pass took (ms)."""
    problem: str | None = None
    """The problem, in a sentence."""
    warning: str | None = None


class RecordingHealth(Value):
    """How the recording of a cluster goes.

    ``problem`` says why nothing is recorded now. All that was logged before ``recorded_ms`` is recorded, and the tables
    for SQL reach until ``evaluated_ms`` (ms since the epoch; None: not known yet). ``failed_groups`` are those that
    could not be evaluated in the newest ten minutes, ``unread_rows`` those that the newest states lack.
    """

    problem: str | None = None
    recorded_ms: int | None = None
    evaluated_ms: int | None = None
    failed_groups: int = 0
    unread_rows: int = 0


class ClusterSnapshot(Value):
    """The newest evaluation of one cluster; ``groups`` are sorted by name.

    ``ready`` is False until the backlog seen at the start has been read, and the collectors have listed the topics
    (monitor.readiness). A restarted job that is not ready shows what was served before it. ``warm_up`` is there from
    the first batch on until then. ``clock_behind_ms`` is to be added to its times to have those of the machine's clock,
    which has been set lately unless it is 0. ``tells_findings``: they are published in a topic, unless there is a
    ``findings_problem``; ``recording`` is there if it is recorded. ``problem`` is about reading; ``unread``
    says which partitions are not read though the others are; ``stalled`` says that the groups have not been evaluated
    for too long, whatever the reason. ``is_missing``: it was away before it was ever ready, and is not ready yet; the
    others do not wait for it. ``collectors`` are those that run in this process. ``findings`` are its own, worst first,
    not those of its groups. ``carrier`` is the cluster that has what groupwatch writes for it; None: itself.
    ``expectations`` is how the file of these is read; None: the job has none. ``ended`` are findings of its groups that
    ended lately; None: no evaluation has been compared with another. ``age_limits``: from which age on
    an evaluation is late, and stale; None: no age makes it so.
    """

    cluster: str
    ready: bool = False
    evaluated_ms: int | None = None
    batch_duration_ms: int | None = None
    input_lag: int | None = None
    warm_up: WarmUpProgress | None = None
    evaluation_errors: int = 0
    decode_errors: tuple[SourceState, ...] = ()
    groups: tuple[GroupSummary, ...] = ()
    blocks: tuple[PackedBlock, ...] = ()
    catalog_ms: int | None = None
    clock_behind_ms: int = 0
    problem: str | None = None
    unread: str | None = None
    stalled: bool = False
    is_missing: bool = False
    tells_findings: bool = False
    findings_problem: str | None = None
    recording: RecordingHealth | None = None
    collectors: tuple[CollectorHealth, ...] = ()
    findings: tuple[ClusterFinding, ...] = ()
    carrier: str | None = None
    expectations: ExpectationsHealth | None = None
    ended: EndedLately | None = None
    age_limits: AgeLimits | None = None

    @property
    def is_known(self) -> bool:
        """Whether its groups are: by an evaluation of this run, or still by one of the run before."""
        return self.ready or self.evaluated_ms is not None

    @property
    def is_restored(self) -> bool:
        """Whether its groups are as the run before served them last."""
        return self.is_known and not self.ready

    @property
    def is_up(self) -> bool:
        """Whether it is being read: a micro-batch of this run has ended, and nothing is wrong with reading."""
        return self.problem is None and (self.ready or self.warm_up is not None)

    def find_group(self, group: str) -> GroupSummary | None:
        """The group of that name, as it is listed; None: there is none."""
        place = bisect_left(self.groups, group, key=lambda each: each.group)
        found = self.groups[place : place + 1]
        return found[0] if found and found[0].group == group else None

    def is_old(self, now_ms: int) -> bool:
        """Whether the newest evaluation is so long ago that it says nothing of now."""
        return self.age_limits is not None and self._is_older(now_ms, self.age_limits.stale_ms)

    def is_late(self, now_ms: int) -> bool:
        """Whether the newest evaluation is longer ago than in a cluster that keeps up. It may be too old, too."""
        return self.age_limits is not None and self._is_older(now_ms, self.age_limits.late_ms)

    def _is_older(self, now_ms: int, limit_ms: int) -> bool:
        age_ms = self.age_ms(now_ms)
        return age_ms is not None and age_ms > limit_ms

    def is_stale(self, now_ms: int) -> bool:
        """Whether its groups are shown as before a restart, as before it could not be read any more, or are too old."""
        is_well = self.ready and self.is_up and not self.stalled
        return self.is_known and (not is_well or self.is_old(now_ms))

    def age_ms(self, now_ms: int) -> int | None:
        """How long ago its groups were judged, by the machine's clock; None: not yet."""
        return None if self.evaluated_ms is None else max(0, now_ms - self.evaluated_ms - self.clock_behind_ms)


class Snapshot(Value):
    """Everything the HTTP app serves: prepared, immutable, replaced as a whole.

    ``metrics_gzip`` is the exposition text, compressed. ``shard`` says of which groups it knows.
    ``openmetrics_gzip`` is the same in OpenMetrics; None: it was not prepared.
    """

    clusters: tuple[ClusterSnapshot, ...] = ()
    metrics_gzip: bytes = EMPTY_GZIP
    shard: Shard = ALL_GROUPS
    openmetrics_gzip: bytes | None = None

    @property
    def ready(self) -> bool:
        """Whether every cluster has been read up to the end that was seen at start, and has not stalled since.

        A cluster that is missing is not waited for, unless all are.
        """
        awaited = self._counting_clusters()
        return bool(awaited) and all(cluster.ready and not cluster.stalled for cluster in awaited)

    def is_ready(self, now_ms: int) -> bool:
        """The same, and no evaluation is too old."""
        return self.ready and not any(cluster.is_old(now_ms) for cluster in self._counting_clusters())

    def _counting_clusters(self) -> list[ClusterSnapshot]:
        return [cluster for cluster in self.clusters if not cluster.is_missing]
