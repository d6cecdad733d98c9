"""Which clusters a job starts without, and how they are shown until somebody has tried again."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import msgspec
import pytest

from monitor.collectors.configured import ConfiguredCollectors
from monitor.collectors.errors import ClusterAway
from monitor.config import ConfigError, Settings, load
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.model import Snapshot
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.clusters_away import find_away, show_away
from streaming_jobs.jobs.collector_log import CollectorLog
from streaming_jobs.jobs.watch_targets import WatchList
from streaming_jobs.runtime.lifetime import Lifetime, Stopped

LIMIT_S: Final = 0.3
AWAY: Final = "Cluster {}: no broker answers at {} (tried for 0.3 s). Check bootstrap_servers."
STORY: Final = "Cluster b: no broker answers."


def configured(folder: Path, text: str) -> Settings:
    file = folder / "groupwatch.toml"
    file.write_text(text, encoding="utf-8")
    return load(file)


def table(name: str, address: str) -> str:
    return f'[clusters.{name}]\nbootstrap_servers = "{address}"\n'


@pytest.fixture
def closed() -> list[str]:
    """Two addresses where nobody listens."""
    return [f"127.0.0.1:{port}" for port in free_ports(2)]


def test_if_no_cluster_answers_the_job_does_not_start_and_all_are_named(tmp_path: Path, closed: list[str]):
    settings = configured(tmp_path, table("a", closed[0]) + table("b", closed[1]))
    with pytest.raises(ClusterAway) as caught:
        find_away(settings, Lifetime(), strict=False, limit_s=LIMIT_S)
    assert str(caught.value) == f"{AWAY.format('a', closed[0])} {AWAY.format('b', closed[1])}"


def test_a_wrong_setting_is_told_although_another_cluster_is_away(tmp_path: Path, closed: list[str]):
    client = '[clusters.b.client]\n"security.protocol" = "SSL"\n"ssl.truststore.location" = "${env:NOT_THERE}"\n'
    settings = configured(tmp_path, table("a", closed[0]) + table("b", closed[1]) + client)
    with pytest.raises(ConfigError, match="NOT_THERE"):
        find_away(settings, Lifetime(), strict=False, limit_s=LIMIT_S)


def test_a_job_that_is_told_to_stop_does_not_look(tmp_path: Path, closed: list[str]):
    lifetime = Lifetime()
    lifetime.stopping.set()
    with pytest.raises(Stopped):
        find_away(configured(tmp_path, table("a", closed[0])), lifetime, strict=False)


@pytest.mark.broker
def test_a_job_starts_without_the_cluster_that_is_away_unless_it_is_strict(
    broker: EmbeddedKafka, tmp_path: Path, closed: list[str], caplog: pytest.LogCaptureFixture
):
    settings = configured(tmp_path, table("near", broker.bootstrap_servers) + table("far", closed[0]))
    told = AWAY.format("far", closed[0])
    with caplog.at_level(logging.WARNING, "streaming_jobs.jobs.clusters_away"):
        assert find_away(settings, Lifetime(), strict=False, limit_s=3.0) == {"far": told.replace("0.3", "3")}
    said = [each.getMessage() for each in caplog.records if "far" in each.getMessage()]
    assert said == [f"{told.replace('0.3', '3')} Starting without it; it is watched once it answers."]
    with pytest.raises(ClusterAway, match="far: no broker answers"):
        find_away(settings, Lifetime(), strict=True, limit_s=3.0)


CARRIED: Final = (
    table("a", "localhost:1")
    + table("b", "localhost:2")
    + '[rocketmq.mq]\nname_servers = "localhost:3"\nvia = "b"\n'
    + '[rocketmq.other]\nname_servers = "localhost:3"\nvia = "a"\n'
)


def test_a_cluster_that_is_away_is_not_up_from_the_start_nor_is_what_it_carries(tmp_path: Path):
    settings = configured(tmp_path, CARRIED)
    store = SnapshotStore(settings.watched_names)
    show_away(settings, store, {"b": STORY})
    shown = {each.cluster: (each.problem, each.is_missing, each.ready) for each in store.read().clusters}
    assert shown == {
        "a": (None, False, False),
        "b": (STORY, True, False),
        "mq": (STORY, True, False),
        "other": (None, False, False),
    }


def test_what_was_logged_at_the_start_is_the_collectors_problem_until_a_pass_and_is_not_logged_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    settings = configured(tmp_path, CARRIED)
    watched = {each.name: each for each in WatchList(settings, ConfiguredCollectors(settings))}["b"]
    watched.expect_problem(STORY)
    assert watched.problem == STORY
    (collector,) = watched.awaited
    told = CollectorLog(collector)
    with caplog.at_level(logging.INFO):
        told()
        assert caplog.messages == []
        collector.problem = "Cluster b: something else."
        told()
        collector.problem = None
        told()
    assert caplog.messages == ["Cluster b: something else.", "b can be read again"]
    assert watched.problem is None


def missing(store: SnapshotStore) -> bool:
    (cluster,) = store.read().clusters
    return cluster.is_missing


def test_a_cluster_that_was_away_is_missing_until_it_is_ready_and_not_when_it_goes_away_later():
    store = SnapshotStore(["c"])
    store.report_problem("c", "The disk is full.")
    assert not missing(store)
    store.report_problem("c", STORY, is_away=True)
    assert missing(store)
    store.report_problem("c", None)  # it answers, and its backlog is read
    assert missing(store)
    store.publish(msgspec.structs.replace(store.of("c"), ready=True, is_missing=False))
    store.report_problem("c", STORY, is_away=True)
    assert not missing(store)
    assert Snapshot(clusters=store.read().clusters).ready
