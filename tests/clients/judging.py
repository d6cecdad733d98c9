"""What groupwatch said of groups, compared with what is true of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal

from monitor.model import MembershipStored, Value
from tests.clients.generations import Places
from tests.clients.groups import Group
from tests.scenarios.churn_groups import SLOWEST_S
from tests.scenarios.judging import Spell
from tests.scenarios.scenario import Told
from tests.scenarios.settings import COMMIT_SILENCE_S, END_SIGHTS_S, SESSION_S

TOLD_WITHIN_S: Final = 8.0
"""So soon must be told what a leader leaves out."""

ORPHANED: Final = "orphaned"


class Orphaning(Value):
    """A generation with partitions that the one before had not left without a reader.

    Attributes:
        group: of the generation.
        generation: its number.
        at_ms: when the broker wrote it.
        partitions: how many nobody reads.
        told_s: after so long, all of them were told; None: never.
        lasted_s: so long nobody read them.
    """

    group: str
    generation: int
    at_ms: int
    partitions: int
    told_s: float | None
    lasted_s: float

    def is_late(self, late_s: float) -> bool:
        """Whether it should have been told before it was, or before it was over. ``late_s``: see Pace.late_s."""
        most_s = TOLD_WITHIN_S + late_s
        return self.lasted_s > most_s and (self.told_s is None or self.told_s > most_s)


def orphanings(
    generations: Sequence[MembershipStored],
    orphans: Callable[[MembershipStored], Places],
    told: Iterable[Told],
    began_ms: int,
    end_ms: int,
) -> Iterator[Orphaning]:
    """All of a group since it was watched, in their order; ``orphans`` are what nobody reads in a generation."""
    history = list(_told_places(told))
    left = [(each, orphans(each)) for each in generations]
    before: Places = frozenset()
    for number, (generation, places) in enumerate(left):
        if places - before and generation.stored_ms >= began_ms:
            over = (each.stored_ms for each, others in left[number + 1 :] if not places <= others)
            yield Orphaning(
                group=generation.group,
                generation=generation.generation,
                at_ms=generation.stored_ms,
                partitions=len(places),
                told_s=_seconds_until_told(places, generation.stored_ms, history),
                lasted_s=(next(over, end_ms) - generation.stored_ms) / 1000,
            )
        before = places


def _told_places(told: Iterable[Told]) -> Iterator[tuple[int, Places]]:
    """All partitions that are told as orphaned, whatever the reason, from each instant on."""
    by_reason: dict[str, Places] = {}
    yield 0, frozenset()
    for record in told:
        if record.kind == ORPHANED:
            places = frozenset((topic, number) for topic, numbers in record.partitions.items() for number in numbers)
            by_reason[record.reason] = frozenset() if record.event == "closed" else places
            yield record.at_ms, frozenset().union(*by_reason.values())


def _seconds_until_told(places: Places, since_ms: int, history: list[tuple[int, Places]]) -> float | None:
    at_first = [told for at_ms, told in history if at_ms <= since_ms][-1]
    later = [(at_ms, told) for at_ms, told in history if at_ms > since_ms]
    instants = (at_ms for at_ms, told in [(since_ms, at_first), *later] if places <= told)
    found = next(instants, None)
    return None if found is None else (found - since_ms) / 1000


class Recognized(Value):
    """What groupwatch said of a member's library, and what it is."""

    group: str
    member: str
    library: str
    configured: str
    said: tuple[str, ...]
    certainty: str
    versions: str | None = None

    @property
    def is_in_set(self) -> bool:
        """Whether the library is among those that were named."""
        return self.library in self.said

    @property
    def is_one(self) -> bool:
        """Whether it alone was named."""
        return self.said == (self.library,)


def recognition(members: Sequence[Recognized]) -> dict[str, Any]:
    """How many members were recognized, in all, by library and by what somebody has chosen; and each wrong answer."""
    return {
        **_shares(members),
        "by_library": _shares_by(members, lambda member: member.library),
        "by_configured": _shares_by(members, lambda member: member.configured),
        "certainty": dict(Counter(member.certainty for member in members)),
        "sets": dict(Counter(" or ".join(member.said) for member in members if not member.is_one)),
        "wrong": [
            f"{member.group}: {member.member} is {member.library}, said: {member.said}"
            for member in members
            if not member.is_in_set
        ],
    }


def _shares(members: Sequence[Recognized]) -> dict[str, Any]:
    count = len(members)
    return {
        "members": count,
        "as_set": round(sum(member.is_in_set for member in members) / count, 3) if count else None,
        "as_one": round(sum(member.is_one for member in members) / count, 3) if count else None,
    }


def _shares_by(members: Sequence[Recognized], key: Callable[[Recognized], str]) -> dict[str, Any]:
    return {
        value: _shares([member for member in members if key(member) == value])
        for value in sorted({key(member) for member in members})
    }


class Allowed(Value):
    """A finding that is no false alarm in some groups, for so many seconds (None: however long), and why.

    ``reason`` None: whatever it is. ``groups``: in which groups; see :func:`_is_of`.
    """

    kind: str
    reason: str | None
    most_s: float | None
    groups: Literal[
        "any", "static", "unequal topics", "failing", "not assigned", "late metadata", "closing leader", "lost"
    ]
    why: str


ALLOWED: Final = (
    Allowed("orphaned", "pending", SESSION_S + SLOWEST_S, "any", "handed over in two generations"),
    Allowed(
        "lag",
        "not_committing",
        COMMIT_SILENCE_S + END_SIGHTS_S + SESSION_S,
        "any",
        "a static member that is gone is missed after its session; nothing younger than the silence is told",
    ),
    Allowed(
        "dead_member",
        "silent",
        COMMIT_SILENCE_S + END_SIGHTS_S + SESSION_S,
        "static",
        "a static member that is gone is missed after its session, while others go on",
    ),
    Allowed("lag", "behind", None, "unequal topics", "what nobody read while the only subscriber of a topic was gone"),
    Allowed("imbalance", None, None, "unequal topics", "most assignors give a topic's subscribers equal shares of it"),
    Allowed("idle_members", None, None, "unequal topics", "others have all that a member subscribes to"),
    Allowed("abandoned", None, None, "unequal topics", "the only subscriber of a topic left"),
    Allowed("orphaned", "grew", None, "late metadata", "a leader may not know the partitions of a topic yet"),
    Allowed("orphaned", "assignor_gap", None, "closing leader", "true: it assigns nothing while it closes"),
    Allowed("orphaned", "leader_unsubscribed", None, "not assigned", "true"),
    Allowed("orphaned", "owner_unsubscribed", None, "not assigned", "true"),
    Allowed("drift", "current", None, "not assigned", "the next generation assigns what this one left out"),
    Allowed("idle_members", None, None, "not assigned", "the leader left out what they would have"),
    Allowed("lag", "not_committing", None, "not assigned", "nobody reads it"),
    Allowed("dead_member", "silent", None, "not assigned", "a member commits nothing of what it drops"),
    Allowed("uncommitted", None, None, "not assigned", "nobody reads it, so nobody commits it either"),
    Allowed("rebalance", None, None, "failing", "members join again and again, or wait for the leader"),
    Allowed("lag", None, None, "failing", "nobody reads"),
    Allowed("uncommitted", None, None, "failing", "nobody reads, so nobody commits either"),
    Allowed("orphaned", "assignor_gap", None, "failing", "assigned before the leader knew all topics"),
    Allowed("imbalance", None, SESSION_S + SLOWEST_S, "not assigned", "others wait for what is handed over to them"),
    Allowed("unattended", None, None, "lost", "true: its members ended with their process"),
    Allowed("lag", None, None, "lost", "true: its members ended with their process"),
    Allowed("uncommitted", None, None, "lost", "true: its members ended with their process"),
    Allowed("dead_member", None, None, "lost", "true: its members ended with their process"),
    Allowed("rebalance", "long", None, "lost", "members are waited for that ended with their process"),
)
"""What is not here must not be told at all."""


Spans = Sequence[tuple[int, int]]
"""From when to when, in ms."""


def spans_not_assigned(
    generations: Sequence[MembershipStored], orphans: Callable[[MembershipStored], Places], end_ms: int
) -> Spans:
    """While the newest generation left partitions without a reader."""
    ends = [each.stored_ms for each in generations[1:]] + [end_ms]
    return [(each.stored_ms, until) for each, until in zip(generations, ends, strict=True) if orphans(each)]


def false_alarm(group: Group, spell: Spell, now_ms: int, late_s: float, not_assigned: Spans = ()) -> str | None:
    """Why a finding should not have been told, or not for so long; None if it is right. ``late_s`` prolongs all."""
    age_s = spell.age_ms(now_ms) / 1000
    allowed = [
        each
        for each in ALLOWED
        if each.kind == spell.kind and each.reason in (None, spell.reason) and _is_of(group, spell, each, not_assigned)
    ]
    what = f"{group.name}: {spell.kind}/{spell.reason} at {spell.opened_ms}, {age_s:.1f} s old"
    if not allowed:
        return f"{what}, must never be told"
    limits = [each for each in allowed if each.most_s is None or age_s <= each.most_s + late_s]
    return None if limits else f"{what}, at most {max(each.most_s or 0.0 for each in allowed):g} s: {allowed[0].why}"


def _is_of(group: Group, spell: Spell, allowed: Allowed, not_assigned: Spans) -> bool:
    first_ms = min(spell.opened_ms, spell.since_ms)
    is_left = any(began_ms <= spell.opened_ms and first_ms < until_ms for began_ms, until_ms in not_assigned)
    is_of = {
        "any": True,
        "static": group.static,
        "unequal topics": group.has_unequal_topics,
        "failing": group.fails,
        "not assigned": is_left,
        "late metadata": is_left and not group.has_orphans,  # nothing grew where a leader leaves topics out
        "lost": group.lost,
        "closing leader": is_left and group.leaves_topics_out and not group.has_orphans,
    }
    return is_of[allowed.groups]
