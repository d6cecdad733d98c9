"""The board: where clusters put their newest evaluation, and the HTTP app reads one immutable snapshot."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import msgspec

from monitor.metrics.render import exposition
from monitor.model import ClusterSnapshot, Snapshot


class Board:
    """The newest snapshot of all clusters. Reading is one attribute access: a scrape never waits for a micro-batch."""

    def __init__(self, clusters: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._clusters = {cluster: ClusterSnapshot(cluster=cluster) for cluster in clusters}
        self._snapshot = self._assembled()

    def read(self) -> Snapshot:
        """The newest snapshot."""
        return self._snapshot

    def publish(self, cluster: ClusterSnapshot) -> None:
        """Replace what is shown of one cluster."""
        with self._lock:
            self._clusters[cluster.cluster] = cluster
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
        return Snapshot(clusters=clusters, metrics=exposition(clusters))
