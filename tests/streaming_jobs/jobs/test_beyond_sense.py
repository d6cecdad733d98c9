"""Hostile commits and forged events beside healthy groups: counted, told once, and nothing else comes of them.

Commits that make sense by themselves, but not for their log: beyond its end, or the same one for ever.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.protocol.kafka.group_metadata import group_partition
from tests.support.clients import admin, commit, create_topic, member, offsets_log_producer, produce
from tests.support.job_process import JobProcess, Samples, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

PARTITIONS = 4
HEALTHY = ("late", "membered", "quick")
LAG = "groupwatch_partition_lag"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A topic of three partitions with 10 records each; 10, 9 and 8 wait for "late", none for "quick".

    The offset of "copied" in partition 0 is of another log.
    """
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=PARTITIONS)) as kafka:
        create_topic(kafka.bootstrap_servers, "read", 3)
        produce(kafka.bootstrap_servers, "read", dict.fromkeys(range(3), 10))
        commit(kafka.bootstrap_servers, "late", "read", {0: 0, 1: 1, 2: 2})
        commit(kafka.bootstrap_servers, "quick", "read", dict.fromkeys(range(3), 10))
        commit(kafka.bootstrap_servers, "copied", "read", {0: 5_000, 1: 10})
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}
    with ExitStack() as stack:
        stack.enter_context(member(bootstrap, "membered", "read"))
        folder = tmp_path_factory.mktemp("job")
        # however slow the machine is, lag is all that is wrong
        impatient = {"groups": "repeating", "commit_silence_s": 30.0}
        detection = {"lag_records": 20, "commit_silence_s": 3_600.0, "overrides": [impatient]}
        yield stack.enter_context(running(JobWithoutSpark(folder, clusters, detection=detection)))


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def put_commits(bootstrap: str, group: str, *commits: tuple[int, int, int]) -> None:
    """Partition, offset and time of each, as a coordinator would write them (version 3)."""
    with offsets_log_producer(bootstrap) as producer:
        for partition, offset, at_ms in commits:
            key = struct.pack(">h", 1) + text(group) + text("read") + struct.pack(">i", partition)
            value = struct.pack(">hqihq", 3, offset, -1, 0, at_ms)
            place = group_partition(group, PARTITIONS)
            producer.send("__consumer_offsets", key=key, value=value, partition=place).get(timeout=30)


def put_events(bootstrap: str, *events: dict[str, Any]) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    for event in events:
        value = json.dumps({"cluster": "test"} | event).encode()
        producer.send("groupwatch.events", value, partition=0).get(timeout=30)
    producer.close()


def ended(at_ms: int, topics: int = 0) -> dict[str, Any]:
    return {"event": "passcompleted", "pass_ms": at_ms, "completed_ms": at_ms, "topics": topics}


def seen(at_ms: int, end: int) -> dict[str, Any]:
    partitions = [{"partition": number, "earliest": 0, "end": end} for number in range(3)]
    return {"event": "topicobserved", "topic": "read", "pass_ms": at_ms, "observed_ms": at_ms, "partitions": partitions}


def refused(samples: Samples) -> dict[tuple[str, str], float]:
    found = samples.all("groupwatch_decode_errors_total")
    return {(each.labels["source"], each.labels["reason"]): each.value for each in found}


def lags(samples: Samples, group: str) -> list[float]:
    return [each.value for each in samples.all(LAG, group=group)]


def begun(job: JobProcess) -> list[tuple[str, str, int]]:
    """The findings of "late", and since when each is so."""
    found = job.group("test", "late").get("findings", ())
    return sorted((each["kind"], each["reason"], each["since_ms"]) for each in found)


def listed(samples: Samples) -> set[str]:
    return {each.labels["group"] for each in samples.all("groupwatch_group_state")}


def assert_unhurt(job: JobProcess, before: list[tuple[str, str, int]]) -> None:
    """At several evaluations that follow one another."""
    for _ in range(4):
        began = time.time()
        eventually(
            lambda began=began: (job.metrics().value("groupwatch_last_evaluation_timestamp_seconds") or 0) > began,
            "another evaluation",
        )
        samples = job.metrics()
        assert listed(samples) >= set(HEALTHY)
        assert lags(samples, "late") == [10, 9, 8]
        assert lags(samples, "quick") == [0, 0, 0]
        assert samples.value("groupwatch_group_members", group="membered") == 1
        assert samples.value("groupwatch_evaluation_errors_total") == 0
        assert begun(job) == before


def test_commits_of_numbers_beyond_sense_are_counted_and_the_ones_before_stand(job: JobProcess, bootstrap: str):
    """Of "poisoned" only one commit can be one: of offset 4, so 6 records wait. One of -1 takes a former one back."""
    job.await_metric("groupwatch_group_members", 1, group="membered")
    eventually(lambda: ("lag", "behind") in {each[:2] for each in begun(job)}, "the lag of late")
    before, now_ms = begun(job), int(time.time() * 1000)
    bad = [(1, 2**63 - 1, now_ms), (2, 5, -7), (-1, 5, now_ms)]
    put_commits(bootstrap, "poisoned", (0, 4, now_ms), (1, 4, now_ms), (1, -1, now_ms), *bad, (2, 5, 2**63 - 1))
    put_commits(bootstrap, "late", *bad, (2, 5, now_ms + 86_400_000))
    expected = {("__consumer_offsets", "bad_number"): 6, ("__consumer_offsets", "from_the_future"): 2}
    eventually(lambda: refused(job.metrics()) == expected, "all of them counted")
    samples = job.await_metric(LAG, 6, group="poisoned", partition="0")
    assert lags(samples, "poisoned") == [6]
    assert samples.value("groupwatch_cluster_lag") == 27 + 6
    assert_unhurt(job, before)
    assert job.log().count("undecodable record (bad_number)") == 1
    assert job.log().count("undecodable record (from_the_future)") == 1


def test_forged_events_cost_no_finding_its_age_and_no_group_its_lag(job: JobProcess, bootstrap: str):
    """The last two passes name a time that may be: of one of them alone no topic goes."""
    before, now_ms = begun(job), int(time.time() * 1000)
    put_events(bootstrap, ended(2**62), ended(now_ms + 86_400_000), seen(now_ms + 10**15, 7), seen(now_ms, 2**62))
    put_events(bootstrap, seen(now_ms, -7), ended(now_ms), ended(now_ms) | {"source_id": "forged"})
    expected = {
        ("groupwatch.events", "from_the_future"): 3,
        ("groupwatch.events", "bad_event"): 2,
        ("groupwatch.events", "other_source"): 1,
    }
    eventually(lambda: refused(job.metrics()).items() >= expected.items(), "all of them counted")
    assert_unhurt(job, before)
    put_events(bootstrap, ended(int(time.time() * 1000), topics=1000))
    assert_unhurt(job, before)
    assert "the clock of a collector is wrong" in job.log()
    assert "a poll of another cluster or system than that of the checkpoint" in job.log()


def found(job: JobProcess, group: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The findings of a group."""
    return {(each["kind"], each["reason"]): each for each in job.group("test", group).get("findings", ())}


def test_an_offset_of_another_log_makes_the_lag_unknown_and_is_a_finding(job: JobProcess, bootstrap: str):
    """By a poll half a minute after the commit. It has no lag in the other partition."""
    beyond = eventually(lambda: found(job, "copied").get(("lag", "beyond_end")), "an offset beyond the end")
    committed, longer = "committed 5,000, which is 4,990 records beyond the end of the log (10)", "No poll has found"
    assert committed in beyond["sentence"]
    assert longer in beyond["sentence"]
    samples = job.metrics()
    assert [each.labels["partition"] for each in samples.all(LAG, group="copied")] == ["1"]
    assert samples.all("groupwatch_group_lag", group="copied") == []
    commit(bootstrap, "copied", "read", {0: 5_000})
    again = time.time() + 1
    eventually(lambda: (job.metrics().value("groupwatch_last_evaluation_timestamp_seconds") or 0) > again, "the commit")
    assert found(job, "copied")["lag", "beyond_end"]["since_ms"] == beyond["since_ms"]


def test_an_offset_that_is_committed_again_and_again_is_no_progress(job: JobProcess, bootstrap: str):
    """It moved 400 s ago; since then the same one is committed. Then the log is cut behind it."""
    moved_ms = int(time.time() * 1000) - 400_000
    put_commits(bootstrap, "repeating", (1, 4, moved_ms))
    job.await_metric(LAG, 6, group="repeating", partition="1")

    def repeat(kind: str, reason: str, words: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            commit(bootstrap, "repeating", "read", {1: 4})
            told = found(job, "repeating").get((kind, reason))
            return told if told and words in told["sentence"] else None

        return eventually(look, f"{reason}, although commits go on")

    stuck = repeat("lag", "not_committing", "offset 4 has been committed there at least")
    assert stuck["since_ms"] == moved_ms
    with admin(bootstrap) as client:
        client.delete_records({TopicPartition("read", 1): 8})
    repeat("retention", "records_lost", "lost records in 1 partition of read (1)")
    job.await_metric("groupwatch_group_lost_records", 4, group="repeating")
