"""A session with ZooKeeper that keeps a part of its tree, read once and then kept up to date by watches.

Every node that is read is watched. ZooKeeper notifies a client of a change before it responds to any request after the
change, and all on one connection. So if no node has had a notification until the last response, all nodes were as they
were read at the moment of that response. That makes a consistent picture without reading anything twice. Only nodes
with a notification are read again. Once a minute, all nodes are read again nevertheless.

kazoo calls every watch when the connection is lost, and starts a new session when the old one has expired; after both,
everything is read again. Its logging is off: only the errors of this package show what went wrong.
"""

from __future__ import annotations

import logging
import math
import select
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    KazooException,
    NoAuthError,
    NoNodeError,
    WriterNotClosedException,
)
from kazoo.handlers.threading import KazooTimeoutError, SequentialThreadingHandler
from kazoo.protocol.states import Callback, EventType, WatchedEvent

from monitor.collectors.errors import CollectorError, ConnectionFailed, PermissionMissing
from monitor.config.systems import ZooKeeperSettings
from monitor.protocol.zookeeper.tree import Node, Tree, join_path

IN_FLIGHT: Final = 500
"""So many questions wait for answers at a time: enough to keep ZooKeeper busy, few enough for a small memory."""

FULL_READ_S: Final = 60.0
"""How often all nodes are read again, in case a notification was lost."""

MOST_NODES: Final = 500_000
"""A larger tree is not read: it would take too much memory, and no system has that many groups."""

READ_LIMIT_S: Final = 60.0
"""When a reading is given up although answers come."""

LONGEST_PAUSE_S: Final = 2.0
"""A ZooKeeper that is away is tried again at least so often."""

LARGEST_NODE: Final = 1 << 20
"""Bytes of data that ZooKeeper accepts by default (jute.maxbuffer)."""

_LOGGER: Final = logging.getLogger("monitor.collectors.zookeeper.kazoo")
_LOGGER.setLevel(logging.CRITICAL + 1)
_LOGGER.propagate = False


class _Handler(SequentialThreadingHandler):  # type: ignore[misc] # kazoo has no types
    """kazoo's own makes, uses and closes an epoll object four times a question, half of all that a question costs."""

    def select(self, *files: Any, **limits: Any) -> Any:  # noqa: ANN401 - passed through
        try:
            return select.select(*files, **limits)
        except ValueError:  # a file number above 1,023
            return super().select(*files, **limits)


class _Level:
    """What has to be read below a node: children by name, "*" any. A node without any is read for its data."""

    def __init__(self) -> None:
        self.below: dict[str, _Level] = {}
        self.is_quiet = False

    def of(self, name: str) -> _Level | None:
        return self.below.get(name) or self.below.get("*")


class ZooKeeperSession:
    """Keeps the nodes that some paths name. For one thread; ``close`` ends the session, the next reading begins one.

    A *unit* is the first two names of a path: "consumers/g" is a group. ``quiet`` paths change all the time and make no
    unit unsteady.
    """

    def __init__(self, settings: ZooKeeperSettings, paths: Iterable[str], quiet: Iterable[str]) -> None:
        """Prepare; nothing connects yet."""
        self._settings = settings
        self._shape = _shape(paths, quiet)
        self._client: KazooClient | None = None
        self._is_live = threading.Event()
        self._events: deque[tuple[str | None, float]] = deque()
        self._forget()

    def tree(self) -> Tree:
        """What is there now, as it was at one moment except for the units that ``unsteady`` names.

        Raises:
            ConnectionFailed: no server responds, or not in time.
            CollectorError: there is no such root, or the tree is too large.
            PermissionMissing: the top may not be read.
        """
        client = self._connect()
        try:
            self._read(client)
        except (KazooException, KazooTimeoutError) as error:
            raise self._explain(error) from None
        return Tree(nodes=dict(self._nodes), children=dict(self._children), refused=tuple(sorted(self._refused)))

    def birth(self, path: str) -> str | None:
        """The identity of a node among those of the same path elsewhere: when and by which change it was created.

        Args:
            path: from the root of the tree on, without a slash before it.

        Raises:
            ConnectionFailed: no server responds, or not in time.
        """
        client = self._connect()
        try:
            stat = client.exists_async(f"/{path}").get(timeout=self._settings.session_limit_s)
        except (KazooException, KazooTimeoutError) as error:
            raise self._explain(error) from None
        return None if stat is None else f"{stat.czxid:x}-{stat.ctime}"

    def unsteady(self) -> frozenset[str]:
        """The units with a notification of a change that the newest tree does not show."""
        return frozenset(_unit(path) for path in self._stale if not self._is_quiet(path))

    def quiet_s(self, unit: str) -> float:
        """The seconds without a notification of the unit; at most since it was first read."""
        return time.monotonic() - self._changed_s.get(unit, -math.inf)

    def close(self) -> None:
        """End the session. Harmless if there is none."""
        client, self._client = self._client, None
        if client is None:
            return
        with suppress(KazooException, KazooTimeoutError, OSError, WriterNotClosedException):
            client.stop()
        with suppress(KazooException, OSError):
            client.close()
        self._forget()

    def _forget(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._children: dict[str, tuple[str, ...]] = {}
        self._refused: set[str] = set()
        self._stale: set[str] = set()
        self._is_all_stale = True
        self._changed_s: dict[str, float] = {}
        self._full_s = 0.0
        self._events.clear()

    def _connect(self) -> KazooClient:
        if self._client is None:
            self._forget()
            self._client = KazooClient(
                hosts=f"{self._settings.hosts}{self._settings.root}",
                timeout=self._settings.session_limit_s,
                handler=_Handler(),
                connection_retry={"max_tries": -1, "max_delay": LONGEST_PAUSE_S},  # kazoo's own gives up at once
                logger=_LOGGER,
            )
            self._is_live = self._client.start_async()
        if not self._is_live.wait(self._settings.session_limit_s):
            is_refused = self._client.client_state == "AUTH_FAILED"
            raise self._explain(AuthFailedError() if is_refused else KazooTimeoutError())
        return self._client

    def _read(self, client: KazooClient) -> None:
        """Read what is stale, and what is found below it, until the last answer; then see what has changed since."""
        self._take_events()
        began_s = time.monotonic()
        if self._is_all_stale or began_s - self._full_s > FULL_READ_S:
            self._full_s = began_s
            self._nodes, self._children, self._refused = {}, {}, set()
            self._stale = {""}
        self._is_all_stale = True  # unless this comes to its end
        # The top is always requested: a notification of a change before that response comes before it.
        wanted, self._stale = self._stale | {""}, set()
        self._fetch(client, wanted, began_s + READ_LIMIT_S)
        self._await_changes(client)
        self._is_all_stale = False
        self._take_events()

    def _take_events(self) -> None:
        while self._events:
            path, told_s = self._events.popleft()
            if path is None:
                self._is_all_stale = True
                continue
            self._stale.add(path)
            if not self._is_quiet(path):
                self._changed_s[_unit(path)] = told_s

    def _await_changes(self, client: KazooClient) -> None:
        """Wait for every notification before the last response to come to ``_events``: its queue is in order."""
        is_done = threading.Event()
        client.handler.dispatch_callback(Callback("watch", is_done.set, ()))
        if not is_done.wait(self._settings.session_limit_s):
            raise KazooTimeoutError

    def _take_event(self, event: WatchedEvent) -> None:
        """Take a change; in kazoo's thread."""
        is_lost = event.type == EventType.NONE or event.path is None
        self._events.append((None if is_lost else event.path.lstrip("/"), time.monotonic()))

    def _fetch(self, client: KazooClient, paths: Iterable[str], deadline_s: float) -> None:
        """Read some nodes, and all that is below those that are listed again, many at a time."""
        wanted = deque((path, level) for path in sorted(paths) if (level := self._level(path)) is not None)
        asked: deque[tuple[str, _Level, Any]] = deque()
        while wanted or asked:
            while wanted and len(asked) < IN_FLIGHT:
                path, level = wanted.popleft()
                ask = client.get_children_async if level.below else client.get_async
                asked.append((path, level, ask(f"/{path}", watch=self._take_event)))
            if time.monotonic() > deadline_s:
                raise KazooTimeoutError
            path, level, answer = asked.popleft()
            wanted.extend(self._take_node(path, level, answer))

    def _take_node(self, path: str, level: _Level, answer: Any) -> Iterator[tuple[str, _Level]]:  # noqa: ANN401 - no types
        """Take an answer; gives what to read next."""
        self._refused.discard(path)
        try:
            given = answer.get(timeout=self._settings.session_limit_s)
        except NoNodeError:
            self._drop(path)
            if not path:
                raise
            return
        except NoAuthError:
            self._drop(path)
            if not path:
                raise
            self._refused.add(path)
            return
        if not level.below:
            data, stat = given
            self._nodes[path] = Node(
                (data or b"") if stat.dataLength <= LARGEST_NODE else b"",
                stat.ephemeralOwner or None,
                stat.version,
                stat.mtime,
            )
            return
        yield from self._take_children(path, level, given)

    def _take_children(self, path: str, level: _Level, names: list[str]) -> Iterator[tuple[str, _Level]]:
        """Take the children of a node: those that are new are read next, those that went are forgotten."""
        children = tuple(name for name in names if level.of(name) is not None)
        gone = set(self._children.get(path, ())).difference(children)
        self._children[path] = children
        if len(self._children) + len(self._nodes) + len(children) > MOST_NODES:
            raise CollectorError(f"{self._place()} has more than {MOST_NODES} nodes, which is too many to read.")
        for name in gone:
            self._drop(join_path(path, name))
        for name in children:
            child, below = join_path(path, name), level.of(name)
            if below is not None and not self._is_known(child):
                self._changed_s.setdefault(_unit(child), time.monotonic())
                yield child, below

    def _is_known(self, path: str) -> bool:
        return path in self._nodes or path in self._children or path in self._refused

    def _drop(self, path: str) -> None:
        """Forget a node and what is below it."""
        self._changed_s.pop(path, None)
        self._nodes.pop(path, None)
        self._refused.discard(path)
        for name in self._children.pop(path, ()):
            self._drop(join_path(path, name))

    def _level(self, path: str) -> _Level | None:
        level: _Level | None = self._shape
        for name in path.split("/") if path else ():
            level = level.of(name) if level is not None else None
        return level

    def _is_quiet(self, path: str) -> bool:
        level = self._level(path)
        return level is None or level.is_quiet

    def _place(self) -> str:
        return f"Cluster {self._settings.name}: ZooKeeper at {self._settings.hosts}{self._settings.root}"

    def _explain(self, error: Exception) -> CollectorError:
        if isinstance(error, NoNodeError):
            return CollectorError(f"{self._place()} has no such node. Check root.")
        if isinstance(error, NoAuthError):
            return PermissionMissing(f"{self._place()} may not be read. Check its ACLs.")
        if isinstance(error, KazooTimeoutError):
            return ConnectionFailed(
                f"{self._place()} did not answer within {self._settings.session_limit_s:g} s. Check hosts."
            )
        return ConnectionFailed(f"{self._place()} disconnected during the read ({type(error).__name__}).")


def _shape(paths: Iterable[str], quiet: Iterable[str]) -> _Level:
    top = _Level()
    for path in paths:
        _add(top, path)
    for path in quiet:
        for level in _add(top, path)[3:]:
            level.is_quiet = True
    return top


def _add(top: _Level, path: str) -> list[_Level]:
    """The levels from the top down to the path's last name."""
    levels = [top]
    for name in path.split("/"):
        levels.append(levels[-1].below.setdefault(name, _Level()))
    return levels


def _unit(path: str) -> str:
    """The first two names of a path."""
    return "/".join(path.split("/", 2)[:2])
