"""What no log has of share groups: how often each delivers a record, how long a member may hold it, what it reads.

Kafka 4.3 gives all with the configs of a group, whether they are set there or at the brokers. Before, the limit of
deliveries was one of the brokers only. A cluster without share groups gets one small request a broker, and seldom.

``__share_group_state`` has how far the groups are. Only if it cannot be read do coordinators get requests for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from kafka.admin import ConfigResource, ConfigResourceType, GroupType, KafkaAdminClient
from kafka.errors import ClusterAuthorizationFailedError, GroupAuthorizationFailedError, UnsupportedVersionError
from msgspec.structs import replace

from monitor.collectors.kafka.described_configs import Configs, broker_configs, number_of
from monitor.collectors.kafka.share_offsets import Offsets, ShareOffsetsReader
from monitor.collectors.kafka_client.batch_requests import BatchRequests, split_into_batches
from monitor.model import ShareConfig, ShareGroupRead

LIST_MS: Final = 30_000
"""The interval of the requests to the brokers."""

LIST_OFFSETS_MS: Final = 10_000
"""The same interval where the lag of the groups comes from the brokers."""

REPEAT_MS: Final = 300_000
"""How often what has not changed is written again, for a job that has started since."""

GROUPS: Final = "the list of share groups"
CONFIGS: Final = "the configs of a share group"
BROKERS: Final = "the brokers' configs for share groups"

DELIVERY_LIMIT: Final = "share.delivery.count.limit"
LOCK_DURATION: Final = "share.record.lock.duration.ms"
ISOLATION: Final = "share.isolation.level"
OF_BROKERS: Final = "group."
"""What precedes the names of limits in the configs of brokers."""

MEANWHILE: Final = "the delivery limit of share groups is taken from share_delivery_limit meanwhile."


class ShareGroupReader:
    """Asks a cluster for the configs of its share groups, and how far they are if no log says it. For one thread."""

    def __init__(self, cluster: str, offsets: ShareOffsetsReader | None = None) -> None:
        """Prepare; no request is made yet.

        Args:
            cluster: the name that the events bear.
            offsets: asks how far the groups are, if that is needed; None: it never is.
        """
        self._cluster = cluster
        self._offsets = offsets
        self._questions = BatchRequests(cluster, MEANWHILE)
        self._due_ms: int | None = None
        self._asked_ms = 0
        self._written: dict[str, ShareGroupRead] = {}

    def ask(self, admin: KafkaAdminClient, clock: Callable[[], int]) -> Iterator[list[ShareGroupRead]]:
        """What has changed since the last time or has to be repeated, in one portion; none if there is nothing.

        A group that is gone is given once, without configs. The portion counts as written when the caller takes the
        next one. This does not raise the cluster's errors: it logs each once.

        Args:
            admin: a connected client.
            clock: gives the time in milliseconds since the epoch.
        """
        now_ms = clock()
        if self._due_ms is not None and self._asked_ms <= now_ms < self._due_ms:
            return
        self._asked_ms, self._due_ms = now_ms, now_ms + LIST_MS
        groups = self._questions.ask(GROUPS, [self._cluster], lambda names: dict.fromkeys(names, _share_groups(admin)))
        known = groups.get(self._cluster)
        if known is None:
            return
        gone = self._written.keys() - set(known)
        events = self._events(self._configs(admin, known), self._read_offsets(admin, known, clock), gone, now_ms)
        due = [event for event in events if self._is_due(event)]
        if due:
            yield due
            self._written |= {event.group: event for event in due}
            for group in gone:
                del self._written[group]

    def _events(
        self,
        configs: Mapping[str, ShareConfig],
        offsets: Mapping[str, Offsets] | None,
        gone: AbstractSet[str],
        now_ms: int,
    ) -> list[ShareGroupRead]:
        """What is known now of each group; what was not answered this time is as it was."""
        events = []
        for group in sorted({*configs, *(offsets or {}), *gone}):
            last = self._written.get(group) if group not in gone else None
            config = configs.get(group, last.config if last else ShareConfig())
            if config.delivery_limit is None and last is not None:
                config = replace(config, delivery_limit=last.config.delivery_limit)
            known = () if offsets is None else offsets.get(group, last.offsets if last else ())
            events.append(
                ShareGroupRead(cluster=self._cluster, group=group, read_ms=now_ms, config=config, offsets=known)
            )
        return events

    def _read_offsets(
        self, admin: KafkaAdminClient, groups: Sequence[str], clock: Callable[[], int]
    ) -> Mapping[str, Offsets] | None:
        """How far groups are, as far as it was answered; None: a log says it."""
        if self._offsets is None or not groups or not self._offsets.is_needed(admin):
            return None
        self._due_ms = self._asked_ms + LIST_OFFSETS_MS
        return self._offsets.read(admin, groups, clock)

    def _configs(self, admin: KafkaAdminClient, groups: Sequence[str]) -> dict[str, ShareConfig]:
        """The configs of groups, those of the brokers where the user may not describe a group's."""
        answers: dict[str, ShareConfig | None] = {}
        for some in split_into_batches(groups):
            answers |= self._questions.ask(CONFIGS, some, lambda names: _group_configs(admin, names))
        silent = [group for group, config in answers.items() if config is None]
        self._questions.note_failure(CONFIGS, silent, GroupAuthorizationFailedError())
        found = {group: config or ShareConfig() for group, config in answers.items()}
        if any(config.delivery_limit is None for config in found.values()):
            found = self._with_broker_limit(admin, found)
        return {group: config for group, config in found.items() if config != ShareConfig()}

    def _with_broker_limit(self, admin: KafkaAdminClient, found: Mapping[str, ShareConfig]) -> dict[str, ShareConfig]:
        """Where groups have no limit of their own, that of the brokers (before Kafka 4.3)."""
        told = self._questions.ask(BROKERS, [self._cluster], lambda names: dict.fromkeys(names, _broker_config(admin)))
        config = told.get(self._cluster)
        if config is None:
            refused = [self._cluster] if self._cluster in told else []
            self._questions.note_failure(BROKERS, refused, ClusterAuthorizationFailedError())
            return dict(found)
        return {group: _with_broker_config(known, config) for group, known in found.items()}

    def _is_due(self, event: ShareGroupRead) -> bool:
        last = self._written.get(event.group)
        if last is None or replace(event, read_ms=last.read_ms) != last:
            return True
        return not 0 <= event.read_ms - last.read_ms < REPEAT_MS


def _share_groups(admin: KafkaAdminClient) -> list[str]:
    """The share groups that the user may describe; brokers that cannot tell kinds of groups apart have none."""
    try:
        found = admin.list_groups(types_filter=[GroupType.SHARE])
    except UnsupportedVersionError:
        return []
    return sorted(str(row["group_id"]) for row in found if row.get("group_type") == GroupType.SHARE)


def _group_configs(admin: KafkaAdminClient, groups: Sequence[str]) -> dict[str, ShareConfig | None]:
    """The configs by group; None: the user may not describe the group, which then comes without any."""
    keys = dict.fromkeys((DELIVERY_LIMIT, LOCK_DURATION, ISOLATION))
    resources = [ConfigResource(ConfigResourceType.GROUP, group, keys) for group in groups]
    found = admin.describe_configs(resources, config_filter="all").get("group", {})
    return {group: _config(found[group]) if found[group] else None for group in groups if group in found}


def _broker_config(admin: KafkaAdminClient) -> ShareConfig | None:
    """As one broker says, which is configured like the others; None: the user may not describe it."""
    found = broker_configs(admin, (OF_BROKERS + DELIVERY_LIMIT, OF_BROKERS + LOCK_DURATION))
    return _config({name.removeprefix(OF_BROKERS): value for name, value in found.items()}) if found else None


def _config(found: Configs) -> ShareConfig:
    isolation = found.get(ISOLATION, {}).get("value")
    return ShareConfig(
        delivery_limit=number_of(found, DELIVERY_LIMIT),
        lock_ms=number_of(found, LOCK_DURATION),
        reads_committed=None if isolation is None else str(isolation).lower() == "read_committed",
    )


def _with_broker_config(known: ShareConfig, brokers: ShareConfig) -> ShareConfig:
    return replace(
        known,
        delivery_limit=brokers.delivery_limit if known.delivery_limit is None else known.delivery_limit,
        lock_ms=brokers.lock_ms if known.lock_ms is None else known.lock_ms,
    )
