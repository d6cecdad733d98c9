"""Thirty groups of one process each, and one real group among them whose member has died, on a real broker.

dydxprotocol/v4-infrastructure #49 and spring-cloud/spring-cloud-stream #310: each start leaves a group with a lag.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer

from monitor.demo.servers.broker import EmbeddedKafka
from tests.push.webhook_receiver import Receiver, webhook_receiver
from tests.support.clients import create_topic, produce
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

GROUPS, AT_ONCE = 30, 5
"""So many processes come and go at a time: groups that live together are not taken for throwaway ones."""

PATTERN = "console-consumer-*"


def read_once(bootstrap: str, topic: str, group: str) -> None:
    """A process that reads something, commits it and ends: its consumer leaves by itself."""
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        client_id="app",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=2,
        metadata_max_age_ms=2_000,  # who joins before it knows the topic gets no partition, and joins again with it
    )
    eventually(lambda: consumer.poll(500), "records", 60)
    consumer.commit()
    consumer.close(autocommit=False)


def sent_events(receiver: Receiver) -> list[dict[str, Any]]:
    """What the webhook was sent, in order."""
    return list({each["id"]: each for each in map(json.loads, receiver.accepted())}.values())


def event_keys(receiver: Receiver) -> set[tuple[str, str, str]]:
    """Whom each event was about, the reason, and what happened."""
    return {(each["data"]["group"], each["data"]["reason"], each["data"]["event"]) for each in sent_events(receiver)}


def digests(receiver: Receiver) -> list[dict[str, Any]]:
    return [each for each in sent_events(receiver) if each["data"]["pattern"] == PATTERN]


def number_in_line(job: JobProcess) -> int:
    """How many groups the line of the page has together."""
    return job.alike_groups("pattern", PATTERN)


def read_by_processes(bootstrap: str, topic: str, names: list[str]) -> None:
    """Each group has a process of its own; a few live at a time."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for first in range(0, len(names), AT_ONCE):
            list(threads.map(lambda name: read_once(bootstrap, topic, name), names[first : first + AT_ONCE]))


def names_from(number: int, count: int) -> list[str]:
    return [f"console-consumer-{number + 7 * each}" for each in range(count)]


@pytest.fixture
def bootstrap() -> Iterator[str]:
    with EmbeddedKafka() as kafka:
        yield kafka.bootstrap_servers


def test_thirty_groups_are_one_line_and_one_event_and_the_real_group_stays_critical(bootstrap: str, tmp_path: Path):
    """Half of them come and go before the job starts, half while it runs. Nobody learns of each of the first half."""
    topic = "orders"
    create_topic(bootstrap, topic, 1)
    produce(bootstrap, topic, {0: 10})
    before, later = names_from(10_000, GROUPS // 2), names_from(50_000, GROUPS // 2)
    read_by_processes(bootstrap, topic, [*before, "billing"])
    produce(bootstrap, topic, {0: 5})
    cluster = {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0, "findings_topic": f"{topic}.findings"}
    with webhook_receiver() as receiver:
        more = {"detection": {"commit_silence_s": 12}, "webhook": {"url": receiver.url, "group": f"{topic}.webhook"}}
        with running(JobWithoutSpark(tmp_path, {"c": cluster}, **more)) as job:
            eventually(lambda: number_in_line(job) == len(before), "one line for the first half")
            eventually(lambda: digests(receiver), "one event for all of them")
            read_by_processes(bootstrap, topic, later)
            eventually(lambda: number_in_line(job) == GROUPS, "one line for all of them")
            eventually(
                lambda: ("billing", "no_members", "opened") in event_keys(receiver), "the event of the real group"
            )
            page, metrics = job.get_any("/"), job.metrics()
    (event,) = digests(receiver)
    assert (event["subject"], event["type"]) == ("console-consumer-%2A", "groupwatch.finding.opened")
    assert (event["data"]["reason"], event["data"]["pattern"], event["data"]["group"]) == ("one_off", PATTERN, "")
    assert {name for name, _, _ in event_keys(receiver)} & set(before) == set()
    assert page.count("console-consumer-") < GROUPS // 2
    critical = metrics.all("groupwatch_group_findings", kind="unattended", reason="no_members")
    assert {each.labels["group"] for each in critical} & {*before, *later, "billing"} == {"billing"}
