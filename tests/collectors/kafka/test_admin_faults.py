"""What is wrong with one group or one broker hides no other, and nobody takes it for the end of a group."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    ResourcePattern,
    ResourceType,
)
from kafka.errors import CoordinatorLoadInProgressError

from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka.admin_reader import AdminReader
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.protocol.kafka.group_metadata import group_partition
from tests.support.brokers import SOON_BACK
from tests.support.clients import admin, create_topic
from tests.support.crowd import Crowd
from tests.support.job_process import eventually

pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]

ROOT = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="root" password="root-pw";'
    ),
}


def told(reader: AdminReader, pass_ms: int):
    """A reading with the names of the groups in it; None while nobody answers."""
    try:
        reading = reader.read(pass_ms)
    except CollectorError:
        reader.close()
        return None, set()
    return reading, {group.group for group in reading.groups}


def test_a_group_that_the_user_may_not_see_whole_is_not_told_and_the_others_are():
    """A KIP-848 group is described to those only who may describe all of its topics; it is not told as empty."""
    users = {"root": "root-pw", "watcher": "watcher-pw"}
    with EmbeddedKafka(BrokerSettings(sasl_users=users, super_users=("root",))) as kafka, ExitStack() as stack:
        with KafkaAdminClient(**kafka.client_settings("root")) as root:
            plan = {"num_partitions": 2, "replication_factor": 1}
            root.create_topics({"open": plan, "secret": plan}, wait_for_metadata=True)
            everything = ResourcePattern(ResourceType.GROUP, "*", ACLResourcePatternType.LITERAL)
            for pattern in (everything, ResourcePattern(ResourceType.TOPIC, "open")):
                root.create_acls([ACL("User:watcher", "*", ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, pattern)])
        crowd = stack.enter_context(Crowd(kafka.bootstrap_servers))
        for topic in ("open", "secret"):
            props = {**ROOT, "group.id": f"reads-{topic}", "group.protocol": "consumer"}
            crowd.tell("start", name=topic, topics=[topic], props=props)
        client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
        client |= {"sasl.username": "watcher", "sasl.password": "watcher-pw"}
        reader = AdminReader(ClusterSettings(name="prod", bootstrap_servers=kafka.bootstrap_servers, client=client))
        stack.callback(reader.close)

        def seen():
            reader.close()  # all of it again
            reading, names = told(reader, 1)
            return reading if reading and "reads-open" in names and "reads-secret" in reading.listed else None

        reading = eventually(seen, "both groups", 60)
        assert {group.group for group in reading.groups} == {"reads-open"}
        assert reading.complete
        assert reading.problems == (
            "Cluster prod: 1 group is missing from the poll (TopicAuthorizationFailed), one of them"
            " 'reads-secret'; the last known state stays.",
        )


def test_while_a_broker_is_away_its_groups_stay_and_the_others_go_on():
    """With one replica nobody takes its groups over, and soon nobody speaks of the broker any more."""
    settings = BrokerSettings(
        heap_mb=384,
        offsets_topic_partitions=2,
        properties={**SOON_BACK, "offsets.topic.replication.factor": "1"},
    )
    with ExitStack() as stack:
        first = stack.enter_context(EmbeddedKafka(settings))
        second = stack.enter_context(EmbeddedKafka(settings, beside=first))
        servers = f"{first.bootstrap_servers},{second.bootstrap_servers}"
        create_topic(first.bootstrap_servers, "t", 1)
        for group in ("g0", "g1"):
            commit(servers, group)
        assert {group_partition(group, 2) for group in ("g0", "g1")} == {0, 1}
        away, stays = homes(servers, second.node_id)
        reader = AdminReader(ClusterSettings(name="prod", bootstrap_servers=servers))
        stack.callback(reader.close)
        eventually(lambda: {"g0", "g1"} <= set(told(reader, 1)[0].listed or ()), "both groups", 30)

        second.kill()
        passes = iter(range(2, 10_000))

        def forgotten_by_the_others():
            reading, _ = told(reader, next(passes))
            if reading is None:
                return None
            assert reading.complete is False or {"g0", "g1"} <= set(reading.listed), reading
            return reading if reading.complete else None

        eventually(forgotten_by_the_others, "a list of brokers without the one that is away", 60)
        for _ in range(3):
            reading, _ = told(reader, next(passes))
            assert {away, stays} <= set(reading.listed), "its coordinator cannot say that it is gone"
        commit(first.bootstrap_servers, stays, 7)
        reading, names = told(reader, next(passes))
        assert stays in names
        second.start()

        def coordinator_is_back():
            with suppress(CoordinatorLoadInProgressError):  # what it says before it knows its groups again
                return away in homes_of(servers)
            return False

        eventually(coordinator_is_back, "its coordinator", 60)
        with admin(servers) as client:
            client.delete_groups([away])
        eventually(lambda: away not in (told(reader, next(passes))[0].listed or ()), "that it is gone now", 60)


def commit(servers: str, group: str, offset: int = 5) -> None:
    consumer = KafkaConsumer(bootstrap_servers=servers.split(","), group_id=group, enable_auto_commit=False)
    try:
        consumer.assign([TopicPartition("t", 0)])
        consumer.commit({TopicPartition("t", 0): OffsetAndMetadata(offset, "", -1)})
    finally:
        consumer.close()


def homes_of(servers: str) -> set[str]:
    with admin(servers) as client:
        return {str(row["group_id"]) for row in client.list_groups()}


def homes(servers: str, broker: int) -> tuple[str, str]:
    """The group that this broker coordinates, and the one that the other does."""
    with admin(servers) as client:
        own = {str(row["group_id"]) for row in client.list_groups(broker_ids=[broker])} & {"g0", "g1"}
    (away,) = own
    (stays,) = {"g0", "g1"} - own
    return away, stays
