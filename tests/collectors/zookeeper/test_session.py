"""A session keeps what a real ZooKeeper has: whole at one moment, through changes, restarts and odd names."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import Callback
from kazoo.security import make_digest_acl

from monitor.collectors.errors import CollectorError, ConnectionFailed, PermissionMissing
from monitor.collectors.zookeeper import session as zookeeper_session
from monitor.collectors.zookeeper.session import ZooKeeperSession
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.model import TopicPartitions
from monitor.protocol.zookeeper.kafka import OFFSET_PATHS, PATHS, kafka_tree
from tests.collectors.zookeeper.zookeepers import client, kafka_settings, load_capture, make_group
from tests.support.job_process import eventually
from tests.support.zookeeper_captures import captured

GROUP = "consumers/g"


@pytest.fixture(autouse=True)
def _without_full_reads(monkeypatch):
    """Else they would hide, after a minute, that a change was missed."""
    monkeypatch.setattr(zookeeper_session, "FULL_READ_S", 1e9)


@pytest.fixture
def owner(zookeeper, zookeeper_root):
    with client(zookeeper.hosts, zookeeper_root) as connected:
        yield connected


@pytest.fixture
def session(zookeeper, zookeeper_root):
    made = open_session(zookeeper.hosts, zookeeper_root)
    yield made
    made.close()


def soon(look):
    eventually(look, "what was changed")


def open_session(hosts, root, **more):
    return ZooKeeperSession(kafka_settings(hosts, root, **more), PATHS, OFFSET_PATHS)


def counted(monkeypatch):
    """The paths that are read from here on."""
    read = []
    taken = ZooKeeperSession._take_node

    def counting(self, path, *others):
        read.append(path)
        return taken(self, path, *others)

    monkeypatch.setattr(ZooKeeperSession, "_take_node", counting)
    return read


def test_a_captured_tree_is_read_as_it_was(owner, session):
    load_capture(owner, "kafka010-zk", "/kafka010")
    tree = session.tree()
    wanted = {
        path.removeprefix("/kafka010/"): (seen["data"] or "").encode()
        for path, seen in captured("kafka010-zk").items()
        if (path.count("/") == 4 and path.split("/")[2:4] in (["brokers", "ids"], ["brokers", "topics"]))
        or (path.count("/") == 5 and path.split("/")[4] == "ids")
        or (path.count("/") == 6 and path.split("/")[4] in ("owners", "offsets"))
    }
    assert len(wanted) == 1 + 3 + 6 + 29 + 29  # brokers, topics, consumers, owners, offsets
    assert {path: node.data for path, node in tree.nodes.items()} == wanted
    owners = [node for path, node in tree.nodes.items() if "/owners/" in path]
    assert {node.ephemeral_owner for node in owners} == {owner.client_id[0]}
    offsets = [node for path, node in tree.nodes.items() if "/offsets/" in path]
    assert {node.ephemeral_owner for node in offsets} == {None}
    assert all(abs(node.modified_ms - time.time() * 1000) < 60_000 for node in offsets)


def test_what_does_not_change_is_not_read_again(owner, session, monkeypatch):
    make_group(owner, "g", "t", 3)
    before = session.tree()
    read = counted(monkeypatch)
    assert session.tree() == before
    assert read == [""]


def test_only_what_changed_is_read_again(owner, session, monkeypatch):
    make_group(owner, "g", "t", 3)
    session.tree()
    read = counted(monkeypatch)
    owner.set(f"/{GROUP}/offsets/t/1", b"2")
    owner.delete(f"/{GROUP}/owners/t/0")
    owner.create(f"/{GROUP}/owners/t/7", b"g_c-0", ephemeral=True)

    soon(lambda: f"{GROUP}/owners/t/7" in session.tree().nodes)
    tree = session.tree()

    assert tree.under(f"{GROUP}/owners/t") == ("1", "2", "7")
    assert f"{GROUP}/owners/t/0" not in tree.nodes
    assert tree.nodes[f"{GROUP}/offsets/t/1"].data == b"2"
    assert set(read) - {""} == {
        f"{GROUP}/offsets/t/1", f"{GROUP}/owners/t/0", f"{GROUP}/owners/t", f"{GROUP}/owners/t/7"
    }  # fmt: skip


def test_a_node_that_came_and_went_and_came_again_is_there(owner, session):
    make_group(owner, "g", "t", 1)
    path = f"/{GROUP}/owners/t/0"
    for turn in range(20):
        owner.delete(path)
        session.tree()
        owner.create(path, b"again %d" % turn, ephemeral=True)
        soon(lambda: session.tree().nodes.get(path[1:]) is not None)
        owner.set(path, b"last %d" % turn)
        soon(lambda turn=turn: session.tree().nodes[path[1:]].data == b"last %d" % turn)


def test_a_node_that_went_before_it_was_read_and_came_again_is_there(owner, session, monkeypatch):
    make_group(owner, "g", "t", 2)
    path = f"/{GROUP}/owners/t/0"
    listed = ZooKeeperSession._take_children

    def deleting(self, above, *others):
        if above == f"{GROUP}/owners/t":
            owner.delete(path)
        yield from listed(self, above, *others)

    with monkeypatch.context() as patched:
        patched.setattr(ZooKeeperSession, "_take_children", deleting)
        assert path[1:] not in session.tree().nodes
    owner.create(path, b"again", ephemeral=True)
    soon(lambda: path[1:] in session.tree().nodes)


def test_a_folder_that_comes_later_is_read(owner, session):
    session.tree()
    make_group(owner, "g", "t", 2)
    soon(lambda: len(session.tree().nodes) == 1 + 1 + 2 + 2)
    owner.delete("/consumers", recursive=True)
    soon(lambda: set(session.tree().nodes) == {"brokers/topics/t"})


def test_a_tree_is_what_was_there_at_one_moment(zookeeper, zookeeper_root, owner, session):
    """Two nodes are always written by one transaction, first with the same number: no tree shows two numbers."""
    make_group(owner, "g", "t", 200)
    first, last = f"/{GROUP}/owners/t/0", f"/{GROUP}/owners/t/199"
    stop = threading.Event()
    written = []

    def write():
        with client(zookeeper.hosts, zookeeper_root) as writer:
            while not stop.wait(0.01):
                both = writer.transaction()
                both.set_data(first, b"%d" % len(written))
                both.set_data(last, b"%d" % len(written))
                both.commit()
                written.append(len(written))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        session.tree()
        late = Callback("watch", lambda: time.sleep(0.005), ())  # kazoo's own thread may be late with what it was told
        steady, unsteady = set(), 0
        deadline_s = time.monotonic() + 60
        while (len(steady) < 4 or unsteady < 4) and time.monotonic() < deadline_s:
            session._client.handler.dispatch_callback(late)
            tree = session.tree()
            if GROUP in session.unsteady():
                unsteady += 1
                continue
            assert tree.nodes[first[1:]].data == tree.nodes[last[1:]].data
            steady.add(tree.nodes[first[1:]].data)
    finally:
        stop.set()
        thread.join()
    assert min(len(steady), unsteady) >= 4


def test_offsets_make_nothing_unsteady(owner, session):
    make_group(owner, "g", "t", 1)
    session.tree()
    time.sleep(0.5)
    owner.set(f"/{GROUP}/offsets/t/0", b"2")
    soon(lambda: session.tree().nodes[f"{GROUP}/offsets/t/0"].data == b"2")
    assert session.quiet_s(GROUP) > 0.5
    owner.set(f"/{GROUP}/owners/t/0", b"other")
    soon(lambda: session.tree().nodes[f"{GROUP}/owners/t/0"].data == b"other")
    assert session.quiet_s(GROUP) < 0.5


def test_ephemeral_nodes_go_with_the_session_of_their_owner(zookeeper, zookeeper_root, session):
    with client(zookeeper.hosts, zookeeper_root) as owner:
        make_group(owner, "g", "t", 2)
        assert len(session.tree().nodes) == 6
    soon(lambda: set(session.tree().nodes) == {"brokers/topics/t", *(f"{GROUP}/offsets/t/{n}" for n in (0, 1))})


def test_all_is_read_anew_now_and_then(owner, session, monkeypatch):
    make_group(owner, "g", "t", 2)
    before = session.tree()
    monkeypatch.setattr(zookeeper_session, "FULL_READ_S", 0.0)
    read = counted(monkeypatch)
    assert session.tree() == before
    assert set(before.nodes) < set(read)


def test_a_tree_of_ten_thousand_nodes(owner, session, monkeypatch):
    make_group(owner, "g", "t", 5000)
    asked = []
    monkeypatch.setattr(zookeeper_session, "IN_FLIGHT", 50)
    get = KazooClient.get_async

    def counting(self, *arguments, **more):
        asked.append(len(self._queue) + len(self._pending))
        return get(self, *arguments, **more)

    monkeypatch.setattr(KazooClient, "get_async", counting)
    seen = kafka_tree(session.tree())
    assert seen.groups[0].members[0].assigned == (TopicPartitions("t", tuple(range(5000))),)
    assert [each.offset for each in seen.groups[0].offsets] == [1] * 5000
    assert max(asked) <= 50
    assert len(asked) == 10_002


ODD = [" ", "a b", "'\"`", "\\", "%2F", "{}[]=,;|", "...", "-", "-0", "ü", "群组", "a\u00adb", "*", "$(x)", "<script>"]


def test_names_with_odd_characters(owner, session):
    for name in ODD:
        make_group(owner, name, name, 1)
    tree = session.tree()
    assert set(tree.under("consumers")) == set(ODD)
    for name in ODD:
        assert tree.nodes[f"consumers/{name}/owners/{name}/0"].data == f"{name}_c-0".encode()


def test_data_of_any_bytes(owner, session):
    make_group(owner, "g", "t", 1)
    owner.create(f"/{GROUP}/ids/\u2192", bytes(range(256)), ephemeral=True)
    assert session.tree().nodes[f"{GROUP}/ids/\u2192"].data == bytes(range(256))


def test_what_may_not_be_read_is_told_and_the_rest_goes_on(owner, session):
    make_group(owner, "g", "t", 1)
    make_group(owner, "h", "u", 1)
    mine = [make_digest_acl("somebody", "else", all=True)]
    owner.set_acls("/consumers/g/ids/g_c", mine)
    owner.set_acls("/consumers/g/owners", mine)
    tree = session.tree()
    assert tree.refused == ("consumers/g/ids/g_c", "consumers/g/owners")
    assert "consumers/h/owners/u/0" in tree.nodes


def test_a_top_that_may_not_be_read_is_an_error(owner, session):
    owner.set_acls("/", [make_digest_acl("somebody", "else", all=True)])
    with pytest.raises(PermissionMissing, match="may not be read"):
        session.tree()


def test_a_root_that_does_not_exist_is_an_error_that_names_it(zookeeper):
    session = open_session(zookeeper.hosts, "/no/such")
    with pytest.raises(CollectorError, match=r"ZooKeeper at 127.0.0.1:\d+/no/such has no such node. Check root."):
        session.tree()
    session.close()


def test_a_tree_that_is_too_large_is_refused(owner, session, monkeypatch):
    make_group(owner, "g", "t", 100)
    monkeypatch.setattr(zookeeper_session, "MOST_NODES", 100)
    with pytest.raises(CollectorError, match="more than 100 nodes"):
        session.tree()


def test_nobody_there_is_an_error_in_time_and_leaves_no_thread():
    before = threading.active_count()
    session = open_session(f"127.0.0.1:{free_ports(1)[0]}", "", session_limit_s=1.0)
    started = time.monotonic()
    with pytest.raises(ConnectionFailed, match=r"did not answer within 1 s. Check hosts."):
        session.tree()
    session.close()
    assert time.monotonic() - started < 20
    assert threading.active_count() == before


def test_a_server_that_is_restarted_is_read_again_without_help(caplog):
    with EmbeddedZooKeeper() as server, client(server.hosts) as owner:
        make_group(owner, "g", "t", 1)
        session = open_session(server.hosts, "", session_limit_s=2.0)
        assert f"{GROUP}/owners/t/0" in session.tree().nodes
        server.kill()
        with pytest.raises(ConnectionFailed):
            session.tree()
        server.start()
        soon(lambda: _read(session) is not None)
        with client(server.hosts) as later:  # the owner's session may have ended meanwhile
            later.set(f"/{GROUP}/offsets/t/0", b"after")
        soon(lambda: session.tree().nodes[f"{GROUP}/offsets/t/0"].data == b"after")
        session.close()
    assert not [record for record in caplog.records if record.name.startswith("monitor")]


def test_a_connection_that_was_cut_is_made_again(owner, session):
    make_group(owner, "g", "t", 1)
    before = session.tree()
    session._client._connection._socket.shutdown(socket.SHUT_RDWR)
    owner.set(f"/{GROUP}/offsets/t/0", b"2")
    soon(lambda: has_offset(_read(session), b"2"))
    assert session.tree().children == before.children


def test_a_session_that_zookeeper_has_ended_is_begun_again(zookeeper, owner, session):
    make_group(owner, "g", "t", 1)
    session.tree()
    first = session._client.client_id
    thief = KazooClient(hosts=zookeeper.hosts, client_id=first)
    thief.start()
    thief.stop()  # ends the session that both have
    thief.close()
    owner.set(f"/{GROUP}/offsets/t/0", b"2")
    soon(lambda: has_offset(_read(session), b"2"))
    assert session._client.client_id != first


def test_a_closed_session_begins_a_new_one(owner, session):
    make_group(owner, "g", "t", 1)
    before = session.tree()
    session.close()
    session.close()
    assert session.tree() == before


def has_offset(tree, data):
    return tree is not None and tree.nodes[f"{GROUP}/offsets/t/0"].data == data


def _read(session):
    try:
        return session.tree()
    except ConnectionFailed:
        return None
