"""What could be deleted: only what nobody has committed for as long as brokers keep offsets."""

import pytest
from msgspec.structs import replace

from monitor.model import GroupKind, GroupUse, Phase, TopicCommits
from monitor.topics.unused import Unused, find_unused

DAY_MS = 86_400_000
NOW_MS = 100 * DAY_MS
OLD_MS = NOW_MS - 7 * DAY_MS
TOOL = "kafka-consumer-groups.sh --bootstrap-server BROKER:9092"

EMPTY = GroupUse(
    "billing",
    GroupKind.CLASSIC,
    Phase.EMPTY,
    phase_ms=OLD_MS,
    protocol_type="consumer",
    commits=(TopicCommits("mail", (0,), OLD_MS - DAY_MS), TopicCommits("orders", (0, 1), OLD_MS)),
)
LIVE = replace(EMPTY, phase=Phase.STABLE, members=2, reads=("orders",))


def test_a_group_without_members_or_commits_for_a_week_could_be_deleted():
    assert find_unused("main", EMPTY, NOW_MS) == (
        Unused(
            cluster="main",
            group="billing",
            topic=None,
            partitions=3,
            newest_ms=OLD_MS,
            sentence="The group has no members, and its newest commit is 7 d old.",
            command=f"{TOOL} --delete --group billing",
        ),
    )


def test_offsets_in_a_topic_to_which_no_member_subscribes_could_be_deleted():
    assert find_unused("main", LIVE, NOW_MS) == (
        Unused(
            cluster="main",
            group="billing",
            topic="mail",
            partitions=1,
            newest_ms=OLD_MS - DAY_MS,
            sentence="No member subscribes to the topic, and the newest commit is 8 d old.",
            command=f"{TOOL} --delete-offsets --group billing --topic mail:0",
        ),
    )


def test_a_group_that_nobody_joined_says_so():
    (found,) = find_unused("main", replace(EMPTY, phase=Phase.OFFSETS_ONLY, phase_ms=NOW_MS), NOW_MS)
    assert found.sentence == "No consumer has joined the group, and its newest commit is 7 d old."


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(replace(EMPTY, phase_ms=OLD_MS + 1), id="a member left less than a week ago"),
        pytest.param(replace(EMPTY, commits=(TopicCommits("mail", (0,), OLD_MS + 1),)), id="a commit is newer"),
        pytest.param(replace(EMPTY, commits=()), id="there is nothing to delete"),
        pytest.param(replace(EMPTY, kind=GroupKind.SHARE), id="a share group has another tool"),
        pytest.param(replace(EMPTY, kind=GroupKind.STREAMS), id="a streams group has another tool"),
        pytest.param(replace(EMPTY, kind=GroupKind.ROCKETMQ), id="no group of Kafka"),
        pytest.param(replace(LIVE, reads=("mail", "orders")), id="members subscribe to every topic"),
        pytest.param(replace(LIVE, is_complete=False), id="a member that cannot be decoded may subscribe"),
        pytest.param(replace(LIVE, protocol_type="connect"), id="brokers delete offsets of consumers only"),
        pytest.param(replace(LIVE, phase=Phase.GONE, members=0), id="the group is gone"),
    ],
)
def test_nothing_else_is_listed(use):
    assert find_unused("main", use, NOW_MS) == ()


def test_nothing_is_to_be_deleted_of_a_group_of_which_not_all_can_be_read():
    assert find_unused("main", replace(EMPTY, is_complete=False), NOW_MS) == ()
    assert find_unused("main", replace(LIVE, is_complete=False), NOW_MS) == ()
