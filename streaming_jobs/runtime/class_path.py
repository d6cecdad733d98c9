"""The order in which a driver's JVM looks for its classes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from pyspark.find_spark_home import _find_spark_home

MOST_USED_JARS: Final = (
    "spark-catalyst_",
    "scala-library-",
    "spark-core_",
    "spark-sql_",
    "spark-sql-api_",
    "spark-common-utils_",
    "scala-reflect-",
    "log4j-",
    "jackson-",
    "hadoop-client-",
    "janino-",
    "commons-compiler-",
    "arrow-",
    "spark-network-common_",
    "spark-unsafe_",
    "netty-",
    "antlr4-runtime-",
    "json4s-",
    "py4j-",
    "rocksdbjni-",
)
"""How the names of Spark's jars begin from which a job takes nine of ten of its 15,000 classes, most of them first."""

CLASS_PATH: Final = "spark.driver.extraClassPath"

SPARK_DEFAULTS_FILE: Final = "spark-defaults.conf"


def driver_class_path(jars: Iterable[Path], properties: Mapping[str, str]) -> str:
    """What comes before Spark's own jars when groupwatch starts the driver's JVM.

    Args:
        jars: the Kafka connector's.
        properties: Spark's, as far as the deployment has chosen them.
    """
    # A deployment's own jars may be another connector, which must not come behind ours.
    connector = () if "spark.jars" in properties else jars
    return with_most_used_first(connector, properties.get(CLASS_PATH))


def with_most_used_first(connector: Iterable[Path], chosen: str | None) -> str:
    """A class path to stand before Spark's own, which is a folder of 280 jars in no order.

    A class is looked for in one jar after the other, which took a second of a job's start. The Kafka connector's
    classes were even looked for in all others before.

    Args:
        connector: the Kafka connector's jars.
        chosen: what the deployment wants to stand there; it comes first.
    """
    folder = _home() / "jars"
    much_used = [jar for start in MOST_USED_JARS for jar in sorted(folder.glob(f"{start}*.jar"))]
    return os.pathsep.join([*([chosen] if chosen else []), *map(str, [*much_used, *connector])])


def spark_has_defaults() -> bool:
    """Whether a deployment has defaults of its own in Spark's file. A class path in there would be hidden by ours."""
    folder = os.environ.get("SPARK_CONF_DIR")
    return (Path(folder) if folder else _home() / "conf").joinpath(SPARK_DEFAULTS_FILE).exists()


def _home() -> Path:
    return Path(_find_spark_home())
