"""Free TCP ports for servers that must be known by their port before they start."""

from __future__ import annotations

import random
import socket
from typing import Final

_FIRST: Final = 20_000
_COUNT: Final = 12_000
"""Below the range from which systems take ports for outgoing connections. From inside that range, a client that
retries while its broker is down can be given the broker's own port, connect to itself, and keep the broker out."""


def free_ports(count: int) -> list[int]:
    """Different ports of 127.0.0.1 on which nobody listens now."""
    chosen: list[int] = []
    for port in random.sample(range(_FIRST, _FIRST + _COUNT), 1000):
        if len(chosen) == count:
            return chosen
        if not listening(port) and _can_bind(port):
            chosen.append(port)
    raise OSError(f"no {count} free ports between {_FIRST} and {_FIRST + _COUNT}")


def listening(port: int) -> bool:
    """Whether somebody accepts connections on that port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
