"""Settings: what a deployment chooses, from one TOML file and the environment."""

from monitor.config.client import ClientProperties
from monitor.config.errors import ConfigError
from monitor.config.load import load, with_compat, with_shard
from monitor.config.metrics import MetricsOverride, MetricsSettings
from monitor.config.settings import (
    ClusterSettings,
    DetectionOptions,
    DetectionOverride,
    HttpSettings,
    Settings,
    SparkSettings,
    Thresholds,
)
from monitor.config.systems import (
    RocketMQSettings,
    SecretReference,
    SparkQueriesSettings,
    System,
    SystemSettings,
    ZooKeeperSettings,
)

__all__ = [
    "ClientProperties",
    "ClusterSettings",
    "ConfigError",
    "DetectionOptions",
    "DetectionOverride",
    "HttpSettings",
    "MetricsOverride",
    "MetricsSettings",
    "RocketMQSettings",
    "SecretReference",
    "Settings",
    "SparkQueriesSettings",
    "SparkSettings",
    "System",
    "SystemSettings",
    "Thresholds",
    "ZooKeeperSettings",
    "load",
    "with_compat",
    "with_shard",
]
