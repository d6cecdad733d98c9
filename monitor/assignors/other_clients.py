"""How other client libraries' ``range`` and ``roundrobin`` differ from Kafka's own, where the difference is known.

Each differs in what it takes of its input, and then cuts and deals as Kafka's does: so a variant is what it sees of
the members, and Kafka's assignor answers for it. Sources: ``kafka/coordinator/assignors`` of kafka-python 3.0.12 and
``aiokafka/coordinator/assignors`` of aiokafka. Kafka's own looks at racks since KIP-881.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from monitor.model import Member, Value

Sight = Callable[[Sequence[Member]], tuple[Member, ...]]


class ClientVariant(Value):
    """A variant of an assignor: whose it is, and what it sees of the members. Their order and ids stay."""

    clients: str
    sees: Sight


def without_racks(members: Sequence[Member]) -> tuple[Member, ...]:
    """The members as an assignor sees them that knows no racks."""
    return tuple(replace(member, rack=None) for member in members)


def by_member_id(members: Sequence[Member]) -> tuple[Member, ...]:
    """The members as aiokafka sees them: it sorts by member id, static members too."""
    return tuple(replace(member, rack=None, instance_id=None) for member in members)


def last_runs_by_topic(members: Sequence[Member]) -> tuple[Member, ...]:
    """The members as kafka-python's ``range`` sees them.

    It groups a topic's subscribers into static and dynamic ones without sorting them first, so that of each kind only
    the last run of neighbours counts; the others get nothing of the topic.

    >>> ids = [("a", "i1"), ("b", None), ("c", "i2")]
    >>> members = [Member(member_id=name, instance_id=instance, topics=("t",)) for name, instance in ids]
    >>> [member.topics for member in last_runs_by_topic(members)]
    [(), ('t',), ('t',)]
    """
    topics = {topic for member in members for topic in member.topics}
    kept = {topic: _last_runs([member for member in members if topic in member.topics]) for topic in topics}
    return tuple(
        replace(member, rack=None, topics=tuple(topic for topic in member.topics if member.member_id in kept[topic]))
        for member in members
    )


def last_runs(members: Sequence[Member]) -> tuple[Member, ...]:
    """The members as kafka-python's ``roundrobin`` sees them: as its ``range``, but the runs are those of the group."""
    kept = _last_runs(members)
    return tuple(
        replace(member, rack=None, topics=member.topics if member.member_id in kept else ()) for member in members
    )


def _last_runs(members: Sequence[Member]) -> frozenset[str]:
    runs = groupby(members, key=lambda member: member.instance_id is not None)
    last = {static: [member.member_id for member in run] for static, run in runs}
    return frozenset(name for run in last.values() for name in run)


NO_RACKS: Final = ClientVariant(clients="a client that ignores racks", sees=without_racks)
AIOKAFKA: Final = ClientVariant(clients="aiokafka", sees=by_member_id)

VARIANTS: Final[Mapping[str, tuple[ClientVariant, ...]]] = {
    "range": (NO_RACKS, AIOKAFKA, ClientVariant(clients="kafka-python", sees=last_runs_by_topic)),
    "roundrobin": (AIOKAFKA, ClientVariant(clients="kafka-python", sees=last_runs)),
}
"""By the assignor's name; what supposes least comes first."""
