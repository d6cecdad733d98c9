"""Every family of golden vectors, and who answers its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import ValidationError

from monitor.assignors.registry import ASSIGNORS, System
from monitor.assignors.vectors import dialect_cases as dialects
from monitor.assignors.vectors import java_cases
from monitor.assignors.vectors import kafka_broker_cases as kafka_broker
from monitor.assignors.vectors import kafka_client_cases as kafka_client
from monitor.assignors.vectors import kafka_zookeeper_cases as kafka_zookeeper
from monitor.assignors.vectors import metaq_cases as metaq
from monitor.assignors.vectors import rocketmq_cases as rocketmq

Answerer = Callable[[str, object], dict[str, object]]
"""Takes the name of the family and the input as JSON gave it; see ``kafka_client.cases.answer``."""

_BY_ANSWERER: Final[tuple[tuple[Answerer, tuple[str, ...]], ...]] = (
    (kafka_client.answer, tuple(f"kafka.{row.rule.name}" for row in ASSIGNORS[System.KAFKA_CLIENT])),
    (kafka_broker.answer, ("kafka.server.range", "kafka.server.uniform", "kafka.server.share-simple")),
    (kafka_zookeeper.answer, ("kafka08.range", "kafka08.roundrobin")),
    (
        rocketmq.answer,
        (
            "rocketmq.averagely",
            "rocketmq.averagely-by-circle",
            "rocketmq.by-config",
            "rocketmq.by-machine-room",
            "rocketmq.consistent-hash",
            "rocketmq.machine-room-nearby",
        ),
    ),
    (metaq.answer, ("metaq.default", "metaq.consishash")),
    (java_cases.answer, ("java.order",)),
    (dialects.answer, dialects.FAMILIES),
)

FAMILIES: Final[Mapping[str, Answerer]] = MappingProxyType(
    {family: answerer for answerer, families in _BY_ANSWERER for family in families}
)
"""By the name that a case gives as its ``assignor``, exact case."""


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What this assignor gives for this input, in the form of the golden vectors.

    Raises:
        ValidationError: the family is unknown, or the input is not a case of it.
        AssignorError: the original throws for this case.
    """
    answerer = FAMILIES.get(assignor)
    if answerer is None:
        raise ValidationError(f"Unknown assignor {assignor[:100]!r}")
    return answerer(assignor, case_input)
