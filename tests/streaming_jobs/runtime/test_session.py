"""What the driver's JVM is started with."""

from pathlib import Path
from typing import Any

import pytest

from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.runtime.session import DRIVER_MEMORY, create_session, drivers_jvm, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("chosen", "given"), [(None, "2"), pytest.param("4", "4", marks=pytest.mark.long)])
def test_a_jvm_has_few_pools_of_memory_unless_the_deployment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: str | None, given: str
):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    if chosen is not None:
        monkeypatch.setenv("MALLOC_ARENA_MAX", chosen)
    spark = create_session("local[1]", 1, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, tmp_path / "spark.log")
    try:
        jvm: Any = spark._jvm
        seen = str(jvm.java.lang.System.getenv("MALLOC_ARENA_MAX"))
    finally:
        stop_session(spark)
    assert seen == given


def test_only_a_small_heap_is_collected_in_one_go(monkeypatch: pytest.MonkeyPatch):
    """Its pauses grow with the heap; whoever chooses options has chosen them all."""
    assert "-XX:+UseSerialGC" in drivers_jvm({})
    assert "-XX:+UseSerialGC" not in drivers_jvm({DRIVER_MEMORY: "8g"})
    assert drivers_jvm({DRIVER_JVM: BRIEF_JVM, DRIVER_MEMORY: "8g"}) == BRIEF_JVM
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "8g")
    assert "-XX:+UseSerialGC" not in drivers_jvm({})


@pytest.mark.parametrize("name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS"])
def test_a_collector_that_the_environment_chooses_is_the_only_one(monkeypatch: pytest.MonkeyPatch, name: str):
    """Java does not start with two ("Multiple garbage collectors selected")."""
    monkeypatch.setenv(name, "-Dx=y -XX:+UseG1GC")
    assert "-XX:+UseSerialGC" not in drivers_jvm({})
