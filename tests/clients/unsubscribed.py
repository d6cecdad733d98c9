"""What does a member do with a partition of a topic that it does not subscribe to, if its leader gives it one?

``python -m tests.clients.unsubscribed`` asks every library: a leader made for it, of kafka-python, gives the only other
member of its group a partition of a topic that only the leader subscribes to. Prints a row for each library and each of
its assignors: of which topics the member read records, of which offsets were committed, what the library told its user,
and how many generations there were. A quiet group has 2: one of the leader alone, and one of both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.model import Value
from tests.clients.churn import BROKER, LOG_PARTITIONS
from tests.clients.fleet import Fleet
from tests.clients.generations import GroupLog
from tests.clients.groups import Configured, Group, Place
from tests.clients.libraries import CLIENTS, COOPERATIVE, Client
from tests.clients.toolchain import available_clients
from tests.scenarios.stage import Load
from tests.support.background import Background
from tests.support.clients import admin, commit, create_topic

WANTED, UNWANTED = "unsubscribed.wanted", "unsubscribed.unwanted"
"""The member subscribes to the first; the leader gives it partition 0 of both."""
WATCHED_S: Final = 30.0


class Behavior(Value):
    """What a member did with a partition of a topic that it does not subscribe to."""

    library: str
    version: str
    strategy: str
    told: tuple[str, ...]
    consumed: tuple[str, ...]
    committed: tuple[str, ...]
    generations: int
    troubles: tuple[str, ...]


class Giver(Background):
    """A consumer of kafka-python that, as the leader, gives all others the first partition of both topics."""

    join_s = 60.0

    def __init__(self, bootstrap: str, group: str, strategy: str) -> None:
        super().__init__()
        base = CooperativeStickyAssignor if strategy == COOPERATIVE else RangePartitionAssignor
        assignor = type("Giving", (base,), {"name": strategy})
        self._consumer = KafkaConsumer(
            WANTED,
            UNWANTED,
            bootstrap_servers=bootstrap,
            group_id=group,
            enable_auto_commit=False,
            partition_assignment_strategy=[assignor],
        )
        # In place of what decodes the subscriptions of others: it cannot read those of all libraries.
        self._consumer._coordinator._perform_assignment = self._assignment
        self.leads = threading.Event()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._consumer.poll(timeout_ms=200)
            if self._consumer.assignment():
                self.leads.set()
        self._consumer.close(autocommit=False)

    @staticmethod
    def _assignment(leader: str, _strategy: str, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
        given = {
            member.member_id: [(WANTED, [1]), (UNWANTED, [1])]
            if member.member_id == leader
            else [(UNWANTED, [0]), (WANTED, [0])]
            for member in members
        }
        return {member: ConsumerProtocolAssignment(0, places, b"") for member, places in given.items()}


def behaviors(clients: Iterable[Client], folder: Path) -> Iterator[Behavior]:
    """A row for each library and each of its assignors; all are watched at the same time."""
    programs, skipped = available_clients(clients)
    for name, why in skipped.items():
        sys.stdout.write(f"no members of {name}: {why}\n")
    tried = [(client, strategy) for client in programs for strategy in client.strategies]
    with ExitStack() as stack:
        bootstrap = stack.enter_context(EmbeddedKafka(BROKER, data_dir=folder / "kafka")).bootstrap_servers
        for topic in (WANTED, UNWANTED):
            create_topic(bootstrap, topic, 2)
        commit(bootstrap, "first", WANTED, {0: 0})  # the offsets topic exists from now on
        load, fleet = stack.enter_context(Load(bootstrap)), stack.enter_context(Fleet(bootstrap, programs))
        load.add(WANTED, UNWANTED)
        log = stack.enter_context(GroupLog(bootstrap, LOG_PARTITIONS))
        givers = [stack.enter_context(Giver(bootstrap, _name(*each), each[1])) for each in tried]
        for giver in givers:
            assert giver.leads.wait(60)
        for client, strategy in tried:
            name = _name(client, strategy)
            group = Group(name, (client.name,), strategy, ((WANTED,),), Configured.CLIENT_ID)
            fleet.start(name, group, Place(0, client, (WANTED,)))
        time.sleep(WATCHED_S)
        yield from (_behavior(bootstrap, fleet, log, *each) for each in tried)


def _behavior(bootstrap: str, fleet: Fleet, log: GroupLog, client: Client, strategy: str) -> Behavior:
    name = _name(client, strategy)
    events = [event for event in fleet.events() if event["name"] == name]
    with admin(bootstrap) as asked:
        offsets = asked.list_group_offsets(name)[name]
    return Behavior(
        library=client.name,
        version=client.version,
        strategy=strategy,
        told=tuple(sorted({str(event.get("partitions")) for event in events if event["event"] == "assigned"})),
        consumed=tuple(sorted({event["topic"] for event in events if event["event"] == "consumed"})),
        committed=tuple(sorted({place.topic for place in offsets})),
        generations=len(log.generations(name)),
        troubles=tuple(sorted({event["error"][:200] for event in events if event["event"] in ("trouble", "failed")})),
    )


def _name(client: Client, strategy: str) -> str:
    return f"unsubscribed.{client.name}.{strategy}"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients.unsubscribed", description=__doc__)
    parser.add_argument("--libraries", default=None, help="only these, with commas between them")
    options = parser.parse_args()
    wanted = [each for each in CLIENTS if options.libraries is None or each.name in options.libraries.split(",")]
    for found in behaviors(wanted, Path(tempfile.mkdtemp(prefix="groupwatch-unsubscribed-"))):
        sys.stdout.write(f"{found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
