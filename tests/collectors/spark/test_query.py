"""A real query of Spark that reads a real broker: its checkpoint, by plain files and by Spark's own."""

from __future__ import annotations

import pytest

from monitor.collectors.spark.checkpoint_files import CheckpointUnreadable, LocalFiles
from monitor.collectors.spark.reader import SparkCheckpointReader
from monitor.config.systems import SparkQueriesSettings
from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.runtime import other_checkpoints
from streaming_jobs.runtime.hadoop_files import HadoopFiles
from streaming_jobs.runtime.other_checkpoints import SparkFiles
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.clients import create_topic, produce
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM

pytestmark = [pytest.mark.broker, pytest.mark.spark]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    session = create_session("local[1]", 1, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, log)
    yield session
    stop_session(session)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_query_has_read_what_there_was(broker, spark, topic_name, tmp_path):
    create_topic(broker.bootstrap_servers, topic_name, 2)
    produce(broker.bootstrap_servers, topic_name, {0: 4, 1: 2})
    checkpoint = tmp_path / "checkpoint of a query"
    options = {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "subscribe": topic_name,
        "startingOffsets": "earliest",
    }
    stream = spark.readStream.format("kafka").options(**options).load().writeStream.format("noop")
    query = stream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()

    settings = SparkQueriesSettings(
        name="queries", cluster="prod", checkpoints={"etl": str(checkpoint), "none": str(tmp_path / "nowhere")}
    )
    for files in (LocalFiles(), SparkFiles(spark)):
        reading = SparkCheckpointReader(settings, files).read(1)
        (group,) = reading.groups
        assert [(each.partition, each.offset) for each in group.offsets] == [(0, 4), (1, 2)]
        assert group.offsets[0].committed_ms == group.offsets[1].committed_ms > 0
        (problem,) = reading.problems
        assert "nowhere/commits" in problem


def test_a_file_system_is_looked_up_once_for_all_checkpoints_and_again_after_a_failure(spark, tmp_path, monkeypatch):
    looked_up = []

    class Counted(HadoopFiles):
        def __init__(self, session, folder):
            looked_up.append(folder)
            super().__init__(session, folder)

    monkeypatch.setattr(other_checkpoints, "HadoopFiles", Counted)
    (tmp_path / "a").write_bytes(b"one")
    path, uri = str(tmp_path / "a"), (tmp_path / "a").as_uri()
    files = SparkFiles(spark)
    assert [files.read(path, 9) for _ in range(3)] == [b"one"] * 3
    assert "a" in files.names(str(tmp_path))
    assert files.read(uri, 9) == b"one"
    assert looked_up == [path, uri]
    with pytest.raises(CheckpointUnreadable):
        files.names(str(tmp_path / "nowhere"))
    assert files.read(path, 9) == b"one"
    assert looked_up == [path, uri, path]
