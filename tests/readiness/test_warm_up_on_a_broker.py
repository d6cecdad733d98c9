"""A real backlog in several micro-batches: readiness comes with the one that reads its end, no batch late or early."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from kafka import OffsetAndMetadata, TopicPartition

from monitor.collectors.kafka.preflight import LogBounds, end_offsets
from monitor.config.settings import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from tests.readiness.recorded_warm_up import Published
from tests.support.clients import create_topic, simple_consumer

pytestmark = [pytest.mark.broker, pytest.mark.spark]

BATCHES = 5
"""In how many micro-batches the backlog is read: enough for a pass of the collector to be read before the end."""

GROUPS = 10
COMMITS = 40


@pytest.fixture(scope="module")
def bounds(broker: EmbeddedKafka) -> LogBounds:
    """Where the log ends before the job starts."""
    place = TopicPartition("backlog", 0)
    create_topic(broker.bootstrap_servers, place.topic, 1)
    for group in range(GROUPS):
        with simple_consumer(broker.bootstrap_servers, f"backlog-{group}") as consumer:
            consumer.assign([place])
            for offset in range(COMMITS):
                consumer.commit({place: OffsetAndMetadata(offset, "", -1)})
    return end_offsets(ClusterSettings(name="test", bootstrap_servers=broker.bootstrap_servers))


@pytest.fixture(scope="module")
def published(broker: EmbeddedKafka, bounds: LogBounds, tmp_path_factory: pytest.TempPathFactory) -> list[Published]:
    """All that the job published up to and with the first micro-batch that is ready."""
    folder = tmp_path_factory.mktemp("warm-up")
    return recorded(broker.bootstrap_servers, folder, bounds.records // BATCHES, collect_interval_s=0.5)


@pytest.fixture(scope="module")
def later(broker: EmbeddedKafka, published: list[Published]) -> LogBounds:
    """Where it ends after that: the same, unless a consumer of another test was told to be gone meanwhile."""
    return end_offsets(ClusterSettings(name="test", bootstrap_servers=broker.bootstrap_servers))


def recorded(bootstrap: str, folder: Path, max_records: int, collect_interval_s: float) -> list[Published]:
    arguments = (bootstrap, str(folder), str(max_records), str(collect_interval_s))
    command = [sys.executable, "-m", "tests.readiness.recorded_warm_up", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return msgspec.json.decode((folder / "published.json").read_bytes(), type=list[Published])


def remaining(ends: dict[int, int], read: dict[int, int]) -> int:
    return sum(max(0, end - read.get(partition, 0)) for partition, end in ends.items())


def test_it_is_ready_with_the_batch_that_reads_the_end(published: list[Published], bounds: LogBounds, later: LogBounds):
    assert len(published) >= BATCHES
    assert remaining(bounds.ends, published[-1].read) == 0
    assert remaining(later.ends, published[-1].read_before) > 0
    verdicts = {verdict.group: verdict for verdict in published[-1].verdicts}
    for group in range(GROUPS):
        (row,) = verdicts[f"backlog-{group}"].partitions
        assert row.committed == COMMITS - 1


def test_until_then_no_group_is_shown_and_what_remains_is_what_spark_has_not_read(
    published: list[Published], bounds: LogBounds, later: LogBounds
):
    for each in published[:-1]:
        assert (each.cluster.groups, each.cluster.blocks) == ((), ())
        assert each.cluster.warm_up is not None
        assert bounds.records <= each.cluster.warm_up.total <= later.records
        least, most = remaining(bounds.ends, each.read), remaining(later.ends, each.read)
        assert least <= each.cluster.warm_up.remaining <= most
        assert each.cluster.warm_up.remaining > 0


def test_the_time_left_is_told_from_the_second_batch_on_until_it_is_ready(published: list[Published]):
    left_ms = [each.cluster.warm_up and each.cluster.warm_up.left_ms for each in published]
    assert (left_ms[0], left_ms[-1]) == (None, None)
    assert all(each is not None and each > 0 for each in left_ms[1:-1])
    assert published[-1].cluster.warm_up is None


@pytest.mark.long  # another start; tests/readiness/test_first_pass.py has the rule
def test_the_first_listing_of_topics_by_this_job_is_enough(broker: EmbeddedKafka, bounds: LogBounds, tmp_path: Path):
    """The collector's first pass comes before the query starts; the next one would come after an hour."""
    published = recorded(broker.bootstrap_servers, tmp_path, bounds.records, collect_interval_s=3600)
    assert published[-1].cluster.ready
    assert published[-1].cluster.groups
