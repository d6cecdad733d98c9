"""Real high-level consumers of Kafka 0.10: one is killed, one joins, one is paused, one takes nothing any more."""

from __future__ import annotations

import pytest

from monitor.model import FindingKind
from tests.systems.conftest import Pair
from tests.systems.stories import SETTINGS, KafkaStory, Story, kinds

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

PARTITIONS = KafkaStory.PARTITIONS
HEALTHY = KafkaStory.healthy


@pytest.fixture
def story(zookeeper_stories: Pair) -> Story:
    return zookeeper_stories.one.result()


def test_nothing_is_found_of_groups_that_are_left_alone(story: Story):
    assert kinds(story.alone) == set(), story.watch.told()


def test_a_strategy_is_found_that_explains_every_owner(story: Story):
    for group in HEALTHY:
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
    for group in HEALTHY:
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
