"""A small server that speaks RocketMQ's remoting protocol, and clusters that it can be.

Written without the code under test: its answers are the captured bytes, or are made here.
"""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.support.rocketmq_captures import exchanges

NOT_SUPPORTED, CONSUMER_NOT_ONLINE, TOPIC_NOT_EXIST = 3, 206, 17


@dataclass(frozen=True)
class Reply:
    """What a server answers."""

    body: bytes = b""
    code: int = 0
    remark: str | None = None


@dataclass(frozen=True)
class Request:
    """What a server was asked."""

    code: int
    fields: Mapping[str, str]
    body: bytes = b""


Handler = Callable[[Request], Reply | bytes | None]
"""Gives a reply, or bytes that are sent as they are, or None: there is no answer, ever."""


def frame(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A frame with that header in JSON."""
    encoded = json.dumps(header).encode()
    return struct.pack(">iI", 4 + len(encoded) + len(body), len(encoded)) + encoded + body


@dataclass
class Server:
    """Answers on 127.0.0.1 by its handler, each connection in a thread of its own; remembers what it was asked."""

    handler: Handler = lambda _: None
    tls: ssl.SSLContext | None = None
    asked: list[Request] = field(default_factory=list)
    connections: int = 0
    late: list[bytes] = field(default_factory=list)
    """Frames that are sent before the next answer."""
    address: str = ""

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._opened: list[socket.socket] = []
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def count(self, code: int) -> int:
        """How often it was asked that."""
        return sum(request.code == code for request in self.asked)

    def close(self) -> None:
        """Listen no more, and end the connections. Once is enough."""
        _end(self._listener)
        self.hang_up()

    def hang_up(self) -> None:
        """End the connections."""
        for opened in self._opened:
            _end(opened)

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        try:
            opened = accepted if self.tls is None else self.tls.wrap_socket(accepted, server_side=True)
            self._opened.append(opened)
            with opened, opened.makefile("rb") as stream:
                while start := stream.read(8):
                    length, size = struct.unpack(">iI", start)
                    header = json.loads(stream.read(size))
                    request = Request(header["code"], header.get("extFields", {}), stream.read(length - 4 - size))
                    self.asked.append(request)
                    self._answer(opened, header["opaque"], request)
        except (OSError, ValueError, struct.error):
            accepted.close()

    def _answer(self, opened: socket.socket, opaque: int, request: Request) -> None:
        reply = self.handler(request)
        if reply is None:
            return
        while self.late:
            opened.sendall(self.late.pop(0))
        if isinstance(reply, Reply):
            header = {"code": reply.code, "flag": 1, "language": "JAVA", "opaque": opaque, "version": 513}
            reply = frame(header | ({} if reply.remark is None else {"remark": reply.remark}), reply.body)
        opened.sendall(reply)


def _end(opened: socket.socket) -> None:
    with suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)
    opened.close()


@contextmanager
def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server for as long as the block lasts."""
    server = Server(handler, tls)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def replaying(*sets: str, more: Mapping[tuple[int, str], bytes] | None = None) -> Iterator[Server]:
    """Name server and broker in one, which answer as the captured ones did; what was not captured they do not support.

    ``more`` has bodies of other answers, by code and the group or topic that is asked for ("": neither).
    """
    captured = {(each.code, tuple(sorted(each.fields.items()))): each for each in exchanges(*sets)}
    made = more or {}

    def answer(request: Request) -> Reply:
        subject = request.fields.get("consumerGroup") or request.fields.get("topic") or ""
        here = server.address.encode()
        if (request.code, subject) in made:
            return Reply(made[request.code, subject].replace(b"127.0.0.1:10911", here))
        found = captured.get((request.code, tuple(sorted(request.fields.items()))))
        if found is None:
            return Reply(code=NOT_SUPPORTED)
        header = found.response_header
        body = found.response_body.replace(b"127.0.0.1:10911", here)
        return Reply(body, header["code"], header.get("remark"))

    with serving(answer) as server:
        yield server


# --- a cluster made of values -----------------------------------------------------------------------------------------


@dataclass
class Client:
    """A consumer; ``held`` are (topic, broker, number)."""

    client_id: str
    topics: tuple[str, ...] = ()
    held: tuple[tuple[str, str, int], ...] = ()
    strategy: str | None = "AllocateMessageQueueAveragely"
    hangs: bool = False
    unknown: bool = False
    connections: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Cluster:
    """Brokers, by name the queues of each topic; the members of groups, the same at every broker; and offsets.

    ``offsets`` are by broker, topic, group and number. All times are left out.
    """

    brokers: dict[str, dict[str, int]]
    groups: dict[str, list[Client]] = field(default_factory=dict)
    offsets: dict[str, dict[tuple[str, str, int], int]] = field(default_factory=dict)
    ends: int = 100
    servers: dict[str, Server] = field(default_factory=dict)
    refuses: dict[int, Reply] = field(default_factory=dict)
    """The answers to some codes, in place of the right ones."""
    gone: set[str] = field(default_factory=set)
    """Clients that connections still are listed of when they are asked for the first time, and then no more."""
    slaves: set[str] = field(default_factory=set)
    """The brokers of which only a slave is there."""

    def name_server(self, request: Request) -> Reply | None:
        match request.code:
            case 106:
                ids = {name: "1" if name in self.slaves else "0" for name in self.servers}
                addresses = {
                    name: {"brokerName": name, "cluster": "C", "brokerAddrs": {ids[name]: server.address}}
                    for name, server in self.servers.items()
                }
                return Reply(json.dumps({"brokerAddrTable": addresses, "clusterAddrTable": {}}).encode())
            case 105:
                return self._route(request.fields["topic"])
        return Reply(code=NOT_SUPPORTED)

    def broker(self, name: str) -> Handler:
        """The handler of one of the brokers."""

        def answer(request: Request) -> Reply | None:
            if request.code in self.refuses:
                return self.refuses[request.code]
            fields = request.fields
            answers: dict[int, Callable[[], Reply | None]] = {
                201: lambda: Reply(
                    json.dumps({"subscriptionGroupTable": {each: {} for each in self._names()}}).encode()
                ),
                43: lambda: self._offsets(name),
                203: lambda: self._connections(fields["consumerGroup"]),
                202: lambda: self._ends(name, fields["topic"]),
                307: lambda: self._running_info(fields["consumerGroup"], fields["clientId"]),
            }
            return answers.get(request.code, lambda: Reply(code=NOT_SUPPORTED))()

        return answer

    @contextmanager
    def serving(self) -> Iterator[Server]:
        """The name server; the brokers are in ``servers``."""
        with serving(self.name_server) as name_server:
            self.servers = {name: Server(self.broker(name)) for name in self.brokers}
            try:
                yield name_server
            finally:
                for server in self.servers.values():
                    server.close()

    def client(self, client_id: str) -> Client:
        return next(each for clients in self.groups.values() for each in clients if each.client_id == client_id)

    def _names(self) -> set[str]:
        return {*self.groups, *(group for kept in self.offsets.values() for _, group, _ in kept)}

    def _route(self, topic: str) -> Reply:
        data = [
            {"brokerName": name, "perm": 6, "readQueueNums": topics[topic], "writeQueueNums": topics[topic]}
            for name, topics in self.brokers.items()
            if topic in topics
        ]
        return Reply(json.dumps({"queueDatas": data}).encode()) if data else Reply(code=TOPIC_NOT_EXIST)

    def _offsets(self, broker: str) -> Reply:
        table: dict[str, dict[int, int]] = {}
        for (topic, group, number), offset in self.offsets.get(broker, {}).items():
            table.setdefault(f"{topic}@{group}", {})[number] = offset
        return Reply(json.dumps({"offsetTable": table}).encode())

    def _connections(self, group: str) -> Reply:
        listed = [
            {"clientId": each.client_id, "clientAddr": f"10.0.0.1:{4000 + n}", "language": "JAVA", "version": 513}
            for each in self.groups.get(group, ())
            for n in range(each.connections)
        ]
        self.groups[group] = [each for each in self.groups.get(group, ()) if each.client_id not in self.gone]
        topics = {topic: {"topic": topic} for each in self.groups[group] for topic in each.topics}
        body = {"connectionSet": listed, "subscriptionTable": topics, "messageModel": "CLUSTERING"}
        return Reply(json.dumps(body).encode()) if listed else Reply(code=CONSUMER_NOT_ONLINE)

    def _ends(self, broker: str, topic: str) -> Reply:
        entries = [
            f"{_queue(topic, broker, number)}:{json.dumps({'minOffset': 0, 'maxOffset': self.ends})}"
            for number in range(self.brokers[broker].get(topic, 0))
        ]
        return Reply(f'{{"offsetTable":{{{",".join(entries)}}}}}'.encode())

    def _running_info(self, group: str, client_id: str) -> Reply | None:
        clients = [each for each in self.groups.get(group, ()) if each.client_id == client_id]
        if not clients or clients[0].unknown:
            return Reply(code=1, remark="not online")
        return None if clients[0].hangs else Reply(running_info(clients[0]))


def running_info(client: Client) -> bytes:
    """What a client says of itself, with its queues as fastjson writes them."""
    properties = dict(client.properties)
    if client.strategy is not None:
        properties["allocateMessageQueueStrategy"] = f"org.apache.rocketmq.client.consumer.{client.strategy}@1f"
    held = ",".join(f'{_queue(*each)}:{{"commitOffset":1,"droped":false}}' for each in client.held)
    topics = json.dumps([{"topic": topic} for topic in client.topics])
    return f'{{"properties":{json.dumps(properties)},"subscriptionSet":{topics},"mqTable":{{{held}}}}}'.encode()


def held(topic: str, broker: str, numbers: Iterable[int]) -> tuple[tuple[str, str, int], ...]:
    """Some queues of a topic at one broker."""
    return tuple((topic, broker, number) for number in numbers)


def _queue(topic: str, broker: str, number: int) -> str:
    return json.dumps({"brokerName": broker, "queueId": number, "topic": topic})
