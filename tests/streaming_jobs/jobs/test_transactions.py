"""Commits in transactions: committed, aborted, open, beside an ordinary group in the same partition of the log.

The evidence of docs/decisions/0008-transactional-commits.md, kept true.
"""

from __future__ import annotations

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import commit, create_topic, produce, transaction
from tests.support.job_process import JobProcess, eventually, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]

COMMITTED = "groupwatch_partition_committed_offset"


@pytest.fixture(scope="module")
def bootstrap():
    """A broker whose groups all share one partition of the log."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=1)) as kafka:
        create_topic(kafka.bootstrap_servers, "t", 1)
        produce(kafka.bootstrap_servers, "t", {0: 1000})
        commit(kafka.bootstrap_servers, "first", "t", {0: 0})
        yield kafka.bootstrap_servers


def watched(bootstrap: str, tmp_path, **settings: str) -> JobProcess:
    return JobProcess(tmp_path, {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5, **settings}})


def committed(job: JobProcess, group: str) -> float | None:
    return job.metrics().value(COMMITTED, group=group, topic="t", partition="0")


def test_by_default_nothing_waits_and_aborted_commits_are_put_right(bootstrap: str, tmp_path):
    commit(bootstrap, "aborting", "t", {0: 10})
    with running(watched(bootstrap, tmp_path)) as job:
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


@pytest.mark.long
def test_read_committed_is_exact_and_waits_behind_an_open_transaction(bootstrap: str, tmp_path):
    with transaction(bootstrap, "opening2", "t", 300) as producer:
        commit(bootstrap, "behind", "t", {0: 5})
        with running(watched(bootstrap, tmp_path, offsets_isolation="read_committed")) as job:  # it does get ready
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
