"""What the log of a broker says of the groups: the yardstick beside what groupwatch says of them."""

from __future__ import annotations

import base64
import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition

from monitor.model import MembershipStored
from monitor.protocol.offsets_topic import decode_record
from tests.support.background import Background

LOG: Final = "__consumer_offsets"
GROUP_METADATA: Final = b"\x00\x02"
"""What the key of a group's own record begins with: its version. Those of commits begin with another one."""

Places = frozenset[tuple[str, int]]
"""Topics with partitions."""


class GroupLog(Background):
    """A thread that reads the generations of all groups in the offsets topic, from its beginning on."""

    def __init__(self, bootstrap: str, partitions: int) -> None:
        super().__init__()
        self._bootstrap = bootstrap
        self._log = [TopicPartition(LOG, number) for number in range(partitions)]
        self._read: dict[str, list[MembershipStored]] = defaultdict(list)
        self._records: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._reading = threading.Lock()

    def generations(self, group: str) -> tuple[MembershipStored, ...]:
        """Those of a group by now, in their order; one without members is an empty group's."""
        with self._reading:
            return tuple(self._read[group])

    def records(self, group: str) -> list[dict[str, Any]]:
        """The bytes of the same generations, in base64."""
        with self._reading:
            return list(self._records[group])

    def _run(self) -> None:
        consumer = KafkaConsumer(bootstrap_servers=self._bootstrap, group_id=None, enable_auto_commit=False)
        consumer.assign(self._log)
        consumer.seek_to_beginning(*self._log)
        while not self._stopping.is_set():
            for records in consumer.poll(timeout_ms=500, max_records=5000).values():
                for record in records:
                    if record.key is not None and record.key.startswith(GROUP_METADATA):
                        self._note(record)
        consumer.close(autocommit=False)

    def _note(self, record: Any) -> None:
        event = decode_record(record.key, record.value, record.timestamp)
        if isinstance(event, MembershipStored):
            with self._reading:
                self._read[event.group].append(event)
                self._records[event.group].append(
                    {
                        "group": event.group,
                        "partition": record.partition,
                        "offset": record.offset,
                        "timestamp_ms": record.timestamp,
                        "key": base64.b64encode(record.key).decode(),
                        "value": base64.b64encode(record.value).decode(),
                    }
                )


def unassigned(generation: MembershipStored, partitions: Mapping[str, int]) -> Places:
    """What somebody subscribes to and nobody was given. ``partitions``: how many each topic has."""
    subscribed = {topic for member in generation.members for topic in member.topics}
    given = {place for member in generation.members for place in places_of(member)}
    return frozenset((topic, number) for topic in subscribed for number in range(partitions[topic])) - given


def misplaced(generation: MembershipStored) -> Places:
    """What was given only to members that do not subscribe to it."""
    wanted = {place for member in generation.members for place in places_of(member) if place[0] in member.topics}
    given = {place for member in generation.members for place in places_of(member)}
    return frozenset(given - wanted)


def places_of(member: Any) -> Places:
    """What a member was given."""
    return frozenset((given.topic, number) for given in member.assigned for number in given.partitions)
