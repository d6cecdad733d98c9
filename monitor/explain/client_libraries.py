"""The client libraries of a group in sentences: whose assignor it is, what a change of leader would move, defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from monitor.assignors import AssignorError, UnknownAssignor, find
from monitor.assignors.dialects import DIALECTS, Exactness
from monitor.detection.client_libraries.known_defects import PresentDefect, present_defects
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.expected import Counts, counts_now, visible_counts
from monitor.detection.ownership.replays import DialectReplay, JavaReplay, ReplayInputs
from monitor.explain.statements import About, Judged, Statement
from monitor.messages.client_defects import DEFECTS
from monitor.messages.client_libraries import project_name
from monitor.messages.formatting import counted
from monitor.messages.names import people, shown
from monitor.model import KINDS, Assigner, ClientLibrary, Library, Value

MOST_PARTITIONS: Final = 5_000
"""Of a group with more partitions no other assignor is asked: a sticky one takes seconds for tens of thousands."""


class OtherLeader(Value):
    """A library whose member may become the leader, and how many partitions would then have another owner.

    ``moved`` None: its assignor is only checked, so that is not known.
    """

    library: Library
    members: int
    moved: int | None


def client_statements(known: Judged) -> Iterator[Statement]:
    """What the client libraries of a classic group mean for it; nothing of a group with one library and no defect."""
    if KINDS[known.group.kind].assigns is not Assigner.LEADER or not known.group.members:
        return
    yield from _mixed_libraries(known)
    for present in present_defects(known.group, libraries_of(known)):
        yield _defect(present, known)


def libraries_of(known: Judged) -> Mapping[str, ClientLibrary]:
    """The client library of each member, by member id."""
    return {member.member_id: member.library for member in known.verdict.members}


def count_java_moves(known: Judged) -> int | None:
    """How many partitions Kafka's own assignor of the name would give to another member; None: there is none."""
    return _count_moves(known, Library.JAVA)


def _mixed_libraries(known: Judged) -> Iterator[Statement]:
    others = tuple(_other_leaders(known))
    if not others:
        return
    counts = ", ".join(f"{project_name(each.library)} {each.members}" for each in others)
    yield Statement(
        about=About.CLIENTS,
        sentence=(
            f"The members use {len(others)} client libraries ({counts}). The library of the group leader decides how "
            "partitions are assigned, and any member can become the leader."
        ),
        evidence=tuple(_consequence(each, known) for each in others),
    )


def _consequence(other: OtherLeader, known: Judged) -> str:
    name, protocol = project_name(other.library), shown(known.group.protocol or "")
    if other.moved is None:
        return f"With a leader of {name}: the result of its {protocol} cannot be predicted."
    if not other.moved:
        return f"With a leader of {name}: no partition would move."
    return f"With a leader of {name}: {counted(other.moved, 'partition')} would move."


def _other_leaders(known: Judged) -> Iterator[OtherLeader]:
    """A row for each library of the group; none if all members may use the same one."""
    used = Counter(member.library.one for member in known.verdict.members if member.library.one is not None)
    if len(used) > 1:
        yield from (OtherLeader(library, used[library], _count_moves(known, library)) for library in sorted(used))


def _count_moves(known: Judged, library: Library) -> int | None:
    """How many partitions would have another owner if a member with this library led a rebalance now."""
    group, owners = known.view.group, known.view.ownership.owners
    if len(owners) > MOST_PARTITIONS:
        return None
    counts = counts_now(group, known.catalog, known.view.ownership.subscribed, visible_counts(owners))
    inputs = ReplayInputs(group, known.catalog, owners, libraries_of(known))
    try:
        after = _owners_led_by(library, inputs, counts, known)
    except AssignorError:
        return None
    return (
        None if after is None else sum(after.get(place) != owners.get(place) for place in after.keys() | owners.keys())
    )


def _owners_led_by(library: Library, inputs: ReplayInputs, counts: Counts, known: Judged) -> Owners | None:
    """Who would own what; None: the library has no assignor of the name, or one that is only checked."""
    protocol = inputs.group.protocol
    if library is Library.JAVA:
        assignor = find(protocol)
        return None if isinstance(assignor, UnknownAssignor) else JavaReplay(assignor, inputs).owners_now(counts)
    row = DIALECTS.get(f"{library}.{protocol}")
    if row is None or row.exactness is Exactness.CHECKED:
        return None
    leaders = [member.member_id for member in known.verdict.members if member.library.one is library]
    return DialectReplay(row, inputs).owners_led_by(leaders[0] if leaders else inputs.group.leader, counts)


def _defect(present: PresentDefect, known: Judged) -> Statement:
    text = DEFECTS[present.defect]
    return Statement(
        about=About.CLIENTS,
        sentence=f"Known defect of {project_name(present.library)} ({text.releases}): {text.effect}",
        evidence=(
            f"Members that use it: {people(present.members, known.group)}.",
            f"What to do: {text.remedy}",
            f"Source: {text.source}.",
        ),
    )
