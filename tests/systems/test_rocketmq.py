"""Real consumers of RocketMQ: some set up wrongly; one is killed, one joins, one hangs, one takes nothing any more."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from monitor.model import FindingKind, Phase
from tests.systems.conftest import VERSIONS
from tests.systems.stories import SETTINGS, RocketMQStory, Story, kinds

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

QUEUES = RocketMQStory.QUEUES


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def story(version: str, rocketmq_stories: dict[str, Future[Story]]) -> Story:
    return rocketmq_stories[version].result()


def test_nothing_is_found_of_groups_that_are_left_alone(story: Story):
    assert kinds(story.alone, *RocketMQStory.healthy, "stuck") == set(), story.watch.told()


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


def test_different_tags_in_a_group_are_told_with_both_members(story: Story):
    """apache/rocketmq #2954: the brokers filter for all members by the newest heartbeat, so records are lost.

    The tags of ``alike`` are the same in another order, which some vendors forbid: brokers compare them as a set.
    """
    (found,) = [each for each in story.alone if (each.group, each.reason) == ("tagged", "mixed_expressions")]
    assert found.kind is FindingKind.SUBSCRIPTION
    assert found.members == {"127.0.0.1@tagged-first", "127.0.0.1@tagged-second"}
    assert "one (127.0.0.1@tagged-first at 127.0.0.1), two (127.0.0.1@tagged-second at 127.0.0.1)" in found.sentence
    assert found.closed_ms is None


def test_records_that_a_listener_does_not_process_are_told(story: Story):
    """apache/rocketmq #5439: one retry, and then they are dead letters. The lag of the topic stays little."""
    assert (FindingKind.POISON, "dead_letters") in kinds(story.alone, "failing")
    redelivery = story.before["failing"].redelivery
    assert redelivery is not None
    assert 0 < redelivery.given_up <= redelivery.sent_back
    assert redelivery.dead_letters == redelivery.given_up


def test_queues_that_are_written_and_may_not_be_read_are_told(story: Story):
    (found,) = [each for each in story.alone if (each.group, each.reason) == ("narrow", "unreadable")]
    assert found.partitions == {f"narrow {broker}-{number}" for broker in ("broker-a", "broker-b") for number in (2, 3)}
    assert found.closed_ms is None


def test_two_clients_with_one_id_are_told(story: Story):
    assert (FindingKind.DOUBLE_OWNED, "duplicate_client_id") in kinds(story.alone, "twin")


def test_a_killed_member_and_one_that_joins_leave_nothing_to_find(story: Story):
    assert kinds(story.after, "killed", "joined") == set(), story.watch.told()


def test_a_hung_client_is_told_as_one_that_does_not_answer(story: Story):
    (hung,) = [each for each in story.after if each.group == "paused"]
    assert (hung.kind, hung.reason) == (FindingKind.DEAD_MEMBER, "no_answer")
    assert hung.members == {"127.0.0.1@paused-sleeper"}
    assert hung.partitions == {f"paused broker-b-{queue}" for queue in range(QUEUES)}
    assert hung.opened_ms - story.happened_ms >= SETTINGS.commit_silence_ms


def test_a_consumer_that_answers_and_takes_nothing_is_told_as_dead(story: Story):
    (stuck,) = [each for each in story.after if each.group == "stuck"]
    assert (stuck.kind, stuck.reason) == (FindingKind.DEAD_MEMBER, "silent")
    assert stuck.members == {"127.0.0.1@stuck-second"}


def test_nothing_else_is_found_when_others_fail(story: Story):
    assert kinds(story.after, "calm", "circle", "ordered", "everyone") == set(), story.watch.told()
