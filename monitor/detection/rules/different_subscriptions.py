"""Members of one group that subscribe to different topics, and have to rejoin whenever the others restart.

That is how two applications with one ``group.id`` look. A stable group of such members is no finding, nor is a
deployment that changes the subscription: its old members leave and do not come back, its new ones join.

Rule 1: Members are of one side if members that subscribe to several topics connect theirs. Within such a side,
subscriptions are sides of their own if each has topics that another lacks, and no two have a client id in common. A
side that was there less than ABSENT_MS ago counts as present.
Rule 2: A rebalance counts against the others of a side if only members of others came or left, while the side had
members; and if none of these came or left within APART_MS. The consumers of one process leave one after the other.
Rule 3: A restart of the others is one that left and one that came, in any order, with no change of the side's own
members in between. From RESTARTS of them on it is a finding, if its rebalances are of at least LASTING_MS.
Rule 4: It ends a day after the last of these rebalances, or when no other side is there any more. Rebalances older than
a week do not count.
Rule 5: Only for classic groups of consumers: with KIP-848, members keep what others do not take from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import CLASSIC
from monitor.findings.observation import Observation
from monitor.findings.rebalances import DifferentSubscriptions, SubscriptionSide
from monitor.model import CONSEQUENTIAL_CAUSES, FindingKind, Member, Rebalance, SubscriptionChange, Value
from monitor.model.subscriptions import first_topics

APART_MS: Final = 10_000
RESTARTS: Final = 3
LASTING_MS: Final = 60_000
ABSENT_MS: Final = 300_000
QUIET_MS: Final = 86_400_000
WINDOW_MS: Final = 7 * QUIET_MS
MAX_OVERLAPPING: Final = 32
"""More subscriptions that topics connect are one side: they are compared in pairs."""


ByTopics = dict[frozenset[str], list[Member]]
"""Members by their subscription."""


class Side(Value):
    """Members of a group that have no topic in common with its other members, or another part of them.

    ``subscriptions`` are those of its members, as they are kept with rebalances.
    """

    topics: frozenset[str]
    subscriptions: frozenset[tuple[str, ...]]
    clients: tuple[str, ...] = ()
    members: int = 0


class Lived(Value):
    """A rebalance, as it was for one side; ``own`` are its members that came and left, ``had_members`` is before it."""

    rebalance: Rebalance
    own: tuple[SubscriptionChange, ...]
    had_members: bool

    @property
    def changes(self) -> tuple[SubscriptionChange, ...]:
        """The members that came and left, of this side and of others."""
        return _changes(self.rebalance)

    @property
    def at_ms(self) -> int:
        """When it ended."""
        return self.rebalance.started_ms if self.rebalance.ended_ms is None else self.rebalance.ended_ms


class Interference(Value):
    """The rebalances of a side since ``since_ms``, and how many of them others alone caused, by restarts."""

    side: Side
    since_ms: int
    rebalances: int
    by_others: int
    restarts: int
    pause_ms: int


def find_different_subscriptions(facts: Facts) -> Iterable[Observation]:
    """The side of a group that the restarts of other sides stopped most often."""
    history = facts.group.history
    if not any(each.subscriptions for each in history) or not facts.traits.leader_assigns_partitions:
        return  # nearly every group
    if not facts.ownership.complete:
        return
    sides = sides_of(facts.group.members)
    sides = [*sides, *_absent_sides(facts, sides)]
    if len(sides) < 2:
        return
    known = frozenset(each for side in sides for each in side.subscriptions)
    found = [each for side in sides if (each := _interference(facts, side, known)) is not None]
    if not found:
        return
    most = max(found, key=lambda each: each.by_others)
    others = [side for side in sides if side is not most.side]
    yield Observation(
        kind=FindingKind.REBALANCE,
        reason="different_subscriptions",
        since_ms=facts.not_later_than_now(most.since_ms),
        evidence=DifferentSubscriptions(
            sides=tuple([_subscription_side(side) for side in (most.side, *others)]),
            rebalances=most.rebalances,
            by_others=most.by_others,
            restarts=most.restarts,
            pause_ms=most.pause_ms,
        ),
    )


def sides_of(members: Iterable[Member]) -> list[Side]:
    """The sides of a group by what its members subscribe to, the largest first (rule 1)."""
    by_topics: ByTopics = {}
    for member in members:
        by_topics.setdefault(frozenset(member.topics), []).append(member)
    apart = [part for each in _connected_subscriptions(by_topics) for part in _split(each, by_topics)]
    sides = [_side(part, by_topics) for part in apart]
    return sorted(sides, key=lambda side: (-side.members, sorted(side.topics)))


def _connected_subscriptions(subscriptions: Iterable[frozenset[str]]) -> list[list[frozenset[str]]]:
    """Subscriptions that topics connect, directly or by others."""
    by_topic: dict[str, list[frozenset[str]]] = {}
    for topics in subscriptions:
        joined = [topics]
        for known in {id(each): each for topic in topics if (each := by_topic.get(topic)) is not None}.values():
            joined += known
        by_topic |= dict.fromkeys((topic for each in joined for topic in each), joined)
    return list({id(each): each for each in by_topic.values()}.values())


def _split(connected: list[frozenset[str]], by_topics: ByTopics) -> list[list[frozenset[str]]]:
    """Each subscription by itself, if no two of them have a client id in common, and none has all topics of another."""
    if len(connected) > MAX_OVERLAPPING:
        return [connected]
    clients = {topics: {member.client_id for member in by_topics[topics]} for topics in connected}
    is_apart = all(
        one - other and other - one and clients[one].isdisjoint(clients[other])
        for one, other in combinations(connected, 2)
    )
    return [[topics] for topics in connected] if is_apart else [connected]


def _side(subscriptions: list[frozenset[str]], by_topics: ByTopics) -> Side:
    members = [member for topics in subscriptions for member in by_topics[topics]]
    return Side(
        topics=frozenset(topic for topics in subscriptions for topic in topics),
        subscriptions=frozenset(first_topics(topics) for topics in subscriptions),
        clients=tuple(sorted({member.client_id for member in members} - {""})),
        members=len(members),
    )


def _absent_sides(facts: Facts, present: Sequence[Side]) -> list[Side]:
    """Sides whose last members left a short time ago: they may be restarting."""
    known = {topic for side in present for topic in side.topics}
    absent: list[Side] = []
    for each in reversed(facts.group.history):
        if facts.has_come((each.ended_ms or 0) + ABSENT_MS):
            break
        for change in _changes(each):
            if change.topics and known.isdisjoint(change.topics):
                absent.append(Side(frozenset(change.topics), frozenset({change.topics})))
                known |= set(change.topics)
    return absent


def _interference(facts: Facts, side: Side, known: frozenset[tuple[str, ...]]) -> Interference | None:
    """What others did to a side, if it is enough (rules 2 to 4)."""
    lived = _lived_rebalances(facts, side, known)
    own_ms = [each.at_ms for each in lived if each.own]
    foreign = [each for each in lived if _is_foreign(facts, each, own_ms)]
    first = next((each for each in foreign if any(change.left for change in each.changes)), None)
    if first is None:
        return None
    since_ms, last_ms = first.at_ms, foreign[-1].at_ms
    counted = [each for each in foreign if each.at_ms >= since_ms]
    restarts = _restarts(counted, own_ms)
    if restarts < RESTARTS or last_ms - since_ms < LASTING_MS or facts.has_come(last_ms + QUIET_MS):
        return None
    return Interference(
        side=side,
        since_ms=since_ms,
        rebalances=sum(each.had_members and each.at_ms >= since_ms for each in lived),
        by_others=len(counted),
        restarts=restarts,
        pause_ms=sum(_others_pause_ms(each.rebalance) for each in counted),
    )


def _lived_rebalances(facts: Facts, side: Side, known: frozenset[tuple[str, ...]]) -> list[Lived]:
    """The rebalances of the last week, oldest first, as far back as the number of the side's members is known."""
    count, lived = side.members, list[Lived]()
    for each in reversed(facts.group.history):
        if CONSEQUENTIAL_CAUSES.issuperset(each.causes):
            continue
        own = tuple([change for change in _changes(each) if _concerns(change, side, known)])
        count += sum(change.left - change.joined for change in own)
        then = Lived(each, own, had_members=count > 0)
        if facts.has_come(then.at_ms + WINDOW_MS) or any(not change.topics for change in own):
            break
        lived.append(then)
    return lived[::-1]


def _concerns(change: SubscriptionChange, side: Side, known: frozenset[tuple[str, ...]]) -> bool:
    """Whether members of this side came or left; of a subscription that no member has now, whether it may be theirs."""
    if not change.topics or change.topics in side.subscriptions:
        return True
    return change.topics not in known and not side.topics.isdisjoint(change.topics)


def _is_foreign(facts: Facts, then: Lived, own_ms: Sequence[int]) -> bool:
    """Whether the rebalance is one of others alone, and none of the side's own is near."""
    if not then.changes or then.own or not then.had_members:
        return False
    return facts.has_come(then.at_ms + APART_MS) and not any(abs(then.at_ms - each) < APART_MS for each in own_ms)


def _restarts(foreign: Iterable[Lived], own_ms: Sequence[int]) -> int:
    """How often a member of others left and one came while the side's own members stayed the same (rule 3)."""
    runs: dict[int, list[SubscriptionChange]] = {}
    for each in foreign:
        run = sum(own < each.at_ms for own in own_ms)
        runs.setdefault(run, []).extend(each.changes)
    changes = [(sum(each.joined for each in run), sum(each.left for each in run)) for run in runs.values()]
    return sum(min(joined, left) for joined, left in changes)


def _changes(rebalance: Rebalance) -> tuple[SubscriptionChange, ...]:
    return rebalance.subscriptions.changes if rebalance.subscriptions is not None else ()


def _others_pause_ms(rebalance: Rebalance) -> int:
    return rebalance.subscriptions.others_pause_ms if rebalance.subscriptions is not None else 0


def _subscription_side(side: Side) -> SubscriptionSide:
    return SubscriptionSide(tuple(sorted(side.topics)), side.clients, side.members)


RULES: Final = (Rule(find_different_subscriptions, of_owners=False, kinds=CLASSIC),)
