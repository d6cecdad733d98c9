"""Commits in transactions: committed, aborted, open, beside an ordinary group in the same partition of the log.

The evidence of docs/decisions/0008-transactional-commits.md and 0070-attempts-are-no-progress.md, kept true.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer, OffsetAndMetadata, TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import commit, create_topic, member, produce, transaction
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

COMMITTED = "groupwatch_partition_committed_offset"
LAG = "groupwatch_group_lag"
UNCOMMITTED, PENDING = "transactions/uncommitted", "transactions/pending_offsets"


@pytest.fixture(scope="module")
def bootstrap():
    """A broker whose groups all share one partition of the log."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=1)) as kafka:
        create_topic(kafka.bootstrap_servers, "t", 1)
        produce(kafka.bootstrap_servers, "t", {0: 1000})
        commit(kafka.bootstrap_servers, "first", "t", {0: 0})
        yield kafka.bootstrap_servers


def watched(made: type[JobProcess], bootstrap: str, folder: Path, **settings: str) -> JobProcess:
    cluster = {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5, **settings}
    impatient = {"groups": "looping|working|pending", "commit_silence_s": 12}
    return made(folder, {"test": cluster}, detection={"commit_silence_s": 60, "overrides": [impatient]})


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    with running(watched(JobWithoutSpark, bootstrap, tmp_path_factory.mktemp("job"))) as process:
        yield process


def committed(job: JobProcess, group: str) -> float | None:
    return job.metrics().value(COMMITTED, group=group, topic="t", partition="0")


def test_by_default_nothing_waits_and_aborted_commits_are_put_right(bootstrap: str, job: JobProcess):
    commit(bootstrap, "aborting", "t", {0: 10})
    with transaction(bootstrap, "opening", "t", 300) as open_one:
        with transaction(bootstrap, "aborting", "t", 200) as producer:
            producer.abort_transaction()
        with transaction(bootstrap, "committing", "t", 100) as producer:
            producer.commit_transaction()
        commit(bootstrap, "ordinary", "t", {0: 7})
        job.await_metric(COMMITTED, 7, group="ordinary", partition="0")
        job.await_metric(COMMITTED, 100, group="committing", partition="0")
        eventually(lambda: committed(job, "aborting") == 10, "the broker's answer for the aborted commit")
        eventually(lambda: committed(job, "opening") is None, "the broker's answer for the open transaction")
        assert committed(job, "committing") == 100
        commit(bootstrap, "aborting", "t", {0: 20})
        job.await_metric(COMMITTED, 20, group="aborting", partition="0")
        open_one.commit_transaction()
        eventually(lambda: committed(job, "opening") == 300, "the broker's answer after the commit")
    assert "not available" not in job.log()


def findings(job: JobProcess, group: str) -> dict[str, dict[str, Any]]:
    if job.status(f"/api/v1/groups/test/{group}") != 200:
        return {}
    found = json.loads(job.get(f"/api/v1/groups/test/{group}")).get("findings", [])
    return {f"{each['kind']}/{each['reason']}": each for each in found}


class Application:
    """It sends offsets of partition 0 in transactions; ``aborts`` says what each of them comes to, in turn."""

    def __init__(self, bootstrap: str, group: str, *aborts: bool) -> None:
        self.group, self.position, self._aborts = group, 50, cycle(aborts)
        self.producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=f"{group}-tx")
        self.producer.init_transactions()

    def work(self) -> None:
        self.producer.begin_transaction()
        offset = OffsetAndMetadata(self.position + 1, "", -1)
        self.producer.send_offsets_to_transaction({TopicPartition("t", 0): offset}, self.group)
        if next(self._aborts):
            self.producer.abort_transaction()
        else:
            self.producer.commit_transaction()
            self.position += 1


def test_what_transactions_keep_from_going_on_is_found_and_its_owner_is_not_blamed(bootstrap: str, job: JobProcess):
    """One application aborts each transaction, one works, and one was killed: its offsets are pending."""
    for group in ("looping", "working", "pending"):
        commit(bootstrap, group, "t", {0: 50})
    with transaction(bootstrap, "pending", "t", 80) as killed, member(bootstrap, "pending", "t"):
        looping = Application(bootstrap, "looping", True)
        working = Application(bootstrap, "working", False, False, True, False)
        of_working: set[str] = set()

        def are_found() -> bool:
            looping.work()
            working.work()
            of_working.update(findings(job, "working"))
            return UNCOMMITTED in findings(job, "looping") and PENDING in findings(job, "pending")

        eventually(are_found, "both findings", pause_s=0.5)
        assert list(findings(job, "looping")) == [UNCOMMITTED]
        assert (committed(job, "looping"), job.metrics().value(LAG, group="looping")) == (50, 950)
        assert "is still 50" in findings(job, "looping")[UNCOMMITTED]["sentence"]
        assert UNCOMMITTED not in of_working
        assert list(findings(job, "pending")) == [PENDING]
        sentence = findings(job, "pending")[PENDING]["sentence"]
        assert "(transactional.id pending-80)" in sentence
        assert "owns the partition and cannot start" in sentence
        looping.producer.close()
        looping = Application(bootstrap, "looping", False)
        looping.work()
        killed.abort_transaction()
        eventually(lambda: committed(job, "looping") == 51, "the commit that succeeds")
        eventually(lambda: UNCOMMITTED not in findings(job, "looping"), "the end of the finding")
        eventually(lambda: PENDING not in findings(job, "pending"), "the end of the transaction")
        looping.producer.close()
        working.producer.close()


@pytest.mark.long
def test_read_committed_is_exact_and_waits_behind_an_open_transaction(bootstrap: str, tmp_path: Path):
    with transaction(bootstrap, "opening2", "t", 300) as producer:
        commit(bootstrap, "behind", "t", {0: 5})
        job = watched(JobProcess, bootstrap, tmp_path, offsets_isolation="read_committed")
        with running(job):  # it does get ready
            job.await_metric(COMMITTED, 0, group="first", partition="0")
            assert committed(job, "behind") is None
            assert committed(job, "opening2") is None
            producer.commit_transaction()
            job.await_metric(COMMITTED, 5, group="behind", partition="0")
            job.await_metric(COMMITTED, 300, group="opening2", partition="0")
            with transaction(bootstrap, "behind", "t", 900) as other:
                other.abort_transaction()
            commit(bootstrap, "after", "t", {0: 1})
            job.await_metric(COMMITTED, 1, group="after", partition="0")
            assert committed(job, "behind") == 5
