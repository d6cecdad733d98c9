"""The client libraries of a cluster's members, counted over its groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from monitor.model import ClientLibrary, LibraryMembers, LibraryUse


def count_members(libraries: Iterable[ClientLibrary]) -> tuple[LibraryMembers, ...]:
    """The members of a group by library, the most frequent first. ``libraries`` has one for each member."""
    return tuple([LibraryMembers(library, members) for library, members in Counter(libraries).most_common()])


def take_census(cluster: str, groups: Iterable[tuple[str, Iterable[LibraryMembers]]]) -> tuple[LibraryUse, ...]:
    """The libraries of the cluster with the members and groups that use them, most members first.

    ``groups`` has for each group its name, and its members by library.

    >>> from monitor.model import Certainty, Library
    >>> java, go = (ClientLibrary((each,), Certainty.CERTAIN) for each in (Library.JAVA, Library.KAFKA_GO))
    >>> mixed = [LibraryMembers(java, 3), LibraryMembers(go, 1)]
    >>> uses = take_census("c", [("g", mixed), ("h", []), ("f", [LibraryMembers(java, 2)])])
    >>> [(use.library.label, use.members, use.groups, use.group_names) for use in uses]
    [('java', 5, 2, ('f', 'g')), ('kafka-go', 1, 1, ('g',))]
    """
    found: defaultdict[ClientLibrary, dict[str, int]] = defaultdict(dict)
    for name, libraries in groups:
        for each in libraries:
            found[each.library][name] = each.members
    uses = [_library_use(cluster, library, members) for library, members in found.items()]
    return tuple(sorted(uses, key=_most_members_first))


def _library_use(cluster: str, library: ClientLibrary, members: Mapping[str, int]) -> LibraryUse:
    """``members`` has how many of each group use the library, by the name of the group."""
    return LibraryUse(
        cluster=cluster,
        libraries=library.libraries,
        certainty=library.certainty,
        versions=library.versions,
        members=sum(members.values()),
        groups=len(members),
        group_names=tuple(sorted(members)),
    )


def _most_members_first(use: LibraryUse) -> tuple[int, str, str, str]:
    """Equal numbers by library, certainty and release."""
    return -use.members, use.library.label, use.certainty.value, use.versions or ""
