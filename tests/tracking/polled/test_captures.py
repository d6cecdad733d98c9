"""Groups of captures as a broker described them, read by the admin API, come to the same state as by their log.

Kafka 4.3.1 only: the admin client that made the captures of 3.9.2 was told no epochs.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from monitor.model import GroupKind, MemberState, Reconciliation
from monitor.protocol.kafka_admin.described_groups import observed_group
from monitor.protocol.kafka_admin.responses import (
    NOT_REQUESTED,
    AssignmentDescribed,
    ConsumerGroupDescribed,
    ConsumerMemberDescribed,
    NamedTopicPartitions,
    ShareGroupDescribed,
    ShareMemberDescribed,
)
from monitor.tracking.group import fold_group
from tests.tracking.comparison import differences
from tests.tracking.test_group_captures import states_at_marks

BROKER = "4.3.1"


def assignment(mark, places):
    numbers = defaultdict(list)
    for place in places or ():
        topic, _, number = place.rpartition("-")
        numbers[topic].append(int(number))
    return AssignmentDescribed(
        tuple(NamedTopicPartitions(mark["topics"][topic]["id"], topic, tuple(some)) for topic, some in numbers.items())
    )


def described(mark, by_log):
    """The answer of the broker; what the mark does not have of a member is as the log told it."""
    group, logged = mark["describe"], {member.member_id: member for member in by_log.members}
    is_consumer = group["type"] == "Consumer"
    members = []
    for member in group["members"]:
        known = logged[member["member_id"]]
        common = {
            "member_id": member["member_id"],
            "rack_id": known.rack,
            "member_epoch": member["member_epoch"],
            "client_id": member["client_id"],
            "client_host": member["host"],
            "subscribed_topic_names": known.topics,
            "assignment": assignment(mark, member["assignment"]),
        }
        more = {
            "instance_id": member.get("instance_id"),
            "subscribed_topic_regex": known.regex,
            "target_assignment": assignment(mark, member.get("target_assignment")),
        }
        members.append(ConsumerMemberDescribed(**common, **more) if is_consumer else ShareMemberDescribed(**common))
    return (ConsumerGroupDescribed if is_consumer else ShareGroupDescribed)(
        error_code=0,
        error_message=None,
        group_id=mark["group"],
        group_state=group["state"],
        group_epoch=group["group_epoch"],
        assignment_epoch=group["target_assignment_epoch"],
        assignor_name=group.get("assignor") or "",
        members=tuple(members),
        authorized_operations=NOT_REQUESTED,
    )


def read_at_marks():
    """Each mark of a KIP-848 or share group with its state by readings and its state by the log."""
    states = {}
    for mark, by_log in states_at_marks(BROKER):
        if mark["describe"].get("type") in ("Consumer", "Share"):
            event = observed_group(described(mark, by_log), (), cluster="c", pass_ms=mark["t"], observed_ms=mark["t"])
            states[mark["group"]] = fold_group("c", mark["group"], states.get(mark["group"]), [event])
            yield mark, states[mark["group"]], by_log


def test_the_state_at_every_mark_is_what_the_broker_describes():
    compared = Counter()
    for mark, state, _ in read_at_marks():
        found = [each for each in differences(mark, state, offsets=False) if "upgraded" not in each]
        assert found == [], (mark["scenario"], mark["label"])
        compared[state.kind] += 1
    assert compared == {GroupKind.CONSUMER: 55, GroupKind.SHARE: 4}


def test_how_far_members_are_is_told_as_the_log_tells_it():
    """The broker does not say it; it follows from epochs, from what they own and from what they are to own.

    A member that has to give nothing back and waits for the next heartbeat is with both where it was.
    """
    seen = Counter()
    for mark, state, by_log in read_at_marks():
        if state.kind is not GroupKind.CONSUMER:
            continue
        logged = {member.member_id: member.reconciliation or Reconciliation() for member in by_log.members}
        for member in state.members:
            standing, known = member.reconciliation, logged[member.member_id]
            assert standing.state is known.state, (mark["scenario"], mark["label"], standing, known)
            seen[standing.state] += 1
    assert seen[MemberState.UNREVOKED_PARTITIONS]
    assert seen[MemberState.UNRELEASED_PARTITIONS]


def test_a_rebalance_is_under_way_when_it_is_by_the_log():
    """A static member that takes its place again reconciles, too, and nobody else has to stop for it."""
    seen = Counter()
    for mark, state, by_log in read_at_marks():
        assert (state.under_way is None) is (by_log.under_way is None), (mark["scenario"], mark["label"])
        seen[state.under_way is None] += 1
    assert seen[True]
    assert seen[False]
