"""What the queries of a job watch, and which collectors run beside them, follows from the configuration alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.collectors.configured import ConfiguredCollectors
from monitor.collectors.readers import Readable
from monitor.collectors.remote_collector import RemoteCollector
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import SparkSettings, load
from monitor.model import Shard, Source
from streaming_jobs.jobs.cluster_watch import layout_of
from streaming_jobs.jobs.watch_targets import WatchList, WatchTarget

TEXT = """
[clusters.main]
bootstrap_servers = "localhost:1"
events_topic = "seen"
[clusters.managed]
bootstrap_servers = "localhost:2"
groups_from = "admin"
[clusters.far]
bootstrap_servers = "localhost:3"
collect = false
[clusters.guarded]
bootstrap_servers = "localhost:6"
via = "main"
[clusters.asked]
bootstrap_servers = "localhost:7"
groups_from = "admin"
via = "main"
[rocketmq.orders]
name_servers = "localhost:4"
via = "main"
[zookeeper.old]
hosts = "localhost:5"
system = "kafka"
via = "managed"
[zookeeper.meta]
hosts = "localhost:5"
system = "metaq"
via = "main"
collect = false
[spark_queries.etl]
cluster = "main"
checkpoints = { q = "/c" }
[spark_queries.elsewhere]
cluster = "far"
collect = false
checkpoints = { r = "/c" }
"""


class NoReader:
    """Reads nothing."""

    def read(self, pass_ms: int) -> SourceSnapshot:
        return SourceSnapshot(source=Source.SYSTEM)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def made() -> list[Readable]:
    """What readers were made for."""
    return []


@pytest.fixture
def watch_list(tmp_path: Path, made: list[Readable]):
    file = tmp_path / "groupwatch.toml"
    file.write_text(TEXT)
    settings = load(file)

    def reader(read: Readable) -> NoReader:
        made.append(read)
        return NoReader()

    def listed(first: bool = True) -> dict[str, WatchTarget]:
        collectors = ConfiguredCollectors(settings, readers=reader)
        return {watched.name: watched for watched in WatchList(settings, collectors, first)}

    return listed


def collectors(watched: WatchTarget) -> list[tuple[str, str]]:
    return [(health.collector, health.name) for health in watched.health()]


def test_each_cluster_and_system_has_a_query_and_its_collectors(watch_list):
    watched = watch_list()
    assert {name: collectors(each) for name, each in watched.items()} == {
        "main": [("kafka", "main"), ("spark", "etl")],
        "managed": [("kafka", "managed"), ("kafka-admin", "managed")],
        "far": [],
        "guarded": [("kafka", "guarded")],
        "asked": [("kafka", "asked"), ("kafka-admin", "asked")],
        "orders": [("rocketmq", "orders")],
        "old": [("kafka-zk", "old")],
        "meta": [],
    }
    assert {name for name, each in watched.items() if each.reads_log} == {"main", "far", "guarded"}
    assert {name for name, each in watched.items() if each.text_partitions} == {"orders", "meta"}
    assert {name for name, each in watched.items() if not each.collects} == {"far", "meta"}
    assert {name: each.carrier.name for name, each in watched.items() if each.carrier.name != name} == {
        "guarded": "main",
        "asked": "main",
        "orders": "main",
        "old": "managed",
        "meta": "main",
    }


def test_a_reader_is_told_the_names_that_the_configuration_may_leave_out(tmp_path: Path, made: list[Readable]):
    file = tmp_path / "one.toml"
    file.write_text(
        '[clusters.main]\nbootstrap_servers = "localhost:1"\n[rocketmq.orders]\nname_servers = "localhost:4"\n'
        '[spark_queries.etl]\ncheckpoints = { q = "/c" }\n'
    )
    settings = load(file)

    def reader(read: Readable) -> NoReader:
        made.append(read)
        return NoReader()

    list(WatchList(settings, ConfiguredCollectors(settings, readers=reader)))
    assert [(each.name, each.carrier) for each in made] == [("etl", "main"), ("orders", "main")]


def test_of_jobs_that_share_the_groups_only_the_first_collects(watch_list, made: list[Readable]):
    watched = watch_list(first=False)
    assert made == []
    assert all(isinstance(each.awaited[0], RemoteCollector) for each in watched.values())
    assert [collectors(each) for each in watched.values()] == [[]] * 8


def test_a_reading_is_told_by_its_collector_or_by_what_the_job_reads_of_it(watch_list):
    watched = watch_list()
    assert watched["orders"].readings(7) == watched["orders"].readings(8) == 0
    assert (watched["meta"].readings(7), watched["meta"].readings(8)) == (7, 8)
    (collector,) = watched["orders"].awaited
    collector.incomplete_passes += 1  # one broker is away, the others are read
    assert watched["orders"].readings(7) == 1


def test_a_job_begins_once_each_collector_has_written_a_pass_though_something_did_not_answer(watch_list):
    managed = watch_list()["managed"]
    topics, groups = managed.awaited
    topics.complete_passes += 1
    assert not managed.has_begun
    groups.incomplete_passes += 1
    assert managed.has_begun
    elsewhere = watch_list()["meta"]
    assert not elsewhere.has_begun
    elsewhere.awaited[0].last_success_ms = 1
    assert elsewhere.has_begun


def test_the_topics_of_a_kafka_cluster_do_not_come_by_the_readings_of_its_groups(watch_list):
    assert {name for name, each in watch_list().items() if each.is_system} == {"orders", "old", "meta"}


def test_a_checkpoint_remembers_what_is_read_and_by_whom_it_is_carried(watch_list):
    layouts = {name: layout_of(each, SparkSettings(), Shard()) for name, each in watch_list().items()}
    assert {name: (layout.groups_from, layout.via) for name, layout in layouts.items()} == {
        "main": ("log", None),
        "managed": ("admin", None),
        "far": ("log", None),
        "guarded": ("log", "main"),
        "asked": ("admin", "main"),
        "orders": ("rocketmq", "main"),
        "old": ("kafka-zk", "managed"),
        "meta": ("metaq", "main"),
    }
    assert layouts["orders"].events_topic == "seen"
    assert layouts["guarded"].events_topic == "groupwatch.events.guarded"


def test_only_a_query_of_a_log_reads_two_clusters(watch_list):
    watched = watch_list()
    assert {name for name, each in watched.items() if each.is_carried} == {"guarded", "asked"}
    assert {name for name, each in watched.items() if each.reads_two} == {"guarded"}
    assert {each.cluster.name for each in watched.values() if each.is_system} == {"main", "managed"}
    assert watched["guarded"].own_topics == set()
    events = {"seen", "groupwatch.events.guarded", "groupwatch.events.asked"}
    assert watched["main"].own_topics == watched["orders"].own_topics == events | {"groupwatch.findings"}
