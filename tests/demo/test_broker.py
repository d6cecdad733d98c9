"""The embedded broker is a real one: it serves, keeps its data, refuses whom it should, and never outlives us."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import listening
from monitor.demo.servers.settings import BrokerSettings
from monitor.java_runtime.errors import BrokerFailed
from tests.support.brokers import SOON_BACK

pytestmark = pytest.mark.broker


def create_topic(kafka, name, partitions=1, user=None):
    with KafkaAdminClient(**kafka.client_settings(user)) as admin:
        topic = {name: {"num_partitions": partitions, "replication_factor": 1}}
        admin.create_topics(topic, wait_for_metadata=True)


def produce(kafka, topic, *values, user=None):
    producer = KafkaProducer(**kafka.client_settings(user))
    try:
        for value in values:
            producer.send(topic, value, partition=0).get(timeout=10)
    finally:
        producer.close()


def read(kafka, topic, count, user=None):
    """The first values of partition 0."""
    consumer = KafkaConsumer(**kafka.client_settings(user), auto_offset_reset="earliest")
    try:
        consumer.assign([TopicPartition(topic, 0)])
        values = []
        deadline = time.monotonic() + 15
        while len(values) < count and time.monotonic() < deadline:
            for records in consumer.poll(timeout_ms=500).values():
                values += [record.value for record in records]
        return values
    finally:
        consumer.close()


def java_processes(data_dir):
    """The ids of the processes whose command line names that folder (the guard's too)."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(data_dir).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # it has just ended
    return found


def wait_until(condition, limit_s=20):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.1)


def test_it_serves_real_clients(broker, topic_name):
    create_topic(broker, topic_name)
    produce(broker, topic_name, b"one", b"two")
    assert read(broker, topic_name, 2) == [b"one", b"two"]


def test_the_offsets_topic_has_the_partitions_asked_for(broker, topic_name, group_name):
    create_topic(broker, topic_name)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=group_name)
    try:
        consumer.assign([TopicPartition(topic_name, 0)])
        consumer.committed(TopicPartition(topic_name, 0))  # finding the coordinator creates the topic
    finally:
        consumer.close()
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        (offsets,) = admin.describe_topics(["__consumer_offsets"])
    assert len(offsets["partitions"]) == 8


def test_a_stopped_broker_leaves_nothing():
    with EmbeddedKafka() as kafka:
        data_dir, port = kafka.data_dir, kafka.port
        assert listening(port)
        assert len(java_processes(data_dir)) == 2
    assert not listening(port)
    assert java_processes(data_dir) == []
    assert not data_dir.exists()


def test_a_broker_that_cannot_start_names_its_log(tmp_path):
    kafka = EmbeddedKafka(BrokerSettings(properties={"num.io.threads": "none"}), data_dir=tmp_path)
    with pytest.raises(BrokerFailed) as caught:
        kafka.start()
    assert str(kafka.log_file) in str(caught.value)
    assert "num.io.threads" in str(caught.value)
    assert not kafka.running


def test_a_broker_that_ends_while_starting_names_its_log(tmp_path, broker):
    """The folder can be formatted, but the port is taken."""
    kafka = EmbeddedKafka(BrokerSettings(port=broker.port), data_dir=tmp_path)
    try:
        with pytest.raises(BrokerFailed, match="Address already in use"):
            kafka.start()
    finally:
        kafka.stop()
    assert java_processes(tmp_path) == []


def test_topics_and_records_survive_kill_9(tmp_path, topic_name):
    with EmbeddedKafka(BrokerSettings(properties=SOON_BACK), data_dir=tmp_path) as kafka:
        create_topic(kafka, topic_name, partitions=3)
        produce(kafka, topic_name, b"kept")
        port = kafka.port
        kafka.kill()
        assert not listening(port)
        kafka.start()
        assert kafka.port == port
        with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
            (topic,) = admin.describe_topics([topic_name])
        assert len(topic["partitions"]) == 3
        assert read(kafka, topic_name, 1) == [b"kept"]
    assert kafka.data_dir.exists()


def test_the_death_of_the_parent_kills_the_broker(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from monitor.demo.servers.broker import EmbeddedKafka\n"
        "kafka = EmbeddedKafka(data_dir=Path(sys.argv[1])); kafka.start(); print(kafka.port, flush=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        port = int(parent.stdout.readline())
        assert listening(port)
        parent.kill()
    wait_until(lambda: not listening(port))
    wait_until(lambda: java_processes(tmp_path) == [])


def test_a_killed_guard_does_not_hide_the_broker_from_stop():
    with EmbeddedKafka() as kafka:
        guard, java = sorted(java_processes(kafka.data_dir))
        os.kill(guard, signal.SIGKILL)
        wait_until(lambda: not kafka.running)
        kafka.stop()
        wait_until(lambda: not Path(f"/proc/{java}").exists())
        assert not listening(kafka.port)


def test_passwords_stay_out_of_texts():
    settings = BrokerSettings(sasl_users={"admin": "very-secret"})
    assert "very-secret" not in repr(settings)
    with (
        pytest.raises(ValueError, match="letters, digits") as caught,
        EmbeddedKafka(BrokerSettings(sasl_users={"admin": 'quo"te'})),
    ):
        pass
    assert 'quo"te' not in str(caught.value)


@pytest.fixture(scope="module")
def secured():
    """A broker where "watcher" may do nothing until somebody lets it."""
    users = {"admin": "admin-password", "watcher": "watcher-password"}
    with EmbeddedKafka(BrokerSettings(sasl_users=users, super_users=("admin",))) as kafka:
        yield kafka


def test_a_super_user_may_do_everything(secured, topic_name):
    create_topic(secured, topic_name, user="admin")
    produce(secured, topic_name, b"secret", user="admin")
    assert read(secured, topic_name, 1, user="admin") == [b"secret"]


def grant(kafka, user, topic, operation):
    pattern = ResourcePattern(ResourceType.TOPIC, topic)
    with KafkaAdminClient(**kafka.client_settings("admin")) as admin:
        result = admin.create_acls([ACL(f"User:{user}", "*", operation, ACLPermissionType.ALLOW, pattern)])
    assert result["failed"] == []


def test_a_user_may_do_what_is_granted_and_nothing_else(secured, topic_name):
    create_topic(secured, topic_name, user="admin")
    produce(secured, topic_name, b"secret", user="admin")
    with KafkaAdminClient(**secured.client_settings("watcher")) as admin:
        (topic,) = admin.describe_topics([topic_name])
    assert topic["error_code"] == TopicAuthorizationFailedError.errno

    grant(secured, "watcher", topic_name, ACLOperation.DESCRIBE)
    with pytest.raises(TopicAuthorizationFailedError):
        read(secured, topic_name, 1, user="watcher")

    grant(secured, "watcher", topic_name, ACLOperation.READ)
    assert read(secured, topic_name, 1, user="watcher") == [b"secret"]
    with pytest.raises(KafkaError, match="AuthorizationFailed"):  # of the cluster: it may not even become a producer
        produce(secured, topic_name, b"more", user="watcher")


def test_nobody_gets_in_without_a_password(secured):
    wrong = secured.client_settings("watcher") | {"sasl_plain_password": "wrong"}
    for settings in (secured.client_settings(), wrong):
        with pytest.raises(KafkaError):
            KafkaAdminClient(**settings, bootstrap_timeout_ms=1500)
