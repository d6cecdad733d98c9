"""Whose coming and going made a group rebalance, where its members subscribe to different topics.

All members of a classic group have to rejoin when one of them comes or leaves, also those of other topics. So it is
kept with each rebalance members of which subscriptions changed. Whether that is a finding is decided in
monitor.detection.rules.different_subscriptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from monitor.model import KINDS, MOST, GroupState, Member, SubscriptionChange, SubscriptionChanges
from monitor.model.subscriptions import first_topics
from monitor.tracking.rebalances.generation import Generation
from monitor.tracking.rebalances.moves import member_identity

MAX_CHANGES: Final = 4
"""Members of more subscriptions at once are a start or a stop of the group: no subscription caused that alone."""


def changes_between(before: GroupState, generation: Generation) -> SubscriptionChanges | None:
    """The members that came and left between two generations, by subscription.

    A member that subscribes to other topics than before has left the one subscription, and joined the other. None: all
    members subscribe to the same topics, and have done so for as long as the history reaches.
    """
    members = (*before.members, *generation.members)
    if not KINDS[before.kind].has_generations or not (
        _differ(members) or any(each.subscriptions for each in before.history)
    ):
        return None
    old, new = (
        {(member_identity(each), first_topics(each.topics)) for each in of}
        for of in (before.members, generation.members)
    )
    joined, left = (Counter(topics for _, topics in changed) for changed in (new - old, old - new))
    changed = sorted(joined.keys() | left.keys())
    if len(changed) > MAX_CHANGES:
        return SubscriptionChanges((SubscriptionChange((), joined.total(), left.total()),))
    return SubscriptionChanges(tuple([SubscriptionChange(each, joined[each], left[each]) for each in changed]))


def with_others_pause(
    known: SubscriptionChanges, members: Iterable[Member], pauses: Mapping[str, int]
) -> SubscriptionChanges:
    """The changes with how long partitions paused of topics to which none of these members subscribes.

    Args:
        known: the changes of a rebalance.
        members: the group's members after it.
        pauses: how long the partitions of each topic paused (ms), summed over them.
    """
    changed = {topic for each in known.changes for topic in each.topics}
    others = {topic for each in members if changed and changed.isdisjoint(each.topics) for topic in each.topics}
    paused_ms = sum(each_ms for topic, each_ms in pauses.items() if topic in others)
    return replace(known, others_pause_ms=min(MOST, known.others_pause_ms + paused_ms)) if paused_ms else known


def _differ(members: tuple[Member, ...]) -> bool:
    return any(each.topics != members[0].topics and set(each.topics) != set(members[0].topics) for each in members)
