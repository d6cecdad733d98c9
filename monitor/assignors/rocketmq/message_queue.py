"""A queue of RocketMQ, and the order in which clients look at queues and at each other."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from monitor.assignors.java.text import string_key


class MessageQueue(msgspec.Struct, frozen=True, gc=False):
    """One queue: the counterpart of a partition, but numbered within its broker."""

    topic: str
    broker: str
    queue_id: int

    def __str__(self) -> str:
        """As Java prints it; ``consistent_hash`` hashes this text."""
        return f"MessageQueue [topic={self.topic}, brokerName={self.broker}, queueId={self.queue_id}]"


def sorted_queues(queues: Iterable[MessageQueue]) -> list[MessageQueue]:
    """By topic, broker (both in Java's string order) and number, as a client sorts them before it allocates."""
    return sorted(queues, key=lambda queue: (string_key(queue.topic), string_key(queue.broker), queue.queue_id))


def sorted_clients(clients: Iterable[str]) -> list[str]:
    """In Java's string order, as a client sorts them before it allocates."""
    return sorted(clients, key=string_key)
