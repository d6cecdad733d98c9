"""What a job needs for judging, the same for all of its clusters."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.detection.rules import DetectionRules
from monitor.model import ALL_GROUPS, Shard
from streaming_jobs.catalog_shelf import CatalogShelf


@dataclass(frozen=True, slots=True)
class Judging:
    """Which groups of a cluster are judged, and by what: the thresholds, and where its catalogs are put."""

    rules: DetectionRules
    shelf: CatalogShelf
    shard: Shard = ALL_GROUPS
