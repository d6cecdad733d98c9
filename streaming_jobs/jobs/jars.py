"""The jars that a job with these settings needs beside Spark's own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from monitor.collectors.kafka_client.iam import uses_iam
from monitor.config import ConfigError, Settings
from monitor.java_runtime.jars import IAM_ARTIFACT, Progress, job_jars

PLACES_OF_JARS: Final = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
"""Where a deployment may name jars of its own."""


def needed_jars(settings: Settings, progress: Progress) -> list[Path]:
    """The jars, fetched if this user does not have them yet.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    return job_jars(progress, is_recorded=settings.history.is_on, uses_iam=needs_iam(settings))


def needs_iam(settings: Settings) -> bool:
    """Whether a cluster is logged in to by AWS's tokens, and the deployment brings no jar for that."""
    named = " ".join(settings.spark.conf.get(place, "") for place in PLACES_OF_JARS)
    if IAM_ARTIFACT in named:
        return False
    used = False
    for cluster in settings.clusters.values():
        with suppress(ConfigError):  # it is a problem elsewhere; this only fetches jars
            used = used or uses_iam(cluster.client_properties())
    return used
