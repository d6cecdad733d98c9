"""A JVM with clients, or a server, that hangs as one does in a long garbage collection."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from monitor.demo.java.clients import JavaClients
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.server import EmbeddedServer


def pause(clients: JavaClients) -> None:
    """Let the process hang as SIGSTOP does: its connections stay, and nobody answers."""
    os.kill(clients.pid, signal.SIGSTOP)


def resume(clients: JavaClients) -> None:
    """Let a paused process continue."""
    os.kill(clients.pid, signal.SIGCONT)


@contextmanager
def paused(server: EmbeddedServer | EmbeddedKafka) -> Iterator[None]:
    """Let a server that runs hang so for the time of a ``with`` block."""
    assert server.process_group is not None
    os.killpg(server.process_group, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(server.process_group, signal.SIGCONT)
