"""In which order a driver's JVM looks for its classes."""

import os
from pathlib import Path
from typing import Any

import pytest

from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.runtime.class_path import (
    MOST_USED_JARS,
    SPARK_DEFAULTS_FILE,
    spark_has_defaults,
    with_most_used_first,
)
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM

CONNECTOR = [Path("/cache/spark-sql-kafka.jar"), Path("/cache/kafka-clients.jar")]


def test_the_deployments_own_comes_first_then_the_much_used_then_the_connector():
    places = with_most_used_first(CONNECTOR, "/own/a.jar:/own/b").split(os.pathsep)
    assert places[:2] == ["/own/a.jar", "/own/b"]
    assert Path(places[2]).name.startswith("spark-catalyst_")
    assert places[-2:] == list(map(str, CONNECTOR))
    assert all(map(os.path.exists, places[2:-2]))


@pytest.mark.parametrize("start", MOST_USED_JARS)
def test_the_installed_spark_has_every_jar_that_is_named(start: str):
    names = [Path(place).name for place in with_most_used_first([], None).split(os.pathsep)]
    assert any(name.startswith(start) for name in names)


def test_the_defaults_of_a_deployment_are_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert not spark_has_defaults()
    (tmp_path / SPARK_DEFAULTS_FILE).write_text("spark.driver.extraClassPath /own/a.jar\n")
    assert spark_has_defaults()


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "defaults", [None, pytest.param("spark.driver.extraClassPath /own/a.jar\n", marks=pytest.mark.long)]
)
def test_a_jvm_looks_there_first_unless_the_deployment_has_defaults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, defaults: str | None
):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    if defaults is not None:
        (tmp_path / SPARK_DEFAULTS_FILE).write_text(defaults)
    spark = create_session("local[1]", 1, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, tmp_path / "spark.log")
    try:
        jvm: Any = spark._jvm
        first = str(jvm.java.lang.System.getProperty("java.class.path")).split(os.pathsep)[0]
    finally:
        stop_session(spark)
    assert first == ("/own/a.jar" if defaults else with_most_used_first([], None).split(os.pathsep)[0])
