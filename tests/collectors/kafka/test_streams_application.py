"""A real Kafka Streams application of two instances with standby tasks: one is killed and comes back."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from monitor.collectors.clock import wall_clock_ms
from monitor.demo.java.streams_instance import StreamsApplication, StreamsInstance
from monitor.detection import DetectionSettings, evaluate
from monitor.detection.ownership.tasks.target_check import TargetResult
from monitor.detection.ownership.tasks.targets import check_targets
from monitor.model import Catalog, PartitionState, Phase, TargetEpochStored, TopicState
from monitor.tracking.group import fold_group
from tests.collectors.kafka.test_rebalance_in_the_log import log_of
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker

PARTITIONS = 4
SETTINGS = {
    "num.standby.replicas": "1",
    "num.stream.threads": "1",
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1000",
    "commit.interval.ms": "500",
    "probing.rebalance.interval.ms": "60000",
}
"""Of the classic protocol; in the other one sessions and standby tasks are settings of the group."""


def verdict_of(broker, application, topics):
    """What groupwatch says of the application now, with topics that were there an hour ago."""
    state = fold_group("prod", application, None, log_of(broker, application))
    now_ms = wall_clock_ms()
    known = {
        topic: TopicState(
            cluster="prod",
            topic=topic,
            pass_ms=now_ms,
            partitions=tuple(PartitionState(number, first_seen_ms=now_ms - 3_600_000) for number in range(count)),
        )
        for topic, count in topics.items()
    }
    catalog = Catalog(cluster="prod", pass_ms=now_ms, topics=known, watched_ms=now_ms - 3_600_000)
    return None if state is None else evaluate(state, catalog, now_ms, DetectionSettings())


def settled(broker, application, topics, instances, standbys):
    """The verdict once every task runs on so many instances, each with its standby tasks; else None."""
    verdict = verdict_of(broker, application, topics)
    if verdict is None or verdict.state is not Phase.STABLE or len(verdict.processes) != instances:
        return None
    is_done = len(verdict.tasks) == PARTITIONS and all(task.owners for task in verdict.tasks)
    return verdict if is_done and all(len(task.standbys) == standbys for task in verdict.tasks) else None


def target_checks(broker, application):
    """What was recomputed of the targets of each epoch, as its records came; NotReady ones are left out."""
    state, found = None, []
    for event in log_of(broker, application):
        state = fold_group("prod", application, state, [event])
        if isinstance(event, TargetEpochStored) and event.epoch is not None and state.phase is not Phase.NOT_READY:
            found.append(check_targets(state, Catalog(cluster="prod", pass_ms=0)))
    return found


@pytest.mark.timeout(400)
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_an_instance_is_killed_and_comes_back(broker, create, topic_name, group_name, protocol):
    """No instance idles, no finding is false, and the tasks of the killed instance go to the other."""
    create(**{topic_name: PARTITIONS})
    topics = {topic_name: PARTITIONS}
    is_classic = protocol == "classic"
    settings = SETTINGS if is_classic else {"group.protocol": "streams", "commit.interval.ms": "500"}
    application = StreamsApplication(group_name, topic_name, settings)
    if not is_classic:
        standby = {"streams.num.standby.replicas": "1"}
        with KafkaAdminClient(**broker.client_settings()) as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, group_name, standby)])

    with ExitStack() as running:
        running.enter_context(StreamsInstance(broker.bootstrap_servers, application))
        second = running.enter_context(StreamsInstance(broker.bootstrap_servers, application))
        both = eventually(lambda: settled(broker, group_name, topics, 2, 1), "both run their tasks", 120)
        assert {load.active for load in both.processes} == {2}
        assert both.findings == ()
        assert both.task_balance.ratio == 1
        second.kill()
        alone = eventually(lambda: settled(broker, group_name, topics, 1, 0), "the other took over", 120)
        assert [load.active for load in alone.processes] == [PARTITIONS]
        assert alone.findings == ()
        second.start()
        back = eventually(lambda: settled(broker, group_name, topics, 2, 1), "it is back", 120)
        assert back.findings == ()
    if not is_classic:
        checks = target_checks(broker, group_name)
        assert len(checks) >= 3
        assert all(check.result in (TargetResult.EQUAL, TargetResult.TIE) for check in checks), checks
