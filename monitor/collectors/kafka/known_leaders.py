"""The leaders of the partitions of some topics, as they are known, and the requests that ask the brokers for them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from kafka.errors import SaslAuthenticationFailedError

from monitor.collectors.errors import AnotherSource, ConnectionFailed
from monitor.collectors.kafka.leader_requests import LeaderRequests, send
from monitor.collectors.kafka.leader_table import NO_LEADERS, LeaderTable, Place, leader_table, leaders_request
from monitor.collectors.kafka.preflight import require_described
from monitor.config import ClusterSettings

DESCRIBE_S: Final = 1.0
"""How long one broker may take to name the leaders; then the next one gets the request."""


class KnownLeaders:
    """Who leads each partition by the newest response, and whether its topic is still the one that it was."""

    def __init__(self, cluster: ClusterSettings, topics: Iterable[str]) -> None:
        self._cluster = cluster
        self._topics = sorted(set(topics))
        self.requests = LeaderRequests(self._name_of)
        """The requests to these brokers."""
        self.table = NO_LEADERS
        """The leaders of the newest response."""
        self._last_led: dict[Place, str] = {}
        """The broker that led each partition last, as sentences name it."""
        self._described_s = float("-inf")
        self._ids: dict[str, str] = {}
        self._former_ids: dict[str, str] = {}

    def accept_new_topics(self) -> None:
        """Take topics that were created again for what is to be read."""
        self._former_ids |= self._ids
        self._ids = {}

    async def refresh(self, manager: Any, limit_s: float) -> list[str]:  # noqa: ANN401 -- kafka-python has no types
        """Ask who leads, unless the newest response is at most so old; the topics that are others than before.

        Raises:
            ConnectionFailed: no broker names the leaders.
            SaslAuthenticationFailedError: a broker does not accept the credentials any more.
            AnotherSource: a topic is another one than before, and not accepted.
        """
        if time.monotonic() - self._described_s < limit_s:
            return []
        response = await self._metadata_response(manager)
        manager.cluster.update_metadata(response)
        return self._take(leader_table(response))

    def _take(self, table: LeaderTable) -> list[str]:
        self._described_s = time.monotonic()
        for topic, topic_id in table.topic_ids.items():
            if topic_id and self._ids.setdefault(topic, topic_id) != topic_id:
                raise AnotherSource(f"Cluster {self._cluster.name}: {topic} was created again.")
        named_again = self._former_ids.keys() & table.topic_ids.keys()
        replaced = [topic for topic in named_again if self._former_ids.pop(topic) != table.topic_ids[topic]]
        self.table = table
        for place, leader in table.leaders.items():
            if leader.broker >= 0:
                self._last_led[place] = table.name_of(leader.broker)
        return replaced

    async def _metadata_response(self, manager: Any) -> Any:  # noqa: ANN401 -- as above
        """The first response in time; brokers that were quiet get the request last."""
        request = leaders_request(self._topics)
        brokers = sorted(broker.node_id for broker in manager.cluster.brokers())
        for broker in sorted(brokers, key=self.requests.quiet.__contains__):
            future = send(manager, request, broker)
            answer = await self.requests.answer(manager, broker, future, DESCRIBE_S)
            if answer is not None:
                return answer
            if isinstance(future.exception, SaslAuthenticationFailedError):
                raise future.exception
        reason = self.requests.throttling or "no broker says who leads its partitions"
        raise ConnectionFailed(f"Cluster {self._cluster.name}: {reason}.")

    def require_described(self, topic: str) -> None:
        """Raises OffsetsTopicMissing or PermissionMissing if the topic is gone or forbidden."""
        require_described(self._cluster, {"name": topic, "error_code": self.table.errors.get(topic, 0)})

    def _name_of(self, broker: int) -> str:
        return self.table.name_of(broker)

    def epoch(self, place: Place) -> int:
        """The epoch of the leader of a partition that has one."""
        return self.table.leaders[place].epoch

    def silence_reason(self, place: Place) -> str:
        """Why the end of a partition was not requested, as the beginning of a sentence."""
        leader = self.table.leaders.get(place)
        if leader is None or leader.broker < 0:
            last = self._last_led.get(place)
            return "it has no leader" if last is None else f"it has had no leader since {last} went away"
        return f"{self.table.name_of(leader.broker)} does not answer"
