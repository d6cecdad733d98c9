"""The demo's systems without any of them: nothing runs, and nothing has to be waited for."""

from __future__ import annotations

import threading
from pathlib import Path

from monitor.demo.workload.loss_scene import PER_SECOND, RECORDS, RETAINED, LossScene
from monitor.demo.workload.systems import ROUND_S, DemoSystem, DemoSystems, broker_properties
from monitor.java_runtime.jars import quiet
from streaming_jobs.jobs.demo.demo import CLUSTER, DemoOptions, settings_of


def test_without_a_wanted_system_nothing_runs_and_the_end_waits_for_nothing():
    with DemoSystems(frozenset()) as systems:
        systems.begin()
        assert [thread.name for thread in threading.enumerate() if thread.name == "systems"] == []
    assert systems.timeline == ()


def test_without_a_wanted_kind_of_group_the_demos_kafka_and_job_are_as_ever(tmp_path: Path):
    assert broker_properties(frozenset()) == {}
    settings = settings_of(DemoOptions(port=0), "127.0.0.1:1", tmp_path)
    assert settings.clusters[CLUSTER].connect_configs == {}
    assert settings.spark.trigger_s == 1


def test_the_job_reads_the_configurations_of_a_wanted_connect_cluster_and_is_as_quick(tmp_path: Path):
    wanted = frozenset({DemoSystem.SHARE, DemoSystem.STREAMS, DemoSystem.CONNECT})
    settings = settings_of(DemoOptions(port=0, systems=wanted), "127.0.0.1:1", tmp_path)
    assert settings.clusters[CLUSTER].connect_configs == {"connect-cluster": "connect-cluster-configs"}
    assert list(settings.clusters) == [CLUSTER]
    assert settings.spark.trigger_s == 1
    slower = settings_of(DemoOptions(port=0, systems=wanted | {DemoSystem.ROCKETMQ}), "127.0.0.1:1", tmp_path)
    assert slower.spark.trigger_s == 2


def test_a_wanted_loss_is_a_group_of_the_demos_kafka_and_removes_records_that_its_consumer_has_not_read(tmp_path: Path):
    """It reads 450 records in the 45 s, and 2,500 of 3,000 are removed; a round of 180 s begins with unread records."""
    settings = settings_of(DemoOptions(port=0, systems=frozenset({DemoSystem.LOSS})), "127.0.0.1:1", tmp_path)
    assert list(settings.clusters) == [CLUSTER]
    assert settings.spark.trigger_s == 1
    steps = LossScene("127.0.0.1:1", quiet).steps()
    assert [(step.at_s, step.group) for step in steps] == [(45, "audit"), (150, "audit")]
    assert "skipped/retention" in steps[0].sentence
    assert RECORDS - RETAINED > 2 * 45 * PER_SECOND
    assert steps[-1].at_s < ROUND_S
