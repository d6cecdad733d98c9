"""Parts of sentences that several families of findings share."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.messages.commands import BROKER, option
from monitor.messages.names import LISTED, LONGEST_NAME, listed, partition, people, places, shown
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


def place_options(place: TopicPartition) -> str | None:
    """The options that name a partition; None if no command can name its topic, or no sentence has room for it.

    >>> place_options(TopicPartition("orders", 0))
    '--topic orders --partition 0'
    """
    topic = None if len(place.topic) > LONGEST_NAME else option("topic", place.topic)
    return topic and f"{topic} --partition {place.partition}"


def record_command(place: TopicPartition, offset: int) -> str | None:
    """The command that prints the record at an offset; None if no command can name its topic."""
    there = place_options(place)
    return there and (
        f"kafka-console-consumer.sh --bootstrap-server {BROKER} {there} --offset {offset} --max-messages 1"
    )


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
