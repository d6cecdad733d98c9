"""Real consumers of Kafka's share groups: a JVM that obeys orders, see ``programs/KafkaShareClients.java``."""

from __future__ import annotations

from typing import Final, Literal

from monitor.demo.java.clients import JavaClients
from monitor.demo.servers.kafka_applications import client_jars
from monitor.java_runtime.jars import Progress, quiet

Acknowledgment = Literal["ACCEPT", "RELEASE", "REJECT", "HOLD"]

NEVER: Final = 2**31 - 1
"""More deliveries than any group allows."""


class ShareClients(JavaClients):
    """A JVM with consumers of share groups, and a producer. ``consume`` needs no strategy.

    ``how`` is for how many ms a consumer holds a poison record, before it releases it.
    """

    def __init__(self, bootstrap_servers: str, progress: Progress = quiet) -> None:
        """Start the JVM.

        Raises:
            ClientsFailed, JarsNotResolved, JavaNotFound: It did not start.
        """
        super().__init__("KafkaShareClients", [bootstrap_servers], client_jars(progress=progress))

    def acknowledge_with(self, name: str, acknowledgment: Acknowledgment, until: int = NEVER) -> None:
        """Have a consumer acknowledge so what it gets from now on. It accepts all records at first.

        With HOLD it keeps what it gets until it is told otherwise, and releases it then. It hangs once it has
        acknowledged a record that was delivered ``until`` times.
        """
        self._order("answer", name, acknowledgment, str(until))

    def highest_delivery(self, name: str) -> int:
        """The highest delivery count of the records that a consumer has been given."""
        return int(self._order("deliveries", name)[0])

    def count_received(self, name: str) -> int:
        """How many records a consumer has been given, each time counted."""
        return int(self._order("deliveries", name)[1])

    def send_poison(self, topic: str) -> None:
        """Send one record that every consumer releases."""
        self._order("poison", topic)
