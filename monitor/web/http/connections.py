"""The connections of the HTTP server: what each waits for, when that is too long, and which goes when there are many.

No client is refused for being one too many: the connection goes that has waited longest for its client. So a client
that opens hundreds and sends nothing drives out its own, and a scrape, which sends its request at once, comes through.
No input or output here but ``abort``; time is a parameter, in seconds of any steady clock.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, Protocol

from monitor.web.http.limits import Limits

_SUBNET: Final = 64
"""Bits of an IPv6 address that tell clients apart: who has one address has all of such a network."""


class Ends(Protocol):
    """A connection's transport."""

    def abort(self) -> None:
        """End it now; what was not sent is lost."""

    def is_closing(self) -> bool:
        """Whether it is about to end."""

    def get_write_buffer_size(self) -> int:
        """Bytes that are still to be sent."""


class Awaits(Enum):
    """What a connection waits for."""

    REQUEST = "the rest of a request or of the TLS handshake"
    NEXT_REQUEST = "the start of another request"
    ANSWER = "its answer"


class Connection:
    """One client's connection."""

    __slots__ = (
        "_closing_since",
        "_full_since",
        "_secured",
        "_since",
        "_transport",
        "awaits",
        "client",
        "unsent_bytes",
    )

    def __init__(self, client: str, transport: Ends, now: float) -> None:
        """``client``: see ``client_of``."""
        self.client: Final = client
        self._transport = transport
        self._secured: Ends | None = None
        self.awaits = Awaits.REQUEST
        self._since = now
        self._full_since: float | None = None
        self._closing_since: float | None = None
        self.unsent_bytes = 0
        """The part of a response that has not been handed to the transport."""

    def secured(self, transport: Ends) -> None:
        """TLS's greetings have been exchanged; ``transport`` is the one inside. It may be closing for ever."""
        self._secured = transport

    def turns_to(self, awaits: Awaits, now: float) -> None:
        """It waits for something else now. If it continues to wait for the same, nothing changes."""
        if awaits is not self.awaits:
            self.awaits, self._since = awaits, now

    def full(self, now: float) -> None:
        """Its client does not read as fast as is sent."""
        self._full_since = now

    def taken(self) -> None:
        """Its client has read."""
        self._full_since = None

    def waits_for_client_since(self) -> float | None:
        """None: the client waits for us."""
        return self._full_since if self.awaits is Awaits.ANSWER else self._since

    def is_idle(self) -> bool:
        """Whether nothing would be lost with it."""
        return self.awaits is not Awaits.ANSWER and self._transport.get_write_buffer_size() == 0

    def is_overdue(self, now: float, limits: Limits) -> bool:
        """Whether a limit has passed."""
        if self._transport.is_closing() or (self._secured is not None and self._secured.is_closing()):
            self._closing_since = now if self._closing_since is None else self._closing_since
            return now - self._closing_since > limits.linger_s
        if self._full_since is not None and now - self._full_since > limits.stall_s:
            return True
        allowed = {
            Awaits.REQUEST: limits.request_s,
            Awaits.NEXT_REQUEST: limits.idle_s,
            Awaits.ANSWER: limits.answer_s,
        }
        return now - self._since > allowed[self.awaits]

    def abort(self) -> None:
        """End it now."""
        self._transport.abort()


class Connections:
    """All that are open."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._of: dict[str, set[Connection]] = {}
        self._count = 0

    def __len__(self) -> int:
        """How many there are."""
        return self._count

    def admit(self, new: Connection) -> bool:
        """Add it; another one may have to go for it. False: all the others wait for us, and this one is not taken."""
        own = self._of.get(new.client, set())
        if len(own) >= self._limits.connections_of_a_client and not self._end_longest_waiting(own):
            return False
        if self._count >= self._limits.connections:
            most = max(self._of.values(), key=len)
            if not (self._end_longest_waiting(most) or self._end_longest_waiting(self)):
                return False
        self._of.setdefault(new.client, set()).add(new)
        self._count += 1
        return True

    def forget(self, ended: Connection) -> None:
        """It has ended."""
        own = self._of.get(ended.client, set())
        if ended in own:
            own.remove(ended)
            self._count -= 1
            if not own:
                del self._of[ended.client]

    def sweep(self, now: float) -> None:
        """End what is overdue; then of those whose clients do not read, as many as hold too much."""
        for connection in [each for each in self if each.is_overdue(now, self._limits)]:
            self._end(connection)
        unread = sorted(filter(_does_not_read, self), key=_waiting_since)
        held = sum(connection.unsent_bytes for connection in self)
        for connection in unread:
            if held <= self._limits.unread_bytes:
                break
            held -= connection.unsent_bytes
            self._end(connection)

    def end_idle(self) -> None:
        """End those that wait for a request and have been sent all of their answers."""
        for connection in [each for each in self if each.is_idle()]:
            self._end(connection)

    def end_all(self) -> None:
        """End them now."""
        for connection in list(self):
            self._end(connection)

    def __iter__(self) -> Iterator[Connection]:
        """Each of them."""
        for own in self._of.values():
            yield from own

    def _end_longest_waiting(self, among: Iterable[Connection]) -> bool:
        waiting = [each for each in among if each.waits_for_client_since() is not None]
        if not waiting:
            return False
        self._end(min(waiting, key=_waiting_since))
        return True

    def _end(self, connection: Connection) -> None:
        self.forget(connection)
        connection.abort()


def client_of(address: object) -> str:
    """What distinguishes clients: an IPv4 address, or the network of an IPv6 address.

    >>> client_of(("::ffff:192.0.2.7", 4711, 0, 0)), client_of(("2001:db8::7", 4711, 0, 0)), client_of(None)
    ('192.0.2.7', '2001:db8::/64', '')
    """
    host = address[0] if isinstance(address, tuple) and address and isinstance(address[0], str) else ""
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((int(found), _SUBNET), strict=False))


def _does_not_read(connection: Connection) -> bool:
    return connection.awaits is Awaits.ANSWER and connection.waits_for_client_since() is not None


def _waiting_since(connection: Connection) -> float:
    return connection.waits_for_client_since() or 0.0
