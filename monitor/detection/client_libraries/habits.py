"""What each client library writes into the records of its group: a row for each form, and each library's defaults.

Sources: the libraries themselves on a real broker (Sarama 1.61.1, kafka-go 0.4.51, franz-go 1.22.2, KafkaJS 2.2.4,
@platformatic/kafka 1.35.0 and 2.12.1, kafka-python 3.0.12, aiokafka 0.14.0, librdkafka 2.16.1), and of older releases
what their sources say (``ConsumerProtocol`` and the assignors of kafka-clients, ``rdkafka_assignor.c``). The newest
subscription of kafka-clients 3.1.2, 3.2.0 and 3.3.2 is version 1, that of 3.4.0 and 3.5.0 is version 3: none sends 2.
"""

from __future__ import annotations

from typing import Final

from monitor.model import Library, Value
from monitor.protocol.kafka.sticky_user_data import UserDataForm

NULL, EMPTY, GENERATION = UserDataForm.NULL, UserDataForm.EMPTY, UserDataForm.GENERATION
OWNED, OWNED_BEFORE = UserDataForm.OWNED, UserDataForm.OWNED_BEFORE_GENERATIONS
VERSIONED, OTHER = UserDataForm.VERSIONED, UserDataForm.OTHER

RANGE, ROUNDROBIN, STICKY, COOPERATIVE = "range", "roundrobin", "sticky", "cooperative-sticky"
RACK_AFFINITY, KAFKAJS_ROUNDROBIN = "rack-affinity", "RoundRobinAssigner"
EAGER: Final = frozenset({RANGE, ROUNDROBIN})


Timeouts = frozenset[tuple[int, int]]
"""Pairs of a session and a rebalance timeout, in ms."""

OLD_TIMEOUTS: Final[Timeouts] = frozenset({(10_000, 300_000), (30_000, 30_000), (30_000, 300_000)})
"""Those of Kafka's Java client before 3.0, and of the libraries that follow it."""


class SubscriptionForm(Value):
    """How a library's members subscribe.

    Attributes:
        library: whose form it is.
        assignors: those of the library that are used with it.
        version: of ConsumerProtocol, as the bytes name it.
        data: the user data.
        versions: the library's releases that write so, if not all do.
        is_abridged: the bytes end before the owned partitions.
        has_empty_rack: a member without a rack sends an empty text and not null.
        timeouts_ms: the default timeouts of these releases; None: those of the library.
    """

    library: Library
    assignors: frozenset[str]
    version: int
    data: frozenset[UserDataForm]
    versions: str | None = None
    is_abridged: bool = False
    has_empty_rack: bool = False
    timeouts_ms: Timeouts | None = None


class AssignmentForm(Value):
    """How a library writes the assignments when it leads. ``data``: null, empty, or OTHER for any other."""

    library: Library
    assignors: frozenset[str]
    version: int
    data: frozenset[UserDataForm]


class Defaults(Value):
    """What a library's consumers have if nobody has chosen it.

    Attributes:
        client_id: a regular expression for the whole client id, in which GROUP stands for the group's name. Its
            ``version`` is the library's release. None: it makes up no client id.
        timeouts_ms: session and rebalance timeouts, in ms, of its releases.
    """

    client_id: str | None
    timeouts_ms: Timeouts


def _java(version: int, versions: str) -> tuple[SubscriptionForm, ...]:
    cooperative = {NULL, GENERATION} if version == 1 else {GENERATION}  # the generation is in it since 2.8
    return (
        SubscriptionForm(Library.JAVA, EAGER, version, frozenset({NULL}), versions),
        SubscriptionForm(Library.JAVA, frozenset({STICKY}), version, frozenset({NULL, OWNED}), versions),
        SubscriptionForm(Library.JAVA, frozenset({COOPERATIVE}), version, frozenset(cooperative), versions),
    )


def _sarama(version: int) -> tuple[SubscriptionForm, ...]:
    return (
        SubscriptionForm(Library.SARAMA, EAGER, version, frozenset({NULL})),
        SubscriptionForm(Library.SARAMA, frozenset({STICKY}), version, frozenset({NULL, OWNED})),
        SubscriptionForm(Library.SARAMA, frozenset({COOPERATIVE}), version, frozenset({NULL, GENERATION})),
    )


def _librdkafka(
    version: int, versions: str, *, has_empty_rack: bool = False, timeouts_ms: Timeouts | None = None
) -> SubscriptionForm:
    return SubscriptionForm(
        Library.LIBRDKAFKA,
        EAGER | {COOPERATIVE},
        version,
        frozenset({EMPTY, OWNED}),
        versions,
        has_empty_rack=has_empty_rack,
        timeouts_ms=timeouts_ms,
    )


SUBSCRIPTION_FORMS: Final = (
    SubscriptionForm(
        Library.JAVA,
        EAGER | {STICKY},
        0,
        frozenset({EMPTY, OWNED, OWNED_BEFORE}),
        "before 2.4",
        timeouts_ms=OLD_TIMEOUTS,
    ),
    *_java(1, "2.4 to 3.3"),
    *_java(3, "3.4 or newer"),
    *_sarama(0),
    *_sarama(1),
    *_sarama(2),
    SubscriptionForm(Library.KAFKA_GO, EAGER, 1, frozenset({NULL}), is_abridged=True),
    SubscriptionForm(
        Library.KAFKA_GO, frozenset({RACK_AFFINITY}), 1, frozenset(UserDataForm) - {VERSIONED}, is_abridged=True
    ),
    SubscriptionForm(Library.FRANZ_GO, EAGER, 3, frozenset({NULL})),
    SubscriptionForm(Library.FRANZ_GO, frozenset({STICKY, COOPERATIVE}), 3, frozenset({OWNED, OWNED_BEFORE})),
    SubscriptionForm(Library.KAFKAJS, frozenset({KAFKAJS_ROUNDROBIN}), 0, frozenset({EMPTY})),
    SubscriptionForm(
        Library.PLATFORMATIC, frozenset({ROUNDROBIN}), 1, frozenset({NULL}), "before 2.12", is_abridged=True
    ),
    SubscriptionForm(Library.PLATFORMATIC, frozenset({ROUNDROBIN}), 1, frozenset({NULL}), "2.12 or newer"),
    SubscriptionForm(Library.PLATFORMATIC, frozenset({COOPERATIVE}), 3, frozenset({NULL}), "2.12 or newer"),
    SubscriptionForm(Library.KAFKA_PYTHON, EAGER, 0, frozenset({EMPTY})),
    SubscriptionForm(Library.KAFKA_PYTHON, frozenset({STICKY}), 0, frozenset({EMPTY, VERSIONED})),
    SubscriptionForm(Library.KAFKA_PYTHON, frozenset({COOPERATIVE}), 1, frozenset({EMPTY}), "3.0 or newer"),
    SubscriptionForm(Library.AIOKAFKA, EAGER, 0, frozenset({EMPTY})),
    SubscriptionForm(Library.AIOKAFKA, frozenset({STICKY}), 0, frozenset({EMPTY, OWNED})),
    _librdkafka(0, "before 1.6", timeouts_ms=OLD_TIMEOUTS),
    _librdkafka(1, "1.6 to 2.3"),
    _librdkafka(3, "2.4 or newer", has_empty_rack=True),
)
"""A row for each way to subscribe."""

DROPPING: Final = frozenset({Library.KAFKA_GO, Library.FRANZ_GO, Library.KAFKAJS, Library.PLATFORMATIC})
"""Libraries whose members silently drop assigned partitions of topics to which they do not subscribe.

Measured with a leader that assigns such a partition (tests.clients.unsubscribed; docs/assignors.md has the table).
"""

GROUP: Final = "/group/"
"""In patterns of client ids: the name of the group. No group's name and no client id is meant by it."""

STANDARD: Final = EAGER | {STICKY, COOPERATIVE}

ASSIGNMENT_FORMS: Final = (
    AssignmentForm(Library.JAVA, STANDARD, 0, frozenset({EMPTY})),
    *(AssignmentForm(Library.JAVA, STANDARD, version, frozenset({NULL})) for version in (1, 3)),
    AssignmentForm(Library.SARAMA, STANDARD, 0, frozenset({NULL, OTHER})),
    AssignmentForm(Library.KAFKA_GO, EAGER | {RACK_AFFINITY}, 1, frozenset({NULL})),
    AssignmentForm(Library.FRANZ_GO, STANDARD, 0, frozenset({NULL})),
    AssignmentForm(Library.KAFKAJS, frozenset({KAFKAJS_ROUNDROBIN}), 0, frozenset({EMPTY})),
    AssignmentForm(Library.PLATFORMATIC, frozenset({ROUNDROBIN}), 0, frozenset({NULL, EMPTY})),
    AssignmentForm(Library.PLATFORMATIC, frozenset({COOPERATIVE}), 3, frozenset({NULL})),
    AssignmentForm(Library.KAFKA_PYTHON, EAGER | {STICKY}, 0, frozenset({EMPTY})),
    AssignmentForm(Library.KAFKA_PYTHON, frozenset({COOPERATIVE}), 1, frozenset({EMPTY})),
    AssignmentForm(Library.AIOKAFKA, EAGER | {STICKY}, 0, frozenset({EMPTY})),
    AssignmentForm(Library.LIBRDKAFKA, EAGER, 0, frozenset({EMPTY})),
    AssignmentForm(Library.LIBRDKAFKA, frozenset({COOPERATIVE}), 0, frozenset({EMPTY, OTHER})),
)
"""A row for each way in which a leader writes what it assigned."""

DEFAULTS: Final[dict[Library, Defaults]] = {
    Library.JAVA: Defaults(
        rf"consumer-({GROUP}-)?\d+", frozenset({(45_000, 300_000), (10_000, 300_000), (30_000, 30_000)})
    ),
    Library.LIBRDKAFKA: Defaults("rdkafka", frozenset({(45_000, 300_000), (10_000, 300_000), (30_000, 30_000)})),
    Library.SARAMA: Defaults("sarama", frozenset({(10_000, 60_000)})),
    Library.KAFKA_GO: Defaults(r".*\(github\.com/segmentio/kafka-go\)", frozenset({(30_000, 30_000)})),
    Library.FRANZ_GO: Defaults("kgo", frozenset({(45_000, 60_000)})),
    Library.KAFKAJS: Defaults("kafkajs", frozenset({(30_000, 60_000)})),
    Library.PLATFORMATIC: Defaults(None, frozenset({(60_000, 102_000)})),
    Library.KAFKA_PYTHON: Defaults(
        r"kafka-python-(?P<version>\d[\w.]*)", frozenset({(45_000, 300_000), (10_000, 300_000), (30_000, 30_000)})
    ),
    Library.AIOKAFKA: Defaults(r"aiokafka-(?P<version>\d[\w.]*)", frozenset({(10_000, 10_000)})),
}
"""By library. Timeouts of several libraries are the same: those alone prove nothing."""

METADATA_AGES_MS: Final[dict[Library, int]] = {
    Library.JAVA: 300_000,
    Library.LIBRDKAFKA: 300_000,
    Library.SARAMA: 600_000,
    Library.KAFKA_GO: 60_000,
    Library.FRANZ_GO: 300_000,
    Library.KAFKAJS: 60_000,
    Library.PLATFORMATIC: 60_000,
    Library.KAFKA_PYTHON: 300_000,
    Library.AIOKAFKA: 300_000,
}
"""How old a leader's metadata of a topic can be when it assigns, by default: what was there for longer, it knew.

A leader of kafka-go, KafkaJS and @platformatic/kafka asks a broker before it assigns (``assignTopicPartitions``,
``sync``, ``metadataMaxAge`` of 5 s); a broker may lag behind a little. Sarama's knows topics of its own
like that, those of other members for ``Metadata.RefreshFrequency``. How long each takes to notice new partitions is in
monitor.messages.new_partitions.
"""
