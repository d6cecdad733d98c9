"""A group made ready to be assigned again: its members as they would join now, its topics as they are now."""

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
    Assigner,
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
        return KINDS[self.group.kind].assigns is Assigner.BROKER

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
    is_modern = KINDS[group.kind].assigns is Assigner.BROKER
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
        return f"Group {name} is a {group.kind.value} group: no assignor gives its partitions to one owner each."
    if not group.members:
        return f"Group {name} has no members (it is {group.phase.value}), so there is nothing to assign to."
    if group.protocol_type != "consumer":
        return f"Group {name} has the protocol {shown(group.protocol_type) or 'none'}, not that of consumers."
    return f"What some members of group {name} subscribe to cannot be read, so it cannot be assigned again."


def _assumed(group: GroupState, members: Iterable[Member]) -> Iterable[str]:
    if KINDS[group.kind].assigns is Assigner.BROKER:
        yield "What members have before is what the broker has chosen for them, whether they have reached it or not."
        if any(member.reconciliation is None or member.reconciliation.target is None for member in members):
            yield "For some members the broker has not chosen yet: they have nothing before."
        return
    yield "All members join with fresh metadata of the topics as they are now, and remember what they have."
    if group.protocol == "sticky" and any(is_foreign(member.user_data) for member in group.members):
        yield "The members' own sticky is another than Kafka's Java client has; this is that of the Java client."


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
        told: list[str] = []
        if roster.group.protocol != self.name:
            told.append(
                "A member would have to ask the broker for it (group.remote.assignor), and most members the same."
                if roster.is_modern
                else f"All members offer {self.name}; which they really offer is not looked at."
            )
        if isinstance(self._rule, CooperativeStickyAssignor):
            told.append(
                "This is where it ends: partitions that move are given up in one generation, taken in the next."
            )
        return tuple(told)


def choose_assignor(roster: Roster, name: str | None) -> ChosenAssignor:
    """The assignor of this name, or the group's own.

    Raises:
        QuestionError: groupwatch does not have it.
    """
    wanted = roster.group.protocol if name is None else name
    names = offered_names(SYSTEM_OF[roster.group.kind])
    found = find(wanted, System.KAFKA_BROKER) if roster.is_modern else find(wanted)
    if isinstance(found, UnknownAssignor) or found.name not in names:
        whose = "the group's assignor" if name is None else "an assignor"
        raise QuestionError(
            f"groupwatch does not have {whose} {shown(wanted or 'none')} for this group; it has {listed(names)}."
        )
    return ChosenAssignor(found)
