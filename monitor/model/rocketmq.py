"""What is known of a group of RocketMQ beside its members and offsets."""

from __future__ import annotations

from typing import Final

from monitor.model.values import PartitionId, Value


class RedeliveryObserved(Value):
    """What brokers keep of records that a group did not process.

    A record that a client sends back waits in a topic of the broker until its delay has passed, and then comes into the
    group's retry topic, ``%RETRY%GROUP``. After its last attempt it comes into ``%DLQ%GROUP``, which the group does not
    read.

    ``sent_back`` records came into the retry topics so far, of which ``waiting`` have not been consumed. ``given_up``
    came into the dead-letter topic so far, the newest at ``given_up_ms`` by the broker's clock (None: none is kept),
    and ``dead_letters`` of them are still there. ``consumed`` is the sum of the group's committed offsets, those of
    the retry topics included. ``in_flight`` are records that members have taken by POP and not acknowledged (None: no
    member reports it).
    """

    sent_back: int = 0
    waiting: int = 0
    given_up: int = 0
    given_up_ms: int | None = None
    dead_letters: int = 0
    consumed: int = 0
    in_flight: int | None = None


class ConsumptionPoint(Value, array_like=True):
    """How many records a group had sent back and consumed by an instant."""

    at_ms: int
    sent_back: int
    consumed: int


class Redelivery(Value):
    """Those of the newest poll, and what changed before.

    ``waiting_since_ms`` is a time at which one of the waiting records waited already (0: none waits).
    ``given_up_since_ms`` is when the first of the records was given up that followed each other within GIVEN_UP_MS, and
    ``sent_back_since_ms`` when the first was sent back of those that followed each other within SENT_BACK_MS (0: there
    are none); ``sent_back_ms`` is when a poll last saw more of them. ``points`` are two earlier points, half of
    SENT_BACK_MS to SENT_BACK_MS ago. ``passed`` is what has to be consumed so that what waited at ``waiting_since_ms``
    waits no more.
    """

    newest: RedeliveryObserved = RedeliveryObserved()
    waiting_since_ms: int = 0
    passed: int = 0
    given_up_since_ms: int = 0
    sent_back_since_ms: int = 0
    sent_back_ms: int = 0
    points: tuple[ConsumptionPoint, ...] = ()


GIVEN_UP_MS: Final = 3_600_000
"""For so long it is reported that records were given up."""

SENT_BACK_MS: Final = 600_000
"""What is sent back is compared with what is consumed over so long. The first delays are 10 s to 5 min."""


class UnreadableQueue(Value, array_like=True):
    """A queue of a subscribed topic that may not be read, with records that the group has not consumed.

    Its broker lets ``readable`` queues of the topic be read and ``writable`` be written. ``since_ms`` is the first poll
    that found it (0: it is not known yet).
    """

    topic: str
    partition: PartitionId
    unread: int
    readable: int
    writable: int
    since_ms: int = 0


class RocketMQGroupState(Value):
    """What only groups of RocketMQ have.

    ``mixed_since_ms`` is since when clients subscribe to a topic with different expressions (0: they do not), see
    monitor.model.expressions. ``redelivery`` None: nothing was sent back or given up so far. ``unreadable`` are sorted.
    """

    mixed_since_ms: int = 0
    redelivery: Redelivery | None = None
    unreadable: tuple[UnreadableQueue, ...] = ()


NOTHING_SPECIAL = RocketMQGroupState()
"""Of most groups there is nothing of this."""
