"""Real consumers of two MetaQ brokers: one is killed, one joins, one is paused, one takes nothing any more."""

from __future__ import annotations

import pytest

from monitor.model import FindingKind
from tests.systems.conftest import Pair
from tests.systems.stories import SETTINGS, MetaQStory, Story, kinds

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

HEALTHY = MetaQStory.healthy


@pytest.fixture
def story(zookeeper_stories: Pair) -> Story:
    return zookeeper_stories.other.result()


def test_nothing_is_found_of_groups_that_are_left_alone(story: Story):
    assert kinds(story.alone, *HEALTHY, "stuck") == set(), story.watch.told()


def test_that_hashing_shares_unevenly_is_all_that_is_found_of_a_group_that_hashes(story: Story):
    owned = [member.partitions for member in story.before["hashed"].members]
    assert sum(owned) == 24
    uneven = {(FindingKind.IMBALANCE, "partitions")}
    assert kinds((*story.alone, *story.after), "hashed") == (
        uneven if max(owned) >= 12 * SETTINGS.imbalance_ratio else set()
    )


def test_a_strategy_is_found_that_explains_every_owner(story: Story):
    for group in (*HEALTHY, "hashed"):
        verdict = story.before[group]
        assert verdict.expectation == "exact", story.watch.told(group)
        assert all(row.owners == (row.expected,) for row in verdict.partitions), story.watch.told(group)


def test_partitions_of_all_brokers_are_shared_in_the_order_of_text(story: Story):
    first = {row.partition for row in story.before["wide"].partitions if row.owners == ("wide_wide-first",)}
    # Twelve partitions at each of two brokers: as text, all of broker 0 come before those of broker 1.
    assert first == {f"0-{number}" for number in range(12)}


def test_what_waits_is_little_and_known_in_bytes(story: Story):
    for group in HEALTHY:
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
