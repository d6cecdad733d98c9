"""Whose rules a leader may have assigned by: those of Kafka's Java client, or those of another client library.

The name of an assignor on the wire says little: ``roundrobin`` is another rule in nearly every library
(docs/assignors.md). The leader's library decides, as far as it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from monitor.assignors.dialects import DialectRow, dialects_of
from monitor.detection.client_libraries.habits import METADATA_AGES_MS
from monitor.detection.client_libraries.recognition import writers_of_assignments
from monitor.model import UNKNOWN_LIBRARY, ClientLibrary, GroupState, Library, Member, Value


class Assigners(Value):
    """Whose rules may explain an assignment: ``dialects``, and Kafka's own if ``may_be_java``."""

    may_be_java: bool
    dialects: tuple[DialectRow, ...]


def possible_leaders(group: GroupState) -> Sequence[Member]:
    """The leader, if the log names it; otherwise any member. Only members whose bytes can be decoded."""
    readable = [member for member in group.members if member.unreadable is None]
    if any(member.member_id == group.leader for member in group.members):
        return [member for member in readable if member.member_id == group.leader]
    return readable


def possible_assigners(group: GroupState, libraries: Mapping[str, ClientLibrary]) -> Assigners:
    """Whose rules the leader of a classic group may have used.

    Args:
        group: with its members.
        libraries: the library of each member, by member id.

    >>> from monitor.model import Certainty
    >>> group = GroupState(cluster="c", group="g", protocol="sticky", members=(Member(member_id="m"),))
    >>> found = possible_assigners(group, {"m": ClientLibrary((Library.SARAMA,), Certainty.CERTAIN)})
    >>> found.may_be_java, [row.name for row in found.dialects]
    (False, ['sarama.sticky'])
    >>> found = possible_assigners(group, {})
    >>> found.may_be_java, [row.name for row in found.dialects]
    (True, ['sarama.sticky', 'franz-go.sticky', 'kafka-python.sticky', 'aiokafka.sticky'])
    """
    possible = _libraries(libraries.get(member.member_id, UNKNOWN_LIBRARY) for member in possible_leaders(group))
    possible = possible & writers_of_assignments(group) or possible  # the leader wrote them, whoever it is
    rows = dialects_of(group.protocol or "")
    return Assigners(Library.JAVA in possible, tuple([row for row in rows if row.library in possible]))


def metadata_age_ms(group: GroupState, libraries: Mapping[str, ClientLibrary]) -> int:
    """How old the metadata of the group's leader could be when it assigned, by the defaults of what it may use.

    >>> from monitor.model import Certainty
    >>> group = GroupState(cluster="c", group="g", members=(Member(member_id="m"),))
    >>> java = ClientLibrary((Library.JAVA,), Certainty.CERTAIN)
    >>> metadata_age_ms(group, {"m": java}), metadata_age_ms(group, {})
    (300000, 600000)
    """
    possible = _libraries(libraries.get(member.member_id, UNKNOWN_LIBRARY) for member in possible_leaders(group))
    return max(METADATA_AGES_MS[library] for library in possible or Library)


def _libraries(known: Iterable[ClientLibrary]) -> frozenset[Library]:
    """All that one of them may be; every library, if nothing is known of one."""
    found: set[Library] = set()
    for library in known:
        found.update(library.libraries or Library)
    return frozenset(found)
