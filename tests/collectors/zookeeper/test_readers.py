"""The readers on a real ZooKeeper: captured trees, groups that rebalance, and brokers that are away."""

from __future__ import annotations

import socketserver
import threading
import time
from contextlib import contextmanager

import pytest

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.zookeeper import base as zookeeper_base
from monitor.collectors.zookeeper import kafka_ends as zookeeper_kafka_ends
from monitor.collectors.zookeeper import metaq_ends
from monitor.collectors.zookeeper.metaq_ends import BrokerFailed, broker_offsets
from monitor.collectors.zookeeper.readers import KafkaZooKeeperReader, MetaQReader
from monitor.config.systems import ZooKeeperSettings
from monitor.demo.servers.ports import free_ports
from monitor.model import GroupKind, PartitionObserved, Source, TopicPartitions
from monitor.protocol.metaq_text import PartitionOffsets
from tests.collectors.zookeeper.zookeepers import client, kafka_settings, load_capture, make_group

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")

STATS = (
    b"STATS\r\nmeta-two part 0 min_offset 0 max_offset 1173\r\nmeta-test part 1 min_offset 5 max_offset 797\r\nEND\r\n"
)


@pytest.fixture
def owner(zookeeper, zookeeper_root):
    with client(zookeeper.hosts, zookeeper_root) as connected:
        yield connected


@pytest.fixture
def reader(zookeeper, zookeeper_root, monkeypatch):
    """A reader of Kafka's groups, whose brokers are all away."""
    monkeypatch.setattr(zookeeper_kafka_ends, "CONNECT_LIMIT_S", 0.2)
    away = f"127.0.0.1:{free_ports(1)[0]}"
    strategies = {"hl-r.": "roundrobin", "hl-.*": "range"}
    made = KafkaZooKeeperReader(
        kafka_settings(zookeeper.hosts, zookeeper_root, bootstrap_servers=away, strategies=strategies)
    )
    yield made
    made.close()


@contextmanager
def metaq_broker(answer: bytes, pause_s: float = 0.0, stays: bool = False):
    """Gives every connection this answer to its line, in two pieces; the address."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            asked.append(self.rfile.readline())
            self.wfile.write(answer[:10])
            self.wfile.flush()
            ended.wait(pause_s)
            self.wfile.write(answer[10:])
            if stays:
                ended.wait(30)

    asked: list[bytes] = []
    ended = threading.Event()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            ended.set()
            server.shutdown()
            thread.join()
    assert set(asked) <= {b"stats offsets 16\r\n"}


def framed(body: bytes, status: int = 200) -> bytes:
    return b"result %d %d 16\r\n%s" % (status, len(body), body)


def group(reading, name):
    return next(each for each in reading.groups if each.group == name)


def assigned(reading, name):
    return {member.member_id: member.assigned for member in group(reading, name).members}


def test_a_captured_tree_of_kafka(owner, reader):
    load_capture(owner, "kafka010-zk", "/kafka010")
    before_ms = time.time_ns() // 1_000_000
    reading = reader.read(1000)
    assert (reading.source, reading.complete) == (Source.SYSTEM, True)
    assert [(topic.cluster, topic.topic, len(topic.partitions), topic.pass_ms) for topic in reading.topics] == [
        ("old", "hl-a", 5, 1000),
        ("old", "hl-b", 3, 1000),
    ]
    assert [(each.group, each.kind, each.protocol) for each in reading.groups] == [
        ("hl-kafkaoffs", GroupKind.ZOOKEEPER, "range"),
        ("hl-range", GroupKind.ZOOKEEPER, "range"),
        ("hl-rr", GroupKind.ZOOKEEPER, "roundrobin"),
        ("hl-wild", GroupKind.ZOOKEEPER, "range"),
    ]
    assert all(each.pass_ms == 1000 and each.observed_ms >= before_ms for each in reading.groups)
    assert assigned(reading, "hl-rr")["hl-rr_fixedA-0"] == (TopicPartitions("hl-a", (0, 4)),)
    assert [each.offset for each in group(reading, "hl-range").offsets] == [20] * 5 + [34, 33, 33]


def test_brokers_that_are_away_leave_the_ends_unknown_and_are_told(owner, reader):
    make_group(owner, "g", "t", 2)
    reading = reader.read(1000)
    assert reading.topics[0].partitions == (PartitionObserved(partition=0), PartitionObserved(partition=1))
    (problem,) = reading.problems
    assert problem.startswith("Cluster old: End offsets are unknown: Cluster old: no broker answers at 127.0.0.1:")
    assert reading.complete


def test_without_any_broker_the_ends_are_unknown(zookeeper, zookeeper_root, owner):
    make_group(owner, "g", "t", 1)
    reader = KafkaZooKeeperReader(kafka_settings(zookeeper.hosts, zookeeper_root))
    reading = reader.read(1000)
    reader.close()
    assert reading.problems == ("Cluster old: No broker is registered: end offsets are unknown.",)


def test_the_empty_moment_of_a_rebalance_is_not_told(owner, reader):
    """All owners are released, and claimed again after a second, while the group is read."""
    make_group(owner, "g", "t", 3)
    before = reader.read(1000)
    for number in range(3):
        owner.delete(f"/consumers/g/owners/t/{number}")

    def claim():
        time.sleep(1)
        for number in range(3):
            owner.create(f"/consumers/g/owners/t/{number}", b"g_c-0", ephemeral=True)

    claiming = threading.Thread(target=claim)
    claiming.start()
    reading = reader.read(2000)
    claiming.join()
    assert assigned(reading, "g") == assigned(before, "g") == {"g_c-0": (TopicPartitions("t", (0, 1, 2)),)}
    assert group(reading, "g").observed_ms > group(before, "g").observed_ms


def test_a_group_that_still_changes_is_told_as_it_was_with_its_new_offsets(owner, reader, monkeypatch):
    monkeypatch.setattr(zookeeper_base, "SETTLE_S", 0.5)
    make_group(owner, "g", "t", 2)
    before = reader.read(1000)
    owner.delete("/consumers/g/owners/t/1")
    owner.set("/consumers/g/offsets/t/0", b"77")
    reading = reader.read(2000)
    assert assigned(reading, "g") == {"g_c-0": (TopicPartitions("t", (0, 1)),)}
    assert group(reading, "g").observed_ms == group(before, "g").observed_ms
    assert group(reading, "g").pass_ms == 2000
    assert [each.offset for each in group(reading, "g").offsets] == [77, 1]


def test_what_stays_without_owner_is_told(owner, reader, monkeypatch):
    monkeypatch.setattr(zookeeper_base, "SETTLE_S", 0.5)
    monkeypatch.setattr(zookeeper_base, "CLAIMED_S", 1.0)
    make_group(owner, "g", "t", 2)
    reader.read(1000)
    owner.delete("/consumers/g/owners/t/1")
    time.sleep(1.2)  # nobody claims it
    assert assigned(reader.read(2000), "g") == {"g_c-0": (TopicPartitions("t", (0,)),)}


def test_a_group_that_never_comes_to_rest_is_told_in_the_end(owner, reader, monkeypatch):
    monkeypatch.setattr(zookeeper_base, "SETTLE_S", 0.3)
    monkeypatch.setattr(zookeeper_base, "HOLD_S", 0.0)
    make_group(owner, "g", "t", 2)
    reader.read(1000)
    owner.delete("/consumers/g/owners/t/1")
    reader.read(2000)
    assert assigned(reader.read(3000), "g") == {"g_c-0": (TopicPartitions("t", (0,)),)}


def test_a_quiet_group_is_not_waited_for(owner, reader):
    make_group(owner, "g", "t", 2)
    reader.read(1000)
    sleeps = []
    zookeeper_reading_sleep = zookeeper_base.time.sleep
    zookeeper_base.time.sleep = sleeps.append
    try:
        reader.read(2000)
    finally:
        zookeeper_base.time.sleep = zookeeper_reading_sleep
    assert sleeps == []


def test_a_consumer_that_died_is_gone_with_what_it_owned(zookeeper, zookeeper_root, reader):
    with client(zookeeper.hosts, zookeeper_root) as first:
        make_group(first, "g", "t", 2)
        assert len(group(reader.read(1000), "g").members) == 1
    after = group(reader.read(2000), "g")
    assert (after.members, [each.offset for each in after.offsets]) == ((), [1, 1])


def test_a_group_of_another_and_a_broken_one_side_by_side(owner, reader):
    make_group(owner, "good", "t", 1)
    owner.create("/consumers/bad/ids/x\u2028y", b"\xff", makepath=True, ephemeral=True)
    reading = reader.read(1000)
    assert assigned(reading, "good") == {"good_c-0": (TopicPartitions("t", (0,)),)}
    assert group(reading, "bad").members[0].unreadable is not None
    assert reading.problems[0] == "Cluster old: consumers/bad/ids/x\\u2028y: its data are not JSON."


def test_nobody_there_is_one_sentence():
    port = free_ports(1)[0]
    reader = MetaQReader(ZooKeeperSettings(name="mq", hosts=f"127.0.0.1:{port}", system="metaq", session_limit_s=0.5))
    with pytest.raises(ConnectionFailed) as caught:
        reader.read(1000)
    reader.close()
    sentence = f"Cluster mq: ZooKeeper at 127.0.0.1:{port}/meta did not answer within 0.5 s. Check hosts."
    assert str(caught.value) == sentence


def test_a_captured_tree_of_metaq_with_one_broker_that_answers(zookeeper, zookeeper_root, owner):
    load_capture(owner, "metaq-zk", "/meta")
    with metaq_broker(framed(STATS)) as address:
        owner.set("/brokers/ids/0/master", f"meta://{address}".encode())
        away = f"127.0.0.1:{free_ports(1)[0]}"
        owner.set("/brokers/ids/1/master", f"meta://{away}".encode())
        settings = ZooKeeperSettings(name="mq", hosts=zookeeper.hosts, system="metaq", root=zookeeper_root)
        reader = MetaQReader(settings)
        reading = reader.read(1000)
        reader.close()
    assert {topic.topic: topic.partitions for topic in reading.topics} == {
        "meta-test": (
            PartitionObserved(partition="0-0", earliest=0, end=0),  # never written
            PartitionObserved(partition="0-1", earliest=5, end=797),
            PartitionObserved(partition="0-2", earliest=0, end=0),
            PartitionObserved(partition="1-0"),
            PartitionObserved(partition="1-1"),
            PartitionObserved(partition="1-2"),
        ),
        "meta-two": (
            PartitionObserved(partition="0-0", earliest=0, end=1173),
            PartitionObserved(partition="0-1", earliest=0, end=0),
            PartitionObserved(partition="1-0"),
            PartitionObserved(partition="1-1"),
        ),
    }
    assert [(each.group, each.kind, len(each.members)) for each in reading.groups] == [
        ("meta-consis", GroupKind.METAQ, 2),
        ("meta-grp", GroupKind.METAQ, 2),
    ]
    assert reading.problems == (
        f"Cluster mq: Broker 1 at {away} cannot be reached (Connection refused): the ends of its partitions are not"
        " known.",
    )


def test_a_broker_that_answers_in_pieces_is_read():
    with metaq_broker(framed(STATS), pause_s=0.1) as address:
        assert broker_offsets(address) == (
            PartitionOffsets(topic="meta-two", partition=0, earliest=0, end=1173),
            PartitionOffsets(topic="meta-test", partition=1, earliest=5, end=797),
        )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(framed(STATS)[:-5], "closed the connection within its response", id="an answer that was cut"),
        pytest.param(b"", "closed the connection within its response", id="no answer"),
        pytest.param(framed(b"no such thing", 400), r"refused the request \(status 400\)", id="a refusal"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "cannot be decoded", id="another server"),
        pytest.param(b"x" * 100_000, "cannot be decoded|cannot be reached", id="anything at all"),
        pytest.param(b"result 200 4000000000 16\r\n", "cannot be decoded", id="a body of four billion bytes"),
        pytest.param(framed(b"STATS\r\nt part x\r\nEND\r\n"), "cannot be decoded", id="a line of other words"),
    ],
)
def test_a_broker_whose_answer_is_none(answer, words):
    with metaq_broker(answer) as address, pytest.raises(BrokerFailed, match=words):
        broker_offsets(address)


def test_a_broker_that_hangs_within_its_answer_is_given_up():
    with metaq_broker(framed(STATS)[:-5], stays=True) as address, pytest.raises(BrokerFailed, match=r"within 0\.3 s"):
        broker_offsets(address, limit_s=0.3)


def test_slow_brokers_are_asked_side_by_side(zookeeper, zookeeper_root, owner, monkeypatch):
    """Eight brokers that each take until the limit: one after the other they would take eight times as long."""
    monkeypatch.setattr(metaq_ends, "RESPONSE_LIMIT_S", 1.0)
    with metaq_broker(b"result", stays=True) as address:
        for broker in range(8):
            owner.create(f"/brokers/ids/{broker}/master", f"meta://{address}".encode(), makepath=True)
        owner.ensure_path("/consumers")
        settings = ZooKeeperSettings(name="mq", hosts=zookeeper.hosts, system="metaq", root=zookeeper_root)
        reader = MetaQReader(settings)
        started = time.monotonic()
        reading = reader.read(1000)
        took_s = time.monotonic() - started
        reader.close()
    assert len(reading.problems) == 8
    assert took_s < 8
