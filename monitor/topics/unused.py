"""Groups, and offsets of groups, that could be deleted. groupwatch deletes nothing: it shows the command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from monitor.messages.formatting import age
from monitor.model import KINDS, GroupUse, Phase, TopicCommits, Value
from monitor.topics.delete_commands import delete_group, delete_offsets

UNUSED_MS: Final = 7 * 86_400_000
"""How long nothing was committed: as long as brokers keep offsets by default (``offsets.retention.minutes``)."""


class Unused(Value):
    """A group that could be deleted, or its offsets in a topic; ``sentence`` is why."""

    cluster: str
    group: str
    topic: str | None
    """The topic whose offsets could be deleted; null: the whole group."""
    partitions: int
    """Number of partitions with committed offsets."""
    newest_ms: int
    """When the newest of these offsets was committed (ms since the epoch)."""
    sentence: str
    command: str | None
    """The command that deletes it, quoted for bash and zsh; null: no command can name it."""


def find_unused(cluster: str, use: GroupUse, now_ms: int) -> tuple[Unused, ...]:
    """What could be deleted of a group. Only groups whose offsets Kafka's own tool deletes are looked at.

    Brokers refuse to delete a group that has members, and offsets in a topic to which a member subscribes.
    """
    tool = KINDS[use.kind].delete_tool
    if not tool or not use.commits or not use.is_complete:
        return ()
    if use.phase in (Phase.EMPTY, Phase.OFFSETS_ONLY):
        return tuple(_unused_group(cluster, use, tool, now_ms))
    if use.members and use.protocol_type == "consumer":
        return tuple(_unused_offsets(cluster, use, tool, now_ms))
    return ()


def _unused_group(cluster: str, use: GroupUse, tool: str, now_ms: int) -> Iterator[Unused]:
    newest_ms = max(each.newest_ms for each in use.commits)
    emptied_ms = use.phase_ms if use.phase is Phase.EMPTY else 0
    if now_ms - max(newest_ms, emptied_ms) < UNUSED_MS:
        return
    subject = "The group has no members" if use.phase is Phase.EMPTY else "No consumer has joined the group"
    yield Unused(
        cluster=cluster,
        group=use.group,
        topic=None,
        partitions=sum(len(each.partitions) for each in use.commits),
        newest_ms=newest_ms,
        sentence=f"{subject}, and its newest commit is {age(now_ms - newest_ms)} old.",
        command=delete_group(tool, use.group),
    )


def _unused_offsets(cluster: str, use: GroupUse, tool: str, now_ms: int) -> Iterator[Unused]:
    for each in use.commits:
        if each.topic not in use.reads and now_ms - each.newest_ms >= UNUSED_MS:
            yield Unused(
                cluster=cluster,
                group=use.group,
                topic=each.topic,
                partitions=len(each.partitions),
                newest_ms=each.newest_ms,
                sentence=f"No member subscribes to the topic, and the newest commit is {_age(each, now_ms)} old.",
                command=delete_offsets(tool, use.group, each.topic, each.partitions),
            )


def _age(commits: TopicCommits, now_ms: int) -> str:
    return age(now_ms - commits.newest_ms)
