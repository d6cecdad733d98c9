"""Real consumers of Kafka's share groups: a JVM that obeys orders, see ``programs/KafkaShareClients.java``."""

from __future__ import annotations

from typing import Literal

from monitor.demo.java.clients import JavaClients
from monitor.demo.servers.kafka_applications import client_jars
from monitor.java_runtime.jars import Progress, quiet

Acknowledgment = Literal["ACCEPT", "RELEASE", "REJECT"]


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

    def acknowledge_with(self, name: str, acknowledgment: Acknowledgment) -> None:
        """Have a consumer acknowledge so what it gets from now on. It accepts all records at first."""
        self._order("answer", name, acknowledgment)

    def highest_delivery(self, name: str) -> int:
        """The highest delivery count of the records that a consumer has been given."""
        (count,) = self._order("deliveries", name)
        return int(count)

    def send_poison(self, topic: str) -> None:
        """Send one record that every consumer releases."""
        self._order("poison", topic)
