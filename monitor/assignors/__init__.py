"""The assignors of the monitored systems, rebuilt so that their answers can be recomputed: one strategy a module."""

from monitor.assignors.assignor import Assignor
from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_client.rejoining import rejoining
from monitor.assignors.order_sensitivity import order_sensitive
from monitor.assignors.registry import UnknownAssignor, find

__all__ = ["Assignor", "AssignorError", "UnknownAssignor", "find", "order_sensitive", "rejoining"]
