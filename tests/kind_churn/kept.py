"""Groups without members whose offsets others write: as MirrorMaker 2 does, and as an administrator's tool does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import NoError, RetriableError

from tests.kind_churn.healthy_groups import Action, HealthyGroups
from tests.support.job_process import eventually

MIRRORED, CHECKPOINTS, EXPORTED = "east.orders", "east.checkpoints.internal", "kept.exported"
PARTITIONS: Final = 3
COPIED: Final = tuple(f"copied-{number}" for number in range(5))
WRITTEN: Final = tuple(f"written-{number}" for number in range(2))
MOST_BEHIND: Final = 5
"""A translated offset is up to ``offset.lag.max`` (100) behind; here the load writes less than that in ten minutes."""


class KeptGroups(HealthyGroups):
    """Copies of offsets move forward at random; the tool writes the ends, and goes back now and then."""

    kind = "kept"
    pause_s = (3.0, 6.0)

    def __init__(self, bootstrap: str) -> None:
        self.topics = {MIRRORED: PARTITIONS, CHECKPOINTS: 1, EXPORTED: PARTITIONS}
        self._bootstrap = bootstrap
        self._admin: KafkaAdminClient | None = None
        self._copied: dict[tuple[str, TopicPartition], int] = {}
        self._chance = random.Random(0)

    def set_up(self) -> None:
        """All have been written four times: how often is known then."""
        self._admin = KafkaAdminClient(bootstrap_servers=self._bootstrap)
        for _ in range(4):
            self._write()

    def end(self) -> None:
        if self._admin is not None:
            self._admin.close()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self._chance = chance
        return [self._write, self._write, self._write, self._reset]

    def _write(self) -> bool:
        ends = self._ends(MIRRORED)
        for group in COPIED:
            self._alter(group, self._moved(group, ends))
        for group in WRITTEN:
            self._alter(group, self._ends(EXPORTED))
        return True

    def _reset(self) -> bool:
        """The copies go on, and the tool goes back."""
        self._write()
        back = {place: max(0, end - MOST_BEHIND) for place, end in self._ends(EXPORTED).items()}
        self._alter(self._chance.choice(WRITTEN), back)
        return True

    def _moved(self, group: str, ends: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Only what moves forward is written."""
        wanted = {place: max(0, end - self._chance.randrange(MOST_BEHIND)) for place, end in ends.items()}
        moved = {place: to for place, to in wanted.items() if to > self._copied.get((group, place), -1)}
        self._copied |= {(group, place): to for place, to in moved.items()}
        return moved

    def _alter(self, group: str, offsets: dict[TopicPartition, int]) -> None:
        if offsets:
            written = {place: OffsetAndMetadata(to, "", -1) for place, to in offsets.items()}
            eventually(lambda: self._is_altered(group, written), f"that the offsets of {group} are written")

    def _is_altered(self, group: str, offsets: dict[TopicPartition, OffsetAndMetadata]) -> bool:
        """Coordinators refuse it until they have the log of the group."""
        assert self._admin is not None
        try:
            refused = set(self._admin.alter_group_offsets(group, offsets).values()) - {NoError}
        except RetriableError:
            return False
        return not refused

    def _ends(self, topic: str) -> dict[TopicPartition, int]:
        assert self._admin is not None
        places = [TopicPartition(topic, partition) for partition in range(PARTITIONS)]
        found = self._admin.list_partition_offsets(dict.fromkeys(places, OffsetSpec.LATEST))
        return {place: found[place].offset for place in places}
