"""The readers by what they read. What a reader needs is loaded with it, and only then."""

from __future__ import annotations

from collections.abc import Callable

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.snapshot import SnapshotReader
from monitor.collectors.spark.checkpoint_files import CheckpointFiles
from monitor.config import ClusterSettings, RocketMQSettings, SparkQueriesSettings, ZooKeeperSettings

Readable = RocketMQSettings | ZooKeeperSettings | SparkQueriesSettings | ClusterSettings
"""What is read as a whole. A Kafka cluster is read so where its log of groups may not be read."""


def create_reader(
    settings: Readable, clock: Callable[[], int] = wall_clock_ms, files: CheckpointFiles | None = None
) -> SnapshotReader:
    """The reader for these settings; it connects when it reads.

    Args:
        settings: what is read.
        clock: gives the time in milliseconds since the epoch.
        files: where the checkpoints of Spark's queries are; None: on this machine.
    """
    reader: SnapshotReader
    match settings:
        case RocketMQSettings():
            from monitor.collectors.rocketmq.reader import RocketMQReader  # noqa: PLC0415 -- see above

            reader = RocketMQReader(settings, clock)
        case ZooKeeperSettings():
            reader = _create_zookeeper_reader(settings)
        case SparkQueriesSettings():
            from monitor.collectors.spark.reader import SparkCheckpointReader  # noqa: PLC0415 -- see above

            reader = SparkCheckpointReader(settings, files, clock=clock)
        case ClusterSettings():
            from monitor.collectors.kafka.admin_reader import AdminReader  # noqa: PLC0415 -- see above

            reader = AdminReader(settings, clock)
    return reader


def _create_zookeeper_reader(settings: ZooKeeperSettings) -> SnapshotReader:
    reader: SnapshotReader
    if settings.system == "metaq":
        from monitor.collectors.zookeeper.readers import MetaQReader  # noqa: PLC0415 -- see above

        reader = MetaQReader(settings)
    else:
        from monitor.collectors.zookeeper.readers import KafkaZooKeeperReader  # noqa: PLC0415 -- see above

        reader = KafkaZooKeeperReader(settings)
    return reader


def collector_kind(settings: Readable) -> str:
    """What is read, in one word: as a label, and in the layout of a checkpoint."""
    match settings:
        case RocketMQSettings():
            return "rocketmq"
        case ZooKeeperSettings():
            return "metaq" if settings.system == "metaq" else "kafka-zk"
        case SparkQueriesSettings():
            return "spark"
        case ClusterSettings():
            return "kafka-admin"
