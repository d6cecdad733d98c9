"""The Grafana dashboards: one module each, built with Grafana's own builders, one small function a panel."""
