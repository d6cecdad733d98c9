"""What a person can do first about a finding: sentences, each with the kinds of groups of which it can be true."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.model.client_libraries import Library
from monitor.model.connect import CONNECT
from monitor.model.kinds import GroupKind
from monitor.model.values import Value

Kinds = frozenset[str]
"""Kinds of groups; CONNECT stands for the classic groups of Connect workers."""

CLASSIC: Final = frozenset({GroupKind.CLASSIC})
CONSUMER: Final = frozenset({GroupKind.CONSUMER})
SHARE: Final = frozenset({GroupKind.SHARE})
STREAMS: Final = frozenset({GroupKind.STREAMS})
ZOOKEEPER: Final = frozenset({GroupKind.ZOOKEEPER})
ROCKETMQ: Final = frozenset({GroupKind.ROCKETMQ})
METAQ: Final = frozenset({GroupKind.METAQ})
SPARK: Final = frozenset({GroupKind.SPARK})
WORKERS: Final = frozenset({CONNECT})
"""The groups whose members are the workers of a Connect cluster."""

ALL: Final[Kinds] = frozenset({*GroupKind, CONNECT})
OTHER_TOPICS: Final = ROCKETMQ | METAQ
"""Those that read topics of another system than Kafka."""
KAFKA_TOPICS: Final = ALL - OTHER_TOPICS
POLLING: Final = CLASSIC | CONSUMER | STREAMS
"""Those whose members are Kafka consumers that poll and commit."""
BY_BROKER: Final = CONSUMER | STREAMS
SELF_ASSIGNED: Final = ZOOKEEPER | ROCKETMQ | METAQ


class Advice(Value):
    """A text, of one sentence or more, that can be true of groups of these kinds.

    ``libraries`` are those of the group leader with which it is true, None for one that is not known; absent: any.
    """

    text: str
    kinds: Kinds
    libraries: frozenset[Library | None] | None = None


def advice_of(parts: Iterable[Advice], kind: str, *, is_connect: bool, library: Library | None) -> str | None:
    """The texts for a group of this kind whose leader uses this library (None: unknown), as one; None: there is none.

    >>> parts = (Advice("Wait.", ALL), Advice("Restart the worker.", WORKERS))
    >>> [advice_of(parts, "kafka-classic", is_connect=each, library=None) for each in (False, True)]
    ['Wait.', 'Wait. Restart the worker.']
    """
    own = CONNECT if is_connect else kind
    texts = [part.text for part in parts if own in part.kinds and (part.libraries is None or library in part.libraries)]
    return " ".join(texts) or None


STATIC_MEMBER: Final = "a static member must be away longer than its session timeout"
COMPARE_STRATEGIES: Final = "the members' versions, strategies and subscriptions"

ONE_STRATEGY: Final = (
    Advice(
        "Give all members the same allocateMessageQueueStrategy, and restart those that have a different one.",
        ROCKETMQ,
    ),
    Advice(
        "Give all members the same partition.assignment.strategy, and restart those that have a different one.",
        ZOOKEEPER,
    ),
    Advice("Give all members the same load balance strategy, and restart those that have a different one.", METAQ),
)
