"""The assignors inside the broker: the group coordinator runs them (KIP-848 consumer groups, KIP-932 share groups)."""

from monitor.assignors.kafka_broker.range_broker import BrokerRangeAssignor
from monitor.assignors.kafka_broker.share_simple import ShareSimpleAssignor
from monitor.assignors.kafka_broker.uniform import UniformAssignor

__all__ = ["BrokerRangeAssignor", "ShareSimpleAssignor", "UniformAssignor"]
