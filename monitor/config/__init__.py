"""Settings: what a deployment chooses, from one TOML file and the environment."""

from monitor.config.client import ClientProperties
from monitor.config.detection import detection_rules
from monitor.config.errors import ConfigError
from monitor.config.history import HistorySettings
from monitor.config.http import HttpSettings
from monitor.config.load import load, with_compat, with_shard
from monitor.config.metrics import MetricsOverride, MetricsSettings
from monitor.config.otlp import OtlpSettings
from monitor.config.properties_file import read_properties
from monitor.config.settings import (
    NAMED_TABLES,
    SYSTEM_TABLES,
    ClusterSettings,
    DetectionOptions,
    DetectionOverride,
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
from monitor.config.webhook import WebhookSettings

__all__ = [
    "NAMED_TABLES",
    "SYSTEM_TABLES",
    "ClientProperties",
    "ClusterSettings",
    "ConfigError",
    "DetectionOptions",
    "DetectionOverride",
    "HistorySettings",
    "HttpSettings",
    "MetricsOverride",
    "MetricsSettings",
    "OtlpSettings",
    "RocketMQSettings",
    "SecretReference",
    "Settings",
    "SparkQueriesSettings",
    "SparkSettings",
    "System",
    "SystemSettings",
    "Thresholds",
    "WebhookSettings",
    "ZooKeeperSettings",
    "detection_rules",
    "load",
    "read_properties",
    "with_compat",
    "with_shard",
]
