"""A connection to a RocketMQ name server or broker: requests sent ahead, answers matched, never waited for long."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from monitor.collectors.errors import ConnectionFailed
from monitor.model import Value
from monitor.protocol.rocketmq.acl import Signer
from monitor.protocol.rocketmq.frame import LENGTH_SIZE, Frame, decode_frame, encode_request, frame_length
from monitor.protocol.rocketmq.requests import Request
from monitor.protocol.wire.errors import DecodeError

WINDOW: Final = 64
"""Requests that are on their way at a time. They are some 200 bytes each, so that sending them never blocks."""

LONGEST_EXCHANGE: Final = 20
"""An exchange may take so many times the limit of one answer."""

_CHUNK: Final = 256 * 1024
_LONGEST_SHOWN: Final = 256


class NoResponse(StrEnum):
    """Why there is no answer to a request."""

    SILENCE = "silence"
    """It was sent, and nothing came in time."""
    NOT_SENT = "not_sent"
    """Too many others had not been answered before it."""


class Access(Value):
    """How the servers of a cluster are reached: the longest wait for an answer (s), TLS or not, signed or not."""

    limit_s: float = 3.0
    tls: ssl.SSLContext | None = None
    signer: Signer | None = None


class _Rules(Value):
    """How answers are waited for.

    ``window`` requests are on their way at a time. When ``silences`` were not answered, no more are sent. ``alone``:
    each is waited for on its own; otherwise any answer shows that the server is at work on those behind it.
    """

    window: int = WINDOW
    silences: int = 1
    alone: bool = False


class _Exchange:
    """Some requests, those of them that are on their way, and the answers so far. Times are monotonic, in seconds."""

    def __init__(self, count: int, rules: _Rules, limit_s: float) -> None:
        self.answers: list[Frame | NoResponse] = [NoResponse.NOT_SENT] * count
        self.silent = 0
        self._rules = rules
        self._limit_s = limit_s
        self._sent = 0
        self._waiting: dict[int, int] = {}
        self._sent_s: dict[int, float] = {}
        self._began_s = self._heard_s = time.monotonic()

    def next(self) -> int | None:
        """The index of the request that is to be sent now."""
        if self._sent == len(self.answers) or len(self._waiting) >= self._room or self._is_over:
            return None
        return self._sent

    def note_sent(self, opaque: int) -> None:
        """The next request is on its way under that number."""
        self._waiting[opaque], self._sent_s[opaque] = self._sent, time.monotonic()
        self.answers[self._sent] = NoResponse.SILENCE
        self._sent += 1

    def take_response(self, frame: Frame) -> None:
        """Something came. A server's own requests, and answers that were given up, are passed over."""
        if frame.is_answer and frame.opaque in self._waiting:
            self.answers[self._waiting.pop(frame.opaque)] = frame
            self._heard_s = time.monotonic()

    def give_up(self) -> None:
        """Some time limit has passed."""
        now = time.monotonic()
        late = [opaque for opaque in self._waiting if now >= self._until(opaque)]
        for opaque in late:
            del self._waiting[opaque]
        self.silent += len(late)

    @property
    def is_done(self) -> bool:
        """Whether nothing is to be waited for."""
        return not self._waiting and (self._sent == len(self.answers) or self._is_over)

    @property
    def until(self) -> float:
        """When the first of those on their way is to be given up. They were sent in order."""
        return self._until(next(iter(self._waiting)))

    @property
    def _room(self) -> int:
        """How many may be on their way. Where each may be silent on its own, no more than may still be silent."""
        window = self._rules.window
        return min(window, self._rules.silences - self.silent) if self._rules.alone else window

    @property
    def _is_over(self) -> bool:
        return self.silent >= self._rules.silences

    def _until(self, opaque: int) -> float:
        if self._rules.alone:
            return self._sent_s[opaque] + self._limit_s
        newest = max(self._sent_s[opaque], self._heard_s) + self._limit_s
        return min(newest, self._began_s + LONGEST_EXCHANGE * self._limit_s)


class RocketMQConnection:
    """Opened by the first request, and again by the next after it was closed, failed or timed out. For one thread.

    An answer that comes too late would not be mistaken for another, as answers bear the number of their request; but a
    connection on which something was not answered is closed, so that nothing piles up behind it.
    """

    def __init__(self, address: str, access: Access) -> None:
        """Prepare; ``address`` is ``host:port``."""
        self._address: Final = address
        self._access: Final = access
        self._socket: socket.socket | None = None
        self._received = bytearray()
        self._opaque = 0

    def ask(self, requests: Sequence[Request]) -> list[Frame]:
        """The answers to all requests, in their order; also answers that refuse.

        Raises:
            ConnectionFailed: no connection, no frames, or nothing was answered for as long as the limit.
        """
        answers = self._exchange(requests, _Rules())
        heard = [answer for answer in answers if isinstance(answer, Frame)]
        if len(heard) < len(requests):
            raise ConnectionFailed(f"{self} did not answer within {self._access.limit_s:g} s.")
        return heard

    def ask_each(self, requests: Sequence[Request], window: int, silences: int) -> list[Frame | NoResponse]:
        """The answers to requests that the server has to ask others for; each is waited for on its own.

        Args:
            requests: what to send.
            window: so many at a time.
            silences: when so many were not answered, no more are sent.

        Returns:
            One for each request: the answer, or why there is none.

        Raises:
            ConnectionFailed: no connection, or no frames.
        """
        return self._exchange(requests, _Rules(window=window, silences=silences, alone=True))

    def close(self) -> None:
        """Close it. The next request opens it again."""
        opened, self._socket = self._socket, None
        self._received.clear()
        if opened is not None:
            opened.close()

    def __str__(self) -> str:
        return self._address if self._address.isprintable() and len(self._address) < _LONGEST_SHOWN else "a server"

    def _exchange(self, requests: Sequence[Request], rules: _Rules) -> list[Frame | NoResponse]:
        """Ask, and once more on a new connection if an open one fails: brokers close those that were idle for 120 s."""
        was_open = self._socket is not None
        try:
            return self._attempt(requests, rules)
        except ConnectionFailed:
            if not was_open:
                raise
        return self._attempt(requests, rules)

    def _attempt(self, requests: Sequence[Request], rules: _Rules) -> list[Frame | NoResponse]:
        try:
            connected = self._connect()
            exchange = _Exchange(len(requests), rules, self._access.limit_s)
            while not exchange.is_done:
                while (index := exchange.next()) is not None:
                    exchange.note_sent(self._send(connected, requests[index]))
                frame = self._receive(connected, exchange.until)
                if frame is None:
                    exchange.give_up()
                else:
                    exchange.take_response(frame)
        except (OSError, DecodeError) as error:
            self.close()
            raise ConnectionFailed(f"{self}: {_reason(error)}.") from None
        if exchange.silent:
            self.close()
        return exchange.answers

    def _connect(self) -> socket.socket:
        if self._socket is None:
            self._socket = _open(self._address, self._access)
        return self._socket

    def _send(self, connected: socket.socket, request: Request) -> int:
        """Send a request and give its number."""
        self._opaque = (self._opaque + 1) & 0x7FFFFFFF
        signer = self._access.signer
        fields = request.fields if signer is None else signer.sign(request.fields)
        connected.settimeout(self._access.limit_s)
        connected.sendall(encode_request(request.code, self._opaque, fields))
        return self._opaque

    def _receive(self, connected: socket.socket, until: float) -> Frame | None:
        """The next frame; None if it is not whole by then (monotonic, s)."""
        while (frame := self._whole_frame()) is None:
            left_s = until - time.monotonic()
            if left_s <= 0:
                return None
            connected.settimeout(left_s)
            try:
                data = connected.recv(_CHUNK)
            except TimeoutError:
                return None
            if not data:
                raise ConnectionResetError("the connection was closed")
            self._received += data
        return frame

    def _whole_frame(self) -> Frame | None:
        """The first frame of what was received, if it is all there: never more than a frame and a chunk is kept."""
        if len(self._received) < LENGTH_SIZE:
            return None
        length = frame_length(self._received)
        if len(self._received) < length:
            return None
        data = bytes(self._received[:length])
        del self._received[:length]
        return decode_frame(data)


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """TLS that trusts the certificates of a file in PEM, or (None) those that the machine trusts.

    Brokers are found by the addresses that they registered, which their certificates seldom name, and RocketMQ's own
    clients do not compare them; so with a file of its own the names are not compared either: whom its authority
    certified is one of the cluster. What the whole world's authorities certified has to bear the name.

    Raises:
        OSError: the file cannot be read, or holds no certificates.
    """
    context = ssl.create_default_context(cafile=ca_file)
    context.check_hostname = ca_file is None
    return context


def _open(address: str, access: Access) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise OSError("its address is not host:port")
    try:
        plain = socket.create_connection((host, int(port)), timeout=access.limit_s)
    except UnicodeError:  # a name that no name server could know: a part of it is empty, or too long
        raise OSError("its address is not host:port") from None
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return plain if access.tls is None else access.tls.wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def _reason(error: OSError | DecodeError) -> str:
    """What went wrong, in words that hold nothing of the other side's."""
    match error:
        case ssl.SSLCertVerificationError():
            return f"its TLS certificate is not trusted ({error.verify_message})"
        case ssl.SSLError():
            return f"TLS failed ({error.reason or 'no TLS response'})"
        case TimeoutError():
            return "connection timed out"
        case DecodeError():
            return f"it does not use RocketMQ's protocol ({error})"
    return error.strerror or str(error)
