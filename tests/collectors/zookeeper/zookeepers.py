"""Trees in a real ZooKeeper: loaded by a client of the test, which owns the ephemeral nodes."""

from __future__ import annotations

import json
from contextlib import contextmanager

from kazoo.client import KazooClient

from monitor.config.systems import ZooKeeperSettings
from tests.support.zookeeper_captures import captured


@contextmanager
def client(hosts: str, root: str = "", session_s: float = 10.0):
    """A connected client; its session ends with the block."""
    connected = KazooClient(hosts=f"{hosts}{root}", timeout=session_s)
    connected.start_async().wait(20)
    try:
        yield connected
    finally:
        connected.stop()
        connected.close()


def load_capture(owner: KazooClient, name: str, captured_root: str) -> None:
    """The captured tree below the client's root; what was ephemeral is the client's."""
    for path, seen in sorted(captured(name).items()):
        inner = path.removeprefix(captured_root)
        if inner:
            ephemeral = seen["ephemeralOwner"] is not None
            owner.create(inner, (seen["data"] or "").encode(), ephemeral=ephemeral, makepath=True)


def make_group(owner: KazooClient, group: str, topic: str, partitions: int) -> None:
    """A topic of Kafka 0.8, and a group with one consumer of one thread that owns all of it and committed 1 of each."""
    shape = {"version": 1, "partitions": {str(number): [0] for number in range(partitions)}}
    subscription = {"version": 1, "subscription": {topic: 1}, "pattern": "static", "timestamp": "1"}
    for folder in (f"/consumers/{group}/owners/{topic}", f"/consumers/{group}/offsets/{topic}"):
        owner.ensure_path(folder)
    owner.create(f"/brokers/topics/{topic}", json.dumps(shape).encode(), makepath=True)
    owner.create(f"/consumers/{group}/ids/{group}_c", json.dumps(subscription).encode(), ephemeral=True, makepath=True)
    waiting = []
    for number in range(partitions):
        owned = f"/consumers/{group}/owners/{topic}/{number}"
        waiting.append(owner.create_async(owned, f"{group}_c-0".encode(), ephemeral=True))
        waiting.append(owner.create_async(f"/consumers/{group}/offsets/{topic}/{number}", b"1"))
    for answer in waiting:
        answer.get(timeout=60)


def kafka_settings(hosts: str, root: str, **more) -> ZooKeeperSettings:
    return ZooKeeperSettings(name="old", hosts=hosts, system="kafka", root=root, **more)
