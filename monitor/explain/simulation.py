"""A group prepared for a simulated assignment: its members as they would join now, its current topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.assignors import Assignor, UnknownAssignor, find, rejoining
from monitor.assignors.kafka_broker import BrokerRangeAssignor, UniformAssignor
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor
from monitor.assignors.registry import SYSTEM_OF, System, offered_names
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.catalog_view import shape_of
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import owners_by_partition, read_ownership
from monitor.detection.ownership.expected import Counts, counts_now, visible_counts
from monitor.detection.ownership.kip848 import named, with_targets
from monitor.detection.ownership.targets import is_chosen
from monitor.messages.names import listed, shown
from monitor.model import (
    KINDS,
    Assignment,
    Catalog,
    GroupState,
    Member,
    MemberAssignment,
    TopicShape,
    Value,
)
from monitor.protocol.kafka.sticky_user_data import is_foreign


class Roster(Value):
    """A group with named topics. ``members`` are as they would join now; ``counts`` the partitions there are now."""

    group: GroupState
    catalog: Catalog
    members: tuple[Member, ...]
    owners: Owners
    counts: Counts
    assumptions: tuple[str, ...]

    @property
    def is_modern(self) -> bool:
        """Whether the broker assigns."""
        return KINDS[self.group.kind].broker_chooses_owners

    def shapes(self, counts: Mapping[str, int]) -> list[TopicShape]:
        """What the assignor is told of the topics; the broker's are told their ids and no racks."""
        known = self.catalog.topics
        if self.is_modern:
            ids = {topic.topic: topic.topic_id for topic in self.group.subscribed_topics}
            ids |= {name: state.topic_id for name, state in known.items() if state.topic_id is not None}
            return [
                TopicShape(topic=topic, partitions=counts[topic], topic_id=ids[topic])
                for topic in sorted(counts)
                if topic in ids
            ]
        racks = any(member.rack is not None for member in self.members)
        return [shape_of(topic, counts[topic], known.get(topic), with_racks=racks) for topic in sorted(counts)]

    def usual_topics(self) -> tuple[str, ...]:
        """The subscription that most members have; of equally many, the first by name."""
        found = Counter(tuple(sorted(set(member.topics))) for member in self.members)
        most = max(found.values())
        return min(topics for topics, count in found.items() if count == most)


def roster_of(inputs: GroupInputs) -> Roster:
    """The group ready to be assigned again.

    Raises:
        QuestionError: it has no members that can be read, or no assignor chooses owners in a group of its kind.
    """
    group = named(inputs.group, inputs.catalog)
    ownership = read_ownership(group)
    if not ownership.complete:
        raise QuestionError(_why_not(group))
    is_modern = KINDS[group.kind].broker_chooses_owners
    members = with_targets(group, inputs.catalog) if is_modern else rejoining(group.members, group.generation)
    owners = owners_by_partition(
        MemberAssignment(member_id=member.member_id, topics=member.assigned) for member in members
    )
    visible = visible_counts(owners) if not is_modern or is_chosen(group) else None
    return Roster(
        group=replace(group, members=members),
        catalog=inputs.catalog,
        members=members,
        owners=owners,
        counts=counts_now(group, inputs.catalog, ownership.subscribed, visible),
        assumptions=tuple(_assumed(group, members)),
    )


def _why_not(group: GroupState) -> str:
    name = shown(group.group)
    if not KINDS[group.kind].has_owners:
        return f"Group {name} is a {group.kind.value} group: no assignor assigns each of its partitions to one owner."
    if not group.members:
        return f"Group {name} has no members (it is {group.phase.value}), so there is nothing to assign."
    if group.protocol_type != "consumer":
        return f"Group {name} has the protocol type {shown(group.protocol_type) or 'none'}, not consumer."
    return f"Some members of group {name} have unreadable subscriptions, so its assignment cannot be simulated."


def _assumed(group: GroupState, members: Iterable[Member]) -> Iterable[str]:
    if KINDS[group.kind].broker_chooses_owners:
        yield "The assignment before is the coordinator's target assignment, whether members have reached it or not."
        if any(member.reconciliation is None or member.reconciliation.target is None for member in members):
            yield "Some members have no target assignment yet, so they have no partitions before."
        return
    yield "All members rejoin with current topic metadata and remember their partitions."
    if group.protocol == "sticky" and any(is_foreign(member.user_data) for member in group.members):
        yield "The members' sticky assignor differs from that of Kafka's Java client; the simulation uses the latter."


class ChosenAssignor:
    """The assignor that is asked."""

    def __init__(self, rule: Assignor | BrokerRangeAssignor | UniformAssignor) -> None:
        self._rule = rule
        self.name: Final = rule.name

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> tuple[MemberAssignment, ...]:
        """Who is to own what in the end.

        Raises:
            AssignorError: the original fails for this input.
        """
        rule = self._rule
        answer: Assignment = (rule.target if isinstance(rule, CooperativeStickyAssignor) else rule.assign)(
            members, topics
        )
        return answer.members

    def assumptions(self, roster: Roster) -> tuple[str, ...]:
        """What has to be said about this assignor in this group."""
        assumptions: list[str] = []
        if roster.group.protocol != self.name:
            assumptions.append(
                "A member would have to request it (group.remote.assignor), and most members the same one."
                if roster.is_modern
                else f"All members support {self.name}; the simulation does not check the assignors that they offer."
            )
        if isinstance(self._rule, CooperativeStickyAssignor):
            assumptions.append(
                "This is the final assignment: moved partitions are revoked in one generation, assigned in the next."
            )
        return tuple(assumptions)


def choose_assignor(roster: Roster, name: str | None) -> ChosenAssignor:
    """The assignor of this name, or the group's own.

    Raises:
        QuestionError: groupwatch does not have it.
    """
    wanted = roster.group.protocol if name is None else name
    names = offered_names(SYSTEM_OF[roster.group.kind])
    found = find(wanted, System.KAFKA_BROKER) if roster.is_modern else find(wanted)
    if isinstance(found, UnknownAssignor) or found.name not in names:
        whose = "the group's assignor" if name is None else "the assignor"
        raise QuestionError(
            f"groupwatch does not support {whose} {shown(wanted or 'none')} for this group; it supports "
            f"{listed(names)}."
        )
    return ChosenAssignor(found)
