"""Clients of RocketMQ that subscribe to a topic with different expressions. Times are in ms."""

from __future__ import annotations

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    Catalog,
    Finding,
    GroupObserved,
    GroupState,
    Member,
    Sharing,
    TopicExpression,
)
from monitor.tracking.group import fold_group
from tests.support.builders import rocketmq_poll

NOW = 1_795_000_000_000
NO_TOPICS = Catalog(cluster="mq", pass_ms=NOW)


def client(name: str, **expressions: str) -> Member:
    """A client of the topics that are named; ``"*"`` is all records."""
    own = tuple(TopicExpression(topic, text) for topic, text in sorted(expressions.items()) if text != "*")
    return Member(member_id=name, topics=tuple(sorted(expressions)), expressions=own)


def unknown(name: str, *topics: str) -> Member:
    """A client of which only the topics are known, as one of RocketMQ's proxy."""
    return Member(member_id=name, topics=topics)


def silent(name: str, **expressions: str) -> Member:
    """A client that said so, and does not answer any more."""
    before = client(name, **expressions)
    return Member(member_id=name, topics=before.topics, expressions=before.expressions, answers=False)


def polled(at_ms: int, *members: Member, sharing: Sharing = Sharing.EXCLUSIVE) -> GroupObserved:
    return rocketmq_poll(at_ms, members, sharing=sharing)


def found(*polls: GroupObserved) -> list[Finding]:
    state: GroupState | None = None
    for each in polls:
        state = fold_group("mq", "g", state, [each])
    assert state is not None
    now_ms = polls[-1].observed_ms
    verdict = evaluate(state, Catalog(cluster="mq", pass_ms=now_ms), now_ms, DetectionSettings())
    return [finding for finding in verdict.findings if finding.reason == "mixed_expressions"]


@pytest.mark.parametrize("sharing", list(Sharing))
def test_both_members_are_named_since_the_first_poll_that_found_it(sharing: Sharing):
    """apache/rocketmq #2954: tag1 and tag2 in one group. A broker filters alike however queues are shared."""
    one, two = client("a", t="tag1"), client("b", t="tag2")
    (finding,) = found(
        polled(NOW, one, sharing=sharing),
        polled(NOW + 1_000, one, two, sharing=sharing),
        polled(NOW + 61_000, one, two, sharing=sharing),
    )
    assert finding.members == ("a", "b")
    assert finding.since_ms == NOW + 1_000
    assert "subscribe to t with different expressions: tag1 (a), tag2 (b)." in finding.sentence


def test_a_tag_beside_all_records_differs():
    """apache/rocketmq #2836: "a" and "*"; neither consumer received records of the tag "abc"."""
    (finding,) = found(polled(NOW, client("a", t="a"), client("b", t="*")))
    assert "* (b), a (a)." in finding.sentence


def test_two_listeners_of_one_process_differ():
    """apache/rocketmq-spring #409: two listeners of an application in its group, each with a selectorExpression."""
    (finding,) = found(polled(NOW, client("10.0.0.1@1#1", t="x"), client("10.0.0.1@1#2", t="y")))
    assert finding.members == ("10.0.0.1@1#1", "10.0.0.1@1#2")


def test_a_version_that_subscribes_to_more_tags_beside_the_older_one():
    """apache/rocketmq-client-go #1029 (2023): "sometimes, it has 7 + 16 subscribe, sometimes it only have 7".

    Consumers with more tags were added to the group. Which tags count depends on whose heartbeat came last.
    """
    old, new = client("old", t="CREATED || PAID"), client("new", t="CREATED || PAID || REFUND_DONE")
    (finding,) = found(polled(NOW, old), polled(NOW + 1_000, old, new))
    assert (finding.members, finding.since_ms) == (("new", "old"), NOW + 1_000)
    assert "CREATED || PAID (old), CREATED || PAID || REFUND_DONE (new)." in finding.sentence
    assert found(polled(NOW, old, new), polled(NOW + 20_000, new)) == []


def test_only_topics_that_differ_are_named_and_members_that_subscribe_to_them():
    (finding,) = found(
        polled(NOW, client("a", t="x", u="x", v="*"), client("b", t="y", u="x", v="y"), client("c", u="x", w="z"))
    )
    assert finding.members == ("a", "b")
    assert "subscribe to t with" in finding.sentence
    assert "That is also true of v." in finding.sentence


@pytest.mark.parametrize(
    "members",
    [
        pytest.param((client("a", t="x"), client("b", t="x")), id="the same"),
        pytest.param((client("a", t="*"), client("b", t="*")), id="all records"),
        pytest.param((client("a", t="x"), client("b", u="y")), id="different topics have a finding of their own"),
        pytest.param((client("a", t="x"), unknown("b", "t")), id="not known of one"),
        pytest.param((client("a", t="x"), silent("b", t="y")), id="one does not answer"),
        pytest.param((client("a", t="x"),), id="one alone"),
        pytest.param((), id="nobody"),
    ],
)
def test_nothing_is_found(members: tuple[Member, ...]):
    assert found(polled(NOW, *members)) == []


def test_it_ends_with_the_poll_that_finds_equal_expressions_and_begins_anew():
    same = polled(NOW + 20_000, client("a", t="x"), client("b", t="x"))
    mixed = client("a", t="x"), client("b", t="y")
    assert found(polled(NOW, *mixed), same) == []
    (again,) = found(polled(NOW, *mixed), same, polled(NOW + 30_000, *mixed))
    assert again.since_ms == NOW + 30_000


def test_hundreds_of_expressions_are_counted():
    (finding,) = found(polled(NOW, *(client(f"m{number:03}", t=f"tag{number:03}") for number in range(300))))
    assert "tag009 (m009) and 290 more expressions." in finding.sentence
    assert len(finding.sentence) < 1_000
