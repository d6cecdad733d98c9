"""Settings: what a deployment chooses, from one TOML file and the environment."""

from monitor.config.client import ClientProperties
from monitor.config.errors import ConfigError
from monitor.config.load import load, with_shard
from monitor.config.settings import ClusterSettings, DetectionOptions, HttpSettings, Settings, SparkSettings

__all__ = [
    "ClientProperties",
    "ClusterSettings",
    "ConfigError",
    "DetectionOptions",
    "HttpSettings",
    "Settings",
    "SparkSettings",
    "load",
    "with_shard",
]
