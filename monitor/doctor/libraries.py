"""The client libraries that the members of a cluster use, with the known defects that can show in their groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from monitor.detection.client_libraries.census import count_members, take_census
from monitor.detection.client_libraries.known_defects import present_defects
from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.model import KINDS, Assigner, ClientDefect, GroupState, Library, Value


class LibrarySeen(Value):
    """A client library, or the libraries of which it is one, whatever the release.

    ``defects`` are those that can show in these groups, which does not mean that they have.
    """

    library: str
    members: int
    groups: tuple[str, ...]
    defects: tuple[ClientDefect, ...] = ()


def libraries_seen(groups: Iterable[GroupState]) -> tuple[LibrarySeen, ...]:
    """The known libraries of the members of these groups, most members first."""
    counted, defects = [], defaultdict[Library, dict[ClientDefect, None]](dict)
    for group in groups:
        libraries = recognize_libraries(group)
        counted.append((group.group, count_members(libraries.values())))
        if KINDS[group.kind].assigns is Assigner.LEADER:
            for present in present_defects(group, libraries):
                defects[present.library][present.defect] = None
    members, names = defaultdict[str, int](int), defaultdict[str, set[str]](set)
    found = {}
    for use in take_census("", counted):
        label = use.library.label
        members[label] += use.members
        names[label].update(use.group_names)
        known = () if use.library.one is None else tuple(defects[use.library.one])
        if use.libraries:
            found[label] = LibrarySeen(label, members[label], tuple(sorted(names[label])), known)
    return tuple(sorted(found.values(), key=lambda each: (-each.members, each.library)))
