"""Groups whose offsets a real MirrorMaker 2 copies into another cluster, where they have no members."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.background import Background
from tests.support.clients import commit, create_topic
from tests.support.findings_reader import FindingsReader
from tests.support.job_process import JobProcess, eventually, running
from tests.support.mirror_maker import CHECKPOINTS, SOURCE, MirrorMaker

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.long]

GROUPS = tuple(f"app-{number}" for number in range(6))
SILENCE_S = 20
NOT_SYNCED = ("unattended", "not_synced")
ALIKE = ""
"""The group of a record about several."""


class Source(Background):
    """Writes twenty records a second, and commits what is written for all groups once a second, until told not to."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self._bootstrap = bootstrap
        self.commits = True

    def _run(self) -> None:
        producer = KafkaProducer(bootstrap_servers=self._bootstrap)
        while not self._stopping.wait(1):
            for _ in range(20):
                last = producer.send("orders", b"x", partition=0)
            if self.commits:
                offset = last.get(timeout=30).offset + 1
                for group in GROUPS:
                    commit(self._bootstrap, group, "orders", {0: offset})
        producer.close()


class Findings(FindingsReader):
    """The kinds and reasons of the findings about each group of the standby cluster, in their order."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self.of = defaultdict[str, list[tuple[str, str]]](list)

    def _note(self, record: dict[str, Any]) -> None:
        if record["event"] != "closed":
            self.of[record["group"]].append((record["kind"], record["reason"]))


def copied(job: JobProcess, group: str) -> float:
    """The offset that MirrorMaker 2 has committed for a group."""
    place = {"group": group, "topic": f"{SOURCE}.orders", "partition": "0"}
    return job.metrics().value("groupwatch_partition_committed_offset", **place) or 0


def not_synced(job: JobProcess) -> int:
    """How many groups are alike in that finding: more than three have one line, and one record."""
    return job.alike_groups("reason", NOT_SYNCED[1])


@pytest.mark.timeout(900)
def test_a_standby_cluster_has_no_finding_until_copies_stop_and_then_one_that_names_mirror_maker(tmp_path: Path):
    with ExitStack() as stack:
        brokers = [stack.enter_context(EmbeddedKafka(BrokerSettings(heap_mb=300))) for _ in range(2)]
        source, standby = [each.bootstrap_servers for each in brokers]
        for bootstrap, topic in ((source, "orders"), (standby, "first")):
            create_topic(bootstrap, topic, 1)
            commit(bootstrap, "first", topic, {0: 0})
        written = stack.enter_context(Source(source))
        stack.enter_context(MirrorMaker(source, standby))
        clusters = {"standby": {"bootstrap_servers": standby, "collect_interval_s": 1.0}}
        job = stack.enter_context(running(JobProcess(tmp_path, clusters, detection={"commit_silence_s": SILENCE_S})))
        found = stack.enter_context(Findings(standby))
        eventually(lambda: all(copied(job, group) > 99 for group in GROUPS), "copies of all groups")
        time.sleep(2 * SILENCE_S)  # nothing is to be found, however long that goes on
        assert [found.of[group] for group in GROUPS] == [[]] * len(GROUPS)
        written.commits = False
        eventually(lambda: not_synced(job) == len(GROUPS), "one line for all groups", 400, pause_s=1)
        eventually(lambda: NOT_SYNCED in found.of[ALIKE], "their record")
        for group in (*GROUPS, ALIKE):
            assert {("unattended", "kept"), NOT_SYNCED}.issuperset(found.of[group])
        assert CHECKPOINTS in job.get(f"/api/v1/groups/standby/{GROUPS[0]}")
