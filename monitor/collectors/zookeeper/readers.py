"""The readers of the groups that ZooKeeper holds: those of Kafka 0.8 to 0.10, and those of MetaQ."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.collectors.zookeeper.base import ZooKeeperReader
from monitor.collectors.zookeeper.kafka_ends import KafkaEnds
from monitor.collectors.zookeeper.metaq_ends import MetaQEnds
from monitor.collectors.zookeeper.session import ZooKeeperSession
from monitor.config.systems import ZooKeeperSettings
from monitor.model import GroupKind
from monitor.protocol.zookeeper import kafka, metaq
from monitor.protocol.zookeeper.groups import SeenTree
from monitor.protocol.zookeeper.topic_filter import INTERNAL_TOPICS
from monitor.protocol.zookeeper.tree import Tree


class KafkaZooKeeperReader(ZooKeeperReader):
    """Groups of the high-level consumer: its threads are the members. Offsets and ends are in records."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        """Prepare; the first reading connects."""
        session = ZooKeeperSession(settings, kafka.PATHS, kafka.OFFSET_PATHS)
        super().__init__(settings, GroupKind.ZOOKEEPER, session, _read_watched_tree, KafkaEnds(settings))


def _read_watched_tree(tree: Tree) -> SeenTree:
    """The decoded tree, without internal topics and topics without partitions."""
    seen = kafka.kafka_tree(tree)
    topics = tuple(topic for topic in seen.topics if topic.partitions and topic.topic not in INTERNAL_TOPICS)
    return replace(seen, topics=topics)


class MetaQReader(ZooKeeperReader):
    """Groups of MetaQ: their consumers are the members. Offsets and ends are in bytes."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        """Prepare; the first reading connects."""
        session = ZooKeeperSession(settings, metaq.PATHS, metaq.OFFSET_PATHS)
        super().__init__(settings, GroupKind.METAQ, session, metaq.metaq_tree, MetaQEnds())
