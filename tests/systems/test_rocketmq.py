"""Real consumers of RocketMQ, of both lines of versions: one is killed, one joins, one hangs, some are set up wrongly.

One story for all groups, as most of it is waiting: first all are left alone, then everything happens at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from monitor.collectors.rocketmq_reader import RocketMQReader
from monitor.config.systems import RocketMQSettings
from monitor.detection import DetectionSettings
from monitor.embedded.clients import JavaClients, rocketmq_clients
from monitor.embedded.rocketmq import EmbeddedRocketMQ
from monitor.model import FindingKind, Phase
from tests.systems.watching import CLUSTER, Found, Watch, now_ms

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

SETTINGS = DetectionSettings(commit_silence_ms=20_000, connection_expiry_ms=20_000)
"""Quicker than the defaults in what says how long to wait for bad news, so that it comes before a broker gives up the
connection of a hung client (103-130 s); what is waited until members have shared out anew is as it is."""

HEALTHY = ("calm", "circle", "ordered", "everyone", "killed", "joined", "hung")
QUEUES = 4
"""Of each topic at each of the two brokers."""

Kinds = set[tuple[FindingKind, str]]


class Story:
    """What was told while the groups were left alone, and after it happened."""

    def __init__(self, servers: EmbeddedRocketMQ, running: ExitStack) -> None:
        self._servers, self._running = servers, running
        self.admin = self._jvm()
        for topic in (*HEALTHY, "stuck", "mixed", "one", "other", "twin"):
            self.admin.create_topic(topic, QUEUES)
            self.admin.produce(topic, 2 * QUEUES)
        self.jvms = {name: self._jvm() for name in ("first", "second", "victim", "sleeper")}
        self._start_consumers()
        reader = RocketMQReader(RocketMQSettings(name=CLUSTER, name_servers=servers.name_servers))
        self.watch = running.enter_context(Watch(reader, settings=SETTINGS))
        self._leave_alone()
        self._let_it_happen()

    def _jvm(self) -> JavaClients:
        return self._running.enter_context(rocketmq_clients(self._servers))

    def _consume(self, jvm: str, group: str, topic: str = "", strategy: str = "Averagely", how: str = "concurrently"):
        self.jvms[jvm].consume(f"{group}-{jvm}", group, topic or group, strategy=strategy, how=how)

    def _start_consumers(self) -> None:
        for group, others in {"calm": "second", "killed": "victim", "hung": "sleeper", "stuck": "second"}.items():
            self._consume("first", group)
            self._consume(others, group)
        self._consume("first", "joined")
        for jvm in ("first", "second"):
            self._consume(jvm, "circle", strategy="AveragelyByCircle")
            self._consume(jvm, "ordered", how="orderly")
            self._consume(jvm, "everyone", how="broadcasting")
            self.jvms[jvm].consume("twin", "twin", "twin", strategy="Averagely", how="concurrently")
        self._consume("first", "mixed")
        self._consume("second", "mixed", strategy="AveragelyByCircle")
        self._consume("first", "split", "one")
        self._consume("second", "split", "other")

    def _leave_alone(self) -> None:
        for group in ("calm", "circle", "ordered", "stuck"):
            self.watch.until_shared(group, f"{group}-first", f"{group}-second")
        self.watch.until_shared("killed", "killed-first", "killed-victim")
        self.watch.until_shared("hung", "hung-first", "hung-sleeper")
        self.watch.pass_time(SETTINGS.rocketmq_settling_ms / 1000 + 10)
        self.alone = self.watch.found()
        self.before = {group: self.watch.verdict(group) for group in (*HEALTHY, "mixed", "split", "twin")}

    def _let_it_happen(self) -> None:
        self.happened_ms = now_ms()
        self.jvms["sleeper"].pause()
        self.jvms["second"].hang("stuck-second")
        self.jvms["victim"].kill()
        self._consume("second", "joined")
        self.shared_after_kill_s = self.watch.until_shared("killed", "killed-first")
        self.shared_after_join_s = self.watch.until_shared("joined", "joined-first", "joined-second")
        self.watch.until(lambda: self.kinds("hung"), "the hung client", 90)
        self.watch.until(lambda: self.kinds("stuck"), "the stuck consumer", 90)
        self.after = self.watch.found(since_ms=self.happened_ms)
        self.jvms["sleeper"].go_on()
        self.jvms["second"].resume("stuck-second")
        self.watch.until(lambda: not self.watch.now("hung"), "the client that goes on", 60)
        self.watch.until(lambda: not self.watch.now("stuck"), "the consumer that goes on", 60)

    def kinds(self, group: str) -> Kinds:
        """What was found of a group since it happened."""
        return kinds(self.watch.found(group, since_ms=self.happened_ms))


def kinds(found: tuple[Found, ...], *groups: str) -> Kinds:
    return {(each.kind, each.reason) for each in found if not groups or each.group in groups}


@pytest.fixture(scope="module")
def story(rocketmq: EmbeddedRocketMQ) -> Iterator[Story]:
    with ExitStack() as running:
        yield Story(rocketmq, running)


def test_nothing_is_found_of_groups_that_are_left_alone(story: Story):
    assert kinds(story.alone, *HEALTHY, "stuck") == set(), story.watch.told(*HEALTHY)


def test_the_strategy_that_the_clients_tell_explains_every_owner(story: Story):
    told = {group: story.before[group].assignor for group in ("calm", "circle", "ordered")}
    assert told == {
        "calm": "AllocateMessageQueueAveragely",
        "circle": "AllocateMessageQueueAveragelyByCircle",
        "ordered": "AllocateMessageQueueAveragely",
    }
    for group in told:
        verdict = story.before[group]
        assert (verdict.expectation, verdict.state) == ("exact", Phase.STABLE)
        assert len(verdict.partitions) == 2 * QUEUES
        assert all(row.owners == (row.expected,) for row in verdict.partitions)


def test_what_waits_is_little_and_known_where_everybody_reads(story: Story):
    for group in ("calm", "circle", "ordered"):
        assert all(row.lag is not None for row in story.before[group].partitions)
        assert story.before[group].lag < 30 * 2 * QUEUES  # thirty seconds of records


def test_two_strategies_in_a_group_are_told_with_what_they_leave_out(story: Story):
    mixed = [each for each in story.alone if each.group == "mixed"]
    found = {(each.kind, each.reason): each.partitions for each in mixed}
    # Of 8 queues in the order (broker, queue) the first averagely takes 0 1 2 3, the second by circle 1 3 5 7.
    assert found == {
        (FindingKind.DOUBLE_OWNED, "mixed_strategy"): {"mixed broker-a-1", "mixed broker-a-3"},
        (FindingKind.ORPHANED, "mixed_strategy"): {"mixed broker-b-0", "mixed broker-b-2"},
    }


def test_different_subscriptions_in_a_group_are_told_with_what_they_leave_out(story: Story):
    split = [each for each in story.alone if each.group == "split"]
    # The first takes the first half of the topic it subscribes to, the second the second half of the other.
    expected = {f"one broker-b-{queue}" for queue in range(QUEUES)}
    expected |= {f"other broker-a-{queue}" for queue in range(QUEUES)}
    found = {(each.kind, each.reason): each.partitions for each in split}
    assert found.pop((FindingKind.ORPHANED, "mixed_subscription")) == expected
    # The broker knows one subscription of a group, the newest heartbeat's, and refuses who pulls from another topic:
    # then a member really stands still with what it has.
    assert {kind for kind, _ in found} <= {FindingKind.DEAD_MEMBER, FindingKind.LAG}
    assert not expected & frozenset().union(*found.values())


def test_two_clients_with_one_id_are_told(story: Story):
    assert kinds(story.alone, "twin") == {(FindingKind.DOUBLE_OWNED, "duplicate_client_id")}


def test_a_killed_member_and_one_that_joins_leave_nothing_to_find(story: Story):
    assert kinds(story.after, "killed", "joined") == set(), story.watch.told("killed", "joined")
    # the broker tells the others at once; their own loop, every 20 s, is the slowest way
    assert max(story.shared_after_kill_s, story.shared_after_join_s) < 40


def test_a_hung_client_is_told_as_one_that_does_not_answer(story: Story):
    (hung,) = [each for each in story.after if each.group == "hung"]
    assert (hung.kind, hung.reason) == (FindingKind.DEAD_MEMBER, "no_answer")
    assert hung.members == {"127.0.0.1@hung-sleeper"}
    assert hung.partitions == {f"hung broker-b-{queue}" for queue in range(QUEUES)}
    assert hung.opened_ms - story.happened_ms >= SETTINGS.commit_silence_ms


def test_a_consumer_that_answers_and_takes_nothing_is_told_as_dead(story: Story):
    (stuck,) = [each for each in story.after if each.group == "stuck"]
    assert (stuck.kind, stuck.reason) == (FindingKind.DEAD_MEMBER, "silent")
    assert stuck.members == {"127.0.0.1@stuck-second"}


def test_nothing_else_is_found_when_others_fail(story: Story):
    assert kinds(story.after, "calm", "circle", "ordered", "everyone") == set()
