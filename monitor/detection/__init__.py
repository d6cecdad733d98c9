"""Judge one group: who should own its partitions, who does, and how far behind it is. Pure; time is a parameter."""

from monitor.detection.evaluate import evaluate
from monitor.detection.thresholds.thresholds import DetectionSettings

__all__ = ["DetectionSettings", "evaluate"]
