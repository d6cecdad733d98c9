"""The committed offsets of groups that commit in transactions, as the broker knows them.

A reader of uncommitted records cannot tell a commit in a transaction from another, nor whether the transaction was
committed. So the broker is asked: first which partitions of the offsets topic have producers at all (only transactions
write there with a producer id; KIP-664), then, while something moves there, for the offsets of all groups of those
partitions. A cluster without transactions is asked one small question a pass.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, ProducerState
from kafka.errors import AuthorizationError, IncompatibleBrokerVersion, KafkaError, UnsupportedVersionError
from msgspec.structs import replace

from monitor.collectors.connection import error_name
from monitor.model import ListedOffset, OffsetsListed, Value
from monitor.protocol.group_partition import group_partition

OFFSETS_TOPIC: Final = "__consumer_offsets"
SETTLE_MS: Final = 30_000
"""How long after the last movement the broker is still asked: its last answer must be younger than the last commit by
more than the margin of monitor.tracking.listed_offsets."""

RELIST_MS: Final = 300_000
"""How often it is asked when nothing moves, for a job that has started since."""

GROUPS_A_REQUEST: Final = 100

log = logging.getLogger(__name__)


class _Activity(Value):
    """What was seen of the transactions in one partition of the offsets topic, and when it was last seen to move."""

    producers: tuple[str, ...]
    open: bool
    moved_ms: int
    listed_ms: int = 0

    def is_due(self, now_ms: int) -> bool:
        """Whether its groups have to be asked for."""
        return self.open or now_ms - self.moved_ms <= SETTLE_MS or now_ms - self.listed_ms >= RELIST_MS


class TransactionalOffsets:
    """Asks a cluster for the committed offsets of groups that transactions may have touched. For one thread."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._partitions = 0
        self._activity: dict[int, _Activity] = {}
        self._said: set[str] = set()

    def ask(self, admin: KafkaAdminClient, asked_ms: int) -> list[OffsetsListed]:
        """The answers for this pass, a group each; empty where nothing has moved.

        What the user may not ask, or the brokers cannot tell, is said once in the log; groups keep then what the log of
        offsets says.

        Args:
            admin: a connected client.
            asked_ms: now, before the question.

        Raises:
            KafkaError: the cluster did not answer.
        """
        try:
            due = self._partitions_due(admin, asked_ms)
            groups = self._groups(admin, due) if due else []
        except (UnsupportedVersionError, IncompatibleBrokerVersion):
            self._say("its brokers cannot tell which transactions there are (before Kafka 2.8)")
            return []
        except AuthorizationError as error:
            self._say(f"the user may not ask which transactions there are ({error_name(error)})")
            return []
        answers = [answer for some in _portions(groups) for answer in self._listed(admin, some, asked_ms)]
        for partition in due:
            self._activity[partition] = replace(self._activity[partition], listed_ms=asked_ms)
        return answers

    def _partitions_due(self, admin: KafkaAdminClient, now_ms: int) -> list[int]:
        if not self._partitions:
            (described,) = admin.describe_topics([OFFSETS_TOPIC])
            self._partitions = len(described["partitions"])
        places = [TopicPartition(OFFSETS_TOPIC, number) for number in range(self._partitions)]
        for place, state in admin.describe_producers(places).items() if places else ():
            self._note(place.partition, state.active_producers, now_ms)
        return [partition for partition, activity in self._activity.items() if activity.is_due(now_ms)]

    def _note(self, partition: int, producers: Sequence[ProducerState], now_ms: int) -> None:
        seen = tuple(sorted(map(repr, producers)))
        before = self._activity.get(partition)
        if not seen:
            self._activity.pop(partition, None)  # forgotten by the broker (transactional.id.expiration.ms)
        elif before is None or before.producers != seen:
            self._activity[partition] = _Activity(
                producers=seen,
                open=any(producer.current_transaction_start_offset >= 0 for producer in producers),
                moved_ms=now_ms,
                listed_ms=before.listed_ms if before else 0,
            )

    def _groups(self, admin: KafkaAdminClient, partitions: list[int]) -> list[str]:
        found = [str(group["group_id"]) for group in admin.list_groups()]
        concerned = sorted(group for group in found if group_partition(group, self._partitions) in partitions)
        if not concerned:
            self._say("groups commit in transactions, but none is visible: that needs DESCRIBE on the groups")
        return concerned

    def _listed(self, admin: KafkaAdminClient, groups: tuple[str, ...], asked_ms: int) -> Iterator[OffsetsListed]:
        try:
            answers = admin.list_group_offsets(dict.fromkeys(groups))
        except KafkaError as error:
            if len(groups) > 1:  # one group's error hides the answers for the others
                for group in groups:
                    yield from self._listed(admin, (group,), asked_ms)
            else:
                self._say(f"the offsets of a group were not told ({error_name(error)})")
            return
        for group, offsets in answers.items():
            yield OffsetsListed(
                cluster=self._cluster,
                group=group,
                asked_ms=asked_ms,
                offsets=tuple(
                    ListedOffset(topic=place.topic, partition=place.partition, offset=known.offset)
                    for place, known in sorted(offsets.items())
                    if known.offset >= 0
                ),
            )

    def _say(self, what: str) -> None:
        if what not in self._said:
            self._said.add(what)
            log.warning(
                "Cluster %s: %s; commits of aborted transactions look committed until the next commit."
                ' offsets_isolation = "read_committed" avoids that at a price, see the README.',
                self._cluster,
                what,
            )


def _portions(groups: list[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(groups), GROUPS_A_REQUEST):
        yield tuple(groups[start : start + GROUPS_A_REQUEST])
