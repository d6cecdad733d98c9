"""For how long the brokers of a cluster keep committed offsets: two of their settings, read now and then."""

from __future__ import annotations

import time
from typing import Final

from kafka.admin import KafkaAdminClient
from kafka.errors import ClusterAuthorizationFailedError, KafkaError

from monitor.collectors.kafka.described_configs import broker_configs, number_of
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
    """Nothing is known if the user may not describe the broker."""
    found = broker_configs(admin, (RETENTION, CHECK))
    minutes, check_ms = number_of(found, RETENTION), number_of(found, CHECK)
    return OffsetsRetention(
        retention_ms=None if minutes is None else minutes * MINUTE_MS,
        check_ms=CHECK_MS if check_ms is None else check_ms,
    )
