"""The sentence that a person reads beside a finding.

A sentence does not change while nothing changes, because alerts are told apart by it: it holds no age (shown beside
it) and no number that moves with the traffic. Names come from clusters and are shown, not trusted: a name with
characters that cannot be printed is escaped, a long one is cut. Escaping for a page is the page's task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from monitor.detection.facts import Balance, Growth, Skew
from monitor.model import GroupKind, GroupState, MemberVerdict, OrphanReason, TopicPartition

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


DAY_MS: Final = 86_400_000


def since(instant_ms: int) -> str:
    """An instant in UTC, to the second (the days as in Howard Hinnant's ``civil_from_days``; a clock is not asked).

    >>> since(0), since(1_795_315_215_999)
    ('1970-01-01 00:00:00 UTC', '2026-11-22 02:40:15 UTC')
    """
    days, in_day_ms = divmod(instant_ms, DAY_MS)
    era_number, day_of_era = divmod(days + 719_468, 146_097)  # eras of 400 years that begin on a first of March
    year = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153  # 0 is March
    day = day_of_year - (153 * month + 2) // 5 + 1
    date = f"{year + 400 * era_number + (month > 9):04}-{(month + 2) % 12 + 1:02}-{day:02}"
    seconds = in_day_ms // 1000
    return f"{date} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02} UTC"


def who(member: MemberVerdict) -> str:
    """A member as a person looks for it.

    >>> who(MemberVerdict(member_id="m-1", client_id="app", host="/10.0.0.1")), who(MemberVerdict(member_id="m-1"))
    ('app at /10.0.0.1', 'm-1')
    """
    name = shown(member.client_id or member.member_id)
    return f"{name} at {shown(member.host)}" if member.host else name


def unattended(group: str, partitions: Sequence[TopicPartition], since_ms: int) -> str:
    """``since_ms``: since when nobody has read what waits."""
    return (
        f"Group {shown(group)} has no members, and records have waited in vain in {places(partitions)} since "
        f"{since(since_ms)}: start its consumers, or delete the group if it is given up."
    )


def abandoned(group: str, partitions: Sequence[TopicPartition], since_ms: int) -> str:
    """``since_ms``: since when nobody has read what waits."""
    topics = _topics(partitions)
    return (
        f"Records have waited in vain in {places(partitions)} since {since(since_ms)}: group {shown(group)} has "
        f"committed offsets there, but none of its members subscribes to the {topics} any more. If that is intended, "
        f"delete these offsets; else subscribe to the {topics} again."
    )


def dead_members(
    group: str, members: Sequence[MemberVerdict], partitions: Sequence[TopicPartition], since_ms: int
) -> str:
    """``partitions`` are those of the members, ``since_ms`` is when the first of them fell silent."""
    named = ", ".join(who(member) for member in members[:LISTED])
    more = f" and {len(members) - LISTED} more" if len(members) > LISTED else ""
    have, where, them = ("has", "it hangs in", "it") if len(members) == 1 else ("have", "they hang in", "them")
    return (
        f"{named}{more} in group {shown(group)} {have} {places(partitions)}, but {have} committed nothing since "
        f"{since(since_ms)}, while records wait there and other members go on: look at what {where}, and restart "
        f"{them}."
    )


def lag_imbalance(group: str, member: MemberVerdict, cause: Skew, hottest: TopicPartition, since_ms: int) -> str:
    """``hottest`` is the member's partition that gets most records, ``since_ms`` since when the member has had it."""
    head = (
        f"Most of the records that wait for group {shown(group)} wait for {who(member)}, which has had its "
        f"{counted(member.partitions, 'partition')} since {since(since_ms)}"
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
