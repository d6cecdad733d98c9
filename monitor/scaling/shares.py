"""Who would own what if a group had another number of members: by the group's own assignor, or as it is now."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.context import Owners
from monitor.explain.what_if import MOST_MEMBERS, Change, what_if
from monitor.model import Member, TopicPartition, Value


class Share(Value):
    """The partitions of a member, and the host that it connects from ("" if it is new)."""

    host: str
    places: tuple[TopicPartition, ...]


class Shares(Value):
    """The shares of all members, and how many partitions get another owner by it."""

    members: tuple[Share, ...]
    moves: int = 0
    assumptions: tuple[str, ...] = ()


class ShareTable:
    """The shares of a group by its number of members, each worked out once. The members and topics stay as they are."""

    def __init__(self, inputs: GroupInputs, owners: Owners) -> None:
        """``inputs`` need no more topics than concern the group; ``owners`` are those of its partitions now."""
        self._inputs = inputs
        self._known: dict[int, Shares] = {}
        members = inputs.group.members
        self.present = len(members)
        """The number of members now."""
        self.partitions = len(owners)
        """The number of partitions that have an owner now."""
        if members:
            self._known[len(members)] = Shares(present_shares(members, owners))

    def of(self, members: int) -> Shares:
        """The shares of so many members. The present number has those that there are.

        Raises:
            QuestionError: the group's assignment cannot be computed.
        """
        known = self._known.get(members)
        if known is None:
            known = self._known[members] = _simulate(self._inputs, min(members, MOST_MEMBERS))
        return known


def present_shares(members: Sequence[Member], owners: Owners) -> tuple[Share, ...]:
    """What the members own now. A partition of several owners counts for each."""
    own: dict[str, list[TopicPartition]] = {member.member_id: [] for member in members}
    for place, ids in owners.items():
        for member_id in ids:
            if member_id in own:
                own[member_id].append(place)
    return tuple([Share(member.host, tuple(own[member.member_id])) for member in members])


def _simulate(inputs: GroupInputs, members: int) -> Shares:
    answer = what_if(inputs, Change(members=members))
    staying = [each for each in answer.members if not each.leaves]
    places = [tuple([TopicPartition(t.topic, p) for t in each.after for p in t.partitions]) for each in staying]
    shares = tuple([Share(each.host, own) for each, own in zip(staying, places, strict=True)])
    return Shares(shares, len(answer.moves), answer.assumptions)
