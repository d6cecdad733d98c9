"""Members that subscribe to topics that do not exist, or to one topic with different expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.findings.advice import CLASSIC, CONSUMER, ROCKETMQ, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import clock_time, counted
from monitor.messages.names import LISTED, listed, people, shown
from monitor.model import FindingKind, GroupState, Value

ROWS: Final = (
    FindingSpec(
        FindingKind.SUBSCRIPTION,
        "mixed_expressions",
        Rank.LOST,
        advice=(
            Advice(
                "Give all clients of the group the same expression for a topic, or groups of their own. What was "
                "passed over stays in the topic until retention removes it: reset the offsets to read it again.",
                ROCKETMQ,
            ),
        ),
        jitters=True,
    ),
    FindingSpec(
        FindingKind.SUBSCRIPTION,
        "nothing_to_read",
        Rank.NO_PROGRESS,
        advice=(
            Advice(
                "Correct the topics in the configuration of these clients, or create the topic. If it exists, give the "
                "users of the clients and of groupwatch the permission DESCRIBE.",
                CLASSIC | CONSUMER,
            ),
        ),
        jitters=True,
    ),
    FindingSpec(
        FindingKind.SUBSCRIPTION,
        "missing_topics",
        Rank.IDLE,
        advice=(
            Advice(
                "No action is needed if these topics are to come. Otherwise, correct the topics in the configuration "
                "of these clients. If a topic exists, give their users the permission DESCRIBE.",
                CLASSIC | CONSUMER,
            ),
        ),
        jitters=True,
    ),
)


class TopicExpressions(Value):
    """A topic, and the clients by the expression with which they subscribe to it."""

    topic: str
    clients: dict[str, tuple[str, ...]]


class MixedExpressions(Evidence):
    """Clients of RocketMQ subscribe to these topics with different expressions."""

    topics: tuple[TopicExpressions, ...]


@sentence.register
def _mixed_expressions(evidence: MixedExpressions, found: Observation, group: GroupState) -> str:
    first, *others = evidence.topics
    texts = [f"{shown(text)} ({people(names, group)})" for text, names in list(first.clients.items())[:LISTED]]
    rest = len(first.clients) - len(texts)
    more = f" and {counted(rest, 'more expression')}" if rest else ""
    also = f" That is also true of {listed([each.topic for each in others])}." if others else ""
    return (
        f"Members of the group subscribe to {shown(first.topic)} with different expressions: {', '.join(texts)}{more}."
        f"{also} RocketMQ filters for all of them by the newest heartbeat. So the group loses records that not all of "
        "these expressions select: the offsets pass them."
    )


class AbsentTopic(Value):
    """A subscribed topic that no poll lists, with topics of ``near`` names; ``deleted_ms`` None: not known."""

    topic: str
    near: tuple[str, ...] = ()
    deleted_ms: int | None = None


class UnfitRegex(Value):
    """An expression that no topic fits as a whole, with topics of which it fits a part."""

    regex: str
    partly: tuple[str, ...]


class NothingToRead(Evidence):
    """The members subscribe to nothing else."""

    topics: tuple[AbsentTopic, ...]
    regexes: tuple[UnfitRegex, ...] = ()


@sentence.register
def _nothing_to_read(evidence: NothingToRead, found: Observation, group: GroupState) -> str:
    is_one = len(found.members) == 1
    have, subscribe = ("has", "It subscribes") if is_one else ("have", "They subscribe")
    parts = [f"{people(found.members, group)} {have} nothing to read."]
    if evidence.topics:
        parts.append(f"{subscribe} to {_topics(evidence.topics)}")
    parts += [
        f"No topic fits the regular expression {shown(each.regex)}, which has to match the whole name. It matches a "
        f"part of {listed(each.partly)}."
        for each in evidence.regexes[:LISTED]
    ]
    return " ".join(parts)


class MissingTopics(Evidence):
    """The members subscribe to topics that there are, too."""

    topics: tuple[AbsentTopic, ...]


@sentence.register
def _missing_topics(evidence: MissingTopics, found: Observation, group: GroupState) -> str:
    subscribe = "subscribes" if len(found.members) == 1 else "subscribe"
    return f"{people(found.members, group)} {subscribe} to {_topics(evidence.topics)}"


def _topics(topics: Sequence[AbsentTopic]) -> str:
    names = listed([each.topic for each in topics])
    do, pronoun = ("does", "it") if len(topics) == 1 else ("do", "them")
    head = f"{names}, which {do} not exist, or groupwatch has no permission to see {pronoun}."
    hints = [f"{listed(each.near)} (not {shown(each.topic)})" for each in topics if each.near]
    near = f" Topics with similar names exist: {'; '.join(hints[:LISTED])}." if hints else ""
    deleted = [each for each in topics if each.deleted_ms is not None]
    gone = "; ".join(f"{shown(each.topic)} at {clock_time(each.deleted_ms or 0)}" for each in deleted[:LISTED])
    return head + near + (f" Deleted: {gone}." if gone else "")
