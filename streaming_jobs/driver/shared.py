"""What the clusters of a job have in common."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from monitor.config import HistorySettings
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.metrics.series_filter import ALL_SERIES, SeriesRules
from monitor.model import ALL_GROUPS, Shard
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.scale_ledger import ScaleLedger
from streaming_jobs.driver.served_before import ServedBefore
from streaming_jobs.driver.watched_expectations import WatchedExpectations


@dataclass(frozen=True, slots=True)
class SharedEvaluation:
    """Which groups of a cluster are judged, and by what: the thresholds, and where its catalogs are put.

    ``series`` says which series the groups have, ``history`` where they are recorded. ``served_before`` keeps what is
    served for the next start. ``external_url`` is the address of the page; None: published findings have no link.
    ``expectations`` is the file of these; None: there is none.

    ``start_turn`` is held by the cluster whose query is starting. A query starts with a Python of its own, for which
    Spark waits 10 s and no longer: of several at a time on a busy machine, each could be too late again and again.
    """

    rules: DetectionRules
    catalogs: CatalogServer
    served_before: ServedBefore
    shard: Shard = ALL_GROUPS
    start_turn: threading.Lock = field(default_factory=threading.Lock)
    series: SeriesRules = ALL_SERIES
    history: HistorySettings = field(default_factory=HistorySettings)
    external_url: str | None = None
    expectations: WatchedExpectations | None = None
    scale_ledgers: dict[str, ScaleLedger] = field(default_factory=dict)
    """What is remembered of groups whose members are counted, by cluster; empty: no entry ``[[scale]]`` is there."""

    def scale_key(self, cluster: str) -> str | None:
        """The key by which executors fetch what is remembered of such groups; None: of none."""
        ledger = self.scale_ledgers.get(cluster)
        return None if ledger is None else ledger.key

    def keep_scale_notes(self, cluster: str, view: ClusterView, now_ms: int) -> None:
        """Keep the notes of the executors on such groups."""
        ledger = self.scale_ledgers.get(cluster)
        if ledger is not None:
            ledger.take(view.scale_notes(), now_ms)
