"""A group prepared for a simulated assignment: its members as they would join now, its current topics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from monitor.assignors import Assignor, UnknownAssignor, find, rejoining
from monitor.assignors.dialects import DIALECTS, DialectRow, Exactness, Group, ReplayedDialect
from monitor.assignors.kafka_broker import BrokerRangeAssignor, UniformAssignor
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor
from monitor.assignors.registry import SYSTEM_OF, System, offered_names
from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.catalog_view import shape_of
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import owners_by_partition, read_ownership
from monitor.detection.ownership.expected import Counts, counts_now, expect, visible_counts
from monitor.detection.ownership.kip848 import named, with_targets
from monitor.detection.ownership.replays import COOPERATIVE, final_assignment
from monitor.detection.ownership.targets import is_chosen
from monitor.messages.client_libraries import project_name
from monitor.messages.names import listed, shown, shown_group
from monitor.model import (
    KINDS,
    UNKNOWN_LIBRARY,
    Assignment,
    Catalog,
    ClientLibrary,
    GroupState,
    KindTraits,
    Library,
    Member,
    MemberAssignment,
    TopicShape,
    Value,
    traits_of,
)


class Roster(Value):
    """A group with named topics. ``members`` are as they would join now; ``counts`` the partitions there are now.

    ``libraries`` has the client library of each member, by member id. ``dialect`` is the assignor of the leader's
    library, if it is not Kafka's own.
    """

    group: GroupState
    catalog: Catalog
    members: tuple[Member, ...]
    owners: Owners
    counts: Counts
    assumptions: tuple[str, ...]
    libraries: Mapping[str, ClientLibrary] = msgspec.field(default_factory=dict)
    dialect: DialectRow | None = None

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
    traits = traits_of(group)
    if not ownership.complete or traits.leader_assigns_tasks:
        raise QuestionError(_why_not(group))
    is_modern, libraries = traits.broker_chooses_owners, recognize_libraries(group)
    dialect = None if is_modern else expect(group, inputs.catalog, ownership, libraries).dialect
    members = with_targets(group, inputs.catalog) if is_modern else _rejoining(group, libraries)
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
        libraries=libraries,
        dialect=dialect,
    )


def _rejoining(group: GroupState, libraries: Mapping[str, ClientLibrary]) -> tuple[Member, ...]:
    kafka_python = {name for name, library in libraries.items() if library.one is Library.KAFKA_PYTHON}
    return rejoining(group.members, group.generation, kafka_python)


def why_not_simulated(name: str, kind: str, traits: KindTraits) -> str | None:
    """Why a group with these traits is not assigned again by groupwatch, as a sentence; None: it can be."""
    if traits.acknowledges_records:
        return f"Group {shown(name)} is a share group: its members consume partitions together, without owners."
    if not traits.has_owners:
        return f"Group {shown(name)} has no members among which partitions are shared ({kind})."
    if traits.runs_connectors:
        return (
            f"Group {shown(name)} is a Connect cluster: its leader assigns by what it remembers of lost workers, which "
            "no record contains."
        )
    if traits.leader_assigns_tasks:
        return (
            f"Group {shown(name)} is a classic group of Kafka Streams: its assignor depends on settings that no record "
            "contains (acceptable.recovery.lag, racks)."
        )
    return None


def _why_not(group: GroupState) -> str:
    name = shown_group(group.group)
    traits = traits_of(group)
    is_empty_application = traits.leader_assigns_tasks and not group.members
    refusal = why_not_simulated(group.group, group.kind, traits)
    if refusal is not None and not is_empty_application:
        return refusal
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


class ChosenAssignor(ABC):
    """The assignor that is asked. ``name`` as it is asked for."""

    name: str

    @abstractmethod
    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> tuple[MemberAssignment, ...]:
        """Who is to own what in the end.

        Raises:
            AssignorError: the original fails for this input.
        """

    @abstractmethod
    def assumptions(self, roster: Roster) -> tuple[str, ...]:
        """What has to be said about this assignor in this group."""


class KafkasAssignor(ChosenAssignor):
    """One of Kafka's own: of its Java client, or of the broker."""

    def __init__(
        self,
        rule: Assignor | BrokerRangeAssignor | UniformAssignor,
        instead_of: DialectRow | None = None,
        *,
        is_named: bool = False,
    ) -> None:
        self._rule = rule
        self._is_named = is_named
        self.instead_of = instead_of
        """The assignor of another library that cannot be simulated, in whose place this one is."""
        self.name = rule.name

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> tuple[MemberAssignment, ...]:
        """See ChosenAssignor."""
        rule = self._rule
        answer: Assignment = (rule.target if isinstance(rule, CooperativeStickyAssignor) else rule.assign)(
            members, topics
        )
        return answer.members

    def assumptions(self, roster: Roster) -> tuple[str, ...]:
        """See ChosenAssignor."""
        assumptions: list[str] = []
        if self.instead_of is not None:
            whose = project_name(self.instead_of.library)
            assumptions.append(
                f"The {self.name} of {whose} cannot be simulated; the simulation uses that of Kafka's Java client."
            )
        elif self._is_named and not roster.is_modern:
            assumptions.append(f"The simulation uses the {self.name} of Kafka's Java client.")
        if roster.group.protocol != self.name:
            assumptions.append(
                "A member would have to request it (group.remote.assignor), and most members the same one."
                if roster.is_modern
                else _ALL_SUPPORT.format(name=self.name)
            )
        if isinstance(self._rule, CooperativeStickyAssignor):
            assumptions.append(_FINAL)
        return tuple(assumptions)


_ALL_SUPPORT: Final = "All members support {name}; the simulation does not check the assignors that they offer."
_FINAL: Final = "This is the final assignment: moved partitions are revoked in one generation, assigned in the next."


class DialectAssignor(ChosenAssignor):
    """The assignor of another client library. ``leader`` is the id of the member that assigns, if it stays."""

    def __init__(self, dialect: DialectRow, rule: ReplayedDialect, leader: str | None) -> None:
        self._dialect = dialect
        self._rule = rule
        self._leader = leader
        self.name = dialect.name

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> tuple[MemberAssignment, ...]:
        """See ChosenAssignor."""
        return final_assignment(self._dialect, self._rule, self._group(members, topics)).members

    def _group(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Group:
        stays = any(member.member_id == self._leader for member in members)
        return Group(tuple(members), tuple(topics), self._leader if stays else members[0].member_id)

    def assumptions(self, roster: Roster) -> tuple[str, ...]:
        """See ChosenAssignor."""
        library = project_name(self._dialect.library)
        leader = f"A member that uses {library} {self._dialect.version} leads the group."
        name = self._dialect.protocol
        others = () if roster.group.protocol == name else (_ALL_SUPPORT.format(name=name),)
        return (leader, *others, _FINAL) if name == COOPERATIVE else (leader, *others)


def choose_assignor(roster: Roster, name: str | None, leader: Member | None = None) -> ChosenAssignor:
    """The assignor of this name, or the group's own.

    Args:
        roster: the group.
        name: of an assignor, the one of the leader's library if that has it, else Kafka's own; or LIBRARY.ASSIGNOR of
            another client library; None: the group's own.
        leader: the member that assigns, by the rule of its library; None: as it is.

    Raises:
        QuestionError: groupwatch does not have it, or it cannot be simulated.
    """
    if leader is not None and not roster.is_modern:
        return _leaders_assignor(leader, roster, name or roster.group.protocol or "")
    dialect = roster.dialect if name is None else DIALECTS.get(name) or _leaders_dialect(roster, name)
    if dialect is None or roster.is_modern:
        return _kafkas_own(roster, name)
    if name not in DIALECTS and dialect.exactness is Exactness.CHECKED:
        return _kafkas_own(roster, name, instead_of=dialect)
    return _dialect_assignor(dialect, roster.group.leader)


def _leaders_dialect(roster: Roster, name: str) -> DialectRow | None:
    """The assignor that the leader's library has under this name; None: Kafka's own, or the library is not known."""
    library = roster.libraries.get(roster.group.leader or "", UNKNOWN_LIBRARY).one
    if library is None and roster.dialect is not None:
        library = roster.dialect.library
    return DIALECTS.get(f"{library}.{name}")


def _leaders_assignor(leader: Member, roster: Roster, name: str) -> ChosenAssignor:
    """The assignor that a member uses if it leads."""
    if name in DIALECTS:
        return _dialect_assignor(DIALECTS[name], leader.member_id)
    library = roster.libraries.get(leader.member_id, UNKNOWN_LIBRARY).one
    if library is None:
        raise QuestionError(
            f"The client library of {shown(leader.member_id)} is not known; name an assignor, for example "
            f"sarama.{shown(name)}."
        )
    if library is Library.JAVA:
        return _kafkas_own(roster, name)
    dialect = DIALECTS.get(f"{library}.{name}")
    if dialect is None:
        raise QuestionError(f"{project_name(library)} has no assignor {shown(name)} that groupwatch knows.")
    return _dialect_assignor(dialect, leader.member_id)


def _dialect_assignor(dialect: DialectRow, leader: str | None) -> DialectAssignor:
    if not isinstance(dialect.rule, ReplayedDialect):
        raise QuestionError(
            f"groupwatch cannot simulate the {dialect.protocol} of {project_name(dialect.library)}: its result depends "
            "on what only the leader knows."
        )
    return DialectAssignor(dialect, dialect.rule, leader)


def _kafkas_own(roster: Roster, name: str | None, instead_of: DialectRow | None = None) -> KafkasAssignor:
    wanted = roster.group.protocol if name is None else name
    names = offered_names(SYSTEM_OF[roster.group.kind])
    found = find(wanted, System.KAFKA_BROKER) if roster.is_modern else find(wanted)
    if isinstance(found, UnknownAssignor) or found.name not in names:
        whose = "the group's assignor" if name is None else "the assignor"
        others = "" if roster.is_modern else ", and those of client libraries, for example sarama.roundrobin"
        raise QuestionError(
            f"groupwatch does not support {whose} {shown(wanted or 'none')} for this group; it supports "
            f"{listed(names)}{others}."
        )
    return KafkasAssignor(found, instead_of, is_named=name is not None)
