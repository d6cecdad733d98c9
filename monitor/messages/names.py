"""Names, members and partitions as a sentence has them.

Names come from clusters and are shown, not trusted: a name with characters that cannot be printed is escaped, a long
one is cut. Escaping for a page is the page's task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from monitor.messages.formatting import counted, visible
from monitor.model import KINDS, GroupState, Member, MemberVerdict, PartitionId, TopicPartition
from monitor.model.escaping import escaped

LISTED: Final = 10
"""How many partitions (or runs of them), topics or members a sentence lists before it only counts the rest."""

FEW: Final = 3
"""How many of them a cell of a table lists."""

LONGEST_NAME: Final = 120


def shown(name: str) -> str:
    r"""A name from a cluster as it can stand in a sentence.

    >>> shown("orders"), shown("a\nb")
    ('orders', 'a\\nb')
    """
    return escaped(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}...")


def shown_group(name: str) -> str:
    """The name of a group as it can stand in a sentence. The empty name is one, too.

    >>> shown_group("orders"), shown_group("")
    ('orders', '(empty name)')
    """
    return visible(shown(name))


def listed(names: Sequence[str]) -> str:
    """Names in the given order, shortened.

    >>> listed(["a", "b"]), listed([str(n) for n in range(12)])
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    return _shortened([shown(name) for name in names[:LISTED]], len(names))


def few(names: Sequence[str]) -> str:
    """Names in the given order, the first three of them: for a cell of a table.

    >>> few(["a", "b"]), few(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    return _shortened([shown(name) for name in names[:FEW]], len(names))


def _shortened(head: Sequence[str], count: int) -> str:
    names = ", ".join(head)
    return names if count <= len(head) else f"{names} and {count - len(head)} more"


def ranges(partitions: Sequence[PartitionId]) -> str:
    """Sorted partitions with runs of numbers drawn together, at most ten runs or names. The rest is counted by number.

    >>> ranges([0, 2, 3, 4, 8]), ranges([*range(0, 20, 2), 30, 31, 32])
    ('0, 2-4, 8', '0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 3 more')
    """
    runs = [[each for _, each in run] for _, run in groupby(enumerate(partitions), _run_of)]
    head = ", ".join(shown(str(run[0])) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:LISTED])
    rest = sum(len(run) for run in runs[LISTED:])
    return f"{head} and {rest} more" if rest else head


def _run_of(placed: tuple[int, PartitionId]) -> PartitionId:
    """The same for numbers that follow one another, and for nothing else."""
    position, partition = placed
    return partition - position if isinstance(partition, int) else partition


def places(partitions: Iterable[TopicPartition]) -> str:
    """The partitions of one topic or several, counted and listed.

    >>> places([TopicPartition("orders", 4), TopicPartition("orders", 5)])
    '2 partitions of orders (4-5)'
    >>> places([TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 2)])
    '3 partitions of 2 topics (a 0; b 0, 2)'
    """
    numbers: dict[str, list[PartitionId]] = {}
    for place in sorted(partitions):
        numbers.setdefault(place.topic, []).append(place.partition)
    count = counted(sum(map(len, numbers.values())), "partition")
    if len(numbers) == 1:
        ((topic, own),) = numbers.items()
        return f"{count} of {shown(topic)} ({ranges(own)})"
    head = "; ".join(f"{shown(topic)} {ranges(own)}" for topic, own in list(numbers.items())[:LISTED])
    rest = f" and {counted(len(numbers) - LISTED, 'more topic')}" if len(numbers) > LISTED else ""
    return f"{count} of {counted(len(numbers), 'topic')} ({head}{rest})"


def era(group: GroupState) -> str:
    """The group's generation; for KIP-848, its epoch. Groups whose members assign by themselves have no such number.

    >>> era(GroupState(cluster="c", group="g", generation=5))
    'generation 5'
    """
    if KINDS[group.kind].is_self_assigned:
        return "the current assignment"
    return f"{KINDS[group.kind].era} {group.generation}"


def who(member: Member | MemberVerdict, *, alike: bool = False) -> str:
    """A member as a person looks for it. ``alike``: others of its group have the same client id and host.

    >>> app = MemberVerdict(member_id="m-1", client_id="app", host="/10.0.0.1")
    >>> who(app), who(app, alike=True), who(MemberVerdict(member_id="m-1"))
    ('app at /10.0.0.1', 'app (m-1) at /10.0.0.1', 'm-1')
    """
    name = shown(member.client_id or member.member_id)
    own = f" ({shown(member.instance_id or member.member_id)})" if alike and member.client_id else ""
    return f"{name}{own} at {shown(member.host)}" if member.host else f"{name}{own}"


def people(member_ids: Sequence[str], group: GroupState) -> str:
    """Members of the group as a person looks for them, in the given order, shortened as :func:`listed`."""
    known = {member.member_id: member for member in group.members}
    alike = Counter((member.client_id, member.host) for member in group.members)
    head = [
        who(member, alike=alike[member.client_id, member.host] > 1) if (member := known.get(name)) else shown(name)
        for name in member_ids[:LISTED]
    ]
    return _shortened(head, len(member_ids))


def partition(place: TopicPartition) -> str:
    """One partition with its topic.

    >>> partition(TopicPartition("orders", 4))
    'partition 4 of orders'
    """
    return f"partition {shown(str(place.partition))} of {shown(place.topic)}"


def owner(owners: Sequence[str]) -> str:
    """The owners, or that there is none.

    >>> owner(["C0"]), owner([])
    ('C0', 'no member')
    """
    return listed(owners) if owners else "no member"


def seconds(duration_ms: int) -> str:
    """A threshold as a person would say it.

    >>> seconds(1_500), seconds(60_000), seconds(600_000)
    ('1.5 s', '60 s', '10 min')
    """
    minutes, rest = divmod(duration_ms, 60_000)
    return f"{minutes} min" if minutes > 1 and not rest else f"{duration_ms / 1000:g} s"
