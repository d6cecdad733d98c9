"""Real members with nothing to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from kafka import KafkaConsumer

from monitor.demo.servers.broker import EmbeddedKafka
from tests.support.clients import admin, commit, create_topic
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

NOTHING = "subscription/nothing_to_read"
MISSING = "subscription/missing_topics"
DIFFERENT = "rebalance/different_subscriptions"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedKafka() as kafka:
        for topic in ("orders", "gone", "payments"):
            create_topic(kafka.bootstrap_servers, topic, 2)
        commit(kafka.bootstrap_servers, "first", "orders", {0: 0})  # the job waits for the offsets topic
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def expectations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("expectations") / "expectations.toml"
    file.write_text(expected("absent", "exists = true", 'team = "checkout"'))
    return file


@pytest.fixture(scope="module")
def job(bootstrap: str, expectations: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}
    more = {"detection": {"commit_silence_s": 5}, "expectations": {"file": str(expectations)}}
    with running(JobWithoutSpark(tmp_path_factory.mktemp("job"), clusters, **more)) as started:
        yield started


def expected(groups: str, *keys: str, severity: str = "warning") -> str:
    return "\n".join([f'severity = "{severity}"', "[[expect]]", f'groups = "{groups}"', *keys, ""])


def findings(job: JobProcess, group: str) -> dict[str, str]:
    found: dict[str, Any] = json.loads(job.get_any(f"/api/v1/groups/test/{group}"))
    return {f"{each['kind']}/{each['reason']}": each["sentence"] for each in found.get("findings", ())}


def members(job: JobProcess, group: str) -> list[Any]:
    found: list[Any] = json.loads(job.get_any(f"/api/v1/groups/test/{group}")).get("members", [])
    return found


def consumer(bootstrap: str, group: str, *topics: str, **more: Any) -> KafkaConsumer:
    return KafkaConsumer(
        *topics,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        session_timeout_ms=30_000,
        **({"client_id": group} | more),
    )


def joined(bootstrap: str, group: str, *topics: str, **more: Any) -> KafkaConsumer:
    """A consumer that is in the group; its heartbeats go on beside the test."""
    started = consumer(bootstrap, group, *topics, **more)
    eventually(lambda: started.poll(timeout_ms=200) or started._coordinator.generation_if_stable(), f"{group} joins")
    return started


def test_members_without_a_topic_and_such_that_lack_one(bootstrap: str, job: JobProcess):
    with ExitStack() as stack:
        for group, *topics in (("typo", "order"), ("partly", "orders", "order"), ("fine", "orders"), ("late", "late")):
            stack.enter_context(closing(joined(bootstrap, group, *topics)))
        typo = eventually(lambda: findings(job, "typo").get(NOTHING), "the finding of the misspelled topic")
        assert "It subscribes to order, which does not exist" in typo
        assert "orders (not order)" in typo
        assert "to order, which" in eventually(lambda: findings(job, "partly").get(MISSING), "the finding of a part")
        assert NOTHING not in findings(job, "partly")
        assert findings(job, "fine").keys() & {NOTHING, MISSING} == set()
        eventually(lambda: findings(job, "late").get(NOTHING), "the finding of the topic to come")
        create_topic(bootstrap, "late", 1)
        eventually(lambda: NOTHING not in findings(job, "late"), "the topic has come")


def test_a_topic_that_is_deleted_under_its_group(bootstrap: str, job: JobProcess):
    with closing(joined(bootstrap, "bereft", "gone", metadata_max_age_ms=1_000)) as member, admin(bootstrap) as client:
        eventually(lambda: json.loads(job.get_any("/api/v1/groups/test/bereft")).get("members"), "the group is known")
        assert findings(job, "bereft").keys() & {NOTHING, MISSING} == set()
        client.delete_topics(["gone"])

        def told() -> str | None:
            member.poll(timeout_ms=100)
            return findings(job, "bereft").get(NOTHING)

        assert "It subscribes to gone, which does not exist" in eventually(told, "the finding of the deleted topic")


RESTART_S = 21
"""Between two restarts: three of them last a minute or more."""


class Crowd:
    """Consumers that poll in threads of their own, as those of several processes do."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._alive: dict[tuple[str, int], tuple[Thread, Event]] = {}

    def start(self, group: str, number: int, client: str, topic: str) -> None:
        brisk = {"heartbeat_interval_ms": 1_000, "client_id": client}
        started, over = consumer(self._bootstrap, group, topic, **brisk), Event()
        thread = Thread(target=_poll_until, args=(started, over))
        self._alive[group, number] = thread, over
        thread.start()

    def stop(self, group: str, number: int) -> None:
        thread, over = self._alive.pop((group, number))
        over.set()
        thread.join()

    def close(self) -> None:
        for _, over in self._alive.values():
            over.set()
        for thread, _ in self._alive.values():
            thread.join()


def _poll_until(started: KafkaConsumer, over: Event) -> None:
    with closing(started):
        while not over.is_set():
            started.poll(timeout_ms=1_000)


def test_two_applications_in_one_group_and_a_deployment_that_changes_the_topic(bootstrap: str, job: JobProcess):
    """As spring-kafka #3784. Beside it, the members of ``rolled`` are replaced, and those of ``calm`` only differ."""
    with closing(Crowd(bootstrap)) as crowd:
        for group in ("shared", "calm"):
            for number, (client, topic) in enumerate((("c1", "orders"), ("c1", "orders"), ("c2", "payments"))):
                crowd.start(group, number, client, topic)
        for number in range(3):
            crowd.start("rolled", number, "v1", "orders")
        eventually(lambda: len(members(job, "shared")) == 3 and len(members(job, "rolled")) == 3, "all have joined")
        rolled = iter(range(3))

        def told() -> str | None:
            old = next(rolled, None)
            changed = [("shared", 2, "c2")] + ([] if old is None else [("rolled", old, "v2")])
            for group, number, client in changed:
                crowd.stop(group, number)
                crowd.start(group, number, client, "payments")
            return findings(job, "shared").get(DIFFERENT)

        sentence = eventually(told, "the finding of two applications", pause_s=RESTART_S)
        assert "2 to orders (client id c1); 1 to payments (client id c2)" in sentence
        counts = re.search(
            r"subscribe to orders rebalanced (\d+) times, (\d+) .* \(at least (\d+) restarts\)", sentence
        )
        assert counts is not None
        of_all, by_others, restarts = map(int, counts.groups())
        assert 3 <= restarts <= by_others <= of_all
        assert next(rolled, None) is None, "all of its members are new"
        assert findings(job, "rolled").keys() & {DIFFERENT} == set()
        assert findings(job, "calm").keys() & {DIFFERENT} == set()


def of_cluster(job: JobProcess) -> dict[str, str]:
    (cluster,) = json.loads(job.get_any("/api/v1/clusters"))
    return {f"{each['kind']}/{each['reason']}": each["sentence"] for each in cluster.get("findings", ())}


def test_the_job_goes_by_a_file_of_expectations_that_changes_while_it_runs(job: JobProcess, expectations: Path):
    missing = eventually(lambda: of_cluster(job).get("expected_groups/warning"), "the group that does not exist")
    assert missing == "No group matches the entry absent (team checkout), which says that one exists."
    expectations.write_text(expected("first", "exists = false", 'team = "checkout"', severity="critical"))
    finding = eventually(lambda: findings(job, "first").get("expectation/critical"), "the group that should not exist")
    assert finding == "The group is not as its entry first says. It exists; expected: no such group."
    assert of_cluster(job) == {}
    assert job.metrics().value("groupwatch_group_expectation_info", group="first", team="checkout", met="no") == 1
    expectations.write_text("[[expect]]")
    eventually(lambda: job.metrics().value("groupwatch_expectations_up") == 0, "the mistake in the file")
    assert f"ready\n{expectations} cannot be used" in job.get_any("/readyz")
    assert "expectation/critical" in findings(job, "first")
    expectations.write_text(expected("first", "exists = true"))
    eventually(lambda: "expectation/critical" not in findings(job, "first"), "the file is good again")
    assert job.metrics().value("groupwatch_expectations_up") == 1
