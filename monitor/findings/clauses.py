"""Parts of sentences that several families of findings share."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.messages.names import LISTED, listed, partition, people, places, shown
from monitor.model import GroupState, TopicPartition


def have_verb(partitions: Sequence[TopicPartition]) -> str:
    """``has`` or ``have``, as the partitions are one or several."""
    return "has" if len(partitions) == 1 else "have"


def places_with_lag(partitions: Sequence[TopicPartition]) -> str:
    """That the partitions have lag, as a sentence that goes on."""
    return f"{places(partitions)} {have_verb(partitions)} lag"


def topic_noun(partitions: Sequence[TopicPartition]) -> str:
    """``topic`` or ``topics``, as the partitions are of one or of several."""
    return "topic" if len({place.topic for place in partitions}) == 1 else "topics"


def object_pronoun(*, one: bool) -> str:
    """``it`` or ``them``."""
    return "it" if one else "them"


def task_names(tasks: Sequence[str]) -> str:
    """Tasks of Kafka Streams or Connect by name, the first few of them.

    >>> task_names(["1_2"]), task_names(["0_0", "0_1"])
    ('the task 1_2', 'the tasks 0_0, 0_1')
    """
    return f"the task{'' if len(tasks) == 1 else 's'} {listed(tasks)}"


def capitalize(clause: str) -> str:
    """The clause as a sentence starts with it."""
    return clause[0].upper() + clause[1:]


def first_example(partitions: Sequence[TopicPartition], example: TopicPartition | None = None) -> str:
    """The example (default: the first partition) as a sentence starts with it."""
    return "It" if len(partitions) == 1 else f"For example, {partition(example or partitions[0])}"


def strategies_sentence(group: GroupState) -> str:
    """Which members use which strategy, among those that report one."""
    users: dict[str, list[str]] = {}
    for member in group.members:
        if member.assignor is not None:
            users.setdefault(member.assignor, []).append(member.member_id)
    strategies = "; ".join(f"{shown(name)} ({people(users[name], group)})" for name in sorted(users)[:LISTED])
    return f"The members use different assignment strategies: {strategies}."
