"""Kafka's own ``kafka-consumer-groups.sh`` prints what a topic's detail has, and accepts the commands that delete."""

from __future__ import annotations

import shlex
import subprocess
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.detection.evaluate import evaluate
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import cache_dir, kafka_artifact, resolve
from monitor.messages.commands import BROKER
from monitor.model import Catalog, GroupState
from monitor.topics.detail import Reading, TopicInputs, topic_detail
from monitor.topics.unused import UNUSED_MS, find_unused
from monitor.topics.uses import group_use
from monitor.tracking.topic import catalog_of, fold_topic
from tests.collectors.kafka.log_of_groups import states_by_the_log
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.crowd import Crowd
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker

TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
COLUMNS = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID")


@pytest.fixture(scope="module")
def jars() -> list[Path]:
    """The tool with all that it needs; fetched if this user does not have it yet."""
    artifact = kafka_artifact("kafka-tools")
    return resolve(artifact, cache_dir() / f"kafka-tools-{artifact.version}")


def run_tool(jars: list[Path], *arguments: str) -> str:
    """What the tool prints."""
    command = [find_java().executable, "-cp", ":".join(map(str, jars)), TOOL, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def run_command(jars: list[Path], command: str, bootstrap: str) -> str:
    """What the tool prints when a person runs a command that groupwatch shows."""
    script, *arguments = shlex.split(command)
    assert script == "kafka-consumer-groups.sh"
    return run_tool(jars, *(bootstrap if word == BROKER else word for word in arguments))


def described(jars: list[Path], bootstrap: str, group: str) -> dict[tuple[str, int], tuple[str, ...]]:
    """The rows of ``--describe``, by topic and partition: committed offset, end, lag and member."""
    lines = run_tool(jars, "--bootstrap-server", bootstrap, "--describe", "--group", group).splitlines()
    head = next(line.split() for line in lines if line.startswith("GROUP"))
    rows = [dict(zip(head, line.split(), strict=False)) for line in lines if line.startswith(f"{group} ")]
    return {(row["TOPIC"], int(row["PARTITION"])): tuple(row[name] for name in COLUMNS[2:]) for row in rows}


def read_catalog(bootstrap: str) -> Catalog:
    """The topics as a collector sees them."""
    now_ms = time.time_ns() // 1_000_000
    with admin(bootstrap) as client:
        seen = observe_topics(client, StableOffsets(), cluster="prod", pass_ms=now_ms, observed_ms=now_ms)
    states = [fold_topic("prod", each.topic, None, [each]) for each in seen]
    return catalog_of("prod", now_ms, [state for state in states if state is not None])


def detail_rows(state: GroupState, catalog: Catalog, topic: str) -> dict[tuple[str, int], tuple[str, ...]]:
    """The same of the topic's detail, with a dash for what is not there, as the tool prints it."""
    verdict = evaluate(state, catalog, catalog.pass_ms, DetectionSettings())
    reading = Reading(group_use(state, catalog), verdict)
    detail = topic_detail(TopicInputs("prod", topic, catalog.pass_ms, catalog.topics[topic], (reading,)))
    ends = {each.partition: each.end for each in detail.partitions}
    return {
        (topic, int(row.partition)): (
            *("-" if value is None else str(value) for value in (row.committed, ends[row.partition], row.lag)),
            row.owners[0] if row.owners else "-",
        )
        for row in detail.groups[0].partitions
    }


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_owners_and_lags_are_those_that_the_tool_prints(
    broker: EmbeddedKafka, jars: list[Path], topic_name: str, group_name: str, protocol: str
):
    """Two members read 3 partitions; then records come that only some partitions get, and the members are stopped."""
    bootstrap = broker.bootstrap_servers
    create_topic(bootstrap, topic_name, 3)
    produce(bootstrap, topic_name, {0: 5, 1: 2, 2: 1})
    with Crowd(bootstrap) as crowd:
        for number in range(2):
            props = {"group.id": group_name, "group.protocol": protocol}
            crowd.tell("start", name=f"{group_name}-{number}", topics=[topic_name], props=props)

        def state() -> GroupState:
            return states_by_the_log(bootstrap, "prod")[group_name]

        def has_settled() -> bool:
            """Both members are there long before each has what it is to have, in a KIP-848 group."""
            found = states_by_the_log(bootstrap, "prod").get(group_name)
            if found is None or len(found.offsets) < 3:
                return False
            owners = [row[3] for row in detail_rows(found, read_catalog(bootstrap), topic_name).values()]
            return "-" not in owners and len(set(owners)) == 2

        eventually(has_settled, "the group", 60)
        rows = described(jars, bootstrap, group_name)
        assert len(rows) == 3
        assert detail_rows(state(), read_catalog(bootstrap), topic_name) == rows
        for number in range(2):
            crowd.tell("close", name=f"{group_name}-{number}")
        eventually(lambda: not state().members, "the group to be empty", 60)
    produce(bootstrap, topic_name, {0: 4, 2: 7})
    rows = described(jars, bootstrap, group_name)
    assert {place: row[2] for place, row in rows.items()} == {
        (topic_name, 0): "4",
        (topic_name, 1): "0",
        (topic_name, 2): "7",
    }
    assert detail_rows(state(), read_catalog(bootstrap), topic_name) == rows


def test_the_tool_deletes_the_group_that_a_command_names(broker: EmbeddedKafka, jars: list[Path], topic_name: str):
    bootstrap, names = broker.bootstrap_servers, (f"-old {topic_name}; exit", f"keep-{topic_name}")
    create_topic(bootstrap, topic_name, 1)
    for name in names:
        commit(bootstrap, name, topic_name, {0: 0})
    eventually(lambda: set(names) <= states_by_the_log(bootstrap, "prod").keys(), "the commits", 30)
    catalog = read_catalog(bootstrap)
    use = group_use(states_by_the_log(bootstrap, "prod")[names[0]], catalog)
    (unused,) = find_unused("prod", use, catalog.pass_ms + UNUSED_MS)
    assert unused.command is not None
    run_command(jars, unused.command, bootstrap)
    listed = run_tool(jars, "--bootstrap-server", bootstrap, "--list").splitlines()
    assert [name in listed for name in names] == [False, True]


def test_the_tool_deletes_the_offsets_that_a_command_names(
    broker: EmbeddedKafka, jars: list[Path], topic_name: str, group_name: str
):
    """A member subscribes to one topic; the group also has offsets in another."""
    bootstrap, other = broker.bootstrap_servers, f"{topic_name}-other"
    for name in (topic_name, other):
        create_topic(bootstrap, name, 2)
        produce(bootstrap, name, {0: 1, 1: 1})
    commit(bootstrap, group_name, other, {0: 1, 1: 1})
    with Crowd(bootstrap) as crowd:
        crowd.tell("start", name=group_name, topics=[topic_name], props={"group.id": group_name})

        def state() -> GroupState | None:
            return states_by_the_log(bootstrap, "prod").get(group_name)

        eventually(lambda: (found := state()) is not None and len(found.offsets) == 4 and found.members, "it", 60)
        found, catalog = state(), read_catalog(bootstrap)
        assert found is not None
        use = group_use(found, catalog)
        old = tuple(replace(each, newest_ms=0) if each.topic == other else each for each in use.commits)
        (unused,) = find_unused("prod", replace(use, commits=old), catalog.pass_ms)
        assert unused.command is not None
        run_command(jars, unused.command, bootstrap)
        assert {topic for topic, _ in described(jars, bootstrap, group_name)} == {topic_name}
