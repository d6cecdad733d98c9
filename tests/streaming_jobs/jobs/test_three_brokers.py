"""Each of three brokers hangs, throttles or cannot be reached, beside another cluster: held against the truth.

A group of each broker commits once a second, as long as its broker answers. So what a job shows of a group is as old as
the first commit that it does not show yet.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.settings import BrokerSettings
from monitor.protocol.kafka.group_metadata import group_partition
from tests.paused import hanging
from tests.support.clients import LOG, admin, commit, create_topic, produce, simple_consumer
from tests.support.job_process import JobProcess, eventually, running
from tests.support.progress import say
from tests.support.quotas import strangers_throttled
from tests.support.several_brokers import brokers_of_one_cluster, create_on

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.long,  # test_hanging_broker.py has one of two
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),  # kafka-python leaves those of failed connections
]

FAULT_S: Final = 45
LOG_PARTITIONS: Final = 6
COMMITTED: Final = "groupwatch_partition_committed_offset"
WITHIN_S: Final = {"three": 15, "other": 5}
"""How old the view of a group may be whose broker answers, by cluster (docs/architecture.md)."""
BUSY: Final = 3
"""On a machine that does much else it may be so many times as old."""

Fault = Callable[[EmbeddedKafka], AbstractContextManager[None]]


@dataclass
class Group:
    """One that commits 1, 2, 3, ... in a thread, unless it is told to be quiet."""

    cluster: str
    name: str
    place: TopicPartition
    broker: int
    consumer: KafkaConsumer
    times: list[float] = field(default_factory=list)
    quiet: threading.Event = field(default_factory=threading.Event)

    def run(self, stopping: threading.Event) -> None:
        while not stopping.wait(1.0):
            if not self.quiet.is_set():
                with suppress(KafkaError):
                    self.consumer.commit({self.place: OffsetAndMetadata(len(self.times) + 1, "", -1)})
                    self.times.append(time.monotonic())

    def age_s(self, shown: float, now: float) -> float:
        unseen = self.times[int(shown) :]
        return now - unseen[0] if unseen else 0.0


@dataclass
class Seen:
    """The worst during a fault: the oldest view by cluster, and what must not be."""

    oldest_s: dict[str, float] = field(default_factory=lambda: dict.fromkeys(WITHIN_S, 0.0))
    accused: set[str] = field(default_factory=set)
    not_ready_s: int = 0


@pytest.fixture(scope="module")
def brokers() -> Iterator[list[EmbeddedKafka]]:
    with brokers_of_one_cluster(3, LOG_PARTITIONS) as found:
        bootstrap = found[0].bootstrap_servers
        create_on(bootstrap, "read", [(1,), (2,), (3,)])
        produce(bootstrap, "read", dict.fromkeys(range(3), 1_000))
        commit(bootstrap, "any", "read", {0: 1_000})  # the log of offsets exists from now on
        yield found


@pytest.fixture(scope="module")
def groups(brokers: list[EmbeddedKafka]) -> Iterator[list[Group]]:
    """One of each broker, of which the topic's partition is, too; and one of another cluster."""
    bootstrap = brokers[0].bootstrap_servers
    with admin(bootstrap) as client:
        (log,) = client.describe_topics([LOG])
    leaders = {each["partition_index"]: each["leader_id"] for each in log["partitions"]}
    names = {leaders[group_partition(name, LOG_PARTITIONS)]: name for name in map("group-{}".format, range(60))}
    assert names.keys() == {1, 2, 3}
    stopping = threading.Event()
    with ExitStack() as stack:
        other = stack.enter_context(EmbeddedKafka()).bootstrap_servers
        create_topic(other, "elsewhere", 1)
        produce(other, "elsewhere", {0: 1_000})
        made = []
        for broker, name in sorted(names.items()):
            consumer = stack.enter_context(simple_consumer(bootstrap, name))
            made.append(Group("three", name, TopicPartition("read", broker - 1), broker, consumer))
        apart = stack.enter_context(simple_consumer(other, "apart"))
        made.append(Group("other", "apart", TopicPartition("elsewhere", 0), 0, apart))
        threads = [threading.Thread(target=group.run, args=(stopping,), daemon=True) for group in made]
        for thread in threads:
            thread.start()
        yield made
        stopping.set()
        for thread in threads:
            thread.join(60)


@pytest.fixture(scope="module")
def job(
    brokers: list[EmbeddedKafka], groups: list[Group], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    (other,) = groups[-1].consumer.config["bootstrap_servers"].split(",")
    addresses = ",".join(broker.bootstrap_servers for broker in brokers)
    clusters = {"three": {"bootstrap_servers": addresses}, "other": {"bootstrap_servers": other}}
    made = JobProcess(tmp_path_factory.mktemp("three"), clusters, detection={"commit_silence_s": 20})
    with running(made):
        yield made


@contextmanager
def unreachable(broker: EmbeddedKafka) -> Iterator[None]:
    """The broker names a port to clients on which nobody listens."""
    before = broker.settings
    wrong = {"advertised.listeners": f"CLIENTS://127.0.0.1:{free_ports(1)[0]}"}
    restart(broker, replace(before, properties={**before.properties, **wrong}))
    try:
        yield
    finally:
        restart(broker, before)


def restart(broker: EmbeddedKafka, settings: BrokerSettings) -> None:
    broker.kill()
    broker.settings = settings
    broker.start()


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        pytest.param(3, hanging, id="the third hangs", marks=pytest.mark.long),
        pytest.param(2, hanging, id="the second hangs", marks=pytest.mark.long),
        pytest.param(1, hanging, id="the controller hangs"),
        pytest.param(3, unreachable, id="the third names a wrong port"),
    ],
)
def test_the_groups_of_the_other_brokers_are_as_new_as_ever(
    job: JobProcess, brokers: list[EmbeddedKafka], groups: list[Group], number: int, fault: Fault
):
    (of_broker,) = (group for group in groups if group.broker == number)
    eventually(lambda: not found(job) and max(ages(job, groups).values()) < BUSY, "views that are new, and no finding")
    of_broker.quiet.set()
    with fault(brokers[number - 1]):
        seen = watched(job, [group for group in groups if group is not of_broker])
        condition = condition_of(job, "three")
        marked = json.loads(job.get("/api/v1/groups"))
    of_broker.quiet.clear()
    say(f"broker {number}, {fault.__name__}: {seen}")
    assert seen.accused == set()
    assert seen.not_ready_s < 30
    for cluster, oldest_s in seen.oldest_s.items():
        assert oldest_s < BUSY * WITHIN_S[cluster]
    assert f"broker {number} (127.0.0.1:" in condition
    unjudged = {each["group"]: each["unjudged"] for each in marked if each.get("unjudged")}
    assert unjudged.keys() & {group.name for group in groups} == {of_broker.name}
    assert "has not been read since 20" in unjudged[of_broker.name]


def test_a_cluster_that_throttles_keeps_no_other_waiting(
    job: JobProcess, brokers: list[EmbeddedKafka], groups: list[Group]
):
    """What its own groups show may be old meanwhile; who throttles is named, and nobody is accused."""
    eventually(lambda: not found(job) and max(ages(job, groups).values()) < BUSY, "views that are new, and no finding")
    with strangers_throttled(brokers[0].bootstrap_servers):
        seen = watched(job, groups)
        reason = condition_of(job, "three")
    say(f"throttled: {seen}; {reason}")
    assert seen.accused == set()
    assert seen.oldest_s["other"] < BUSY * WITHIN_S["other"]
    assert "throttles groupwatch's requests (a client quota)" in reason
    eventually(lambda: max(ages(job, groups).values()) < BUSY, "views that are new", 180)
    assert not found(job)


def condition_of(job: JobProcess, cluster: str) -> str:
    """What is told of a cluster, as text."""
    (condition,) = (each for each in json.loads(job.get("/api/v1/clusters")) if each["cluster"] == cluster)
    return json.dumps(condition, ensure_ascii=False)


def watched(job: JobProcess, groups: list[Group]) -> Seen:
    """Look once a second for as long as the fault lasts."""
    seen, end = Seen(), time.monotonic() + FAULT_S
    while time.monotonic() < end:
        time.sleep(1.0)  # a look each second is what is asked for
        for group, age_s in ages(job, groups).items():
            seen.oldest_s[group[0]] = max(seen.oldest_s[group[0]], age_s)
        seen.accused |= found(job)
        seen.not_ready_s += job.status("/readyz") != 200
    return seen


def found(job: JobProcess) -> set[str]:
    """What is found now, as sentences."""
    return {f"{each['group']}: {each['sentence']}" for each in json.loads(job.get("/api/v1/findings"))}


def ages(job: JobProcess, groups: list[Group]) -> dict[tuple[str, str], float]:
    """How old what is shown of each group is, in seconds."""
    samples, now = job.metrics(), time.monotonic()
    return {
        (each.cluster, each.name): each.age_s(samples.value(COMMITTED, cluster=each.cluster, group=each.name) or 0, now)
        for each in groups
    }
