"""The sentence that a person reads beside a finding.

A sentence does not change while nothing changes, because alerts are told apart by it: it holds no age (shown beside
it) and no number that moves with the traffic. Names come from clusters and are shown, not trusted: a name with
characters that cannot be printed is escaped, a long one is cut. Escaping for a page is the page's task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from monitor.detection.causes import Cause
from monitor.detection.facts import Balance, Growth, Skew
from monitor.model import (
    DriftCause,
    GroupKind,
    GroupState,
    Handover,
    MemberVerdict,
    OrphanReason,
    RebalanceCause,
    TopicPartition,
)

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
    topics = _topics(partitions)
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
    if reason is OrphanReason.REBALANCING:
        return f"members or topics have changed, and the broker has yet to choose a member for {them} in {era(group)}."
    if reason is OrphanReason.GREW:
        return f"{'it' if one else 'they'} came after {era(group)}, and the broker has not assigned {them} yet."
    return f"the broker's assignor {shown(group.protocol or '')} left {them} out of {era(group)}."


def _topics(partitions: Sequence[TopicPartition]) -> str:
    return "topic" if len({place.topic for place in partitions}) == 1 else "topics"


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
    cause: Cause,
) -> str:
    """``expected`` and ``actual`` are the owners of the first partition, which is the example."""
    assignor = shown(group.protocol or "")
    return (
        f"{places(partitions)} {_have(partitions)} another owner than the assignor {assignor} gives for generation "
        f"{group.generation}: {_example(partitions[0], expected, actual)}. {_of_replayed(cause, assignor)}"
    )


def drift_current(
    partitions: Sequence[TopicPartition],
    expected: Sequence[str],
    actual: Sequence[str],
    changes: Sequence[Growth],
    cause: Cause,
) -> str:
    """``expected`` and ``actual`` are the owners of the first partition, ``changes`` what makes the difference."""
    return (
        f"{places(partitions)} would have another owner if the group rebalanced now: "
        f"{_example(partitions[0], expected, actual)}. {_of_current(cause, changes)}."
    )


def drift_target(
    partitions: Sequence[TopicPartition],
    expected: Sequence[str],
    chosen: Sequence[str],
    group: GroupState,
    cause: Cause,
) -> str:
    """``expected`` and ``chosen`` are the owners of the first partition, which is the example."""
    first = partitions[0]
    if cause.cause is DriftCause.MIXED_ASSIGNORS:
        why = f"The members ask for different assignors: {listed(cause.seen)}"
    elif any(member.server_assignor is not None for member in group.members):
        why = "The brokers may have another version of the assignor"
    else:
        why = "No member asks for an assignor, and the brokers' default (group.consumer.assignors) may be another"
    return (
        f"For {places(partitions)} the broker has chosen another member than its assignor "
        f"{shown(group.protocol or '')} gives for {era(group)}: partition {first.partition} of {shown(first.topic)} "
        f"should go to {owner(expected)} and is meant for {owner(chosen)}. {why}."
    )


def drift_pending(partitions: Sequence[TopicPartition], oldest: Handover, group: GroupState) -> str:
    """``partitions`` are on their way for too long; ``oldest`` is the example."""
    first, heir = oldest.partitions[0], shown(oldest.heir) if oldest.heir is not None else "nobody"
    told = "has been told to give it back and has not" if oldest.is_told else "has not asked the broker since"
    return (
        f"{places(partitions)} {_have(partitions)} not been handed over in {era(group)}: partition {first.partition} "
        f"of {shown(first.topic)} is meant for {heir}, but {shown(oldest.owner)} {told}. See whether "
        f"{shown(oldest.owner)} hangs, and restart it if it does."
    )


def _of_replayed(cause: Cause, assignor: str) -> str:
    """Why the leader decided otherwise, as one sentence."""
    seen, members = listed(cause.seen), listed(cause.members)
    if cause.is_exact:
        return f"It is exactly what the {assignor} of {seen} gives{f'; the leader is {members}' if members else ''}."
    unlike = f"uses {seen}" if seen else "does not write its subscription as Kafka's Java client does"
    told = {
        DriftCause.TIE: (
            "A tie may explain it: the assignor's answer depends here on the order in which the leader met the members."
        ),
        DriftCause.FOREIGN_CLIENT: f"Likely cause: the leader {members} {unlike}, and its {assignor} may be another.",
        DriftCause.MIXED_ASSIGNORS: f"Likely cause: not all members have the same {assignor}: {_unlike(cause)}.",
        DriftCause.RACKS_CHANGED: (
            "Likely cause: the assignor looks at racks, and those of the members or partitions have changed since."
        ),
        DriftCause.MIXED_SUBSCRIPTIONS: (
            f"The members subscribe to different topics ({members} not to those of the others), which implementations "
            f"of {assignor} can treat differently."
        ),
    }
    return told.get(cause.cause, "The leader may run another implementation or version of the assignor.")


def _unlike(cause: Cause) -> str:
    libraries = [f"they use {listed(cause.seen)}"] if len(cause.seen) > 1 else []
    members = [f"{listed(cause.members)} joined with other user data than the rest"] if cause.members else []
    return " and ".join(libraries + members)


def _have(partitions: Sequence[TopicPartition]) -> str:
    return "has" if len(partitions) == 1 else "have"


def _example(place: TopicPartition, expected: Sequence[str], actual: Sequence[str]) -> str:
    return (
        f"partition {place.partition} of {shown(place.topic)} should belong to {owner(expected)} "
        f"and belongs to {owner(actual)}"
    )


def _of_current(cause: Cause, changes: Sequence[Growth]) -> str:
    match cause.cause:
        case DriftCause.METADATA_STALE:
            return _stale(changes)
        case DriftCause.RACKS_CHANGED:
            return "The racks of its members or partitions give another assignment now"
        case _:
            return "Nothing that it depends on is seen to have changed: the assignor would improve on its own answer"


def _stale(changes: Sequence[Growth]) -> str:
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


def imbalance(balance: Balance, protocol: str | None) -> str:
    """``protocol`` is the group's assignor."""
    told = (
        f"{shown(balance.member_id)} owns {counted(balance.largest, 'partition')}, but with these subscriptions "
        f"no member would need more than {balance.optimum}."
    )
    if balance.alternative is None:
        return told
    why = "range deals out every topic anew, beginning with the same members: " * (
        protocol == "range" and balance.topics > 1
    )
    gain = f"with {balance.alternative.assignor} the largest member would have {balance.alternative.largest}"
    return f"{told} {_sentence(f'{why}{gain} instead of {balance.largest}')}."


def _sentence(clause: str) -> str:
    return clause[0].upper() + clause[1:]


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


def open_transaction(partitions: Sequence[TopicPartition]) -> str:
    """All that waits in them is behind the beginning of a transaction."""
    transactions = "a transaction that is" if len(partitions) == 1 else "transactions that are"
    return (
        f"All that waits in {places(partitions)} is behind {transactions} still open: consumers that read only "
        "committed records cannot go on there."
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


def records_lost(partitions: Sequence[TopicPartition]) -> str:
    """How many they are moves with every segment that is removed, and is shown beside."""
    return f"Retention removed records of {places(partitions)} that the group had not committed: they are lost to it."


def close_to_loss(partitions: Sequence[TopicPartition], share: float) -> str:
    """``share`` is the threshold, from 0 to 1."""
    return (
        f"At least as much as {100 * share:g} % of what retention last left of {places(partitions)} waits for the "
        "group, which gains on it slowly, if at all: what retention removes next is lost."
    )


def who(member: MemberVerdict) -> str:
    """A member as a person looks for it.

    >>> who(MemberVerdict(member_id="m-1", client_id="app", host="/10.0.0.1")), who(MemberVerdict(member_id="m-1"))
    ('app at /10.0.0.1', 'm-1')
    """
    name = shown(member.client_id or member.member_id)
    return f"{name} at {shown(member.host)}" if member.host else name


def unattended(partitions: Sequence[TopicPartition]) -> str:
    """Nobody reads what waits in them."""
    return f"The group has no members, and records wait in vain in {places(partitions)}."


def abandoned(partitions: Sequence[TopicPartition]) -> str:
    """Nobody reads what waits in them."""
    return (
        f"Records wait in vain in {places(partitions)}: the group has committed offsets there, but none of its members "
        f"subscribes to the {_topics(partitions)} any more."
    )


def dead_members(members: Sequence[MemberVerdict], partitions: Sequence[TopicPartition]) -> str:
    """``partitions`` are those of the members."""
    named = ", ".join(who(member) for member in members[:LISTED])
    more = f" and {len(members) - LISTED} more" if len(members) > LISTED else ""
    have = "has" if len(members) == 1 else "have"
    return (
        f"{named}{more} {have} {places(partitions)}, and {have} committed nothing for a while, although records wait "
        "there and other members go on."
    )


def lag_imbalance(member: MemberVerdict, cause: Skew, hottest: TopicPartition) -> str:
    """``hottest`` is the member's partition that gets most records."""
    head = (
        f"Most of the records that wait for the group wait for {who(member)}, which has "
        f"{counted(member.partitions, 'partition')}"
    )
    hot = f"partition {hottest.partition} of {shown(hottest.topic)}"
    match cause:
        case Skew.KEYS:
            return f"{head}: {hot} alone gets too many, which no assignment can share out. Choose other keys."
        case Skew.ASSIGNMENT:
            return (
                f"{head}: busy partitions have come together there, {hot} first. Add members, or change the assignor."
            )
        case Skew.MEMBER:
            return f"{head}: they get no more records than others, so it is the member that is slow. Look at its host."


def rebalancing_long(group: GroupState, limit_ms: int, awaited: Sequence[str]) -> str:
    """``limit_ms`` is the threshold, not the age; ``awaited`` are members known to keep the others waiting."""
    head = f"The group has been rebalancing for more than {seconds(limit_ms)}"
    if group.kind is GroupKind.CLASSIC:
        return f"{head}: {_of_the_coordinator(group)}"
    if awaited:
        return (
            f"{head}, towards {era(group)}: {listed(awaited)} {'has' if len(awaited) == 1 else 'have'} yet to give "
            "partitions back, which others wait for."
        )
    return f"{head}, towards {era(group)}: its members have yet to take what the broker has chosen for them."


def _of_the_coordinator(group: GroupState) -> str:
    """What a classic group waits for: members that have joined wait for those that have yet to (JoinGroup)."""
    longest_ms = max((member.rebalance_timeout_ms for member in group.members), default=0)
    most = f", at most {seconds(longest_ms)} (their rebalance timeout)" if longest_ms > 0 else ""
    return f"its coordinator waits for members that have not rejoined{most}."


def rebalance_storm(enough: int, window_ms: int, causes: Sequence[RebalanceCause]) -> str:
    """``enough`` within ``window_ms`` are the thresholds, not the counts; ``causes`` of the newest of them."""
    told = ", ".join(CAUSES[cause] for cause in causes)
    hints = " ".join(dict.fromkeys(_HINTS[cause] for cause in causes if cause in _HINTS))
    return f"The group has rebalanced at least {enough} times within {seconds(window_ms)} ({told}). {hints}".rstrip()


def seconds(duration_ms: int) -> str:
    """A threshold as a person would say it.

    >>> seconds(1_500), seconds(60_000), seconds(600_000)
    ('1.5 s', '60 s', '10 min')
    """
    minutes, rest = divmod(duration_ms, 60_000)
    return f"{minutes} min" if minutes > 1 and not rest else f"{duration_ms / 1000:g} s"


CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "members joined",
    RebalanceCause.LEAVE: "members left or timed out",
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
_HINTS: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: _MEMBERS_COME_AND_GO,
    RebalanceCause.LEAVE: _MEMBERS_COME_AND_GO,
    RebalanceCause.TIMEOUT: _MEMBERS_COME_AND_GO,
    RebalanceCause.SUBSCRIPTION: "Look for members that subscribe to changing topics.",
    RebalanceCause.TOPICS: "Look who creates and deletes topics that the group's pattern finds.",
    RebalanceCause.ASSIGNOR: "Give all members the same partition.assignment.strategy.",
}
