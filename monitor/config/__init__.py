"""Settings: what a deployment chooses, from one TOML file and the environment."""

from monitor.config.client import ClientProperties
from monitor.config.errors import ConfigError
from monitor.config.load import load, with_shard
from monitor.config.settings import (
    ClusterSettings,
    DetectionOptions,
    DetectionOverride,
    HttpSettings,
    Settings,
    SparkSettings,
    Thresholds,
)

__all__ = [
    "ClientProperties",
    "ClusterSettings",
    "ConfigError",
    "DetectionOptions",
    "DetectionOverride",
    "HttpSettings",
    "Settings",
    "SparkSettings",
    "Thresholds",
    "load",
    "with_shard",
]
