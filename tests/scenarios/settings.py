"""How broker, job and clients are set so that a story takes a minute, and what times follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.live.script import COOPERATIVE, RANGE

SESSION_S: Final = 10
"""A consumer that is to die is missed after so long: Kafka's default is 45 s. Not the 4 s of tests.live: a busy machine
may let a JVM wait, and here a lost member is a story of its own."""
PATIENT_SESSION_S: Final = 40
"""That of all others: where a machine stands still for less, nobody is lost whose story does not say so."""
METADATA_S: Final = 2
"""How old a client's metadata become (``metadata.max.age.ms``, 300 s by default)."""
COMMIT_SILENCE_S: Final = 12
"""The job's ``commit_silence_s``, 60 s by default. Longer than a session, so that a death alone makes no silence."""
END_SIGHTS_S: Final = 20
"""Ends of partitions are kept about 20 s apart (``monitor.model.topics.END_SPACING_MS``), so that a record waits may
be known only that much later."""
LAG_RECORDS: Final = 1000
"""The job's ``lag_records``: only the burst reaches it."""

BROKER: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": str(SESSION_S * 1000),
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.session.timeout.ms": str(PATIENT_SESSION_S * 1000),
    "group.consumer.min.session.timeout.ms": str(SESSION_S * 1000),
}
CLUSTER: Final = {"collect_interval_s": 1.0}
STORM_WINDOW_S: Final = 10
"""The job's ``storm_window_s``, 10 min by default: in healthy groups that churn beside, members come and go all the
time on purpose."""
DETECTION: Final[Mapping[str, Any]] = {
    "commit_silence_s": COMMIT_SILENCE_S,
    "lag_records": LAG_RECORDS,
    "storm_window_s": STORM_WINDOW_S,
}

API_S: Final = 5
"""How long a client tries (``default.api.timeout.ms``, 60 s by default). That long does nothing else who commits an
offset in a topic just deleted: in a KIP-848 group, what it has to take over is nobody's meanwhile."""

_ALL: Final = {
    "max.poll.interval.ms": "120000",
    "metadata.max.age.ms": str(METADATA_S * 1000),
    "default.api.timeout.ms": str(API_S * 1000),
}
MORTAL: Final = {"session.timeout.ms": str(SESSION_S * 1000)}
"""The properties of a member of a classic group that is to die. In a KIP-848 group the session is the group's."""
CLASSIC: Final = _ALL | {
    "group.protocol": "classic",
    "session.timeout.ms": str(PATIENT_SESSION_S * 1000),
    "heartbeat.interval.ms": "1000",
}
RANGE_ASSIGNOR: Final = CLASSIC | {"partition.assignment.strategy": RANGE}
COOPERATIVE_ASSIGNOR: Final = CLASSIC | {"partition.assignment.strategy": COOPERATIVE}
ROUNDROBIN: Final = "org.apache.kafka.clients.consumer.RoundRobinAssignor"
STICKY: Final = "org.apache.kafka.clients.consumer.StickyAssignor"
KIP_848: Final = _ALL | {"group.protocol": "consumer"}
