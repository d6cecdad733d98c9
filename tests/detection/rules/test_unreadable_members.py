"""Members whose bytes cannot be decoded: they are told, and the rest of their group is judged as far as it can be."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import FindingKind, GroupKind, GroupState, Member, TopicPartitions
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, places, topic
from tests.support.captured_groups import catalog_of, folded, judged, queues, rocketmq
from tests.support.captured_groups import topic as queue_topic

SHORT = "underflow at byte 2 of the subscription"
NONE = "underflow at byte 0 of the assignment"
TWO = [member("C0", ["a"], {"a": [0]}), member("C1", ["a"], {"a": [1]})]


def asks_unread(has: dict[str, list[int]] | None = None) -> Member:
    """What it subscribes to cannot be decoded, what it owns can."""
    return member("C9", (), has, unreadable=SHORT, assignment_read=True)


def owns_unread(*topics: str) -> Member:
    """The other way round."""
    return member("C9", topics, unreadable=NONE)


def told(state: GroupState, topics: Any) -> list[tuple[str, str, int]]:
    findings = evaluate(state, topics, NOW, DetectionSettings()).findings
    return [(finding.kind.value, finding.reason, len(finding.partitions)) for finding in findings]


SUBSCRIPTION, ASSIGNMENT = ("unreadable_members", "subscription", 0), ("unreadable_members", "assignment", 0)


@pytest.mark.parametrize(
    ("unread", "topics", "expected"),
    [
        pytest.param(asks_unread(), catalog(topic("a", 2)), [SUBSCRIPTION], id="nothing else is wrong"),
        pytest.param(
            asks_unread(),
            catalog(topic("a", 3)),
            [("orphaned", "assignor_gap", 1), SUBSCRIPTION],
            id="what it owns is known, so a partition that nobody owns is told",
        ),
        pytest.param(asks_unread({"a": [2]}), catalog(topic("a", 3)), [SUBSCRIPTION], id="it owns what others lack"),
        pytest.param(
            asks_unread({"a": [1]}),
            catalog(topic("a", 2)),
            [("double_owned", "same_generation", 1), SUBSCRIPTION],
            id="it owns what another owns",
        ),
        pytest.param(owns_unread("a"), catalog(topic("a", 3)), [ASSIGNMENT], id="it may own the third"),
        pytest.param(owns_unread(), catalog(topic("a", 3)), [ASSIGNMENT], id="the same, nothing is known of it"),
        pytest.param(
            owns_unread("a"),
            catalog(topic("a", 4, grown=1)),
            [("orphaned", "grew", 1), ASSIGNMENT],
            id="it cannot own what came after the generation",
        ),
    ],
)
def test_what_is_told_of_a_group_with_a_member_that_cannot_be_read(unread, topics, expected):
    assert told(group(*TWO, unread, protocol="ours"), topics) == expected


def test_nothing_is_said_of_topics_that_only_the_unreadable_member_may_subscribe_to():
    """Of a readable group they would be orphans of the reason unsubscribed, and abandoned where records wait.

    In the other topic, the group has never committed.
    """
    waiting = [commit("b", 0, offset=10, at_ms=0)]
    topics, later_ms = catalog(topic("a", 2), topic("b", 1)), NOW + 120_000
    readable = evaluate(group(*TWO, offsets=waiting), topics, later_ms, DetectionSettings())
    assert [finding.kind for finding in readable.findings] == [FindingKind.UNCOMMITTED, FindingKind.ABANDONED]
    verdict = evaluate(group(*TWO, asks_unread(), offsets=waiting), topics, later_ms, DetectionSettings())
    assert [row.orphan for row in verdict.partitions] == [None, None, None]
    assert not any(finding.kind is FindingKind.ABANDONED for finding in verdict.findings)


def test_neither_drift_nor_imbalance_is_told_where_not_all_inputs_are_known():
    """Range gives C0 to C2 a share each; with an assignor of ours that would be drift, and C0 has too much."""
    members = [member("C0", ["a"], {"a": [0, 1, 2, 3]}), member("C1", ["a"], {"a": [4]})]
    topics = catalog(topic("a", 5))
    readable = [found[0] for found in told(group(*members), topics)]
    assert readable == ["drift", "imbalance"]
    assert told(group(*members, asks_unread()), topics) == [SUBSCRIPTION]


def test_the_finding_says_who_it_is_why_and_since_when():
    state = group(*TWO, replace(asks_unread(), client_id="app", host="/10.0.0.9"))
    (finding,) = evaluate(state, catalog(topic("a", 2)), NOW, DetectionSettings()).findings
    assert (finding.kind, finding.since_ms, finding.members) == (FindingKind.UNREADABLE_MEMBERS, ASSIGNED, ("C9",))
    assert f"the subscription of app at /10.0.0.9 ({SHORT})" in finding.sentence


def test_the_verdict_names_what_could_not_be_read():
    verdict = evaluate(group(*TWO, owns_unread("a")), catalog(topic("a", 3)), NOW, DetectionSettings())
    assert [(row.member_id, row.unreadable) for row in verdict.members] == [("C0", None), ("C1", None), ("C9", NONE)]
    assert verdict.expectation == "none"


def test_a_handover_is_no_gap_although_a_member_cannot_be_read():
    """C0 joined with partition 2, and lets it go."""
    lets_go = replace(TWO[0], owned=(TopicPartitions("a", (0, 2)),))
    state = group(lets_go, TWO[1], asks_unread(), protocol="cooperative-sticky")
    assert told(state, catalog(topic("a", 3))) == [("orphaned", "pending", 1), SUBSCRIPTION]


def test_a_topic_that_the_leader_leaves_out_is_told_although_a_member_cannot_be_read():
    members = [member("C0", ["a"], {"a": [0]}), member("C1", ["a", "b"], {"a": [1]})]
    state = group(*members, asks_unread(), protocol="RoundRobinAssigner", leader="C0")
    (orphaned, _) = evaluate(state, catalog(topic("a", 2), topic("b", 2)), NOW, DetectionSettings()).findings
    assert (orphaned.reason, orphaned.partitions) == ("leader_unsubscribed", places("b", 0, 1))


@pytest.mark.parametrize("kind", [GroupKind.ZOOKEEPER, GroupKind.METAQ])
def test_a_registration_that_cannot_be_read_is_told_of_members_that_share_by_themselves(kind: GroupKind):
    broken = member("C9", (), unreadable="bad_json at byte 0 of the value", assignment_read=True)
    state = group(member("C0", ["a"], {"a": [0, 1]}), broken, protocol=None, kind=kind)
    assert told(state, catalog(topic("a", 3))) == [SUBSCRIPTION]


def test_a_client_of_rocketmq_that_does_not_answer_has_sent_nothing_that_could_be_read():
    """What it holds is not known either: the others share by a strategy of somebody's own."""
    reading = rocketmq("5.5.0", "lab-group")
    first, *others = [replace(each, assignor="OurOwn") for each in reading.members]
    silent = replace(first, assigned=(), assignor=None, topics=(), answers=False)
    state = folded(replace(reading, members=(silent, *others)))
    topics = catalog_of("mq", queue_topic("mq", "LabTopic", queues(8)))
    verdict = judged(state, topics, reading.observed_ms + 200_000)
    assert verdict.expectation == "none"
    assert not any(finding.kind is FindingKind.UNREADABLE_MEMBERS for finding in verdict.findings)
    assert not any(row.unreadable for row in verdict.members)
