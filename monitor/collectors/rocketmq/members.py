"""What the members of RocketMQ's groups report, queried through a broker, and kept when one falls silent.

A broker keeps one of its 16 threads for administrators busy for up to 10 s for each client that does not respond
(Broker2Client.callClient). So few are queried at a time, and never more than a few silent ones at once. A client that
was silent is queried again beside the poll, and not before its last request is over.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Final

from msgspec.structs import replace

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.rocketmq.connection import NoResponse, RocketMQConnection
from monitor.model import TopicExpression, Value
from monitor.protocol.rocketmq.frame import Frame
from monitor.protocol.rocketmq.names import class_name, is_topic
from monitor.protocol.rocketmq.requests import running_info
from monitor.protocol.rocketmq.responses import Queue, RunningInfo, running_info_in
from monitor.protocol.wire.errors import DecodeError

WINDOW: Final = 8
"""The members whose information is requested of a broker at a time."""

MAX_SILENCES: Final = 8
"""After so many members did not answer in one reading, a broker gets no more requests: the rest counts as it was."""

MAX_SUSPECTS: Final = 4
"""So many of the members that were silent before get a new request at a time."""

PULL_ONLY: Final = "registerTopics"
"""A property that only DefaultMQPullConsumer has, which names none of the queues that it reads."""

RETRY_SUSPECTS_S: Final = 10.0
"""How long a broker waits for a client; only then has it given up the last question."""


class MemberKey(Value):
    """A member: clients of several groups may have the same id."""

    group: str
    client_id: str


class MemberRequest(Value):
    """A member, and the address of the broker that forwards the request to it."""

    key: MemberKey
    address: str


class MemberInfo(Value):
    """The newest answer of a member; ``answers`` False: it does not answer any more, or it never did.

    ``assignor`` is the class of its strategy, without package. ``chooses`` : it decides itself what it reads, and does
    not say what. ``unreadable``: why its newest answer could not be read.
    """

    topics: tuple[str, ...] | None = None
    expressions: tuple[TopicExpression, ...] | None = None
    held: tuple[Queue, ...] = ()
    pops: bool = False
    in_flight: int | None = None
    chooses: bool = False
    is_broadcasting: bool = False
    assignor: str | None = None
    answers: bool = True
    unreadable: str | None = None


Answer = Frame | NoResponse
Answers = Mapping[MemberKey, Answer]

NO_INFO: Final = MemberInfo(answers=False)
"""A member that has never answered."""


class MemberInfoReader:
    """Requests the information of members, poll after poll, and keeps the newest answer of each. For one thread."""

    def __init__(
        self, connect: Callable[[str], RocketMQConnection], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare; ``connect`` gives a new connection to an address, ``clock`` a monotonic time in seconds."""
        self._connect: Final = connect
        self._clock: Final = clock
        self._connections: dict[str, RocketMQConnection] = {}
        self._told: dict[MemberKey, MemberInfo] = {}
        self._asked_s: dict[MemberKey, float] = {}
        self._again: dict[str, Future[Answers]] = {}

    def read(self, members: Sequence[MemberRequest], pool: Executor) -> Mapping[MemberKey, MemberInfo]:
        """The newest answer of each of the members. Those of other members are dropped."""
        self._forget({member.key for member in members}, {member.address for member in members})
        self._take_suspect_responses()
        suspects = [member for member in members if not self._told.get(member.key, _UNKNOWN).answers]
        known = {member.key for member in suspects}
        others = [member for member in members if member.key not in known]
        self._ask_suspects(suspects, pool)
        asked = [pool.submit(_request_infos, self._connection(address), keys) for address, keys in _by_address(others)]
        for future in asked:
            self._take(future.result())
        return {member.key: self._told.get(member.key, NO_INFO) for member in members}

    def close(self) -> None:
        """Close the connections; the answers are kept."""
        for future in self._again.values():
            future.cancel()
        self._again = {}
        for connection in self._connections.values():
            connection.close()
        self._connections = {}

    def _forget(self, kept: set[MemberKey], addresses: set[str]) -> None:
        for address in self._connections.keys() - addresses:
            self._connections.pop(address).close()
        self._told = {key: told for key, told in self._told.items() if key in kept}
        self._asked_s = {key: at for key, at in self._asked_s.items() if key in kept}

    def _ask_suspects(self, suspects: Sequence[MemberRequest], pool: Executor) -> None:
        """Send the questions that are due, and do not wait for them: the next reading takes what comes."""
        now = self._clock()
        due = [each for each in suspects if now - self._asked_s.get(each.key, 0.0) >= RETRY_SUSPECTS_S]
        for address, keys in _by_address(sorted(due, key=lambda each: self._asked_s.get(each.key, 0.0))):
            if address not in self._again:
                first = keys[:MAX_SUSPECTS]
                self._asked_s |= dict.fromkeys(first, now)
                self._again[address] = pool.submit(_request_each_info, self._connect(address), first)

    def _take_suspect_responses(self) -> None:
        for address in [address for address, future in self._again.items() if future.done()]:
            self._take(self._again.pop(address).result())

    def _connection(self, address: str) -> RocketMQConnection:
        if address not in self._connections:
            self._connections[address] = self._connect(address)
        return self._connections[address]

    def _take(self, answers: Answers) -> None:
        now = self._clock()
        for key, answer in answers.items():
            before = self._told.get(key)
            told = _info_in(answer, before)
            if told is None:
                continue
            if not told.answers and (before is None or before.answers):
                self._asked_s[key] = now
            self._told[key] = told


_UNKNOWN: Final = MemberInfo()
"""A member without a request so far counts as one that answers."""


def _request_infos(connection: RocketMQConnection, keys: Sequence[MemberKey]) -> Answers:
    requests = [running_info(key.group, key.client_id) for key in keys]
    try:
        answers = connection.ask_each(requests, WINDOW, MAX_SILENCES)
    except ConnectionFailed:
        return {}  # the reading's own connection to that broker fails too, and says so
    return dict(zip(keys, answers, strict=True))


def _request_each_info(connection: RocketMQConnection, keys: Sequence[MemberKey]) -> Answers:
    """On a connection that is closed afterwards."""
    try:
        return _request_infos(connection, keys)
    finally:
        connection.close()


def _info_in(answer: Answer, before: MemberInfo | None) -> MemberInfo | None:
    """What is known of a member after this answer; None: no more than before."""
    last = before or MemberInfo()
    if answer is NoResponse.NOT_SENT:
        return None
    if isinstance(answer, NoResponse) or answer.code:
        return replace(last, answers=False)
    try:
        return _member_info(running_info_in(answer.body))
    except DecodeError as error:
        return replace(last, unreadable=str(error))


def _by_address(members: Iterable[MemberRequest]) -> list[tuple[str, list[MemberKey]]]:
    """The members in their order, by the broker that forwards the requests to them."""
    keys: dict[str, list[MemberKey]] = defaultdict(list)
    for member in members:
        keys[member.address].append(member.key)
    return list(keys.items())


def _member_info(info: RunningInfo) -> MemberInfo:
    topics = tuple(topic for topic in info.topics if is_topic(topic))
    held = tuple(queue for queue in info.held if is_topic(queue.topic))
    return MemberInfo(
        topics=topics,
        expressions=tuple(each for each in info.expressions if is_topic(each.topic)),
        held=held,
        pops=any(is_topic(queue.topic) for queue in info.popped) or any(queue.number < 0 for queue in held),
        chooses=PULL_ONLY in info.properties or bool(info.held and not info.topics),
        in_flight=info.in_flight,
        is_broadcasting=info.properties.get("messageModel") == "BROADCASTING",
        assignor=class_name(info.properties.get("allocateMessageQueueStrategy")),
    )
