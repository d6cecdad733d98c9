"""Every table of the configuration has its reader; making it opens no connection."""

from __future__ import annotations

from pathlib import Path

from monitor.collectors.kafka.admin_reader import AdminReader
from monitor.collectors.readers import collector_kind, create_reader
from monitor.collectors.rocketmq.reader import RocketMQReader
from monitor.collectors.spark.reader import SparkCheckpointReader
from monitor.collectors.zookeeper.readers import KafkaZooKeeperReader, MetaQReader
from monitor.config import load


def test_each_table_of_the_example_has_its_reader():
    settings = load(Path(__file__).parents[2] / "groupwatch.example.toml")
    watched = [settings.clusters["managed"], *settings.systems, *settings.spark_queries.values()]
    readers = {each.name: create_reader(each) for each in watched}
    assert {name: type(reader) for name, reader in readers.items()} == {
        "managed": AdminReader,
        "orders": RocketMQReader,
        "logs": MetaQReader,
        "legacy": KafkaZooKeeperReader,
        "etl": SparkCheckpointReader,
    }
    assert {each.name: collector_kind(each) for each in watched} == {
        "managed": "kafka-admin",
        "orders": "rocketmq",
        "logs": "metaq",
        "legacy": "kafka-zk",
        "etl": "spark",
    }
    for reader in readers.values():
        reader.close()
