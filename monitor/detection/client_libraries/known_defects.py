"""Where defects of client libraries can show: a row for each, with the groups that it concerns.

That a defect applies does not mean that it has shown: explain lists it, and a finding names it where there is evidence.
What each does and what to do is in monitor.messages.client_defects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from monitor.model import UNKNOWN_LIBRARY, ClientLibrary, GroupState, Library, Member, Value
from monitor.model import ClientDefect as Defect

Libraries = Mapping[str, ClientLibrary]
"""The client library of each member, by member id."""


class KnownDefect(Value):
    """Where a defect can show.

    Attributes:
        defect: which one.
        library: whose it is.
        protocols: the assignors that have it; empty: all.
        concerns: whether it can show in such a group.
        is_fatal: the leader then fails, and assigns nothing in this generation.
    """

    defect: Defect
    library: Library
    protocols: frozenset[str]
    concerns: Callable[[GroupState, Libraries], bool]
    is_fatal: bool = False


class PresentDefect(Value):
    """A defect that can show in a group, and the members that use the library."""

    defect: Defect
    library: Library
    members: tuple[str, ...]


def _always(group: GroupState, libraries: Libraries) -> bool:
    del group, libraries
    return True


def _has_abridged_members(group: GroupState, libraries: Libraries) -> bool:
    del libraries
    return any(member.is_abridged for member in group.members)


def _topics_differ(group: GroupState, libraries: Libraries) -> bool:
    del libraries
    return len({frozenset(member.topics) for member in group.members}) > 1


def _mixes_static_and_dynamic(group: GroupState, libraries: Libraries) -> bool:
    del libraries
    return len({member.instance_id is None for member in group.members}) > 1


def _beside_kafka_python(group: GroupState, libraries: Libraries) -> bool:
    return any(_library(member, libraries).one is Library.KAFKA_PYTHON for member in group.members)


def _beside_other_libraries(group: GroupState, libraries: Libraries) -> bool:
    return len({_library(member, libraries).libraries for member in group.members}) > 1


_ALL: Final = frozenset[str]()
_EAGER: Final = frozenset({"range", "roundrobin"})
_ROUNDROBIN: Final = frozenset({"roundrobin"})
_STICKY: Final = frozenset({"sticky"})
_COOPERATIVE: Final = frozenset({"cooperative-sticky"})

KNOWN_DEFECTS: Final = (
    KnownDefect(Defect.LEADERS_TOPICS_TO_ALL, Library.KAFKAJS, frozenset({"RoundRobinAssigner"}), _topics_differ),
    KnownDefect(Defect.LEADERS_TOPICS_ONLY, Library.PLATFORMATIC, _ROUNDROBIN | _COOPERATIVE, _topics_differ),
    KnownDefect(Defect.ROUNDROBIN_KEY_ERROR, Library.KAFKA_PYTHON, _ROUNDROBIN, _topics_differ, is_fatal=True),
    KnownDefect(Defect.COOPERATIVE_CRASH, Library.LIBRDKAFKA, _COOPERATIVE, _topics_differ, is_fatal=True),
    KnownDefect(Defect.FOREIGN_USER_DATA, Library.SARAMA, _STICKY, _beside_kafka_python, is_fatal=True),
    KnownDefect(Defect.UNREADABLE_USER_DATA, Library.KAFKA_PYTHON, _STICKY, _beside_other_libraries),
    KnownDefect(Defect.SHARED_STICKY_STATE, Library.AIOKAFKA, _STICKY, _always),
    KnownDefect(Defect.FORGOTTEN_MEMBERS, Library.KAFKA_PYTHON, _EAGER, _mixes_static_and_dynamic),
    KnownDefect(Defect.UNORDERED_MEMBERS, Library.LIBRDKAFKA, _EAGER, _mixes_static_and_dynamic),
    KnownDefect(Defect.KAFKA_GO_SUBSCRIPTION, Library.KAFKA_GO, _ALL, _has_abridged_members),
    KnownDefect(Defect.PLATFORMATIC_SUBSCRIPTION, Library.PLATFORMATIC, _ALL, _has_abridged_members),
)
"""Found with the published libraries (docs/assignors.md); the worst first."""


def present_defects(group: GroupState, libraries: Libraries) -> tuple[PresentDefect, ...]:
    """The defects that can show in a classic group: of libraries that some of its members use for certain or likely."""
    return tuple(
        [
            PresentDefect(row.defect, row.library, members)
            for row in KNOWN_DEFECTS
            if _has_assignor(row, group) and row.concerns(group, libraries)
            if (members := _users(row.library, group.members, libraries))
        ]
    )


def fatal_defect(group: GroupState, libraries: Libraries) -> PresentDefect | None:
    """The defect by which a leader of the group can fail; None: none is known.

    Its condition is not asked: the members of a generation in which the leader fails are not in the log, and those of
    the next one are others.
    """
    for row in KNOWN_DEFECTS:
        if row.is_fatal and _has_assignor(row, group) and (members := _users(row.library, group.members, libraries)):
            return PresentDefect(row.defect, row.library, members)
    return None


def _has_assignor(row: KnownDefect, group: GroupState) -> bool:
    return not row.protocols or group.protocol in row.protocols


def _users(library: Library, members: Iterable[Member], libraries: Libraries) -> tuple[str, ...]:
    return tuple([member.member_id for member in members if _library(member, libraries).one is library])


def _library(member: Member, libraries: Libraries) -> ClientLibrary:
    return libraries.get(member.member_id, UNKNOWN_LIBRARY)
