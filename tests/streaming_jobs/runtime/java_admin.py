"""Kafka's admin client in the JVM of Spark."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from monitor.collectors.kafka_client.client_properties import spark_options
from monitor.config import ClusterSettings


def make_admin(spark: SparkSession, cluster: ClusterSettings) -> None:
    """Make one by the properties of a cluster, and close it. It logs in as it is made; no broker is needed."""
    jvm: Any = spark._jvm
    given = jvm.java.util.Properties()
    for key, value in spark_options(cluster).items():
        given.setProperty(key.removeprefix("kafka."), value)
    jvm.org.apache.kafka.clients.admin.Admin.create(given).close(jvm.java.time.Duration.ZERO)
