"""The board: where clusters put their newest evaluation, and the HTTP app reads one immutable snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import msgspec

from monitor.metrics.app import NotJudgedError
from monitor.metrics.render import exposition
from monitor.model import ALL_GROUPS, ClusterSnapshot, GroupVerdict, Shard, Snapshot

Judge = Callable[[str], GroupVerdict | None]
"""Gives the newest verdict on a group, by its name; None if there is no such group."""


class Board:
    """The newest snapshot of all clusters. Reading is one attribute access: a scrape never waits for a micro-batch."""

    def __init__(self, clusters: Iterable[str], shard: Shard = ALL_GROUPS) -> None:
        """An empty board for these clusters. ``shard`` is the share of their groups that will be put on it."""
        self._shard = shard
        self._lock = threading.Lock()
        self._clusters = {cluster: ClusterSnapshot(cluster=cluster) for cluster in clusters}
        self._judges: dict[str, Judge] = {}
        self._snapshot = self._assembled()

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

    def publish(self, cluster: ClusterSnapshot, judge: Judge | None = None) -> None:
        """Replace what is shown of one cluster, and who judges its groups when somebody asks (None: as before)."""
        with self._lock:
            self._clusters[cluster.cluster] = cluster
            if judge is not None:
                self._judges[cluster.cluster] = judge
            self._snapshot = self._assembled()

    def report_problem(self, cluster: str, problem: str | None) -> None:
        """Say what is wrong with a cluster's source; its groups stay as they were last seen, and grow stale."""
        with self._lock:
            known = self._clusters[cluster]
            if known.problem == problem:
                return
            self._clusters[cluster] = msgspec.structs.replace(known, problem=problem)
            self._snapshot = self._assembled()

    def of(self, cluster: str) -> ClusterSnapshot:
        """What is shown of one cluster."""
        return self._clusters[cluster]

    def _assembled(self) -> Snapshot:
        clusters = tuple(self._clusters.values())
        return Snapshot(clusters=clusters, metrics_gzip=exposition(clusters, shard=self._shard), shard=self._shard)
