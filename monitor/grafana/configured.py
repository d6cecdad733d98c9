"""The options of the dashboards, from the settings."""

from __future__ import annotations

from typing import Final

from monitor.config import Settings
from monitor.grafana.boards import BoardOptions
from monitor.grafana.objects import ObjectOptions

_INSTANCES: Final = {"dashboards": "grafana"}


def board_options(settings: Settings) -> BoardOptions:
    """What the settings choose of the dashboards."""
    return BoardOptions(
        name=settings.dashboards.name,
        datasource=settings.dashboards.datasource,
        page=settings.http.external_url,
        cluster_label=settings.metrics.cluster_label,
    )


def object_options(settings: Settings) -> ObjectOptions:
    """What the settings choose of the objects of Kubernetes."""
    chosen = settings.dashboards
    return ObjectOptions(name=chosen.name, folder=chosen.folder, instances=chosen.instance_labels or _INSTANCES)
