"""The most likely cause of a drift: small rules on a ladder, the surest first.

A rule looks at what the log and the catalog have. None of them proves a cause but the first two; the sentence says
what was seen.

Of a ``replayed`` drift, the first rule that is true gives the cause:

Rule 1: Another order of the members explains it: ``tie``.
Rule 2: Another client library's assignor gives exactly these owners: ``foreign_client``.
Rule 3: The leader writes as no known library does, or uses another one than Java's: ``foreign_client``.
Rule 4: The members use two client libraries or more: ``mixed_assignors``.
Rule 5: The assignor looks at racks, and a member has one: ``racks_changed``.
Rule 6: The members subscribe to different topics: ``mixed_subscriptions``.
Rule 7: Without any of these: ``unknown``.

Of a ``current`` drift, rule 8 comes first, then rules 5 and 7. Of a ``target`` drift, rule 9 comes first, then rule 7:

Rule 8: A topic has other partitions than the generation was assigned for: ``metadata_stale``.
Rule 9: The members ask for different assignors, or offer different ones: ``mixed_assignors``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from monitor.detection.ownership.context import Expectation
from monitor.model import (
    UNKNOWN_LIBRARY,
    Certainty,
    ClientLibrary,
    DriftCause,
    GroupState,
    Library,
    Member,
    Value,
)
from monitor.model.evidence import Cause

RACK_AWARE: Final = frozenset({"range", "sticky", "cooperative-sticky"})
"""The client's assignors that look at racks (KIP-881)."""


class Seen(Value):
    """What the rules look at. ``libraries``: the client library of each member, by member id."""

    group: GroupState
    expectation: Expectation
    libraries: Mapping[str, ClientLibrary]

    def library_of(self, member: Member) -> ClientLibrary:
        """The member's client library."""
        return self.libraries.get(member.member_id, UNKNOWN_LIBRARY)


Rule = Callable[[Seen], Cause | None]


def tie(seen: Seen) -> Cause | None:
    """Another order of the members could have led the same assignor to another answer."""
    return Cause(DriftCause.TIE) if seen.expectation.tie else None


def exactly_another_client(seen: Seen) -> Cause | None:
    """The owners are exactly those that another client library's assignor of the name gives."""
    libraries = tuple([row.library for row in seen.expectation.like])
    members = (seen.group.leader,) if seen.group.leader else ()
    return Cause(DriftCause.FOREIGN_CLIENT, members=members, is_exact=True, libraries=libraries) if libraries else None


def leader_of_another_library(seen: Seen) -> Cause | None:
    """The member that assigns uses an unknown library, or one of which another release may assign otherwise."""
    leader = next((member for member in seen.group.members if member.member_id == seen.group.leader), None)
    if leader is None:
        return None
    library = seen.library_of(leader)
    is_unknown = library.certainty is Certainty.UNKNOWN and leader.wire is not None
    if not is_unknown and (library.one is None or library.one is Library.JAVA):
        return None
    return Cause(DriftCause.FOREIGN_CLIENT, members=(leader.member_id,), libraries=library.libraries)


def different_assignors(seen: Seen) -> Cause | None:
    """Members use different client libraries, whose assignors of the same name differ.

    The record of a classic group keeps the subscription for the chosen assignor alone, not the list that a member
    offered.
    """
    one = {member.member_id: library for member in seen.group.members if (library := seen.library_of(member).one)}
    libraries = sorted(set(one.values()))
    if len(libraries) < 2:
        return None
    unlike = tuple(sorted(name for name, library in one.items() if library is not Library.JAVA))
    return Cause(DriftCause.MIXED_ASSIGNORS, members=unlike, libraries=tuple(libraries))


def topics_changed(seen: Seen) -> Cause | None:
    """Topics have other partitions now than the members knew."""
    return Cause(DriftCause.METADATA_STALE) if seen.expectation.changes else None


def different_server_assignors(seen: Seen) -> Cause | None:
    """Members ask the broker for different assignors; it takes the one that most ask for, and none is told from ours.

    Of classic members inside the group the lists that they offer are known: they differ too, if they do.
    """
    members = seen.group.members
    asked = {member.server_assignor for member in members if member.server_assignor is not None}
    offered = {tuple(p.name for p in member.classic_protocols) for member in members if member.classic_protocols}
    names = asked if len(asked) > 1 else {name for names in offered for name in names} if len(offered) > 1 else None
    return Cause(DriftCause.MIXED_ASSIGNORS, seen=tuple(sorted(names))) if names else None


def different_own_strategies(seen: Seen) -> Cause | None:
    """Members that each work out their own share say that they do so by different strategies."""
    named = sorted({member.assignor for member in seen.group.members if member.assignor is not None})
    return Cause(DriftCause.MIXED_ASSIGNORS, seen=tuple(named)) if len(named) > 1 else None


def racks(seen: Seen) -> Cause | None:
    """The assignor looks at racks, and the catalog has those of now only."""
    if seen.group.protocol not in RACK_AWARE:
        return None
    members = tuple(sorted(member.member_id for member in seen.group.members if member.rack))
    return Cause(DriftCause.RACKS_CHANGED, members=members) if members else None


def different_subscriptions(seen: Seen) -> Cause | None:
    """Members subscribe to different topics, which is where implementations part most often."""
    if len({frozenset(member.topics) for member in seen.group.members}) < 2:
        return None
    return Cause(DriftCause.MIXED_SUBSCRIPTIONS, members=_in_the_minority(seen.group.members))


def unknown(seen: Seen) -> Cause | None:
    """Nothing that is known explains it."""
    del seen
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


def cause_of(ladder: tuple[Rule, ...], seen: Seen) -> Cause:
    """What the first rule says that says anything."""
    return next(cause for rule in ladder if (cause := rule(seen)) is not None)


def _in_the_minority(members: tuple[Member, ...]) -> tuple[str, ...]:
    """Those whose subscription is not the most frequent one (of equally frequent ones, the first in order)."""
    by_topics: dict[tuple[str, ...], list[str]] = {}
    for member in members:
        by_topics.setdefault(tuple(sorted(set(member.topics))), []).append(member.member_id)
    usual = min(by_topics, key=lambda topics: (-len(by_topics[topics]), topics))
    return tuple(sorted(name for topics, names in by_topics.items() if topics != usual for name in names))
