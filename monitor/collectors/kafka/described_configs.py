"""Settings of brokers and topics as DescribeConfigs returns them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from monitor.collectors.kafka_client.cluster_description import describe_cluster

Configs = Mapping[str, Mapping[str, Any]]
"""What is returned of each setting, by its name."""


def topic_configs(admin: KafkaAdminClient, topic: str, names: Iterable[str]) -> Configs:
    """Some settings of a topic; none if the user may not describe it."""
    return _configs(admin, ConfigResourceType.TOPIC, topic, names)


def broker_configs(admin: KafkaAdminClient, names: Iterable[str]) -> Configs:
    """Some settings of the broker with the lowest id, which is taken to be configured like the others.

    There are none if the user may not describe it.
    """
    broker = min(broker["broker_id"] for broker in describe_cluster(admin)["brokers"])
    return _configs(admin, ConfigResourceType.BROKER, str(broker), names)


def _configs(admin: KafkaAdminClient, kind: ConfigResourceType, name: str, names: Iterable[str]) -> Configs:
    resource = ConfigResource(kind, name, dict.fromkeys(names))
    found = admin.describe_configs([resource], config_filter="all").get(kind.name.lower(), {})
    configs: Configs = found.get(name) or {}
    return configs


def number_of(configs: Configs, name: str) -> int | None:
    """The value of a setting that is a number from 0 on; None: it is not returned, or not one.

    >>> number_of({"a": {"value": "5"}, "b": {"value": None}}, "a"), number_of({"b": {"value": None}}, "b")
    (5, None)
    """
    value = configs.get(name, {}).get("value")
    return int(value) if value is not None and str(value).isdecimal() else None
