"""A topic made anew, clocks that are set, leaders that change: the job goes on, and tells nothing that is not so.

The tests tell one story in their order; a job's start is what takes the time. The cluster has two brokers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.streaming_jobs.jobs.clocked_job import HOUR_S, JobWithClock
from tests.support.clients import admin, commit, member, produce
from tests.support.job_process import JobProcess, eventually, running

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [
    pytest.mark.broker,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]

END = "groupwatch_partition_end_offset"
LAG = "groupwatch_partition_lag"
LAG_SECONDS = "groupwatch_partition_lag_seconds"
COMMITTED = "groupwatch_partition_committed_offset"
PREFERRED = 0

TWICE = {"offsets.topic.replication.factor": "2", "default.replication.factor": "2", "min.insync.replicas": "1"}
SETTINGS = BrokerSettings(heap_mb=384, offsets_topic_partitions=2, properties=TWICE)


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with ExitStack() as stack:
        first = stack.enter_context(EmbeddedKafka(SETTINGS))
        yield first, stack.enter_context(EmbeddedKafka(SETTINGS, beside=first))


@pytest.fixture(scope="module")
def bootstrap(brokers: tuple[EmbeddedKafka, EmbeddedKafka]) -> str:
    servers = ",".join(broker.bootstrap_servers for broker in brokers)
    create_topic(servers, "led", 4)
    produce(servers, "led", dict.fromkeys(range(4), 10))
    commit(servers, "reader", "led", dict.fromkeys(range(4), 10))
    return servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobWithClock]:
    silence = {"commit_silence_s": HOUR_S / 2}
    with running(JobWithClock(tmp_path_factory.mktemp("job"), bootstrap, detection=silence)) as process:
        yield process


def findings(job: JobProcess, group: str) -> set[str]:
    """What is wrong with a group."""
    return {f"{each['kind']}/{each['reason']}" for each in job.group("test", group).get("findings", ())}


def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """A topic that both brokers have."""
    with admin(bootstrap) as client:
        client.create_topics([NewTopic(topic, partitions, 2)])
        client.wait_for_topics([topic])


def delete_topic(bootstrap: str, topic: str) -> None:
    with admin(bootstrap) as client:
        client.delete_topics([topic])
        eventually(lambda: topic not in client.list_topics(), f"the end of {topic}")


def vanished(job: JobProcess, label: str) -> bool:
    return label not in job.metrics().text


def test_a_topic_made_anew_with_fewer_partitions_is_another_topic(bootstrap: str, job: JobWithClock):
    """The broker deletes the offsets that were committed in a topic together with it."""
    create_topic(bootstrap, "anew", 3)
    produce(bootstrap, "anew", {0: 50, 1: 50, 2: 50})
    commit(bootstrap, "simple", "anew", {0: 40, 1: 40, 2: 40})
    with member(bootstrap, "membered", "anew"):
        job.await_metric("groupwatch_group_members", 1, group="membered")
        job.await_metric(LAG, 10, group="simple", partition="2")
        delete_topic(bootstrap, "anew")
        create_topic(bootstrap, "anew", 2)
        produce(bootstrap, "anew", {0: 45, 1: 5})
        samples = job.await_metric(END, 45, topic="anew", partition="0")
        assert {each.labels["partition"] for each in samples.all(END, topic="anew")} == {"0", "1"}
        eventually(lambda: vanished(job, 'group="simple"'), "the end of the commits in the topic that was")
        assert job.status("/api/v1/groups/test/simple") == 404
        assert findings(job, "membered") == set(), "it owns partition 2, which is no more"
        commit(bootstrap, "simple", "anew", {0: 30, 1: 5})
        samples = job.await_metric(LAG, 15, group="simple", partition="0")
        assert samples.value(LAG, group="simple", partition="1") == 0
        assert samples.all(LAG, group="simple", partition="2") == []
        delete_topic(bootstrap, "anew")
        eventually(lambda: vanished(job, 'topic="anew"'), "the end of the deleted topic")
        assert findings(job, "membered") == set()


@pytest.mark.long  # the chaos of the suite sets the clock too
def test_a_clock_that_is_set_makes_nothing_older_and_stops_nothing(bootstrap: str, job: JobWithClock):
    """A record waits, and the group has committed minutes ago at most: by the clock of the day it would be an hour."""
    job.await_metric(LAG, 0, group="reader", partition="0")
    produce(bootstrap, "led", {0: 1})
    job.await_metric(LAG, 1, group="reader", partition="0")
    for number, ahead_s in enumerate((HOUR_S, -HOUR_S, 0)):
        job.set_ahead(ahead_s)
        job.await_evaluation(ahead_s)
        age_s = job.metrics().value(LAG_SECONDS, group="reader", partition="0")
        assert age_s is not None
        assert 0 <= age_s < HOUR_S / 2
        assert findings(job, "reader") == set()
        produce(bootstrap, "led", {1: 1})
        job.await_metric(LAG, 1, group="reader", partition="1")
        commit(bootstrap, "reader", "led", {1: 11 + number})
        job.await_metric(LAG, 0, group="reader", partition="1")
        create_topic(bootstrap, "short", 1)
        job.await_metric(END, 0, topic="short", partition="0")
        delete_topic(bootstrap, "short")
        eventually(lambda: vanished(job, 'topic="short"'), "the end of a deleted topic")
        assert not vanished(job, 'topic="led"')
    assert "moved forward by about" in job.log()
    commit(bootstrap, "reader", "led", {0: 11})
    job.await_metric(LAG, 0, group="reader", partition="0")


@contextmanager
def nothing_false(job: JobWithClock) -> Iterator[None]:
    """All the time in this block, the group has no finding, and in each partition the lag that it has: 1 to 3."""
    told: list[object] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.2):
            lags = [each.value for each in job.metrics().all(LAG, group="reader")]
            told.extend(findings(job, "reader"))
            told.extend([lags] if len(lags) != 4 or not {1, 2, 3}.issuperset(lags) else [])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert told == []


def leaders(client: KafkaAdminClient, topic: str) -> set[int]:
    """The brokers that lead a partition of the topic; none if the client has just asked the one that is away."""
    try:
        (described,) = client.describe_topics([topic])
    except KafkaError:
        return set()
    return {partition["leader_id"] for partition in described["partitions"]}


@pytest.mark.parametrize(
    "which",
    [
        pytest.param(1, id="a broker"),
        pytest.param(0, id="the broker that is the controller too", marks=pytest.mark.long),
    ],
)
def test_leaders_change_and_the_job_goes_on(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], bootstrap: str, job: JobWithClock, which: int
):
    killed, other = brokers[which], brokers[1 - which]
    commit_all_but_the_last(job, bootstrap)
    with nothing_false(job):
        killed.kill()
        if which == 1:
            with admin(other.bootstrap_servers) as client:
                eventually(lambda: leaders(client, "led") == {other.node_id}, "all leaders on the other broker")
            follow(job, other.bootstrap_servers)
        killed.start()
        with admin(killed.bootstrap_servers) as client:
            eventually(lambda: elected(client), "leaders on both brokers")
        follow(job, bootstrap)
        job.await_metric("groupwatch_up", 1)


def elected(client: KafkaAdminClient) -> bool:
    """Have the preferred leaders lead again; whether they do."""
    with suppress(KafkaError):  # no controller yet
        client.elect_leaders(PREFERRED, raise_errors=False)
    return all(leaders(client, topic) == {1, 2} for topic in ("led", "__consumer_offsets"))


def follow(job: JobWithClock, bootstrap: str) -> None:
    """Write two records into every partition, and commit all but the last: both are seen."""
    ends = ends_of(job)
    produce(bootstrap, "led", dict.fromkeys(ends, 2))
    for partition, end in ends.items():
        job.await_metric(END, end + 2, topic="led", partition=str(partition))
    commit_all_but_the_last(job, bootstrap)


def commit_all_but_the_last(job: JobWithClock, bootstrap: str) -> None:
    ends = ends_of(job)
    commit(bootstrap, "reader", "led", {partition: end - 1 for partition, end in ends.items()})
    for partition, end in ends.items():
        job.await_metric(COMMITTED, end - 1, group="reader", partition=str(partition))
        job.await_metric(LAG, 1, group="reader", partition=str(partition))


def ends_of(job: JobWithClock) -> dict[int, int]:
    return {int(each.labels["partition"]): int(each.value) for each in job.metrics().all(END, topic="led")}
