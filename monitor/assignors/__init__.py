"""The assignors of the monitored systems, rebuilt so that their answers can be recomputed: one strategy a module."""

from monitor.assignors.assignor import Assignor
from monitor.assignors.errors import AssignorError
from monitor.assignors.registry import UnknownAssignor, find

__all__ = ["Assignor", "AssignorError", "UnknownAssignor", "find"]
