"""The sentence that a person reads beside a finding.

A sentence does not change while nothing changes, because alerts are told apart by it: it holds no age (shown beside
it) and no number that moves with the traffic. Names come from clusters and are shown, not trusted: a name with
characters that cannot be printed is escaped, a long one is cut. Escaping for a page is the page's task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from monitor.detection.facts import Growth
from monitor.model import GroupKind, GroupState, OrphanReason, RebalanceCause, TopicPartition

LISTED: Final = 10
"""How many partitions (or runs of them), topics or members a sentence lists before it only counts the rest."""

LONGEST_NAME: Final = 120


def shown(name: str) -> str:
    r"""A name from a cluster as it can stand in a sentence.

    >>> shown("orders"), shown("a\nb")
    ('orders', 'a\\nb')
    """
    cut = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
    return cut if cut.isprintable() else cut.encode("unicode_escape").decode("ascii")


def counted(count: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "partition"), counted(2, "partition")
    ('1 partition', '2 partitions')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def listed(names: Sequence[str]) -> str:
    """Names in the given order, shortened.

    >>> listed(["a", "b"]), listed([str(n) for n in range(12)])
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    head = ", ".join(shown(name) for name in names[:LISTED])
    return head if len(names) <= LISTED else f"{head} and {len(names) - LISTED} more"


def ranges(numbers: Sequence[int]) -> str:
    """Sorted partition numbers with runs drawn together, at most ten runs.

    >>> ranges([0, 2, 3, 4, 8]), ranges(list(range(0, 24, 2)))
    ('0, 2-4, 8', '0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 2 more')
    """
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    head = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:LISTED])
    rest = sum(len(run) for run in runs[LISTED:])
    return f"{head} and {rest} more" if rest else head


def places(partitions: Iterable[TopicPartition]) -> str:
    """The partitions of one topic or several, counted and listed.

    >>> places([TopicPartition("orders", 4), TopicPartition("orders", 5)])
    '2 partitions of orders (4-5)'
    >>> places([TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 2)])
    '3 partitions of 2 topics (a 0; b 0, 2)'
    """
    numbers: dict[str, list[int]] = {}
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
    """The group's generation; in the words of KIP-848, its epoch.

    >>> era(GroupState(cluster="c", group="g", generation=5))
    'generation 5'
    """
    return f"{'generation' if group.kind is GroupKind.CLASSIC else 'epoch'} {group.generation}"


def double_owned(partitions: Sequence[TopicPartition], owners: Sequence[str], group: GroupState) -> str:
    """``owners`` are those of the first partition, which is the example."""
    verb = "has" if len(partitions) == 1 else "have"
    return (
        f"{places(partitions)} {verb} more than one owner in {era(group)}: "
        f"partition {partitions[0].partition} of {shown(partitions[0].topic)} belongs to {listed(owners)}."
    )


def orphaned(
    reason: OrphanReason, partitions: Sequence[TopicPartition], group: GroupState, *, seen_growing: bool
) -> str:
    """``seen_growing``: the partitions were seen to come after the generation, to topics known before."""
    where, one = places(partitions), len(partitions) == 1
    offsets = "has a committed offset" if one else "have committed offsets"
    topics = "topic" if len({place.topic for place in partitions}) == 1 else "topics"
    if reason is OrphanReason.NO_MEMBERS:
        return f"{where} {offsets}, but the group has no members."
    if reason is OrphanReason.UNSUBSCRIBED:
        return f"{where} {offsets}, but no member of {era(group)} subscribes to the {topics}."
    head = f"{where} {'has' if one else 'have'} no owner:"
    if group.kind is GroupKind.CONSUMER:
        return f"{head} {_of_the_broker(reason, group, one=one)}"
    if seen_growing and reason is OrphanReason.GREW:
        return (
            f"{head} the {topics} grew after generation {group.generation} was assigned "
            "and its members have not refreshed their metadata."
        )
    return f"{head} {_of_the_leader(reason, group, one=one)}"


def _of_the_leader(reason: OrphanReason, group: GroupState, *, one: bool) -> str:
    """Why the leader of a classic group has given a partition to nobody."""
    them, generation = "it" if one else "them", era(group)
    if reason is OrphanReason.PENDING:
        former = "its former owner lets" if one else "their former owners let"
        return f"in {generation} {former} go, and the next generation hands {them} over."
    if reason is OrphanReason.ASSIGNOR_GAP:
        return f"the assignor {shown(group.protocol or '')} left {them} out of {generation}."
    return f"{generation} was assigned from older metadata, which did not have {them}."


def _of_the_broker(reason: OrphanReason, group: GroupState, *, one: bool) -> str:
    """Why a partition has no owner in a KIP-848 group, where the broker chooses."""
    them = "it" if one else "them"
    if reason is OrphanReason.PENDING:
        return f"the broker has chosen a member for {them} in {era(group)}, which has not taken {them} yet."
    if reason is OrphanReason.GREW:
        return f"{'it' if one else 'they'} came after {era(group)}, and the broker has not assigned {them} yet."
    return f"the broker's assignor {shown(group.protocol or '')} left {them} out of {era(group)}."


def owner(owners: Sequence[str]) -> str:
    """The owners, or that there is none.

    >>> owner(["C0"]), owner([])
    ('C0', 'nobody')
    """
    return listed(owners) if owners else "nobody"


def drift_replayed(
    partitions: Sequence[TopicPartition],
    expected: Sequence[str],
    actual: Sequence[str],
    group: GroupState,
    *,
    tie: bool = False,
) -> str:
    """``expected`` and ``actual`` are the owners of the first partition, which is the example."""
    cause = (
        "A tie may explain it: the assignor's answer depends here on the order in which the leader met the members."
        if tie
        else "The leader may run another implementation or version of the assignor."
    )
    return (
        f"{places(partitions)} {_have(partitions)} another owner than the assignor {shown(group.protocol or '')} "
        f"gives for generation {group.generation}: {_example(partitions[0], expected, actual)}. {cause}"
    )


def drift_current(
    partitions: Sequence[TopicPartition], expected: Sequence[str], actual: Sequence[str], changes: Sequence[Growth]
) -> str:
    """``expected`` and ``actual`` are the owners of the first partition, ``changes`` what makes the difference."""
    return (
        f"{places(partitions)} would have another owner if the group rebalanced now: "
        f"{_example(partitions[0], expected, actual)}. {_cause(changes)}."
    )


def _have(partitions: Sequence[TopicPartition]) -> str:
    return "has" if len(partitions) == 1 else "have"


def _example(place: TopicPartition, expected: Sequence[str], actual: Sequence[str]) -> str:
    return (
        f"partition {place.partition} of {shown(place.topic)} should belong to {owner(expected)} "
        f"and belongs to {owner(actual)}"
    )


def _cause(changes: Sequence[Growth]) -> str:
    if not changes:
        return "The racks of its members or partitions give another assignment now"
    told = ", ".join(_change(change) for change in changes[:LISTED])
    more = f" and {counted(len(changes) - LISTED, 'other topic')} changed" if len(changes) > LISTED else ""
    return f"Likely cause: {told}{more}, and the members still use the older metadata"


def _change(change: Growth) -> str:
    if change.after == 0:
        return f"{shown(change.topic)} no longer exists"
    if change.before == 0:
        return f"{shown(change.topic)} is new with {counted(change.after, 'partition')}"
    verb = "grew" if change.after > change.before else "shrank"
    return f"{shown(change.topic)} {verb} from {change.before} to {counted(change.after, 'partition')}"


def imbalance(member: str, largest: int, optimum: int) -> str:
    """``member`` is the one that owns most."""
    return (
        f"{shown(member)} owns {counted(largest, 'partition')}, but with these subscriptions "
        f"no member would need more than {optimum}."
    )


def idle(members: Sequence[str], of: int, partitions: int | None) -> str:
    """``of`` members in all; ``partitions`` that they subscribe, None if not all subscriptions are known."""
    own = "owns" if len(members) == 1 else "own"
    head = f"{len(members)} of {counted(of, 'member')} {own} no partition ({listed(members)})"
    if partitions is None:
        return f"{head}."
    if of > partitions:
        return f"{head}: the group has more members than the {counted(partitions, 'partition')} of its topics."
    return f"{head}, although its topics have {counted(partitions, 'partition')}."


def not_committing(partitions: Sequence[TopicPartition], silence_ms: int) -> str:
    """``silence_ms`` is the threshold, not the age."""
    return (
        f"Records wait in {places(partitions)}, and no offset has been committed there "
        f"for at least {silence_ms / 1000:g} s."
    )


def former_log(partitions: Sequence[TopicPartition]) -> str:
    """The partitions are those of topics that were deleted and created anew."""
    offsets = "has a committed offset" if len(partitions) == 1 else "have committed offsets"
    topics = "topic was" if len({place.topic for place in partitions}) == 1 else "topics were"
    return (
        f"{places(partitions)} {offsets} from before the {topics} deleted and created anew: how many records wait "
        "is not known until the group commits there again."
    )


def behind(threshold: int) -> str:
    """``threshold`` in records; the lag itself moves and is shown beside."""
    return f"More than {counted(threshold, 'record')} wait for the group."


def moment(at_ms: int) -> str:
    """An instant of a log in words; what no calendar has, as the number it is.

    >>> moment(1_700_000_000_999), moment(-1)
    ('2023-11-14 22:13:20 UTC', '-1 ms since 1970')
    """
    if not 0 <= at_ms < _YEAR_10000_MS:
        return f"{at_ms} ms since 1970"
    return f"{datetime.fromtimestamp(at_ms // 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


_YEAR_10000_MS: Final = 253_402_300_800_000


def rebalancing_long(group: GroupState, since_ms: int, limit_ms: int, awaited: Sequence[str]) -> str:
    """``limit_ms`` is the threshold, not the age; ``awaited`` are members known to keep the others waiting."""
    head = (
        f"Group {shown(group.group)} has been rebalancing since {moment(since_ms)}, for more than {seconds(limit_ms)}"
    )
    if group.kind is GroupKind.CLASSIC:
        return f"{head}: {_of_the_coordinator(group)}"
    if awaited:
        them = "it" if len(awaited) == 1 else "them"
        return (
            f"{head}, towards {era(group)}: {listed(awaited)} {'has' if len(awaited) == 1 else 'have'} yet to give "
            f"partitions back, which others wait for. Look what keeps {them} from polling."
        )
    return (
        f"{head}, towards {era(group)}: its members have yet to take what the broker has chosen for them. "
        "Look whether they still poll."
    )


def _of_the_coordinator(group: GroupState) -> str:
    """What a classic group waits for: members that have joined wait for those that have yet to (JoinGroup)."""
    longest_ms = max((member.rebalance_timeout_ms for member in group.members), default=0)
    most = f", at most {seconds(longest_ms)} (their rebalance timeout)" if longest_ms > 0 else ""
    name = "max.poll.interval.ms" if group.protocol_type == "consumer" else "the rebalance timeout"
    return (
        f"its coordinator waits for members that have not rejoined{most}. Look for a member that takes long with what "
        f"it has polled; smaller batches (max.poll.records) or a lower {name} end the waiting earlier."
    )


def rebalance_storm(group: GroupState, enough: int, window_ms: int, causes: Sequence[RebalanceCause]) -> str:
    """``enough`` within ``window_ms`` are the thresholds, not the counts; ``causes`` of the newest of them."""
    told = ", ".join(_CAUSES[cause] for cause in causes)
    advice = dict.fromkeys(_ADVICE[cause] for cause in causes if cause in _ADVICE)
    return (
        f"Group {shown(group.group)} has rebalanced at least {enough} times within {seconds(window_ms)} ({told}). "
        + " ".join(advice or [_LOOK_AT_THE_LOGS])
    )


def seconds(duration_ms: int) -> str:
    """A threshold as a person would say it.

    >>> seconds(1_500), seconds(60_000), seconds(600_000)
    ('1.5 s', '60 s', '10 min')
    """
    minutes, rest = divmod(duration_ms, 60_000)
    return f"{minutes} min" if minutes > 1 and not rest else f"{duration_ms / 1000:g} s"


_CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "members joined",
    RebalanceCause.LEAVE: "members left or were lost",
    RebalanceCause.TIMEOUT: "members timed out",
    RebalanceCause.SUBSCRIPTION: "members subscribed to other topics",
    RebalanceCause.TOPICS: "topics came, went or grew",
    RebalanceCause.STATIC_RESTART: "static members restarted",
    RebalanceCause.ASSIGNOR: "the assignor changed",
    RebalanceCause.HANDOVER: "partitions were handed over",
    RebalanceCause.UPGRADE: "it went over to KIP-848",
    RebalanceCause.DOWNGRADE: "it went back to the classic protocol",
    RebalanceCause.UNKNOWN: "for reasons that the log does not tell",
}

_MEMBERS_COME_AND_GO: Final = (
    "Look for members that are restarted again and again, or that take longer than max.poll.interval.ms between two "
    "polls; with group.instance.id a restart within the session needs no rebalance."
)
_LOOK_AT_THE_LOGS: Final = "The logs of its members say why each of them rejoined."

_ADVICE: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: _MEMBERS_COME_AND_GO,
    RebalanceCause.LEAVE: _MEMBERS_COME_AND_GO,
    RebalanceCause.TIMEOUT: _MEMBERS_COME_AND_GO,
    RebalanceCause.SUBSCRIPTION: "Look for members that subscribe to changing topics.",
    RebalanceCause.TOPICS: "Look who creates and deletes topics that the group's pattern finds.",
    RebalanceCause.ASSIGNOR: "Give all members the same partition.assignment.strategy.",
}
