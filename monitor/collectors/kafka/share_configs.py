"""How often each share group delivers a record, and how long a member may hold it: configs that no log has.

Kafka 4.3 gives both with the configs of a group, whether they are set there or at the brokers. Before, the limit of
deliveries was one of the brokers only. A cluster without share groups is asked one small question a broker, and seldom.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kafka.admin import ConfigResource, ConfigResourceType, GroupType, KafkaAdminClient
from kafka.errors import ClusterAuthorizationFailedError, GroupAuthorizationFailedError, UnsupportedVersionError
from msgspec.structs import replace

from monitor.collectors.kafka_client.batch_requests import BatchRequests
from monitor.model import ShareConfig, ShareConfigRead, Value

LIST_MS: Final = 30_000
"""How often the brokers are asked."""

REPEAT_MS: Final = 300_000
"""How often what has not changed is written again, for a job that has started since."""

GROUPS_PER_REQUEST: Final = 100

GROUPS: Final = "the list of share groups"
CONFIGS: Final = "the configs of a share group"
BROKERS: Final = "the brokers' configs for share groups"

DELIVERY_LIMIT: Final = "share.delivery.count.limit"
LOCK_DURATION: Final = "share.record.lock.duration.ms"
OF_BROKERS: Final = "group."
"""What precedes these names in the configs of brokers."""

log = logging.getLogger(__name__)


class _Written(Value):
    """What was last written of a group, and when."""

    config: ShareConfig
    at_ms: int


class ShareConfigs:
    """Asks a cluster for the configs of its share groups. For one thread."""

    def __init__(self, cluster: str) -> None:
        """Prepare; ``cluster`` is the name that the events bear."""
        self._cluster = cluster
        self._questions = BatchRequests(self._warn)
        self._asked_ms: int | None = None
        self._written: dict[str, _Written] = {}

    def ask(self, admin: KafkaAdminClient, clock: Callable[[], int]) -> Iterator[list[ShareConfigRead]]:
        """What has changed since the last time or has to be repeated, in one portion; none if there is nothing.

        A group that is gone is given once, without configs. The portion counts as written when the next one is asked
        for. The cluster's errors are not raised: they are said in the log, once.

        Args:
            admin: a connected client.
            clock: gives the time in milliseconds since the epoch.
        """
        now_ms = clock()
        if self._asked_ms is not None and 0 <= now_ms - self._asked_ms < LIST_MS:
            return
        self._asked_ms = now_ms
        groups = self._questions.ask(GROUPS, [self._cluster], lambda names: dict.fromkeys(names, _share_groups(admin)))
        known = groups.get(self._cluster)
        if known is None:
            return
        gone = {group: ShareConfig() for group in self._written.keys() - set(known)}
        due = {
            group: config
            for group, config in (self._configs(admin, known) | gone).items()
            if self._is_due(group, config, now_ms)
        }
        if due:
            yield [self._event(group, config, now_ms) for group, config in sorted(due.items())]
            self._written |= {group: _Written(config, now_ms) for group, config in due.items()}
            for group in gone:
                del self._written[group]

    def _configs(self, admin: KafkaAdminClient, groups: Sequence[str]) -> dict[str, ShareConfig]:
        """The configs of those groups that the user may describe."""
        found: dict[str, ShareConfig] = {}
        for first in range(0, len(groups), GROUPS_PER_REQUEST):
            some = groups[first : first + GROUPS_PER_REQUEST]
            told = self._questions.ask(CONFIGS, some, lambda names: _group_configs(admin, names))
            found |= {group: config for group, config in told.items() if config is not None}
        silent = [group for group in groups if found.get(group) == ShareConfig()]
        self._questions.note_failure(CONFIGS, silent, GroupAuthorizationFailedError())
        if any(config.delivery_limit is None for config in found.values()):
            found = self._with_broker_limit(admin, found)
        return {group: config for group, config in found.items() if config != ShareConfig()}

    def _with_broker_limit(self, admin: KafkaAdminClient, found: Mapping[str, ShareConfig]) -> dict[str, ShareConfig]:
        """Where groups have no limit of their own, that of the brokers (before Kafka 4.3)."""
        told = self._questions.ask(BROKERS, [self._cluster], lambda names: dict.fromkeys(names, _broker_config(admin)))
        config = told.get(self._cluster)
        if config == ShareConfig():
            self._questions.note_failure(BROKERS, [self._cluster], ClusterAuthorizationFailedError())
        if config is None:
            return dict(found)
        return {group: _completed(known, config) for group, known in found.items()}

    def _is_due(self, group: str, config: ShareConfig, now_ms: int) -> bool:
        before = self._written.get(group)
        return before is None or before.config != config or not 0 <= now_ms - before.at_ms < REPEAT_MS

    def _event(self, group: str, config: ShareConfig, now_ms: int) -> ShareConfigRead:
        return ShareConfigRead(cluster=self._cluster, group=group, read_ms=now_ms, config=config)

    def _warn(self, what: str) -> None:
        log.warning(
            "Cluster %s: %s; the delivery limit of share groups is taken from share_delivery_limit meanwhile.",
            self._cluster,
            what,
        )


def _share_groups(admin: KafkaAdminClient) -> list[str]:
    """The share groups that the user may describe; brokers that cannot tell kinds of groups apart have none."""
    try:
        found = admin.list_groups(types_filter=[GroupType.SHARE])
    except UnsupportedVersionError:
        return []
    return sorted(str(row["group_id"]) for row in found if row.get("group_type") == GroupType.SHARE)


def _group_configs(admin: KafkaAdminClient, groups: Sequence[str]) -> dict[str, ShareConfig]:
    keys = dict.fromkeys((DELIVERY_LIMIT, LOCK_DURATION))
    resources = [ConfigResource(ConfigResourceType.GROUP, group, keys) for group in groups]
    told = admin.describe_configs(resources, config_filter="all").get("group", {})
    return {group: _config(told[group]) for group in groups if group in told}


def _broker_config(admin: KafkaAdminClient) -> ShareConfig:
    """As one broker says, which is configured like the others."""
    broker = str(min(broker["broker_id"] for broker in admin.describe_cluster()["brokers"]))
    keys = dict.fromkeys((OF_BROKERS + DELIVERY_LIMIT, OF_BROKERS + LOCK_DURATION))
    resource = ConfigResource(ConfigResourceType.BROKER, broker, keys)
    told = admin.describe_configs([resource], config_filter="all").get("broker", {}).get(broker, {})
    return _config({name.removeprefix(OF_BROKERS): config for name, config in told.items()})


def _config(told: Mapping[str, Mapping[str, Any]]) -> ShareConfig:
    return ShareConfig(delivery_limit=_number(told, DELIVERY_LIMIT), lock_ms=_number(told, LOCK_DURATION))


def _number(told: Mapping[str, Mapping[str, Any]], name: str) -> int | None:
    value = told.get(name, {}).get("value")
    return int(value) if value is not None and str(value).isdecimal() else None


def _completed(known: ShareConfig, brokers: ShareConfig) -> ShareConfig:
    return replace(
        known,
        delivery_limit=brokers.delivery_limit if known.delivery_limit is None else known.delivery_limit,
        lock_ms=brokers.lock_ms if known.lock_ms is None else known.lock_ms,
    )
