"""Defects of client libraries that concern the groups in which they are used: a row for each.

A row applies to a group if its members' libraries, protocol and subscriptions meet its condition. That a defect applies
does not mean that it has shown: explain lists it, and a finding names it where there is evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from monitor.model import UNKNOWN_LIBRARY, ClientLibrary, GroupState, Library, Member, Value

Libraries = Mapping[str, ClientLibrary]
"""The client library of each member, by member id."""


class KnownDefect(Value):
    """A defect of a client library.

    Attributes:
        library: whose it is.
        releases: those that have it, as far as they were tried, in words.
        effect: what it does, in a sentence.
        remedy: what to do, in a sentence.
        source: the file and the function of the library.
        protocols: the assignors that have it; empty: all.
        concerns: whether it can show in such a group.
    """

    library: Library
    releases: str
    effect: str
    remedy: str
    source: str
    protocols: frozenset[str]
    concerns: Callable[[GroupState, Libraries], bool]


class PresentDefect(Value):
    """A defect that can show in a group, and the members that use the library."""

    defect: KnownDefect
    members: tuple[str, ...]


def _always(group: GroupState, libraries: Libraries) -> bool:
    del group, libraries
    return True


def _with_abridged_members(group: GroupState, libraries: Libraries) -> bool:
    del libraries
    return any(member.is_abridged for member in group.members)


def _with_different_subscriptions(group: GroupState, libraries: Libraries) -> bool:
    del libraries
    return len({frozenset(member.topics) for member in group.members}) > 1


def _with_static_and_dynamic_members(group: GroupState, libraries: Libraries) -> bool:
    del libraries
    return len({member.instance_id is None for member in group.members}) > 1


def _beside_kafka_python(group: GroupState, libraries: Libraries) -> bool:
    return any(_library(member, libraries).one is Library.KAFKA_PYTHON for member in group.members)


def _beside_other_libraries(group: GroupState, libraries: Libraries) -> bool:
    return len({_library(member, libraries).libraries for member in group.members}) > 1


_SAME_TOPICS: Final = "Subscribe all members of the group to the same topics, or split the group."
_ALL_EAGER: Final = frozenset({"range", "roundrobin"})

KNOWN_DEFECTS: Final = (
    KnownDefect(
        Library.KAFKAJS,
        "2.2.4",
        "Its leader assigns only the topics that it subscribes to, and assigns them to all members. Other topics have "
        "no owner, and members that do not subscribe to a topic do not consume it.",
        _SAME_TOPICS,
        "consumer/assigners/roundRobinAssigner/index.js",
        frozenset({"RoundRobinAssigner"}),
        _with_different_subscriptions,
    ),
    KnownDefect(
        Library.PLATFORMATIC,
        "1.35.0 to 2.12.1",
        "Its leader assigns only the topics that it subscribes to. Other topics have no owner.",
        _SAME_TOPICS,
        "clients/consumer/partitions-assigners.js",
        frozenset({"roundrobin", "cooperative-sticky"}),
        _with_different_subscriptions,
    ),
    KnownDefect(
        Library.KAFKA_PYTHON,
        "3.0.12",
        "Its roundrobin fails with a KeyError when members subscribe to different topics. The leader fails in every "
        "generation, so the group rebalances without end.",
        f"Use range, or another library for the leader. {_SAME_TOPICS}",
        "kafka/coordinator/assignors/roundrobin.py, RoundRobinPartitionAssignor.assign",
        frozenset({"roundrobin"}),
        _with_different_subscriptions,
    ),
    KnownDefect(
        Library.LIBRDKAFKA,
        "2.15.0, 2.16.1",
        "Its cooperative-sticky can end the leader's process (an assertion or a segmentation fault) when members "
        "subscribe to different topics.",
        f"Use range or roundrobin. {_SAME_TOPICS}",
        "rdkafka_sticky_assignor.c, PartitionMovements_movePartition",
        frozenset({"cooperative-sticky"}),
        _with_different_subscriptions,
    ),
    KnownDefect(
        Library.SARAMA,
        "1.61.1",
        "Its sticky leader fails on the user data of kafka-python's sticky (insufficient data to decode packet), so no "
        "generation is assigned.",
        "Use the same client library for all members, or range.",
        "balance_strategy.go, deserializeTopicPartitionAssignment",
        frozenset({"sticky"}),
        _beside_kafka_python,
    ),
    KnownDefect(
        Library.KAFKA_PYTHON,
        "3.0.12",
        "Its sticky members write their partitions in a form that other libraries cannot read. A leader of another "
        "library takes them for new members, and moves their partitions.",
        "Use the same client library for all members, or cooperative-sticky.",
        "kafka/coordinator/assignors/sticky/user_data.py",
        frozenset({"sticky"}),
        _beside_other_libraries,
    ),
    KnownDefect(
        Library.AIOKAFKA,
        "0.14.0",
        "Several consumers in one process share the state of its sticky assignor, and all report the same partitions "
        "as theirs. Rebalances then move more partitions than necessary.",
        "Run one consumer of the group in each process, or use roundrobin.",
        "aiokafka/coordinator/assignors/sticky/sticky_assignor.py, StickyPartitionAssignor",
        frozenset({"sticky"}),
        _always,
    ),
    KnownDefect(
        Library.KAFKA_PYTHON,
        "3.0.12",
        "Its leader assigns nothing to some members when static and dynamic members are mixed: of each kind it takes "
        "only the last run of neighbors in the join response.",
        "Give all members a group.instance.id, or none.",
        "kafka/coordinator/assignors/range.py and roundrobin.py, assign",
        _ALL_EAGER,
        _with_static_and_dynamic_members,
    ),
    KnownDefect(
        Library.LIBRDKAFKA,
        "2.16.1",
        "Its leader does not order members consistently when static and dynamic members are mixed. The assignment can "
        "change with the order in which members join.",
        "Give all members a group.instance.id, or none.",
        "rdkafka_assignor.c, rd_kafka_group_member_cmp",
        _ALL_EAGER,
        _with_static_and_dynamic_members,
    ),
    KnownDefect(
        Library.KAFKA_GO,
        "0.4.51",
        "It sends subscription version 1 without OwnedPartitions. Strict readers, such as leaders of other libraries "
        "and monitors, cannot decode it.",
        "Use only kafka-go in the group.",
        "joingroup.go, groupMetadata",
        frozenset(),
        _with_abridged_members,
    ),
    KnownDefect(
        Library.PLATFORMATIC,
        "before 2.12",
        "It sends subscription version 1 without OwnedPartitions. Strict readers, such as leaders of other libraries "
        "and monitors, cannot decode it.",
        "Upgrade to 2.12 or newer.",
        "protocol definitions of consumer metadata",
        frozenset(),
        _with_abridged_members,
    ),
)
"""Found with the published libraries (docs/assignors.md); the worst first."""


def present_defects(group: GroupState, libraries: Libraries) -> tuple[PresentDefect, ...]:
    """The defects that can show in a classic group: of libraries that some of its members use for certain or likely."""
    return tuple(
        [
            PresentDefect(defect, members)
            for defect in KNOWN_DEFECTS
            if (not defect.protocols or group.protocol in defect.protocols)
            and (members := _users(defect.library, group.members, libraries))
            and defect.concerns(group, libraries)
        ]
    )


def _users(library: Library, members: Iterable[Member], libraries: Libraries) -> tuple[str, ...]:
    return tuple([member.member_id for member in members if _library(member, libraries).one is library])


def _library(member: Member, libraries: Libraries) -> ClientLibrary:
    return libraries.get(member.member_id, UNKNOWN_LIBRARY)
