"""The Grafana dashboards: one module each, built with Grafana's own builders, one small function a panel."""

from dashboards.grafana.panels import DATASOURCE_UID

__all__ = ["DATASOURCE_UID"]
