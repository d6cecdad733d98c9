"""Questions to many brokers at once, several on their way to each, by the connections of a client of kafka-python.

Its own calls ask one broker after the other, await each answer before the next question, raise the error of one group
for all, and do not know KIP-848 groups (3.0.12). So only its connections are used: they log in, they negotiate
versions, and they take whatever looks like one of its requests. Answers come back as bytes, which are read here.
"""

from __future__ import annotations

import queue
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from kafka.admin import KafkaAdminClient
from kafka.errors import InvalidReceiveError, KafkaTimeoutError

from monitor.collectors.kafka_client.batch_requests import split_into_batches
from monitor.collectors.kafka_client.connection import error_name
from monitor.model import Value
from monitor.protocol.kafka_admin.requests import VERSIONS, Api, request_body
from monitor.protocol.kafka_admin.responses import Coordinator, read_coordinators

WINDOW: Final = 3
"""Questions on their way to one broker. A broker answers those of a connection one after the other, so that more would
only wait there; kafka-python refuses the sixth."""

SLACK_S: Final = 5.0
"""The wait for a response continues for this much longer than the client's own time limit; then it is given up."""


class GroupsRequest(Value):
    """A question to a broker about some groups."""

    broker: int
    api: Api
    groups: tuple[str, ...] = ()


class GroupsResponse(Value):
    """What a broker sent back, behind the header; ``asked_ms`` is when the question was handed to its connection."""

    question: GroupsRequest
    version: int
    data: bytes
    asked_ms: int


class FailedRequest(Value):
    """A request without a response, and why. ``is_too_large``: the response did not fit, fewer groups may."""

    question: GroupsRequest
    error: str
    is_too_large: bool = False


class AdminRequests:
    """Asks brokers through a connected client. For one thread."""

    def __init__(self, admin: KafkaAdminClient, limit_s: float, clock: Callable[[], int]) -> None:
        """Prepare.

        Args:
            admin: its connections are used; it stays open.
            limit_s: the client's own limit for an answer, in seconds.
            clock: gives the time in milliseconds since the epoch.
        """
        self._manager = admin._manager  # there is no public way to a connection
        self._limit_s = limit_s + SLACK_S
        self._clock = clock
        self._arrived: queue.SimpleQueue[tuple[_WireRequest, BaseException | None, bytes]] = queue.SimpleQueue()

    def brokers(self) -> tuple[int, ...]:
        """The current brokers, by number. This requests them again, as the client itself does every five minutes.

        Raises:
            KafkaError: no broker responds.
        """
        self._manager.run(self._manager.cluster.refresh_metadata)
        return tuple(sorted(broker.node_id for broker in self._manager.cluster.brokers()))

    def newest(self, api: Api) -> int | None:
        """The newest version of this request that the cluster supports; None: it supports none."""
        told = (self._manager.broker_version_data.api_versions or {}).get(int(api))
        ours = VERSIONS[api]
        if told is None or told[0] > ours.newest or told[1] < ours.oldest:
            return None
        return int(min(told[1], ours.newest))

    def coordinators(self, groups: Sequence[str], broker: int) -> Iterator[Coordinator]:
        """Who coordinates each of these groups, as this broker says; nothing of those that it does not answer for."""
        batches = split_into_batches(groups)
        questions = [GroupsRequest(broker=broker, api=Api.FIND_COORDINATOR, groups=tuple(some)) for some in batches]
        for answer in self.ask(questions):
            if isinstance(answer, GroupsResponse):
                yield from read_coordinators(answer.version, answer.data)

    def ask(self, questions: Iterable[GroupsRequest]) -> Iterator[GroupsResponse | FailedRequest]:
        """All responses, in the order of their arrival. A broker that fails to respond once gets no more requests.

        What the caller does with an answer, it does while the brokers work on the next ones.
        """
        waiting: dict[int, deque[GroupsRequest]] = {}
        for question in questions:
            waiting.setdefault(question.broker, deque()).append(question)
        under_way: set[_WireRequest] = set()
        careful: set[int] = set()
        for own in waiting.values():
            under_way.update(self._send(own.popleft()) for _ in range(min(WINDOW, len(own))))
        while under_way:
            request, error, data = self._next(under_way)
            if request not in under_way:
                continue  # a late one, of questions that were given up
            under_way.remove(request)
            broker = request.question.broker
            own, came = waiting[broker], list[GroupsResponse | FailedRequest]()
            if isinstance(error, InvalidReceiveError) and not request.is_alone:
                # the connection has ended, with all that was on its way: from now on it is clear which was too large
                careful.add(broker)
                own.appendleft(request.question)
            else:
                came = self._came(request, error, data, own)
            if own and (broker not in careful or not any(each.question.broker == broker for each in under_way)):
                under_way.add(self._send(own.popleft(), is_alone=broker in careful))
            yield from came

    def _came(
        self, request: _WireRequest, error: BaseException | None, data: bytes, own: deque[GroupsRequest]
    ) -> list[GroupsResponse | FailedRequest]:
        """The result of a request, and of those to the same broker that are given up for it."""
        question = request.question
        if error is None:
            version = request.API_VERSION or 0
            return [GroupsResponse(question=question, version=version, data=data, asked_ms=request.asked_ms)]
        told: list[GroupsResponse | FailedRequest] = [_failed_request(question, error)]
        if not isinstance(error, InvalidReceiveError):
            told += [_failed_request(other, error) for other in own]
            own.clear()
        return told

    def _send(self, question: GroupsRequest, *, is_alone: bool = False) -> _WireRequest:
        request = _WireRequest(question, self._clock(), is_alone=is_alone)
        arrived = self._arrived

        def answered(response: _Response) -> None:
            arrived.put((request, None, response.data))

        def failed(error: BaseException) -> None:
            arrived.put((request, error, b""))

        future = self._manager.call_soon(lambda: self._manager.send(request, node_id=question.broker))
        future.add_callback(answered)
        future.add_errback(failed)
        return request

    def _next(self, under_way: set[_WireRequest]) -> tuple[_WireRequest, BaseException | None, bytes]:
        oldest = min(request.sent_s for request in under_way)
        try:
            return self._arrived.get(timeout=max(0.0, oldest + self._limit_s - time.monotonic()))
        except queue.Empty:
            request = min(under_way, key=lambda each: each.sent_s)
            return request, KafkaTimeoutError(), b""


def _failed_request(question: GroupsRequest, error: BaseException) -> FailedRequest:
    name = error_name(error)
    return FailedRequest(question=question, error=name, is_too_large=isinstance(error, InvalidReceiveError))


class _WireRequest:
    """A request as kafka-python's connections take it (``kafka.protocol.api_message.ApiMessage`` is the model)."""

    def __init__(self, question: GroupsRequest, asked_ms: int, *, is_alone: bool) -> None:
        self.question = question
        self.is_alone = is_alone
        self.asked_ms = asked_ms
        self.sent_s = time.monotonic()
        self.API_KEY = int(question.api)
        self.API_VERSION: int | None = None  # set by the connection, to the newest that both know
        self.name = question.api.name
        self.min_version = VERSIONS[question.api].oldest
        self.max_version = VERSIONS[question.api].newest
        self._min_version: int | None = None
        self._max_version: int | None = None
        self._header = b""
        self.header: _Header | None = None

    def expect_response(self) -> bool:
        return True

    def with_header(self, correlation_id: int = 0, client_id: str = "") -> None:
        version, name = self.API_VERSION or 0, client_id.encode()
        is_flexible = version >= VERSIONS[self.question.api].flexible
        fixed = struct.pack(">hhih", self.API_KEY, version, correlation_id, len(name))
        self._header = fixed + name + (b"\x00" if is_flexible else b"")
        self.header = _Header(self.API_KEY, version, correlation_id, is_flexible=is_flexible)

    def encode(self, **_: object) -> bytes:
        whole = self._header + request_body(self.question.api, self.API_VERSION or 0, self.question.groups)
        return struct.pack(">i", len(whole)) + whole

    def __repr__(self) -> str:
        return f"{self.name}({len(self.question.groups)} groups)"


class _Header:
    """What the connection keeps of a request until its answer comes."""

    def __init__(self, api_key: int, api_version: int, correlation_id: int, *, is_flexible: bool) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self._answers = _ResponseDecoder(is_flexible=is_flexible)

    def get_response_class(self) -> _ResponseDecoder:
        return self._answers


class _ResponseDecoder:
    """Decodes a response's header; the rest stays bytes, for the thread that made the request."""

    def __init__(self, *, is_flexible: bool) -> None:
        self._is_flexible = is_flexible

    def parse_header(self, buffer: Any) -> _ResponseHeader:  # noqa: ANN401 - kafka-python's buffer
        (correlation_id,) = struct.unpack(">i", buffer.read(4))
        if self._is_flexible and buffer.read(1) != b"\x00":
            raise ValueError("tagged fields in the header of a response")  # none are known
        return _ResponseHeader(correlation_id)

    def decode(self, buffer: Any) -> _Response:  # noqa: ANN401 - as above
        return _Response(buffer.read())


class _ResponseHeader:
    def __init__(self, correlation_id: int) -> None:
        self.correlation_id = correlation_id


class _Response:
    throttle_time_ms = 0

    def __init__(self, data: bytes) -> None:
        self.data = data
