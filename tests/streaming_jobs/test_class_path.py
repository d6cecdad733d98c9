"""In which order a driver's JVM looks for its classes."""

import os
from pathlib import Path

import pytest

from streaming_jobs.class_path import MUCH_USED, with_much_used_first

CONNECTOR = [Path("/cache/spark-sql-kafka.jar"), Path("/cache/kafka-clients.jar")]


def test_the_deployments_own_comes_first_then_the_much_used_then_the_connector():
    places = with_much_used_first(CONNECTOR, "/own/a.jar:/own/b").split(os.pathsep)
    assert places[:2] == ["/own/a.jar", "/own/b"]
    assert Path(places[2]).name.startswith("spark-catalyst_")
    assert places[-2:] == list(map(str, CONNECTOR))
    assert all(map(os.path.exists, places[2:-2]))


@pytest.mark.parametrize("start", MUCH_USED)
def test_the_installed_spark_has_every_jar_that_is_named(start: str):
    names = [Path(place).name for place in with_much_used_first([], None).split(os.pathsep)]
    assert any(name.startswith(start) for name in names)
