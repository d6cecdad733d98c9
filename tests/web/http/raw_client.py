"""A client that says over a socket whatever a test wants said."""

import re
import socket
import time

from monitor.web.server import HttpServer

PATIENCE_S = 60.0
"""No assertion about speed: when a test gives up."""

GET = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def address(server: HttpServer) -> tuple[str, int]:
    host, _, port = server.url.rpartition("://")[2].rpartition(":")
    return host, int(port)


def connected(server: HttpServer) -> socket.socket:
    return socket.create_connection(address(server), timeout=PATIENCE_S)


def answer_to(server: HttpServer, said: bytes) -> bytes:
    """All that comes until the server ends the connection, after this was said."""
    with connected(server) as client:
        client.sendall(said)
        return all_of(client)


def one_answer(client: socket.socket) -> bytes:
    """One answer that has a length, or all if the connection ends before."""
    found = b""
    while piece := client.recv(65_536):
        found += piece
        head, end, body = found.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if end and length and len(body) >= int(length[1]):
            break
    return found


def all_of(client: socket.socket) -> bytes:
    found = b""
    try:
        while piece := client.recv(65_536):
            found += piece
    except OSError:  # ended in the middle, or nothing more came in time
        pass
    return found


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def is_ended(client: socket.socket) -> bool:
    """Whether the server has ended the connection; waits a moment for it."""
    client.settimeout(0.05)
    try:
        return client.recv(65_536) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def seconds_of(action) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
