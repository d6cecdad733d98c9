"""The sticky strategies of kafka-python and aiokafka as dialects.

A choice is open where a partition is claimed for several generations, or where partitions of one topic went to and fro:
the library then takes the first element of a set of strings. ``assign`` takes that to be the smallest one.
"""

from __future__ import annotations

from monitor.assignors.dialects.dealing import assign_owners
from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.choice_replay import ChoiceReplay
from monitor.assignors.dialects.sticky.choices import Choices
from monitor.assignors.dialects.sticky.claims import read_claims
from monitor.assignors.dialects.sticky.memories import MemoryReader
from monitor.assignors.dialects.sticky.place_table import form_place_table
from monitor.assignors.dialects.sticky.python_run import PythonRun, keep_in_python
from monitor.assignors.dialects.sticky.rows import Owners
from monitor.assignors.dialects.structure import read_structure
from monitor.model import Assignment
from monitor.model.evidence import Refusal, RefusalReason


class PythonSticky(ChoiceReplay):
    """An eager sticky strategy: who runs, and how user data is read."""

    def __init__(self, run: type[PythonRun], read: MemoryReader) -> None:
        self._run = run
        self._read = read

    def assign_by(self, choices: Choices, group: Group) -> Assignment:
        """See ``ChoiceReplay.assign_by``."""
        table = form_place_table(group)
        lists = self._run(table, keep_in_python(group, table, self._read), choices).assign()
        target = {
            table.partition(place): member for member, own in zip(table.members, lists, strict=True) for place in own
        }
        return assign_owners(group, self.immediate_part(target, group))

    def immediate_part(self, target: Owners, group: Group) -> Owners:
        """What of the target is given at once: all of it, unless the strategy is cooperative."""
        return target

    def general_refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``ChoiceReplay.general_refusal``. How even the group is, is not checked."""
        claims = read_claims(group.members, self._read)
        claimed = frozenset((place, claim.member) for place, own in claims.items() for claim in own)
        structure = read_structure(given, group, claimed)
        if isinstance(structure, Refusal):
            return structure
        unclaimed = (place for place in structure.unassigned() if place not in claims)
        return next((Refusal(RefusalReason.UNASSIGNED, place) for place in unclaimed), None)
