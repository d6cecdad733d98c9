"""A real MirrorMaker 2 (connect-mirror) between two brokers, which copies topics and committed offsets."""

from __future__ import annotations

from monitor.demo.servers.server import EmbeddedServer, class_path, properties_text
from monitor.java_runtime.jars import cache_dir, kafka_artifact, resolve
from tests.support.clients import admin

SOURCE = "A"
"""The alias of the source: topics and checkpoints in the other cluster begin with it."""

CHECKPOINTS = f"{SOURCE}.checkpoints.internal"
_EVERY_S = "5"


class MirrorMaker(EmbeddedServer):
    """From one cluster to the other. It is ready once it has its topic of checkpoints there."""

    def __init__(self, source: str, target: str) -> None:
        super().__init__("MirrorMaker")
        self._source, self._target = source, target

    def _command(self) -> list[str]:
        properties = self.data_dir / "mirror.properties"
        properties.write_text(properties_text(self._properties()), encoding="utf-8")
        artifact = kafka_artifact("connect-mirror")
        jars = class_path(resolve(artifact, cache_dir() / f"connect-mirror-{artifact.version}"))
        return ["-Xmx400m", "-cp", jars, "org.apache.kafka.connect.mirror.MirrorMaker", str(properties)]

    def _properties(self) -> dict[str, str]:
        flow = {
            "enabled": "true",
            "topics": ".*",
            "groups": ".*",
            "sync.group.offsets.enabled": "true",
            "sync.group.offsets.interval.seconds": _EVERY_S,
            "emit.checkpoints.interval.seconds": _EVERY_S,
            "refresh.topics.interval.seconds": _EVERY_S,
            "refresh.groups.interval.seconds": _EVERY_S,
            "offset.lag.max": "10",
        }
        topics = ("checkpoints.topic", "heartbeats.topic", "offset-syncs.topic")
        topics += ("offset.storage", "status.storage", "config.storage")
        return {
            "clusters": f"{SOURCE}, B",
            f"{SOURCE}.bootstrap.servers": self._source,
            "B.bootstrap.servers": self._target,
            f"B->{SOURCE}.enabled": "false",
            "replication.factor": "1",
            **{f"{topic}.replication.factor": "1" for topic in topics},
            **{f"{SOURCE}->B.{name}": value for name, value in flow.items()},
        }

    def _is_ready(self) -> bool:
        with admin(self._target) as client:
            return CHECKPOINTS in client.list_topics()
