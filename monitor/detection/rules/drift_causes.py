"""The most likely cause of a drift: small rules on a ladder, the surest first.

A rule looks at what the log and the catalog have. None of them proves a cause but the first two; the sentence says
what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from monitor.detection.ownership.client_libraries import JAVA, library_of, writes_unlike_java
from monitor.detection.ownership.context import Expectation
from monitor.model import DriftCause, GroupState, Member
from monitor.model.evidence import Cause

RACK_AWARE: Final = frozenset({"range", "sticky", "cooperative-sticky"})
"""The client's assignors that look at racks (KIP-881)."""


Rule = Callable[[GroupState, Expectation], Cause | None]


def tie(group: GroupState, expectation: Expectation) -> Cause | None:
    """Another order of the members could have led the same assignor to another answer."""
    del group
    return Cause(DriftCause.TIE) if expectation.tie else None


def exactly_another_client(group: GroupState, expectation: Expectation) -> Cause | None:
    """The owners are exactly those that a known variant of the assignor gives."""
    if expectation.like is None:
        return None
    members = (group.leader,) if group.leader else ()
    return Cause(DriftCause.FOREIGN_CLIENT, seen=(expectation.like,), members=members, is_exact=True)


def leader_of_another_library(group: GroupState, expectation: Expectation) -> Cause | None:
    """The member that assigns is not Kafka's Java client, whose assignors are the ones replayed."""
    del expectation
    leader = next((member for member in group.members if member.member_id == group.leader), None)
    if leader is None:
        return None
    library = library_of(leader, group.group)
    if library == JAVA or (library is None and not writes_unlike_java(leader, group.protocol)):
        return None
    return Cause(DriftCause.FOREIGN_CLIENT, seen=(library,) if library else (), members=(leader.member_id,))


def different_assignors(group: GroupState, expectation: Expectation) -> Cause | None:
    """Members seem to have different assignors of the same name.

    The record of a classic group keeps the subscription for the chosen assignor alone, not the list that a member
    offered; what shows are different libraries, and user data in different forms.
    """
    del expectation
    libraries = sorted({library for member in group.members if (library := library_of(member, group.group))})
    unlike = tuple(sorted(m.member_id for m in group.members if writes_unlike_java(m, group.protocol)))
    if len(libraries) > 1 or 0 < len(unlike) < len(group.members):
        return Cause(DriftCause.MIXED_ASSIGNORS, seen=tuple(libraries), members=unlike)
    return None


def topics_changed(group: GroupState, expectation: Expectation) -> Cause | None:
    """Topics have other partitions now than the members knew."""
    del group
    return Cause(DriftCause.METADATA_STALE) if expectation.changes else None


def different_server_assignors(group: GroupState, expectation: Expectation) -> Cause | None:
    """Members ask the broker for different assignors; it takes the one that most ask for, and none is told from ours.

    Of classic members inside the group the lists that they offer are known: they differ too, if they do.
    """
    del expectation
    asked = {member.server_assignor for member in group.members if member.server_assignor is not None}
    offered = {tuple(p.name for p in member.classic_protocols) for member in group.members if member.classic_protocols}
    names = asked if len(asked) > 1 else {name for names in offered for name in names} if len(offered) > 1 else None
    return Cause(DriftCause.MIXED_ASSIGNORS, seen=tuple(sorted(names))) if names else None


def different_own_strategies(group: GroupState, expectation: Expectation) -> Cause | None:
    """Members that each work out their own share say that they do so by different strategies."""
    del expectation
    named = sorted({member.assignor for member in group.members if member.assignor is not None})
    return Cause(DriftCause.MIXED_ASSIGNORS, seen=tuple(named)) if len(named) > 1 else None


def racks(group: GroupState, expectation: Expectation) -> Cause | None:
    """The assignor looks at racks, and the catalog has those of now only."""
    del expectation
    if group.protocol not in RACK_AWARE:
        return None
    members = tuple(sorted(member.member_id for member in group.members if member.rack))
    return Cause(DriftCause.RACKS_CHANGED, members=members) if members else None


def different_subscriptions(group: GroupState, expectation: Expectation) -> Cause | None:
    """Members subscribe to different topics, which is where implementations part most often."""
    del expectation
    if len({frozenset(member.topics) for member in group.members}) < 2:
        return None
    return Cause(DriftCause.MIXED_SUBSCRIPTIONS, members=_in_the_minority(group.members))


def unknown(group: GroupState, expectation: Expectation) -> Cause | None:
    """Nothing that is known explains it."""
    del group, expectation
    return Cause(DriftCause.UNKNOWN)


REPLAYED: Final[tuple[Rule, ...]] = (
    tie,  # certain, and nobody's fault: it must stay quiet whatever else is seen
    exactly_another_client,  # recomputed, partition by partition
    leader_of_another_library,  # it is the leader that assigns
    different_assignors,  # the leader may be one of either kind
    racks,  # an input that is known as of now only
    different_subscriptions,  # no error, but where implementations differ
    unknown,
)
"""Why the owners are not those that the assignor gives for the inputs of the generation."""

CURRENT: Final[tuple[Rule, ...]] = (
    topics_changed,  # seen in the catalog
    racks,  # all that can have changed besides: a member that joins or leaves begins a new generation
    unknown,
)
"""Why the owners would be others now."""


TARGET: Final[tuple[Rule, ...]] = (
    different_server_assignors,  # which of them the broker took is inferred
    unknown,
)
"""Why the broker has chosen other owners than its assignor gives."""


OWN: Final[tuple[Rule, ...]] = (
    different_own_strategies,  # they say so
    unknown,
)
"""Why owners are others than the strategy gives, where each member works out its own share."""


def cause_of(ladder: tuple[Rule, ...], group: GroupState, expectation: Expectation) -> Cause:
    """What the first rule says that says anything."""
    return next(cause for rule in ladder if (cause := rule(group, expectation)) is not None)


def _in_the_minority(members: tuple[Member, ...]) -> tuple[str, ...]:
    """Those whose subscription is not the most frequent one (of equally frequent ones, the first in order)."""
    by_topics: dict[tuple[str, ...], list[str]] = {}
    for member in members:
        by_topics.setdefault(tuple(sorted(set(member.topics))), []).append(member.member_id)
    usual = min(by_topics, key=lambda topics: (-len(by_topics[topics]), topics))
    return tuple(sorted(name for topics, names in by_topics.items() if topics != usual for name in names))
