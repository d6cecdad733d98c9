"""Grafana dashboards and alert rules as code: queries made from the table of metrics, and the files made of them."""
