"""What is wrong with a cluster is said in a sentence, before anything starts."""

from __future__ import annotations

import logging
import socket
import ssl
import subprocess
import threading
from contextlib import suppress

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    KafkaAdminClient,
    ResourcePattern,
    ResourceType,
)
from kafka.structs import OffsetAndMetadata

from monitor.collectors.errors import (
    ClusterAway,
    CollectorError,
    ConnectionFailed,
    OffsetsTopicMissing,
    PermissionMissing,
)
from monitor.collectors.kafka import preflight
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.collectors.kafka.preflight import ClusterFacts, PartitionBounds
from monitor.collectors.kafka.share_offsets import ShareOffsetsReader
from monitor.collectors.kafka_client import batch_requests
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from tests.support.job_process import eventually

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]

PASSWORD = "tiger-4711"


@pytest.fixture(scope="module")
def secured():
    """A broker with users; only "root" may do everything."""
    users = {"root": "root-pw"} | dict.fromkeys(("nobody", "watcher", "deaf", "mute", "scribe", "asker"), PASSWORD)
    with EmbeddedKafka(BrokerSettings(sasl_users=users, super_users=("root",))) as kafka:
        yield kafka


def as_user(kafka, user, password=PASSWORD, **more):
    client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    client |= {"sasl.username": user, "sasl.password": password}
    return ClusterSettings(name="prod", bootstrap_servers=kafka.bootstrap_servers, client=client, **more)


def grant(kafka, user, topic, *operations):
    pattern = ResourcePattern(ResourceType.TOPIC, topic)
    with KafkaAdminClient(**kafka.client_settings("root")) as admin:
        admin.create_acls(
            [ACL(f"User:{user}", "*", operation, ACLPermissionType.ALLOW, pattern) for operation in operations]
        )


def checked(cluster):
    """The sentence of a missing permission; None if there is none."""
    try:
        preflight.check(cluster, 3.0)
    except PermissionMissing as missing:
        return str(missing)
    return None


def told(cluster, sentence):
    """The check says this, once the broker knows the newest grants: it learns them with a delay."""
    eventually(lambda: checked(cluster) == sentence, sentence, 15)


def commit_once(kafka, user=None):
    """A commit, so that the broker has its offsets topic."""
    with KafkaAdminClient(**kafka.client_settings(user)) as admin:
        admin.create_topics({"committed": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    consumer = KafkaConsumer(**kafka.client_settings(user), group_id="once", enable_auto_commit=False)
    place = TopicPartition("committed", 0)
    consumer.assign([place])
    consumer.commit({place: OffsetAndMetadata(0, "", -1)})
    consumer.close()


def failure(cluster, kind, limit_s=3.0):
    with pytest.raises(kind) as caught:
        preflight.check(cluster, limit_s)
    assert type(caught.value) is kind, "a refusal is not taken for a cluster that is away"
    return str(caught.value)


def test_the_life_of_a_cluster():
    """No offsets topic, until the first commit; then facts, and the bounds that the warm-up needs."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=3)) as kafka:
        cluster = ClusterSettings(name="prod", bootstrap_servers=kafka.bootstrap_servers)
        assert failure(cluster, OffsetsTopicMissing) == (
            "Cluster prod: there is no topic __consumer_offsets; no consumer group has committed an offset yet."
        )
        by_answers = cluster.model_copy(update={"groups_from": "admin"})
        assert preflight.check(by_answers) == ClusterFacts(
            cluster="prod", brokers=1, offsets_partitions=0, events_topic_exists=False
        )
        commit_once(kafka)
        assert preflight.check(cluster) == ClusterFacts(
            cluster="prod", brokers=1, offsets_partitions=3, events_topic_exists=False
        )
        bounds = preflight.end_offsets(cluster, "__consumer_offsets")
        assert [place.partition for place in bounds.partitions] == [0, 1, 2]
        assert (bounds.records, sum(bounds.ends.values())) == (1, 1)
        assert preflight.end_offsets(cluster, "committed").partitions == (
            PartitionBounds(partition=0, begin=0, end=0, written=0),
        )
        collector = KafkaCatalogCollector(cluster)
        collector.collect()
        collector.close()
        assert preflight.check(cluster).events_topic_exists


def test_a_wrong_address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cluster = ClusterSettings(name="prod", bootstrap_servers=f"127.0.0.1:{port}")
    threads = threading.active_count()
    assert failure(cluster, ClusterAway, 0.5) == (
        f"Cluster prod: no broker answers at 127.0.0.1:{port} (tried for 0.5 s). Check bootstrap_servers."
    )
    assert threading.active_count() == threads, "the failed client leaves no thread behind"


def test_a_name_that_does_not_resolve():
    cluster = ClusterSettings(name="prod", bootstrap_servers="nohost.invalid:9092")
    assert failure(cluster, ClusterAway, 0.5) == (
        "Cluster prod: no host name of nohost.invalid:9092 resolves (tried for 0.5 s)."
        " Check bootstrap_servers and the DNS."
    )


def test_of_several_names_one_that_does_not_resolve_is_told():
    with socket.create_server(("127.0.0.1", 0)) as free:
        servers = f"127.0.0.1:{free.getsockname()[1]},nohost.invalid:9092"
    assert failure(ClusterSettings(name="prod", bootstrap_servers=servers), ClusterAway, 0.5) == (
        f"Cluster prod: no broker answers at {servers} (tried for 0.5 s; nohost.invalid does not resolve)."
        " Check bootstrap_servers."
    )


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT"])
def test_a_broker_that_hangs_is_away_whatever_the_log_in(protocol):
    """The system accepts connections for a process that is stopped."""
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"} if "SASL" in protocol else {}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        client = {"security.protocol": protocol, **login}
        sentence = failure(ClusterSettings(name="prod", bootstrap_servers=address, client=client), ClusterAway, 0.5)
    assert sentence == (
        f"Cluster prod: {address} accepts connections but does not respond (tried for 0.5 s)."
        " Check the broker and bootstrap_servers."
    )


def test_a_server_that_is_no_broker():
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=close_each, args=(server,))
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        sentence = failure(ClusterSettings(name="prod", bootstrap_servers=address), ClusterAway, 0.5)
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    assert sentence.startswith(f"Cluster prod: {address} accepts connections but sends no usable response (")
    assert sentence.endswith("). Check security.protocol, and the addresses that the brokers advertise.")


def close_each(server):
    with suppress(OSError):
        while True:
            server.accept()[0].close()


def test_a_certificate_that_is_not_trusted(tmp_path):
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run([*new, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_tls, args=(server, context))
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        client = {"security.protocol": "SSL"}
        sentence = failure(
            ClusterSettings(name="prod", bootstrap_servers=address, client=client), ConnectionFailed, 0.5
        )
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    assert sentence == (
        f"Cluster prod: TLS: the certificate of {address} is not trusted (self-signed certificate)."
        " Check ssl.truststore.location."
    )


def serve_tls(server, context):
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            try:
                context.wrap_socket(connection, server_side=True).close()
            except (ssl.SSLError, OSError):
                continue


def test_tls_to_a_broker_without_tls(broker):
    client = {"security.protocol": "SSL"}
    cluster = ClusterSettings(name="prod", bootstrap_servers=broker.bootstrap_servers, client=client)
    sentence = failure(cluster, ConnectionFailed, 0.5)
    assert sentence.startswith(f"Cluster prod: TLS with {broker.bootstrap_servers} failed (")
    assert sentence.endswith("). Check security.protocol and the certificates.")


def test_a_wrong_password(secured):
    """The client sees the refusal, or only that the connection ended: the person reads the same advice."""
    sentence = failure(as_user(secured, "watcher", "lion"), ConnectionFailed)
    refused = "the broker refused the login (SaslAuthenticationFailed)."
    ended = f"{secured.bootstrap_servers} closes the connection at the login (no response in time, tried for 3 s)."
    advice = "Check the user name, the password and sasl.mechanism."
    assert sentence in {f"Cluster prod: {refused} {advice}", f"Cluster prod: {ended} {advice}"}


def test_missing_permissions_one_after_the_other(secured):
    """What an administrator sees who grants only what is asked for: each sentence leads to the next, then it works."""
    commit_once(secured, "root")
    events = "groupwatch.events"
    watcher = as_user(secured, "watcher")
    unreadable = (
        "Cluster prod: user may not read __consumer_offsets (TopicAuthorizationFailed). Grant DESCRIBE and READ on it."
    )
    told(watcher, unreadable)
    grant(secured, "watcher", "__consumer_offsets", ACLOperation.DESCRIBE)
    told(watcher, unreadable)
    grant(secured, "watcher", "__consumer_offsets", ACLOperation.READ)
    told(
        watcher,
        "Cluster prod: user may not see groupwatch.events (TopicAuthorizationFailed)."
        " Grant CREATE, DESCRIBE, READ and WRITE on it.",
    )
    grant(secured, "watcher", events, ACLOperation.DESCRIBE)
    told(
        watcher,
        "Cluster prod: user may not create groupwatch.events (TopicAuthorizationFailed)."
        " Grant CREATE, DESCRIBE, READ and WRITE on it.",
    )
    grant(secured, "watcher", events, ACLOperation.CREATE, ACLOperation.READ, ACLOperation.WRITE)
    eventually(lambda: checked(watcher) is None, "a check without a complaint", 15)
    assert not preflight.check(watcher).events_topic_exists

    collector = KafkaCatalogCollector(watcher)
    assert collector.attempt(), collector.problem
    collector.close()
    facts = preflight.check(watcher)
    assert (facts.events_topic_exists, facts.offsets_partitions) == (True, 8)


def test_share_offsets_are_asked_for_only_while_the_log_of_share_state_may_not_be_read(secured, caplog):
    cluster = as_user(secured, "nobody")
    with pytest.raises(PermissionMissing, match="user may not read __share_group_state"):
        preflight.share_state_partitions(cluster)
    with KafkaAdminClient(**secured.client_settings("nobody")) as admin:
        reader = ShareOffsetsReader(cluster)
        assert reader.is_needed(admin)
        assert [reader.read(admin, ["pool"], lambda: 0) for _ in range(2)] == [{}, {}]
        grant(secured, "nobody", SHARE_STATE_TOPIC, ACLOperation.DESCRIBE, ACLOperation.READ)
        eventually(lambda: not reader.is_needed(admin), "the grant", 15)
    assert preflight.share_state_partitions(cluster) == 0, "no share group was ever used"
    (said,) = [each.getMessage() for each in caplog.records if each.name == batch_requests.__name__]
    assert said == (
        "Cluster prod: the offsets of a share group: not available (the user lacks permission,"
        " GroupAuthorizationFailed); the lag of share groups is unknown meanwhile."
    )


def test_an_events_topic_that_cannot_be_written_or_read(secured):
    with KafkaAdminClient(**secured.client_settings("root")) as admin:
        admin.create_topics({"other": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    grant(secured, "mute", "other", ACLOperation.READ)
    grant(secured, "deaf", "other", ACLOperation.WRITE)
    for user in ("mute", "deaf"):
        grant(secured, user, "__consumer_offsets", ACLOperation.DESCRIBE, ACLOperation.READ)
    told(
        as_user(secured, "mute", events_topic="other"),
        "Cluster prod: user may not write other (TopicAuthorizationFailed). Grant WRITE on it.",
    )
    told(
        as_user(secured, "deaf", events_topic="other"),
        "Cluster prod: user may not read other (TopicAuthorizationFailed). Grant DESCRIBE and READ on it.",
    )


class Everything(logging.Handler):
    """Keeps the whole text of every record, arguments included."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.texts = []

    def emit(self, record):
        self.texts.append(f"{record.getMessage()} {record.args!r} {record.exc_info}")


def test_a_collector_that_only_writes_needs_no_more_and_groups_by_answers_need_no_log(secured):
    """User "scribe" may write the events topic and see it; "asker" may read it too, and use the readers' groups."""
    events = "events-of-a-scribe"
    with KafkaAdminClient(**secured.client_settings("root")) as admin:
        admin.create_topics({events: {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
    scribe = as_user(secured, "scribe", events_topic=events)
    with pytest.raises(PermissionMissing, match=f"user may not see {events}"):
        preflight.check_carrier(scribe)
    grant(secured, "scribe", events, ACLOperation.DESCRIBE, ACLOperation.WRITE)

    def may_write():
        try:
            preflight.check_carrier(scribe)
        except PermissionMissing:
            return False
        return True

    eventually(may_write, "the grants", 15)
    asker = as_user(secured, "asker", events_topic=events, groups_from="admin")
    grant(secured, "asker", events, ACLOperation.DESCRIBE, ACLOperation.READ, ACLOperation.WRITE)
    told(asker, None)
    told(
        asker.model_copy(update={"groups_from": "log"}),
        (
            "Cluster prod: user may not read __consumer_offsets (TopicAuthorizationFailed)."
            " Grant DESCRIBE and READ on it."
        ),
    )


def test_no_credential_in_any_log_record(secured, caplog):
    """Also when somebody switches the client's logging on, after ours switched it off."""
    caplog.set_level(logging.DEBUG)
    everything = Everything()
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "kafka"]
    before = {name: logging.getLogger(name).level for name in names}
    original = logging.getLogger("kafka").handlers[:]
    try:
        preflight_and_a_pass(secured)  # the filters are in place
        for name in names:
            logging.getLogger(name).setLevel(logging.DEBUG)
        logging.getLogger("kafka").addHandler(everything)
        # What a determined person does: on again between ours switching it off and the client's start.
        preflight_and_a_pass(secured, reopened=lambda: logging.getLogger("kafka").setLevel(logging.DEBUG))
    finally:
        logging.getLogger("kafka").handlers = original
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
    assert everything.texts, "the client did log"
    assert not [text for text in everything.texts if PASSWORD in text or "bad-lion" in text]
    assert PASSWORD not in caplog.text
    assert "bad-lion" not in caplog.text


def preflight_and_a_pass(kafka, reopened=lambda: None):
    for password in (PASSWORD, "bad-lion"):
        cluster = as_user(kafka, "nobody", password)
        reopened()
        with pytest.raises(CollectorError) as caught:
            preflight.check(cluster, 2.0)
        assert password not in repr(caught.value)
        reopened()
        collector = KafkaCatalogCollector(cluster, connect_limit_s=2.0)
        assert not collector.attempt()
        assert password not in str(collector.problem)
