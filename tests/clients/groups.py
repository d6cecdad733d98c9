"""The groups of a churn: by library, assignor and subscriptions; of static members; and of several libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import cycle
from typing import Any, Final

from monitor.model import Value
from tests.clients.libraries import CLIENT, CLIENTS, COOPERATIVE, RANGE, ROUNDROBIN, Client
from tests.scenarios.settings import SESSION_S

TOPICS: Final = {"clients.d": 12, "clients.e": 5, "clients.f": 11}
"""12 partitions can be shared evenly by one to four members, so that 12 and 5 together are as even as 17."""
EQUAL: Final = (("clients.d", "clients.e"),)
UNEQUAL: Final = (("clients.d",), ("clients.d", "clients.e"), ("clients.d", "clients.e", "clients.f"))
"""What the members of a group subscribe to, in turn."""

CHOSEN_SESSION_MS: Final = 20_000
CHOSEN_REBALANCE_MS: Final = 50_000
"""No library has these by itself."""


class Configured(StrEnum):
    """What somebody has chosen for the members of a group: client libraries are recognized by what nobody has."""

    NOTHING = "nothing"
    CLIENT_ID = "client id"
    TIMEOUTS = "client id and timeouts"


class Group(Value):
    """A group of a churn.

    Attributes:
        name: of the group.
        clients: the libraries of its members, in turn, by their names.
        strategy: the only assignor that its members offer.
        subscriptions: what its members subscribe to, in turn.
        configured: what is not as its libraries have it.
        static: its members have instance ids.
        fails: its leader's assignor fails, again and again.
        lost: members of it ended with their process.
    """

    name: str
    clients: tuple[str, ...]
    strategy: str
    subscriptions: tuple[tuple[str, ...], ...]
    configured: Configured
    static: bool = False
    fails: bool = False
    lost: bool = False

    @property
    def has_unequal_topics(self) -> bool:
        """Whether its members subscribe to different topics."""
        return self.subscriptions == UNEQUAL

    @property
    def has_orphans(self) -> bool:
        """Whether its members subscribe to different topics, and its leaders assign only those of their own."""
        return self.has_unequal_topics and self.leaves_topics_out

    @property
    def leaves_topics_out(self) -> bool:
        """Whether its leader may assign none of the partitions of a topic that another member subscribes to.

        Also where all members subscribe alike: @platformatic/kafka 1.35 may lead a last generation while it closes, and
        then subscribes to nothing.
        """
        return all(CLIENT[name].assigns_by_leader for name in self.clients)


class Place(Value):
    """A member's place in its group: it is taken by one consumer after the other."""

    number: int
    client: Client
    topics: tuple[str, ...]

    def command(self, group: Group) -> dict[str, Any]:
        """What starts a consumer in this place, for the programs of tests/clients/programs."""
        return {
            "library": self.client.name,
            "group": group.name,
            "topics": list(self.topics),
            "strategies": None if _is_default(group, self.client) else [group.strategy],
            "client_id": self.client_id(group),
            "instance_id": f"{group.name}-{self.number}" if group.static else None,
            **_timeouts(group),
        }

    def client_id(self, group: Group) -> str | None:
        """The client id that is chosen; None: that of the library."""
        if group.configured is Configured.NOTHING and self.client.client_id is not None:
            return None
        return f"app-{self.client.name}"


def places(group: Group) -> Iterator[Place]:
    """The places of a group, as many as wanted."""
    for number, (name, topics) in enumerate(zip(cycle(group.clients), cycle(group.subscriptions), strict=False)):
        yield Place(number, CLIENT[name], topics)


def groups_of(clients: Iterable[Client]) -> list[Group]:
    """All groups whose members have these libraries only."""
    wanted = {client.name for client in clients}
    return [group for group in GROUPS if wanted.issuperset(group.clients)]


ENDS_ITS_PROCESS: Final = frozenset({("librdkafka", COOPERATIVE, "unequal")})
"""Whose leaders end their process by an assertion of the assignor, so that there is no group to watch."""


def _single() -> Iterator[Group]:
    """What somebody has chosen takes turns, so that each library has all of it."""
    for client in CLIENTS:
        turns = cycle(Configured)
        for strategy in client.strategies:
            for kind, subscriptions in (("equal", EQUAL), ("unequal", UNEQUAL)):
                if (client.name, strategy, kind) in ENDS_ITS_PROCESS:
                    continue
                yield Group(
                    name=f"{client.name}.{strategy}.{kind}",
                    clients=(client.name,),
                    strategy=strategy,
                    subscriptions=subscriptions,
                    configured=next(turns),
                    fails=(client.name, strategy, kind) == ("kafka-python", ROUNDROBIN, "unequal"),
                )


def _static() -> Iterator[Group]:
    for client in CLIENTS:
        if client.has_static_members:
            first = RANGE if RANGE in client.strategies else client.strategies[0]
            for strategy in dict.fromkeys((first, client.strategies[-1])):
                yield Group(
                    name=f"{client.name}.{strategy}.static",
                    clients=(client.name,),
                    strategy=strategy,
                    subscriptions=EQUAL,
                    configured=Configured.CLIENT_ID,
                    static=True,
                )


MIXED: Final = {
    RANGE: ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka"),
    ROUNDROBIN: ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka"),
    COOPERATIVE: ("java", "librdkafka", "franz-go"),
}
"""Libraries whose leaders can read each other's members."""


def _mixed() -> Iterator[Group]:
    for strategy, clients in MIXED.items():
        yield Group(
            name=f"mixed.{strategy}.equal",
            clients=clients,
            strategy=strategy,
            subscriptions=EQUAL,
            configured=Configured.CLIENT_ID,
        )


def _is_default(group: Group, client: Client) -> bool:
    return group.configured is Configured.NOTHING and client.strategies[0] == group.strategy


def _timeouts(group: Group) -> Mapping[str, int]:
    if group.static:  # a static member that has gone is missed only after its session
        return {"session_ms": SESSION_S * 1000}
    if group.configured is Configured.TIMEOUTS:
        return {"session_ms": CHOSEN_SESSION_MS, "rebalance_ms": CHOSEN_REBALANCE_MS}
    return {}


GROUPS: Final = (*_single(), *_static(), *_mixed())
"""All of them."""
