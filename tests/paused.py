"""A JVM with clients, a broker, or a server, that hangs as one does in a long garbage collection."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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


def jvm_of(broker: EmbeddedKafka) -> int:
    """The process of a broker: the only one that has its folder in its command line, but for its guard."""
    told = subprocess.run(["pgrep", "-f", f"java.*{broker.data_dir}"], capture_output=True, text=True, check=True)
    return max(int(pid) for pid in told.stdout.split())


@contextmanager
def hanging(broker: EmbeddedKafka) -> Iterator[None]:
    """Let a broker hang so for the time of a ``with`` block. It may have been killed in it."""
    pid = jvm_of(broker)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
