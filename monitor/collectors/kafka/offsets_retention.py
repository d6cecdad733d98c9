"""For how long the brokers of a cluster keep committed offsets: two of their settings, read now and then."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.errors import ClusterAuthorizationFailedError, KafkaError

from monitor.model.expiry import CHECK_MS, OffsetsRetention

EVERY_S: Final = 300.0
"""How often they are read. They change with a restart of a broker only."""

RETRY_S: Final = 30.0
"""How soon they are requested again without a response."""

RETENTION: Final = "offsets.retention.minutes"
CHECK: Final = "offsets.retention.check.interval.ms"

MINUTE_MS: Final = 60_000


class OffsetsRetentionReader:
    """Reads the settings of one broker, which is taken to be configured like the others."""

    def __init__(self) -> None:
        self._known: OffsetsRetention | None = None
        self._due_s = 0.0

    def read(self, admin: KafkaAdminClient) -> OffsetsRetention | None:
        """The settings as they were read last; None: no broker has responded yet.

        Without a response, what was known before stays. Without the permission DESCRIBE_CONFIGS of the cluster, the
        retention is None.
        """
        now_s = time.monotonic()
        if now_s >= self._due_s:
            self._due_s = now_s + EVERY_S
            try:
                self._known = _settings(admin)
            except ClusterAuthorizationFailedError:
                self._known = OffsetsRetention()
            except (KafkaError, OSError):
                self._due_s = now_s + RETRY_S
        return self._known


def _settings(admin: KafkaAdminClient) -> OffsetsRetention:
    """As the broker with the lowest id says; nothing is known of it if the user may not describe it."""
    broker = str(min(broker["broker_id"] for broker in admin.describe_cluster()["brokers"]))
    resource = ConfigResource(ConfigResourceType.BROKER, broker, dict.fromkeys((RETENTION, CHECK)))
    found = admin.describe_configs([resource], config_filter="all").get("broker", {}).get(broker) or {}
    minutes, check_ms = _number(found, RETENTION), _number(found, CHECK)
    return OffsetsRetention(
        retention_ms=None if minutes is None else minutes * MINUTE_MS,
        check_ms=CHECK_MS if check_ms is None else check_ms,
    )


def _number(found: Mapping[str, Mapping[str, Any]], name: str) -> int | None:
    value = found.get(name, {}).get("value")
    return int(value) if value is not None and str(value).isdecimal() else None
