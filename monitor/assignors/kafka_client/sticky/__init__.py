"""Kafka's ``sticky`` and ``cooperative-sticky``."""

from monitor.assignors.kafka_client.sticky.cooperative_sticky import CooperativeStickyAssignor
from monitor.assignors.kafka_client.sticky.sticky import StickyAssignor

__all__ = ["CooperativeStickyAssignor", "StickyAssignor"]
