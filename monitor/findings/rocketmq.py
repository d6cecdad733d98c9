"""Records of a RocketMQ group that its members did not process: sent back, given up, or not readable."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import ROCKETMQ, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import clock_time, counted, grouped
from monitor.messages.names import places, shown
from monitor.model import FindingKind, GroupState
from monitor.model.rocketmq import UnreadableQueue
from monitor.protocol.rocketmq.names import DEAD_LETTER_PREFIX

ROWS: Final = (
    FindingSpec(
        FindingKind.LAG,
        "unreadable",
        Rank.LEFT_OUT,
        advice=(
            Advice(
                "Raise readQueueNums of the topic to writeQueueNums, or give it the permission 6 (mqadmin "
                "updateTopic). To shrink a topic, lower writeQueueNums first, and readQueueNums once all groups have "
                "read the rest.",
                ROCKETMQ,
            ),
        ),
        mark="may not be read",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.POISON,
        "dead_letters",
        Rank.GIVEN_UP,
        advice=(
            Advice(
                "Read the newest of these records in the dead-letter topic, and find the error in the logs of the "
                "consumers. RocketMQ does not deliver them again: send them again if they matter.",
                ROCKETMQ,
            ),
        ),
        remembered=True,
    ),
    FindingSpec(
        FindingKind.POISON,
        "sent_back",
        Rank.NO_PROGRESS,
        advice=(
            Advice(
                "Check the logs of the consumers: their listeners fail, return RECONSUME_LATER, or exceed the consume "
                "timeout. The offsets and the lag of the topic do not show this.",
                ROCKETMQ,
            ),
        ),
        jitters=True,
    ),
)


class UnreadableQueues(Evidence):
    """``records`` that the group has not consumed are in queues that may not be read; ``first`` is one of these."""

    records: int
    first: UnreadableQueue


@sentence.register
def _unreadable_queues(evidence: UnreadableQueues, found: Observation, group: GroupState) -> str:
    first = evidence.first
    broker = str(first.partition).rpartition("-")[0]
    are = "is" if len(found.partitions) == 1 else "are"
    hold = "holds" if len(found.partitions) == 1 else "hold"
    return (
        f"{places(found.partitions)} {are} not readable, and {hold} {counted(evidence.records, 'record')} that the "
        f"group has not consumed. Of {shown(first.topic)}, {shown(broker)} lets {counted(first.readable, 'queue')} be "
        f"read and {first.writable} be written."
    )


class DeadLetters(Evidence):
    """A group gave up ``records``, the newest at ``newest_ms``; ``kept`` of them are still in its dead-letter topic."""

    records: int
    kept: int
    newest_ms: int


@sentence.register
def _dead_letters(evidence: DeadLetters, found: Observation, group: GroupState) -> str:
    are = "is" if evidence.kept == 1 else "are"
    return (
        f"The group has given up {counted(evidence.records, 'record')}, the newest at "
        f"{clock_time(evidence.newest_ms)}. {grouped(evidence.kept)} of them {are} in "
        f"{shown(DEAD_LETTER_PREFIX + group.group)}, which the group does not read."
    )


class SentBack(Evidence):
    """Of ``consumed`` records since ``since_ms``, members sent ``records`` back.

    ``waiting`` wait for their next delivery, one of them since ``waiting_since_ms`` at least (0: none waits).
    """

    records: int
    consumed: int
    since_ms: int
    waiting: int
    waiting_since_ms: int


@sentence.register
def _sent_back(evidence: SentBack, found: Observation, group: GroupState) -> str:
    text = (
        f"Since {clock_time(evidence.since_ms)}, members have sent back {counted(evidence.records, 'record')}, and the "
        f"group has consumed {grouped(evidence.consumed)}, repeated deliveries included. Records that are sent back "
        "have no lag."
    )
    if not evidence.waiting:
        return text
    wait = "waits" if evidence.waiting == 1 else "wait"
    return (
        f"{text} {counted(evidence.waiting, 'record')} {wait} in the retry topic, the oldest since "
        f"{clock_time(evidence.waiting_since_ms)} at the latest."
    )
