"""docs/demo.md says when things happen in the demo, and with which settings it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monitor.config.settings import DetectionOptions
from monitor.demo.java.clients import SESSION_MS
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.demo.workload.kafka_scenes import (
    CONNECT,
    LOCK_MS,
    STREAMS_SESSION_S,
    ConnectScene,
    ShareScene,
    StreamsScene,
)
from monitor.demo.workload.scene import Scene
from monitor.demo.workload.script import ORDERS, WorkloadSettings
from monitor.demo.workload.systems import ROUND_S, KafkaScene, MetaQScene, RocketMQScene
from monitor.detection import DetectionSettings
from monitor.java_runtime.jars import quiet
from streaming_jobs.jobs.demo.demo import DemoOptions, settings_of

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "demo.md").read_text(encoding="utf-8").split())
SCRIPT = WorkloadSettings()


def told(sentence: str) -> list[int]:
    """The numbers that stand in the page in place of the N of a sentence."""
    (found,) = re.findall(re.escape(sentence).replace("N", r"(\d+)"), PAGE)
    return [int(number) for number in ([found] if isinstance(found, str) else found)]


def test_the_page_says_when_orders_grows_and_by_how_much():
    after_s, at_first, then = told("N s after groupwatch is ready its topic grows from N to N partitions")
    assert (after_s * 1000, at_first, then) == (SCRIPT.grow_ms, ORDERS.partitions, ORDERS.partitions + SCRIPT.grow_by)
    minutes, most = told("later by one, every N minutes, up to N)")
    assert (minutes * 60_000, most) == (SCRIPT.grow_again_every_ms, SCRIPT.most_partitions)


def test_the_page_says_when_shipping_loses_a_member_and_that_this_is_no_storm():
    every_s, lost_s = told("loses a member every N s, which comes back after N s")
    assert (every_s * 1000, lost_s * 1000) == (SCRIPT.shipping_every_ms, SCRIPT.shipping_lost_ms)
    times, minutes = told("reason `storm`, takes N in N minutes")
    usual = DetectionSettings()
    assert (times, minutes * 60_000) == (usual.storm_rebalances, usual.storm_window_ms)


def test_the_page_says_when_reports_stops_committing():
    stopped_s, minutes, seconds, first_s = told("for N s, every N min N s, first N s after groupwatch is ready")
    assert stopped_s * 1000 == SCRIPT.reports_stopped_ms
    assert (minutes * 60 + seconds) * 1000 == SCRIPT.reports_every_ms
    assert first_s * 1000 == SCRIPT.reports_stop_ms


def test_the_page_says_which_thresholds_of_the_demo_are_not_the_usual_ones(tmp_path: Path):
    detection = settings_of(DemoOptions(port=0), "127.0.0.1:1", tmp_path).detection
    usual = DetectionOptions()
    assert told("`commit_silence_s = N`") == [int(detection.commit_silence_s)]
    limits = [detection.commit_silence_s, usual.commit_silence_s]
    assert told("without commits after N s, not after N s as by default") == limits
    assert detection.model_copy(update={"commit_silence_s": usual.commit_silence_s}) == usual


@pytest.mark.parametrize(
    ("scene", "between"),
    [
        pytest.param(RocketMQScene(quiet), 60, id="exports"),
        pytest.param(MetaQScene(EmbeddedZooKeeper(), quiet), 60, id="audits"),
        pytest.param(KafkaScene(EmbeddedZooKeeper(), quiet), 45, id="searches"),
    ],
)
def test_what_happens_to_the_other_systems_is_over_within_a_round(scene, between):
    """The page says "for a minute" of two; and the member of the third is away for longer than its session."""
    begins, ends = (step.at_s for step in scene.steps())
    assert ends - begins == between
    assert ends < ROUND_S
    assert told("The events repeat every N minutes") == [ROUND_S / 60]
    assert told("within the session's N s") == [SESSION_MS / 1000]
    assert PAGE.count("takes nothing for a minute") == 2


def times(scene: Scene) -> list[float]:
    """When its steps are, in order; the last one is over within a round."""
    found = [step.at_s for step in scene.steps()]
    assert sorted(found) == found
    assert found[-1] < ROUND_S
    return found


def test_the_page_says_what_happens_to_the_share_group():
    poison_s, stop_s, poll_s = times(ShareScene("127.0.0.1:1", quiet))
    assert told("release one record after each delivery, first N s after groupwatch is ready") == [poison_s]
    assert told("stop polling for N s, first after N s") == [poll_s - stop_s, stop_s]
    assert told("`share.record.lock.duration.ms = N`") == [LOCK_MS]


def test_the_page_says_what_happens_to_the_instance_of_kafka_streams():
    killed_s, back_s = times(StreamsScene("127.0.0.1:1", quiet))
    assert told("with standby tasks) is killed after N s and comes back after N s") == [killed_s, back_s]
    assert told("the instance's session of N s") == [STREAMS_SESSION_S]
    assert back_s > killed_s + STREAMS_SESSION_S, "the other instance has its tasks by then"


def test_the_page_says_what_happens_to_the_worker_of_connect():
    killed_s, back_s = times(ConnectScene("127.0.0.1:1", quiet))
    assert told("with the sink `archive`, is killed after N s and comes back after N s") == [killed_s, back_s]
    session_s, delay_s = told("after the session of N s, Connect waits N s for the worker")
    assert (session_s * 1000, delay_s * 1000) == (CONNECT.session_ms, CONNECT.delay_ms)
    assert back_s > killed_s + session_s + delay_s, "the other worker has its tasks by then"
    sinks_session_ms = int(CONNECT.properties["consumer.session.timeout.ms"])
    assert told("the other two take over after N s") == [sinks_session_ms / 1000]
