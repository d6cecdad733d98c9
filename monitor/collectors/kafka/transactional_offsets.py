"""The committed offsets of groups that commit in transactions, as the broker knows them.

A reader of uncommitted records cannot distinguish a commit in a transaction from another, nor see whether the
transaction was committed. So this queries the broker, first for the partitions of the offsets topic that have producers
at all: only transactions write there with a producer id (KIP-664). While a transaction moves there, it also requests
the offsets of all groups of those partitions. A cluster without transactions gets two small requests a pass. Every
leader gets requests of its own: it is also the coordinator of its partitions' groups, and its failure hides nothing of
the others.

While a transaction stays open, the listing of its group also has the offsets that it holds
(monitor.collectors.kafka.pending_offsets).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, ProducerState
from kafka.errors import LeaderNotAvailableError, UnknownTopicOrPartitionError
from msgspec.structs import replace

from monitor.collectors.kafka.pending_offsets import Found, OpenTransactions, PendingOffsetsReader
from monitor.collectors.kafka.topic_poll import partitions_by_leader, topic_error
from monitor.collectors.kafka_client.batch_requests import BatchRequests, split_into_batches
from monitor.model import ListedOffset, OffsetsListed, PendingOffsets, Value
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC, group_partition

SETTLE_MS: Final = 30_000
"""How much later than the last movement a request must have been made. It is more than the margin by which a response
must be younger than the last commit (monitor.tracking.offsets.precedence). The clocks of the two differ, and a broker
takes its time to apply the end of a transaction."""

RELIST_MS: Final = 300_000
"""The interval of the requests when nothing moves, for a job that has started since."""

LEADERS: Final = "the leaders of the offsets topic"
TRANSACTIONS: Final = "the open transactions"
GROUPS: Final = "the list of groups"
OFFSETS: Final = "the committed offsets of a group"
MEANWHILE: Final = (
    "commits of aborted transactions look committed until the next commit."
    ' offsets_isolation = "read_committed" avoids that at a price; see docs/configuration.md.'
)


class _Activity(Value):
    """What was seen of the transactions in one partition of the offsets topic, and when it was last seen to move."""

    producers: tuple[str, ...] = ()
    open: bool = False
    moved_ms: int = 0
    listed_ms: int = 0

    def is_due(self, now_ms: int) -> bool:
        """Whether its groups have to be listed."""
        is_settled = not self.open and self.listed_ms > self.moved_ms + SETTLE_MS
        return not is_settled or (bool(self.producers) and now_ms - self.listed_ms >= RELIST_MS)


class TransactionalOffsets:
    """Asks a cluster for the committed offsets of groups that transactions may have touched. For one thread."""

    def __init__(self, cluster: str, pending: PendingOffsetsReader | None = None) -> None:
        """Prepare; no request is made yet.

        Args:
            cluster: the name of the cluster.
            pending: reads the offsets that open transactions hold; None: they are not read.
        """
        self._cluster = cluster
        self._pending = pending
        self._open = OpenTransactions()
        self._partitions = 0
        self._activity: dict[int, _Activity] = {}
        self._questions = BatchRequests(cluster, MEANWHILE)
        self._has_said_none_visible = False
        self.needs_new_client = False
        """Whether the newest pass missed a group's offsets: kafka-python asks only once who coordinates a group."""

    def ask(self, admin: KafkaAdminClient, clock: Callable[[], int]) -> Iterator[list[OffsetsListed]]:
        """The responses for this pass in portions, a group each; none where nothing has moved.

        A portion counts as complete when the caller takes the next one: what the caller could not write is requested
        again. What the cluster does not return is logged once and requested again in the next pass; what the user may
        not read, after the next movement. Until then the log of offsets counts. This raises no errors of the cluster.

        Args:
            admin: a connected client.
            clock: gives the time in milliseconds since the epoch.
        """
        self.needs_new_client = False
        for leader, places in self._places(admin).items():
            due = self._due(admin, leader, places, clock)
            groups = self._groups(admin, leader, due) if due else None
            if groups is not None:
                yield from self._listings(admin, groups, due, self._pending_by_group(admin), clock)

    def _pending_by_group(self, admin: KafkaAdminClient) -> dict[str, list[PendingOffsets]]:
        """The offsets that open transactions hold."""
        found: list[Found] = [] if self._pending is None else self._pending.read(admin, self._open.long_ones())
        groups: dict[str, list[PendingOffsets]] = {}
        for group, offsets in found:
            groups.setdefault(group, []).append(offsets)
        return groups

    def _places(self, admin: KafkaAdminClient) -> dict[int, list[TopicPartition]]:
        """The partitions of the offsets topic by leader."""
        topic = self._questions.ask(LEADERS, [OFFSETS_TOPIC], lambda names: _describe_topics(admin, names)).get(
            OFFSETS_TOPIC
        )
        if topic is None:
            return {}
        self._partitions = len(topic["partitions"])
        leaders = partitions_by_leader([topic])
        led = {place for places in leaders.values() for place in places}
        leaderless = {TopicPartition(OFFSETS_TOPIC, number) for number in range(self._partitions)} - led
        self._questions.note_failure(TRANSACTIONS, sorted(leaderless), LeaderNotAvailableError())
        return leaders

    def _due(
        self, admin: KafkaAdminClient, leader: int, places: Sequence[TopicPartition], clock: Callable[[], int]
    ) -> set[int]:
        """The partitions that reported their producers and whose groups have to be listed."""
        states = self._questions.ask(
            TRANSACTIONS, places, lambda some: admin.describe_producers(some, broker_id=leader)
        )
        now_ms = clock()  # what has moved did so before the answer
        told = {place.partition: state.active_producers for place, state in states.items() if state is not None}
        for partition, producers in told.items():
            self._note(partition, producers, now_ms)
            self._open.note(partition, producers, now_ms)
        return {number for number in told if number in self._activity and self._activity[number].is_due(now_ms)}

    def _note(self, partition: int, producers: Sequence[ProducerState], now_ms: int) -> None:
        seen = tuple(sorted(map(repr, producers)))
        before = self._activity.get(partition, _Activity())
        if seen != before.producers:
            self._activity[partition] = _Activity(
                producers=seen,
                open=any(producer.current_transaction_start_offset >= 0 for producer in producers),
                moved_ms=now_ms,
                listed_ms=before.listed_ms,
            )

    def _groups(self, admin: KafkaAdminClient, leader: int, partitions: set[int]) -> list[str] | None:
        """The groups of these partitions that the user may see; None if the leader did not tell."""
        found = self._questions.ask(
            GROUPS, [leader], lambda brokers: {broker: admin.list_groups(broker_ids=[broker]) for broker in brokers}
        ).get(leader)
        if found is None:
            return None
        concerned = sorted(
            group for group in (str(row["group_id"]) for row in found) if self._offsets_partition(group) in partitions
        )
        if not concerned and not self._has_said_none_visible:
            self._has_said_none_visible = True
            self._questions.warn("groups commit in transactions, but none is visible: grant DESCRIBE on the groups")
        return concerned

    def _listings(
        self,
        admin: KafkaAdminClient,
        groups: list[str],
        partitions: set[int],
        held: Mapping[str, Sequence[PendingOffsets]],
        clock: Callable[[], int],
    ) -> Iterator[list[OffsetsListed]]:
        asked_ms = clock()
        told: set[str] = set()
        for some in split_into_batches(groups):
            answers = self._questions.ask(
                OFFSETS, some, lambda portion: admin.list_group_offsets(dict.fromkeys(portion))
            )
            yield [
                self._listing_event(group, known, asked_ms, held.get(group, ()))
                for group, known in answers.items()
                if known is not None
            ]
            told.update(answers)
        missed = {self._offsets_partition(group) for group in groups if group not in told}
        self.needs_new_client |= bool(missed)
        for partition in partitions - missed:
            self._activity[partition] = replace(self._activity[partition], listed_ms=asked_ms)

    def _listing_event(
        self,
        group: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        asked_ms: int,
        pending: Sequence[PendingOffsets],
    ) -> OffsetsListed:
        return OffsetsListed(
            cluster=self._cluster,
            group=group,
            asked_ms=asked_ms,
            offsets=tuple(
                ListedOffset(topic=place.topic, partition=place.partition, offset=known.offset)
                for place, known in sorted(offsets.items())
                if known.offset >= 0
            ),
            pending=tuple(pending),
        )

    def _offsets_partition(self, group: str) -> int:
        return group_partition(group, self._partitions)


def _describe_topics(admin: KafkaAdminClient, topics: Sequence[str]) -> dict[str, Any]:
    """The topics that exist; kafka-python does not raise their errors."""
    found = {}
    for topic in admin.describe_topics(list(topics)):
        error = topic_error(topic)
        if error is None:
            found[topic["name"]] = topic
        elif not issubclass(error, UnknownTopicOrPartitionError):
            raise error(topic["name"])
    return found
