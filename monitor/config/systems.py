"""The settings of what is watched beside Kafka's own groups: the queries of Spark."""

from __future__ import annotations

from pydantic import Field

from monitor.config.settings import Section


class SparkQueriesSettings(Section):
    """Queries of Spark Structured Streaming that read a Kafka cluster, as groups of that cluster.

    ``cluster`` is the Kafka cluster whose topics they read; "": the only one. ``checkpoints`` are the folders (paths,
    or URIs of a Hadoop file system) by the name that the group is to have.
    """

    name: str = Field(min_length=1)
    cluster: str = ""
    checkpoints: dict[str, str] = Field(min_length=1)
    interval_s: float = Field(default=10.0, gt=0, allow_inf_nan=False)
