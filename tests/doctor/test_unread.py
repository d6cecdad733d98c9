"""What a reading could not get is named, and no clean answer: with brokers away, and without permissions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import pytest
from kafka import KafkaConsumer
from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType
from kafka.errors import KafkaError

from monitor.cli.doctor import exit_code
from monitor.collectors.kafka.share_offsets import ShareOffsetsReader
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.doctor.diagnosis import Diagnosis, diagnose
from monitor.doctor.reading import fold_reading
from monitor.doctor.unread import Unread, coordinating_partition, unread_problems
from monitor.model import TopicPartition
from tests.doctor.test_command import doctor
from tests.doctor.test_diagnosis import LATER_MS, NOW_MS, fold, group, member, reading
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.job_process import eventually

GROUPS: Final = [f"g{number}" for number in range(6)]


def test_no_finding_with_a_part_unread_is_no_clean_answer():
    """Of a partition without end offsets, the lag is not known."""
    unread = Unread(partitions=(TopicPartition("orders", 1),))
    diagnosis = diagnose(fold(reading(NOW_MS, group(NOW_MS, "fine", 10, 10), unread=unread)), 1)
    assert diagnosis.problems == (
        "1 partition of orders (1) has no leader, or it returns no offsets; its lag is not known.",
    )
    assert exit_code(diagnosis) == 2


STUCK: Final = "busy"


def read_again(unread: Unread) -> Diagnosis:
    """A member of two partitions that has committed nothing between two readings; each has records behind."""
    own = {"state": "Stable", "protocol": "range", "members": (member("a", 0, 1),)}
    first = fold(reading(NOW_MS, group(NOW_MS, STUCK, 4, 4, **own)))
    later = reading(LATER_MS, group(LATER_MS, STUCK, 4, 4, **own), unread=unread)
    return diagnose(fold_reading(first, later), 2, before=first)


def test_no_member_is_accused_of_a_silence_that_brokers_cause():
    """Group busy belongs to partition 0 of one: then nobody can commit in it."""
    orders = tuple(TopicPartition("orders", number) for number in range(2))
    assert [each.reason for each in read_again(Unread()).findings] == ["not_committing"]
    assert [each.reason for each in read_again(Unread(partitions=orders[:1])).findings] == ["not_committing"]
    assert read_again(Unread(partitions=orders)).findings == ()
    assert read_again(Unread(coordinators=(0,), coordinator_count=1)).findings == ()


def test_partitions_look_uncommitted_where_brokers_return_no_offsets():
    """Two readings of a member that has committed one of its two partitions; both have ten records."""
    own = {"state": "Stable", "protocol": "range", "members": (member("a", 0, 1),)}

    def read_twice(unread: Unread) -> Diagnosis:
        first = fold(reading(NOW_MS, group(NOW_MS, STUCK, 7, **own)))
        return diagnose(
            fold_reading(first, reading(LATER_MS, group(LATER_MS, STUCK, 7, **own), unread=unread)), 2, before=first
        )

    returned, missing = read_twice(Unread()), read_twice(Unread(coordinators=(0,), coordinator_count=1))
    assert [(row.lag, row.lag_at_least) for row in returned.groups] == [(None, 3)]
    assert (returned.unconfirmed, missing.unconfirmed) == (1, 0), "of the lag, two readings are enough"


def test_a_missing_broker_is_a_note_and_no_gap_of_the_answer():
    """Others may lead all that it led."""
    diagnosis = read_again(Unread(missing_brokers=(3,)))
    assert diagnosis.notes == (
        "Broker 3 is missing: it does not belong to the cluster now, but it has replicas of __consumer_offsets.",
    )
    assert diagnosis.problems == ()
    (note,) = read_again(Unread(missing_brokers=(2, 3))).notes
    assert note == (
        "Brokers 2-3 are missing: they do not belong to the cluster now, but they have replicas of __consumer_offsets."
    )


def test_of_one_group_only_what_concerns_it_is_named():
    """Group Aa belongs to partition 0 of two: its hash code is 2112."""
    unread = Unread(
        partitions=(TopicPartition("orders", 1), TopicPartition("bills", 0)),
        coordinators=(0,),
        coordinator_count=2,
        share_groups=("share",),
        hidden_topics=("orders", "prices"),
    )
    state = fold(reading(NOW_MS, group(NOW_MS, "fine", 10, 10), unread=unread))
    assert coordinating_partition("Aa", 2) == 0
    assert list(unread_problems(unread, state.groups.values(), "Aa")) == [
        "Group Aa is not listed: partition 0 of __consumer_offsets has no leader."
    ]
    own = " ".join(unread_problems(unread, state.groups.values(), "fine"))
    assert "orders" in own
    assert not {"bills", "prices", "share"} & set(own.replace("(", " ").replace(")", " ").split())


def test_the_text_is_short_however_much_is_missing():
    names = [f"{number}-{'x' * 240}" for number in range(2000)]
    unread = Unread(
        partitions=tuple(TopicPartition(name, each) for name in names for each in (0, 2, 4)),
        coordinators=tuple(range(0, 100, 2)),
        coordinator_count=100,
        share_groups=tuple(names),
        hidden_topics=tuple(names),
    )
    problems = list(unread_problems(unread, (), None))
    assert len(problems) == 4
    assert max(map(len, problems)) < 2000
    assert "6,000 partitions of 2,000 topics" in problems[1]
    assert "and 1990 more" in problems[2]


@pytest.mark.broker
def test_with_a_broker_down_what_it_led_is_named():
    """Two brokers without replication: half of the topic and of the groups are away with the second one."""
    settings = BrokerSettings(
        heap_mb=384,
        offsets_topic_partitions=8,
        properties={"offsets.topic.replication.factor": "1", "broker.session.timeout.ms": "3000"},
    )
    with ExitStack() as stack:
        first = stack.enter_context(EmbeddedKafka(settings))
        second = stack.enter_context(EmbeddedKafka(settings, beside=first))
        servers = first.bootstrap_servers
        create_topic(servers, "orders", 6)
        produce(servers, "orders", dict.fromkeys(range(6), 1))
        for name in GROUPS:
            commit(servers, name, "orders", dict.fromkeys(range(6), 1))
        offline = partitions_led_by(servers, second.node_id, "__consumer_offsets")
        away = next(name for name in GROUPS if coordinating_partition(name, 8) in offline)
        assert doctor(servers).returncode == 0
        second.kill()
        eventually(lambda: partitions_led_by(servers, -1, "__consumer_offsets") == offline, "no leader", 60)
        whole = doctor(servers)
        one = doctor(servers, "--group", away)
        unknown = next(n for n in map(str, range(99)) if coordinating_partition(n, 8) not in offline)
        none = doctor(servers, "--group", unknown)
    assert whole.returncode == 2
    assert f"Broker {second.node_id} is missing: " in whole.stdout
    assert f"Not read: {len(offline)} of 8 partitions of __consumer_offsets" in whole.stdout
    assert "Not read: 3 partitions of orders" in whole.stdout
    assert (one.returncode, one.stdout) == (2, "")
    assert f"Group {away} is not listed: partition" in one.stderr
    assert "has no group" not in one.stderr
    assert "has no group" in none.stderr


def partitions_led_by(servers: str, leader: int, topic: str) -> list[int]:
    """Nothing while the client asks a broker that is down."""
    try:
        with admin(servers) as client:
            (row,) = client.describe_topics([topic])
    except KafkaError:
        return []
    return sorted(each["partition_index"] for each in row["partitions"] if each["leader_id"] == leader)


USERS: Final = {"root": "root-pw", "nothing": "nothing-pw", "groups": "groups-pw", "all": "all-pw"}
ALLOWED: Final = (
    ("groups", ResourceType.GROUP, "*"),
    ("all", ResourceType.CLUSTER, "kafka-cluster"),
    ("all", ResourceType.GROUP, "*"),
    ("all", ResourceType.TOPIC, "*"),
)


@pytest.fixture(scope="module")
def guarded() -> Iterator[EmbeddedKafka]:
    """One user may see nothing, one the groups but no topic, one everything."""
    with EmbeddedKafka(BrokerSettings(sasl_users=USERS, super_users=("root",))) as broker:
        with KafkaAdminClient(**broker.client_settings("root")) as root:
            root.create_topics({"orders": {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
            for user, kind, name in ALLOWED:
                pattern = ResourcePattern(kind, name)
                root.create_acls([ACL(f"User:{user}", "*", ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, pattern)])
        yield broker


def doctor_of(broker: EmbeddedKafka, user: str, folder: Path) -> tuple[int, str, Any]:
    file = folder / "client.properties"
    lines = ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", f"sasl.username={user}"]
    file.write_text("\n".join([*lines, f"sasl.password={USERS[user]}"]), encoding="utf-8")
    answer = doctor(broker.bootstrap_servers, "--json", "--client", str(file))
    return answer.returncode, answer.stderr, json.loads(answer.stdout) if answer.stdout else None


@pytest.mark.broker
def test_a_user_who_may_see_nothing_gets_no_clean_answer(guarded: EmbeddedKafka, tmp_path: Path):
    code, said, answer = doctor_of(guarded, "nothing", tmp_path)
    assert (code, answer) == (2, None)
    assert "The user sees no group and may not describe the cluster" in said


@pytest.mark.broker
def test_an_empty_cluster_is_clean_for_a_user_who_may_see_all(guarded: EmbeddedKafka, tmp_path: Path):
    code, said, answer = doctor_of(guarded, "all", tmp_path)
    assert (code, said, answer["judged"], answer["problems"]) == (0, "", 0, [])


@pytest.mark.broker
def test_topics_of_members_that_the_user_may_not_describe_are_named(guarded: EmbeddedKafka, tmp_path: Path):
    """A topic that does not exist is not: the user may describe it."""
    settings = guarded.client_settings("root")
    with closing(KafkaConsumer("orders", "none", **settings, group_id="g", enable_auto_commit=False)) as consumer:
        eventually(lambda: consumer.poll(timeout_ms=200) is not None and consumer.assignment(), "an assignment")
        hidden = doctor_of(guarded, "groups", tmp_path)
        visible = doctor_of(guarded, "all", tmp_path)
    assert (hidden[0], hidden[2]["judged"]) == (2, 1)
    (problem,) = hidden[2]["problems"]
    assert problem.startswith("Members subscribe to 2 topics that the user may not describe (none, orders)")
    assert visible[2]["problems"] == []


@pytest.mark.broker
def test_share_groups_whose_offsets_are_not_returned_are_known(guarded: EmbeddedKafka):
    """As the user may not describe the group; of a group that does not exist, nothing is missing."""
    settings = ClusterSettings(name="c", bootstrap_servers=guarded.bootstrap_servers, groups_from="admin")
    for user, unanswered in (("nothing", {"pool"}), ("groups", set())):
        reader = ShareOffsetsReader(settings)
        with closing(KafkaAdminClient(**guarded.client_settings(user))) as client:
            reader.read(client, ["pool"], lambda: NOW_MS)
        assert reader.unanswered == unanswered
