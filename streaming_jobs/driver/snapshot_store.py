"""The snapshot store: where clusters put their newest evaluation, and the HTTP app reads one immutable snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec

from monitor.detection.ended_findings import EndedFindings, in_group
from monitor.detection.evaluation_input import GroupInputs
from monitor.metrics.age_instants import AgedBlocks
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.metrics.render import prepared
from monitor.model import (
    ALL_GROUPS,
    Catalog,
    ClusterSnapshot,
    CollectorHealth,
    GroupUse,
    GroupVerdict,
    Shard,
    Snapshot,
)
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.ended_findings import EndedLately
from monitor.snapshot_file import ClusterInputs, NotJudgedError
from monitor.web.views.lag_history import LagHistory, LagPoint
from streaming_jobs.runtime.clock import now_ms


class VerdictSource(Protocol):
    """An evaluation of a cluster that returns the verdict on a group, by its name; None if there is no such group."""

    def __call__(self, group: str) -> GroupVerdict | None:
        """The newest verdict on it."""

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict is made of."""

    def uses(self) -> tuple[GroupUse, ...]:
        """The groups with their topics."""

    @property
    def catalog(self) -> Catalog:
        """The topics by which groups are judged."""


class SnapshotStore:
    """The newest snapshot of all clusters. Reading is one attribute access: a scrape never waits for a micro-batch."""

    def __init__(  # noqa: PLR0913, PLR0917 -- choices of a deployment, and its clock
        self,
        clusters: Iterable[str],
        shard: Shard = ALL_GROUPS,
        max_series: int | None = None,
        label: str = CLUSTER_LABEL,
        carriers: Mapping[str, str] | None = None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        """An empty store for these clusters. ``shard`` is the share of their groups that will be put in it.

        ``max_series`` is how many series the metrics may have (None: any number); ``label`` names the cluster in them.
        ``carriers`` has the carriers of clusters to which groupwatch writes nothing. ``clock``: that of
        evaluations.
        """
        self.process = ProcessMetrics(label)
        """What the process says of itself, beside the snapshot."""
        self._shard = shard
        self._max_series = max_series
        self._label = label
        self._clock = clock
        self._aged = AgedBlocks()
        self._lock = threading.Lock()
        self._clusters = {
            cluster: ClusterSnapshot(cluster=cluster, carrier=(carriers or {}).get(cluster)) for cluster in clusters
        }
        self._judges: dict[str, VerdictSource] = {}
        self._histories = {cluster: LagHistory() for cluster in self._clusters}
        self._histories_lock = threading.Lock()
        self._endings = {cluster: EndedFindings() for cluster in self._clusters}
        self._snapshot = self._assemble()

    def read(self) -> Snapshot:
        """The newest snapshot."""
        return self._snapshot

    def verdict(self, cluster: str, group: str) -> GroupVerdict | None:
        """The newest verdict on a group; None if there is no such group.

        Raises:
            NotJudgedError: its state cannot be read, or a rule fails on it.
        """
        judge = self._judges.get(cluster)
        try:
            return judge(group) if judge is not None else None
        except Exception as error:  # one group's failure is its own
            raise NotJudgedError(f"{type(error).__name__}: {error}") from error

    def inputs(self, cluster: str) -> ClusterInputs | None:
        """What the newest verdicts on the groups of a cluster are made of; None if none has been judged."""
        judge = self._judges.get(cluster)
        return _ClusterInputs(judge, self._clusters[cluster].ended) if judge is not None else None

    def uses(self, cluster: str) -> tuple[GroupUse, ...]:
        """The groups of a cluster with their topics; () if none has been judged."""
        judge = self._judges.get(cluster)
        return judge.uses() if judge is not None else ()

    def history(self, cluster: str, group: str, every: int = 1) -> tuple[LagPoint, ...]:
        """How the group's lag went in about the last 30 minutes, the oldest point first; () if that is not known.

        ``every``: only each so-many-th point, and the newest.
        """
        with self._histories_lock:
            known = self._histories.get(cluster)
            return known.points(group, every) if known is not None else ()

    def publish(self, cluster: ClusterSnapshot, judge: VerdictSource | None = None) -> None:
        """Replace what is shown of one cluster, and what judges its groups on request (None: as before)."""
        with self._lock:
            known = self._clusters[cluster.cluster]  # collectors report for themselves
            ended = cluster.ended if judge is None else self._endings_after(known, cluster)
            shown = msgspec.structs.replace(cluster, collectors=known.collectors, carrier=known.carrier, ended=ended)
            self._clusters[cluster.cluster] = shown
            if judge is not None:
                self._judges[cluster.cluster] = judge
            self._snapshot = self._assemble()
        if judge is not None and cluster.evaluated_ms is not None:
            self._remember(cluster, cluster.evaluated_ms)

    def report_problem(
        self,
        cluster: str,
        problem: str | None,
        *,
        unread: str | None = None,
        stalled: bool = False,
        is_away: bool = False,
    ) -> None:
        """Say what is wrong with a cluster's source; its groups stay as they were last seen, and grow stale.

        Args:
            cluster: its name.
            problem: what is wrong, in a sentence; None: nothing.
            unread: which partitions are not read though the others are, in a sentence; None: all are.
            stalled: it is that micro-batches no longer end.
            is_away: it is that the cluster does not answer. Until it is ready, the others do not wait for it.
        """
        with self._lock:
            known = self._clusters[cluster]
            told = msgspec.structs.replace(
                known,
                problem=problem,
                unread=unread,
                stalled=stalled,
                is_missing=known.is_missing or (is_away and not known.ready),
            )
            if _condition(told) == _condition(known):
                return
            self._clusters[cluster] = told
            self._snapshot = self._assemble()

    def report_collectors(self, cluster: str, collectors: tuple[CollectorHealth, ...]) -> None:
        """Say how the passes of a cluster's collectors go."""
        with self._lock:
            self._clusters[cluster] = msgspec.structs.replace(self._clusters[cluster], collectors=collectors)
            self._snapshot = self._assemble()

    def grow_ages(self) -> None:
        """Show ages as of now. The samples are those of the newest evaluation, which need not be made again for it.

        What takes long is done before the lock: an evaluation does not wait for it.
        """
        if not self._aged.grow:
            return
        for cluster in list(self._clusters.values()):
            self._aged.renew(cluster, self._clock())
        with self._lock:
            self._snapshot = self._assemble()

    def of(self, cluster: str) -> ClusterSnapshot:
        """What is shown of one cluster."""
        return self._clusters[cluster]

    def _endings_after(self, known: ClusterSnapshot, cluster: ClusterSnapshot) -> EndedLately | None:
        if cluster.evaluated_ms is None:
            return known.ended
        return self._endings[cluster.cluster].after(cluster.groups, cluster.evaluated_ms, known.ended, known.groups)

    def _remember(self, cluster: ClusterSnapshot, evaluated_ms: int) -> None:
        with self._histories_lock:
            history = self._histories[cluster.cluster]
            if history.is_due(evaluated_ms):
                history.add(evaluated_ms, cluster.groups)

    def _assemble(self) -> Snapshot:
        clusters = tuple(self._clusters.values())
        shown = [self._aged.of(cluster, self._clock()) for cluster in clusters]
        texts = prepared(shown, shard=self._shard, max_series=self._max_series, label=self._label)
        return Snapshot(
            clusters=clusters,
            metrics_gzip=texts.text_gzip,
            shard=self._shard,
            openmetrics_gzip=texts.openmetrics_gzip,
        )


class _ClusterInputs:
    """What one evaluation judges by; a state that cannot be read is an error of that group."""

    def __init__(self, judge: VerdictSource, ended: EndedLately | None) -> None:
        self._judge = judge
        self._ended = ended

    @property
    def catalog(self) -> Catalog:
        return self._judge.catalog

    def inputs(self, group: str) -> GroupInputs | None:
        try:
            found = self._judge.inputs(group)
        except Exception as error:
            raise NotJudgedError(f"{type(error).__name__}: {error}") from error
        if found is None or self._ended is None:
            return found
        return msgspec.structs.replace(found, ended=in_group(self._ended, group))


def _condition(cluster: ClusterSnapshot) -> tuple[object, ...]:
    """What ``report_problem`` may change, without the groups."""
    return cluster.problem, cluster.unread, cluster.stalled, cluster.is_missing
