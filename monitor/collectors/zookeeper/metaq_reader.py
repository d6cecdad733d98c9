"""The reader of MetaQ's groups, which are kept in ZooKeeper."""

from __future__ import annotations

from monitor.collectors.zookeeper.base import ZooKeeperReader
from monitor.collectors.zookeeper.metaq_ends import MetaQEnds
from monitor.collectors.zookeeper.session import ZooKeeperSession
from monitor.config.systems import ZooKeeperSettings
from monitor.model import GroupKind
from monitor.protocol.zookeeper.metaq import OFFSET_PATHS, PATHS, metaq_tree


class MetaQReader(ZooKeeperReader):
    """Groups of MetaQ: their consumers are the members. Offsets and ends are in bytes."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        """Prepare; the first reading connects."""
        session = ZooKeeperSession(settings, PATHS, OFFSET_PATHS)
        super().__init__(settings, GroupKind.METAQ, session, metaq_tree, MetaQEnds())
