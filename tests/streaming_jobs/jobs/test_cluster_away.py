"""The only broker of a cluster is away: it is said within the documented time, nothing false is, and it heals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.messages.notification import utc
from tests.paused import paused
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, create_topic, produce
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),  # kafka-python leaves those of failed connections
]

UP: Final = "groupwatch_up"
COMMITTED: Final = "groupwatch_partition_committed_offset"
TOLD_WITHIN_S: Final = 30
"""What docs/architecture.md promises, at the default interval of the collectors."""
LONGEST_BATCH_S: Final = 25
"""An evaluation has the time at which its micro-batch began."""


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(BrokerSettings(heap_mb=384, offsets_topic_partitions=2, properties=SOON_BACK)) as broker:
        create_topic(broker.bootstrap_servers, "read", 1)
        produce(broker.bootstrap_servers, "read", {0: 2})
        commit(broker.bootstrap_servers, "reads", "read", {0: 2})
        yield broker


@contextmanager
def killed(kafka: EmbeddedKafka) -> Iterator[None]:
    kafka.kill()
    yield
    kafka.start()


@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        # test_job.py has one that is away beside one that is not
        pytest.param(killed, JobProcess, marks=pytest.mark.long),
        (paused, JobWithoutSpark),
    ],
)
def test_a_cluster_that_is_away_is_not_up_nor_ready_and_the_job_waits_for_it(
    kafka: EmbeddedKafka,
    tmp_path: Path,
    fail: Callable[[EmbeddedKafka], AbstractContextManager[None]],
    kind: type[JobProcess],
):
    with running(kind(tmp_path, {"test": {"bootstrap_servers": kafka.bootstrap_servers}})) as job:
        samples = job.await_metric(COMMITTED, 2, group="reads")
        assert samples.value(UP, cluster="test") == 1

        with fail(kafka):
            samples = eventually(lambda: away(job), f"{UP} 0", TOLD_WITHIN_S)
            assert samples.value(COMMITTED, group="reads") == 2
            (line,) = json.loads(job.get("/api/v1/clusters"))
            assert line["stale"]
            assert job.group("test", "reads").get("findings", []) == []
            eventually(lambda: job.status("/readyz") == 503, "that it is not ready")
            (line,) = json.loads(job.get("/api/v1/clusters"))
            assert f"test: {line['sentence']}\n" == job.get_any("/readyz")
            # the second where a micro-batch that waited for the broker has ended: it evaluates as of its beginning
            said = re.search(r"(?:o micro-batch has ended|No group has been evaluated) since (.{23})", line["sentence"])
            assert said is not None, line["sentence"]
            assert said[1] in {utc(line["evaluated_ms"] + 1_000 * second) for second in range(LONGEST_BATCH_S)}
            assert job.metrics().value(UP, cluster="test") == 0

        produce(kafka.bootstrap_servers, "read", {0: 1})
        commit(kafka.bootstrap_servers, "reads", "read", {0: 3})
        job.await_metric(COMMITTED, 3, group="reads")
        job.await_metric(UP, 1, cluster="test")
        assert job.status("/readyz") == 200


def away(job: JobProcess) -> object:
    samples = job.metrics()
    return samples if samples.value(UP, cluster="test") == 0 else None
