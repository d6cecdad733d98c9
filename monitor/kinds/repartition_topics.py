"""The topics by which Kafka Streams repartitions. It removes from them what it has committed: nothing is lost there."""

from __future__ import annotations

from typing import Final

from monitor.kinds.streams import topology_of
from monitor.model import GroupState, traits_of

_SUFFIX: Final = "-repartition"
"""Source: ``InternalTopologyBuilder`` and ``KStreamImpl.REPARTITION_TOPIC_SUFFIX`` of Kafka Streams."""


def is_repartition_topic(group: GroupState, topic: str) -> bool:
    """Whether the topic is one of the group's application. Of a classic group that is known by its name.

    >>> group = GroupState(cluster="c", group="billing", protocol_type="consumer", protocol="stream")
    >>> is_repartition_topic(group, "billing-by-repartition"), is_repartition_topic(group, "orders-repartition")
    (True, False)
    """
    topology = topology_of(group)
    if topology is not None:
        return any(topic in part.repartition_sources for part in topology.subtopologies)
    return traits_of(group).leader_assigns_tasks and topic.startswith(f"{group.group}-") and topic.endswith(_SUFFIX)
