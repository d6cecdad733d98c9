"""Real high-level consumers of Kafka 0.10: one is killed, one joins, one is paused, one takes nothing any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from monitor.collectors.zookeeper_reader import KafkaZooKeeperReader
from monitor.config.systems import ZooKeeperSettings
from monitor.detection import DetectionSettings
from monitor.embedded.clients import JavaClients, kafka010_clients
from monitor.embedded.kafka010 import EmbeddedKafka010
from monitor.embedded.zookeeper import EmbeddedZooKeeper
from monitor.model import FindingKind
from tests.systems.watching import CLUSTER, Found, Watch, now_ms

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

SETTINGS = DetectionSettings(commit_silence_ms=20_000)
SESSION_MS = 6_000
PARTITIONS = 5
GROUPS = ("calm", "turns", "white", "killed", "joined", "paused")

Kinds = set[tuple[FindingKind, str]]


class Story:
    """What was told while the groups were left alone, and after it happened."""

    def __init__(self, zookeeper: EmbeddedZooKeeper, broker: EmbeddedKafka010, running: ExitStack) -> None:
        self._broker, self._running = broker, running
        self.admin = self._jvm()
        for topic in (*GROUPS, "stuck"):
            self.admin.create_topic(topic, PARTITIONS)
            self.admin.produce(topic, PARTITIONS)
        self.jvms = {name: self._jvm() for name in ("first", "second", "victim", "sleeper")}
        self._start_consumers()
        settings = ZooKeeperSettings(name=CLUSTER, hosts=zookeeper.hosts, system="kafka", root="/kafka")
        self.watch = running.enter_context(Watch(KafkaZooKeeperReader(settings), settings=SETTINGS))
        self._leave_alone()
        self._let_it_happen()

    def _jvm(self) -> JavaClients:
        return self._running.enter_context(kafka010_clients(self._broker, SESSION_MS))

    def _consume(self, jvm: str, group: str, topic: str = "", strategy: str = "range", how: str = "1") -> None:
        self.jvms[jvm].consume(f"{group}-{jvm}", group, topic or group, strategy=strategy, how=how)

    def _start_consumers(self) -> None:
        self._consume("first", "calm", how="2")
        self._consume("second", "calm")
        self._consume("first", "turns", "turns", "roundrobin", "2")
        self._consume("second", "turns", "turns", "roundrobin", "2")
        self._consume("first", "white", "white|calm", how="white 1")
        self._consume("second", "white", "white|calm", how="white 1")
        for group, other in {"killed": "victim", "paused": "sleeper", "stuck": "second"}.items():
            self._consume("first", group)
            self._consume(other, group)
        self._consume("first", "joined")

    def _leave_alone(self) -> None:
        self.watch.until_shared("calm", "calm-first-0", "calm-first-1", "calm-second-0")
        self.watch.until_shared("white", "white-first-0", "white-second-0")
        for group, other in {"killed": "victim", "paused": "sleeper", "stuck": "second"}.items():
            self.watch.until_shared(group, f"{group}-first-0", f"{group}-{other}-0")
        self.watch.pass_time(SETTINGS.zookeeper_settling_ms / 1000 + 10)
        self.alone = self.watch.found()
        self.before = {group: self.watch.verdict(group) for group in GROUPS}

    def _let_it_happen(self) -> None:
        self.happened_ms = now_ms()
        self.jvms["sleeper"].pause()
        self.jvms["second"].hang("stuck-second")
        self.jvms["victim"].kill()
        self._consume("second", "joined")
        self.shared_after_kill_s = self.watch.until_shared("killed", "killed-first-0")
        self.watch.until_shared("paused", "paused-first-0")
        self.watch.until_shared("joined", "joined-first-0", "joined-second-0")
        self.watch.until(lambda: self.watch.now("stuck"), "the stuck consumer", 90)
        self.watch.pass_time(SETTINGS.zookeeper_settling_ms / 1000)
        self.after = self.watch.found(since_ms=self.happened_ms)
        self.jvms["second"].resume("stuck-second")
        self.watch.until(lambda: not self.watch.now("stuck"), "the consumer that goes on", 60)
        self.jvms["sleeper"].go_on()
        self.watch.until_shared("paused", "paused-first-0", "paused-sleeper-0")


def kinds(found: tuple[Found, ...], *groups: str) -> Kinds:
    return {(each.kind, each.reason) for each in found if not groups or each.group in groups}


@pytest.fixture(scope="module")
def story(zookeeper: EmbeddedZooKeeper, kafka010: EmbeddedKafka010) -> Iterator[Story]:
    with ExitStack() as running:
        yield Story(zookeeper, kafka010, running)


def test_nothing_is_found_of_groups_that_are_left_alone(story: Story):
    assert kinds(story.alone, *GROUPS, "stuck") == set(), story.watch.told()


def test_a_strategy_is_found_that_explains_every_owner(story: Story):
    for group in GROUPS:
        verdict = story.before[group]
        assert verdict.expectation == "exact", story.watch.told(group)
        assert all(row.owners == (row.expected,) for row in verdict.partitions), story.watch.told(group)


def test_threads_own_what_range_gives_them(story: Story):
    owned = {member.member_id: member.partitions for member in story.before["calm"].members}
    # 5 partitions over three threads in the order of their names: 2, 2 and 1
    assert owned == {"calm_calm-first-0": 2, "calm_calm-first-1": 2, "calm_calm-second-0": 1}


def test_a_pattern_takes_in_the_topics_that_exist(story: Story):
    verdict = story.before["white"]
    assert {row.topic for row in verdict.partitions} == {"white", "calm"}
    assert len(verdict.partitions) == 2 * PARTITIONS


def test_what_waits_is_little_and_known(story: Story):
    for group in GROUPS:
        assert story.before[group].lag is not None
        assert story.before[group].lag < 30 * 2 * PARTITIONS  # thirty seconds of records


def test_a_killed_member_one_that_joins_and_one_whose_session_ends_leave_nothing_to_find(story: Story):
    assert kinds(story.after, "killed", "joined", "paused") == set(), story.watch.told()


def test_a_consumer_that_takes_nothing_is_told_as_dead(story: Story):
    (stuck,) = [each for each in story.after if each.group == "stuck"]
    assert (stuck.kind, stuck.reason) == (FindingKind.DEAD_MEMBER, "silent")
    assert stuck.members == {"stuck_stuck-second-0"}
    assert stuck.opened_ms - story.happened_ms >= SETTINGS.commit_silence_ms


def test_nothing_else_is_found_when_others_fail(story: Story):
    assert kinds(story.after, "calm", "turns", "white") == set(), story.watch.told()
