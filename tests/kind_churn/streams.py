"""A Kafka Streams application whose instances are closed in good order and started again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from monitor.demo.java.streams_instance import StreamsApplication, StreamsInstance
from tests.kind_churn.healthy_groups import GroupOfServers
from tests.scenarios.settings import SESSION_S

MOST_INSTANCES: Final = 3

BROKER: Final = {
    "group.streams.min.session.timeout.ms": str(SESSION_S * 1000),
    "group.streams.session.timeout.ms": str(SESSION_S * 1000),
    "group.streams.min.heartbeat.interval.ms": "1000",
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.num.standby.replicas": "1",
}
"""In the protocol of KIP-1071 sessions and standby tasks are settings of the group, or of the brokers."""

CLASSIC: Final = {
    "session.timeout.ms": str(SESSION_S * 1000),
    "heartbeat.interval.ms": "1000",
    "num.standby.replicas": "1",
    "probing.rebalance.interval.ms": "60000",
}


class StreamsGroup(GroupOfServers):
    """One to three instances of two threads each, with standby tasks."""

    pause_s = (4.0, 12.0)

    def __init__(self, bootstrap: str, folder: Path, kind: str) -> None:
        """``kind``, streams-classic or streams-kip1071, is also the name of its group."""
        topic = f"{kind}-events"
        settings = CLASSIC if kind == "streams-classic" else {"group.protocol": "streams"}
        more = {**settings, "commit.interval.ms": "500", "num.stream.threads": "2"}
        application = StreamsApplication(kind, topic, more)
        folders = [folder / f"{kind}-{number}" for number in range(MOST_INSTANCES)]
        instances = [StreamsInstance(bootstrap, application, data_dir=each) for each in folders]
        super().__init__(kind, {topic: 4}, instances)
