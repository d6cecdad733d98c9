"""A JVM with clients that hangs as one does in a long garbage collection."""

import os
import signal

from monitor.demo.java.clients import JavaClients


def pause(clients: JavaClients) -> None:
    """Let the process hang as SIGSTOP does: its connections stay, and nobody answers."""
    os.kill(clients.pid, signal.SIGSTOP)


def resume(clients: JavaClients) -> None:
    """Let a paused process continue."""
    os.kill(clients.pid, signal.SIGCONT)
