"""The versions of Kafka that brokers and clients are started with here, and how they differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from monitor.model import Value

DEFAULT_VERSION: Final = "4.3.1"

VARIABLE: Final = "GROUPWATCH_KAFKA_VERSION"


class KafkaVersion(Value):
    """A version of Kafka.

    Attributes:
        version: Of brokers, clients and Kafka Streams.
        connect: The version of Connect's workers that run with these brokers.
        has_group_delivery_limit: Whether a share group has its own limit of deliveries, ``share.delivery.count.limit``.
            Before, only the brokers have one.
        is_before_4_4: Whether its brokers give out the tasks of streams groups as they did before 4.4.
    """

    version: str
    connect: str
    has_group_delivery_limit: bool = True
    is_before_4_4: bool = True


KAFKA_VERSIONS: Final[Mapping[str, KafkaVersion]] = {
    each.version: each
    for each in (
        KafkaVersion("4.2.0", connect="4.2.0", has_group_delivery_limit=False),
        KafkaVersion("4.3.1", connect="4.3.1"),
        # Maven Central has no connect-file 4.4.0, and that of 4.3.1 needs a class that 4.4.0 has moved (AppInfoParser).
        KafkaVersion("4.4.0", connect="4.3.1", is_before_4_4=False),
    )
}
"""Every version that has been tried, with what the tests have to know of it."""


def kafka_version(environ: Mapping[str, str] | None = None) -> KafkaVersion:
    """The version to start: that of GROUPWATCH_KAFKA_VERSION, else the default. One not in the table is as usual.

    >>> kafka_version({}).version
    '4.3.1'
    >>> kafka_version({"GROUPWATCH_KAFKA_VERSION": "4.2.0"}).has_group_delivery_limit
    False
    """
    chosen = (os.environ if environ is None else environ).get(VARIABLE) or DEFAULT_VERSION
    return KAFKA_VERSIONS.get(chosen) or KafkaVersion(chosen, connect=chosen)
