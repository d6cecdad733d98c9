"""The Grafana dashboards of a deployment: the shipped ones, with its uids, data source and address of the page."""
