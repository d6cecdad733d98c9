"""Real consumers of MetaQ and two brokers: one is killed, one joins, one is paused, one takes nothing any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from monitor.collectors.metaq_reader import MetaQReader
from monitor.config.systems import ZooKeeperSettings
from monitor.detection import DetectionSettings
from monitor.embedded.clients import JavaClients, metaq_clients
from monitor.embedded.zookeeper import EmbeddedZooKeeper
from monitor.model import FindingKind
from tests.systems.conftest import METAQ_TOPICS
from tests.systems.watching import CLUSTER, Found, Watch, now_ms

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

SETTINGS = DetectionSettings(commit_silence_ms=20_000)
SESSION_MS = 6_000
GROUPS = ("calm", "wide", "hashed", "killed", "joined", "paused")
ALL_BUT_HASHED = tuple(group for group in GROUPS if group != "hashed")

Kinds = set[tuple[FindingKind, str]]


class Story:
    """What was told while the groups were left alone, and after it happened. Every topic has two brokers."""

    def __init__(self, zookeeper: EmbeddedZooKeeper, running: ExitStack) -> None:
        self._zookeeper, self._running = zookeeper, running
        self.admin = self._jvm()
        for topic, partitions in METAQ_TOPICS.items():
            self.admin.produce(topic, 2 * partitions)
        self.jvms = {name: self._jvm() for name in ("first", "second", "victim", "sleeper")}
        self._start_consumers()
        settings = ZooKeeperSettings(
            name=CLUSTER, hosts=zookeeper.hosts, system="metaq", root="/meta", strategies={"hashed": "CONSIST"}
        )
        self.watch = running.enter_context(Watch(MetaQReader(settings), settings=SETTINGS))
        self._leave_alone()
        self._let_it_happen()

    def _jvm(self) -> JavaClients:
        return self._running.enter_context(metaq_clients(self._zookeeper, SESSION_MS))

    def _consume(self, jvm: str, group: str, topic: str, strategy: str = "DEFAULT") -> None:
        self.jvms[jvm].consume(f"{group}-{jvm}", group, topic, strategy=strategy, how="")

    def _start_consumers(self) -> None:
        for jvm in ("first", "second"):
            self._consume(jvm, "calm", "calm")
            self._consume(jvm, "wide", "wide")
            self._consume(jvm, "hashed", "wide", "CONSIST")
            self._consume(jvm, "stuck", "stuck")
        for group, other in {"killed": "victim", "paused": "sleeper"}.items():
            self._consume("first", group, group)
            self._consume(other, group, group)
        self._consume("first", "joined", "joined")

    def _leave_alone(self) -> None:
        for group in ("calm", "wide", "hashed", "stuck"):
            self.watch.until_shared(group, f"{group}-first", f"{group}-second")
        for group, other in {"killed": "victim", "paused": "sleeper"}.items():
            self.watch.until_shared(group, f"{group}-first", f"{group}-{other}")
        self.watch.pass_time(SETTINGS.zookeeper_settling_ms / 1000 + 10)
        self.alone = self.watch.found()
        self.before = {group: self.watch.verdict(group) for group in GROUPS}

    def _let_it_happen(self) -> None:
        self.happened_ms = now_ms()
        self.jvms["sleeper"].pause()
        self.jvms["second"].hang("stuck-second")
        self.jvms["victim"].kill()
        self._consume("second", "joined", "joined")
        self.shared_after_kill_s = self.watch.until_shared("killed", "killed-first")
        self.watch.until_shared("paused", "paused-first")
        self.watch.until_shared("joined", "joined-first", "joined-second")
        self.watch.until(lambda: self.watch.now("stuck"), "the stuck consumer", 90)
        self.watch.pass_time(SETTINGS.zookeeper_settling_ms / 1000)
        self.after = self.watch.found(since_ms=self.happened_ms)
        self.jvms["second"].resume("stuck-second")
        self.watch.until(lambda: not self.watch.now("stuck"), "the consumer that goes on", 60)
        self.jvms["sleeper"].go_on()
        self.watch.until_shared("paused", "paused-first", "paused-sleeper")


def kinds(found: tuple[Found, ...], *groups: str) -> Kinds:
    return {(each.kind, each.reason) for each in found if not groups or each.group in groups}


@pytest.fixture(scope="module")
def story(zookeeper: EmbeddedZooKeeper, metaq: object) -> Iterator[Story]:
    with ExitStack() as running:
        yield Story(zookeeper, running)


def test_nothing_is_found_of_groups_that_are_left_alone(story: Story):
    assert kinds(story.alone, *ALL_BUT_HASHED, "stuck") == set(), story.watch.told()


def test_that_hashing_shares_unevenly_is_all_that_is_found_of_a_group_that_hashes(story: Story):
    owned = [member.partitions for member in story.before["hashed"].members]
    uneven = {(FindingKind.IMBALANCE, "partitions")}
    assert kinds((*story.alone, *story.after), "hashed") == (
        uneven if max(owned) >= 12 * SETTINGS.imbalance_ratio else set()
    )


def test_a_strategy_explains_every_owner(story: Story):
    for group in GROUPS:
        verdict = story.before[group]
        assert verdict.expectation == "exact", story.watch.told(group)
        assert all(row.owners == (row.expected,) for row in verdict.partitions), story.watch.told(group)


def test_partitions_of_all_brokers_are_shared_in_the_order_of_text(story: Story):
    first = {row.partition for row in story.before["wide"].partitions if row.owners == ("wide_wide-first",)}
    # Twelve partitions at each of two brokers: as text, all of broker 0 come before those of broker 1.
    assert first == {f"0-{number}" for number in range(12)}


def test_what_waits_is_little_and_known_in_bytes(story: Story):
    for group in GROUPS:
        assert story.before[group].lag is not None
        assert story.before[group].lag < 30 * 24 * 100  # thirty seconds of records of less than 100 bytes


def test_a_killed_member_one_that_joins_and_one_whose_session_ends_leave_nothing_to_find(story: Story):
    assert kinds(story.after, "killed", "joined", "paused") == set(), story.watch.told()


def test_a_consumer_that_takes_nothing_is_told_as_dead(story: Story):
    (stuck,) = [each for each in story.after if each.group == "stuck"]
    assert (stuck.kind, stuck.reason) == (FindingKind.DEAD_MEMBER, "silent")
    assert stuck.members == {"stuck_stuck-second"}
    assert stuck.opened_ms - story.happened_ms >= SETTINGS.commit_silence_ms


def test_nothing_else_is_found_when_others_fail(story: Story):
    assert kinds(story.after, "calm", "wide") == set(), story.watch.told()
