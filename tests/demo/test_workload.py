"""The demo's workload does what its script says, to real groups."""

import subprocess
import sys
import time
from itertools import islice, takewhile
from pathlib import Path

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient

from monitor.demo.workload.run import DemoWorkload
from monitor.demo.workload.script import Action, Step, WorkloadSettings, steps
from monitor.detection import DetectionSettings
from monitor.java_runtime.errors import WorkloadFailed

QUICK = WorkloadSettings(
    orders_metadata_max_age_ms=10_000,
    grow_ms=1_500,
    grow_lead_ms=1_000,
    shipping_lose_ms=500,
    shipping_lost_ms=6_000,
    shipping_every_ms=60_000,
    reports_stop_ms=1_000,
    reports_stopped_ms=14_000,
)


def test_a_topic_grows_by_three_then_by_one_up_to_twelve():
    grown = [step.number for step in islice(steps(WorkloadSettings()), 500) if step.action is Action.GROW_TOPIC]
    assert grown == [3, 1, 1, 1, 1, 1]


def test_everything_goes_wrong_and_heals_within_150_s():
    first = list(takewhile(lambda step: step.at_ms < 150_000, steps(WorkloadSettings())))
    assert [step.at_ms for step in first] == sorted(step.at_ms for step in first)
    assert Step(at_ms=15_000, group="orders", action=Action.GROW_TOPIC, number=3) in first
    assert Step(at_ms=20_000, group="reports", action=Action.STOP_COMMITTING) in first
    assert Step(at_ms=90_000, group="reports", action=Action.RESUME_COMMITTING) in first
    lost = [(step.at_ms, step.number) for step in first if step.action is Action.LOSE_MEMBER]
    assert lost == [(10_000, 0), (90_000, 1)]


def test_no_group_rebalances_so_often_that_it_is_a_storm():
    """In an hour, each step that makes a group rebalance counted once: a member that goes or comes, a growth."""
    limits, hour = DetectionSettings(), takewhile(lambda step: step.at_ms < 3_600_000, steps(WorkloadSettings()))
    quiet = {Action.REFRESH_METADATA, Action.STOP_COMMITTING, Action.RESUME_COMMITTING}
    at_ms = {}
    for step in hour:
        if step.action not in quiet:
            at_ms.setdefault(step.group, []).append(step.at_ms)
    assert set(at_ms) == {"orders", "shipping"}
    for instants in at_ms.values():
        most = max(sum(first <= other < first + limits.storm_window_ms for other in instants) for first in instants)
        assert most < limits.storm_rebalances * 0.9, "some room: a member may join twice"


def test_the_script_never_ends():
    assert list(islice(steps(WorkloadSettings()), 5_000))[-1].at_ms > 3_600_000


@pytest.fixture
def workload(broker, tmp_path):
    with DemoWorkload(broker.bootstrap_servers, tmp_path / "workload.log", QUICK) as running:
        yield running


def orders_owned(admin):
    """The partitions of orders that a member owns, as the coordinator says."""
    (group,) = admin.describe_groups(["orders"]).values()
    return {
        partition
        for member in group["members"]
        for assigned in member["member_assignment"]["assigned_partitions"]
        for partition in assigned["partitions"]
    }


def reports_lag(broker):
    """Records of reports that are not committed."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="reports", enable_auto_commit=False)
    try:
        partitions = [TopicPartition("reports", number) for number in range(3)]
        ends = consumer.end_offsets(partitions)
        return sum(ends[partition] - (consumer.committed(partition) or 0) for partition in partitions)
    finally:
        consumer.close()


def wait_until(condition, limit_s=30):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.2)


@pytest.mark.broker
def test_the_story_of_the_demo(broker, workload):
    """One test for all of it, because the time passes only once."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        assert orders_owned(admin) == {0, 1, 2, 3}
        healthy = len(workload.timeline)
        workload.begin()

        lost = workload.wait_for(Action.LOSE_MEMBER, "shipping", limit_s=15)
        stopped = workload.wait_for(Action.STOP_COMMITTING, "reports", limit_s=15)
        grown = workload.wait_for(Action.GROW_TOPIC, "orders", limit_s=15)
        assert orders_owned(admin) == {0, 1, 2, 3}  # of seven: 4, 5 and 6 have no owner
        (topic,) = admin.describe_topics(["orders"])
        assert len(topic["partitions"]) == 7
        lag_when_stopped = reports_lag(broker)
        wait_until(lambda: reports_lag(broker) > lag_when_stopped + 20)

        healed = workload.wait_for("assigned", "orders", after=healthy, limit_s=30)
        assert orders_owned(admin) == set(range(7))
        assert healed.number == 7
        assert healed.wall_ms - grown.wall_ms > 3_000  # not at once: by a refresh, then a rebalance

        resumed = workload.wait_for(Action.RESUME_COMMITTING, "reports", limit_s=30)
        assert lost.at_ms <= stopped.at_ms <= grown.at_ms < healed.at_ms  # a step that takes long is followed at once
        assert resumed.at_ms > stopped.at_ms
        wait_until(lambda: reports_lag(broker) < lag_when_stopped + 20)
        workload.wait_for("assigned", "shipping", after=healthy, limit_s=15)
        assert "failed" not in [happening.what for happening in workload.timeline]


@pytest.mark.broker
def test_stop_ends_the_process_and_empties_the_groups(broker, tmp_path):
    workload = DemoWorkload(broker.bootstrap_servers, tmp_path / "workload.log", QUICK)
    workload.start()
    process = workload._process
    workload.stop()
    assert isinstance(process, subprocess.Popen)
    assert process.returncode == 0
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        groups = admin.describe_groups(["payments", "orders", "shipping", "reports"])
    assert {name: len(group["members"]) for name, group in groups.items()} == dict.fromkeys(groups, 0)


@pytest.mark.broker
def test_the_death_of_the_parent_ends_the_workload(broker, tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from monitor.demo.workload.run import DemoWorkload\n"
        "workload = DemoWorkload(sys.argv[1], Path(sys.argv[2])); workload.start()\n"
        "print(workload._process.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", program, broker.bootstrap_servers, str(tmp_path / "workload.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        command_line = Path(f"/proc/{int(parent.stdout.readline())}/cmdline")
        assert b"monitor.demo.workload.performer" in command_line.read_bytes()
        parent.kill()
    wait_until(lambda: not (command_line.exists() and command_line.read_bytes()))  # empty: ended, not yet reaped


def test_a_workload_without_broker_names_its_log(tmp_path):
    workload = DemoWorkload("127.0.0.1:1", tmp_path / "workload.log")
    with pytest.raises(WorkloadFailed) as caught:
        workload.start(limit_s=3)
    assert str(tmp_path / "workload.log") in str(caught.value)
    assert not workload.running
