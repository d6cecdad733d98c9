"""The offsets of groups as an admin client reads them, again and again, in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError

from tests.autoscaling.workers import Worker

EACH_S: Final = 0.5
STALE_S: Final = 3.0
"""Older offsets stand for a broker that does not answer."""

_SOON_BACK: Final = {"request_timeout_ms": 3_000, "bootstrap_timeout_ms": 2_000, "reconnect_backoff_max_ms": 500}
"""A broker that is there again is seen at once, as by KEDA's client."""


@dataclass(frozen=True)
class Offsets:
    """Of one group: what it has committed, and the ends of its topic, by partition, read at a time (monotonic, s)."""

    at_s: float
    committed: Mapping[int, int]
    ends: Mapping[int, int]


class OffsetsReader(Worker):
    """Keeps the newest offsets of groups of one topic each."""

    def __init__(self, bootstrap: str, topics: Mapping[str, tuple[str, int]]) -> None:
        """``topics``: the topic of each group, with the number of its partitions."""
        super().__init__()
        self._bootstrap = bootstrap
        self._topics = dict(topics)
        self._newest: dict[str, Offsets] = {}

    def add(self, group: str, topic: str, partitions: int) -> None:
        """Read those of one more group."""
        self._topics[group] = (topic, partitions)

    def newest(self, group: str) -> Offsets | None:
        """The newest that were read, however old; None: never yet."""
        return self._newest.get(group)

    def fresh(self, group: str) -> Offsets | None:
        """The newest, unless they are older than the limit."""
        found = self._newest.get(group)
        return found if found and time.monotonic() - found.at_s < STALE_S else None

    def _work(self) -> None:
        while not self._stopping.is_set():
            with suppress(KafkaError):
                self._read_until_it_fails()
            self._stopping.wait(EACH_S)

    def _read_until_it_fails(self) -> None:
        client = KafkaAdminClient(bootstrap_servers=self._bootstrap, **_SOON_BACK)
        try:
            while not self._stopping.wait(EACH_S):
                self._read(client)
        finally:
            client.close()

    def _read(self, client: KafkaAdminClient) -> None:
        topics = dict(self._topics)
        if not topics:
            return
        now_s = time.monotonic()
        places = {each: partitions_of(*of) for each, of in topics.items()}
        committed = client.list_group_offsets(places)
        wanted = {place for each in places.values() for place in each}
        ends = client.list_partition_offsets(dict.fromkeys(wanted, OffsetSpec.LATEST))
        for group, group_places in places.items():
            known = committed.get(group, {})
            self._newest[group] = Offsets(
                now_s,
                {place.partition: known[place].offset for place in group_places if _has_offset(known, place)},
                {place.partition: ends[place].offset for place in group_places},
            )


def partitions_of(topic: str, partitions: int) -> list[TopicPartition]:
    """All partitions of a topic."""
    return [TopicPartition(topic, number) for number in range(partitions)]


def _has_offset(known: Mapping[TopicPartition, object], place: TopicPartition) -> bool:
    return place in known and getattr(known[place], "offset", -1) >= 0
