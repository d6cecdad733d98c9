"""The HTTP app: metrics and probes, the JSON API, and the status page."""
