"""All brokers of a RocketMQ cluster, queried at the same time. The others are read even if one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Final, TypeVar

from monitor.collectors.errors import CollectorError
from monitor.collectors.rocketmq.connection import RocketMQConnection
from monitor.protocol.rocketmq.responses import BrokerAddress

Result = TypeVar("Result")
Given = TypeVar("Given")


class Brokers:
    """The brokers in one reading, and their addresses, by the broker's name; ``failures`` are of those that failed.

    ``slaves`` are the names of those whose master is away. A slave copies the offsets of its master every few seconds,
    committed ones (``SlaveSynchronize``) and records alike. So its offsets may be older than those read before. They
    would look like a group that reads again what it has read, or like a truncated log.
    """

    def __init__(
        self,
        cluster: str,
        brokers: Iterable[BrokerAddress],
        connection: Callable[[str], RocketMQConnection],
        pool: Executor,
    ) -> None:
        """Prepare; ``connection`` gives the one to an address, ``pool`` has the threads."""
        known = tuple(brokers)
        self._cluster: Final = cluster
        self._connection: Final = connection
        self._pool: Final = pool
        self.addresses = {each.broker: each.address for each in known}
        self.slaves = frozenset(each.broker for each in known if not each.is_master)
        self._failed: set[str] = set()
        self.failures: list[CollectorError] = []
        self.problems = [
            f"Cluster {cluster}: {connection(each.address)} is read instead of its master, which is down: its offsets "
            "may be stale and are left out."
            for each in known
            if not each.is_master
        ]

    def ask_all(self, question: Callable[[RocketMQConnection, Given], Result], given: Given) -> dict[str, Result]:
        """The answers of all brokers that have not failed, by their names."""
        return self.ask(question, dict.fromkeys(self.addresses, given))

    def ask(
        self, question: Callable[[RocketMQConnection, Given], Result], given: Mapping[str, Given]
    ) -> dict[str, Result]:
        """The responses of those brokers, each queried for what it is given. One that fails is not queried again."""
        asked = {
            name: self._pool.submit(question, self._connection(self.addresses[name]), each)
            for name, each in given.items()
            if name in self.addresses and name not in self._failed
        }
        answers: dict[str, Result] = {}
        for name, future in asked.items():
            try:
                answers[name] = future.result()
            except CollectorError as error:
                self._failed.add(name)
                self.failures.append(error)
                self.problems.append(f"Cluster {self._cluster}: {error}")
        return answers
