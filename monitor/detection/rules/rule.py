"""What a rule is: it looks at the facts about a group and says what it has found, in no words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from monitor.detection.ownership.context import Facts
from monitor.findings.observation import Observation
from monitor.model import GroupKind, Value


class Rule(Value):
    """One rule. Each module of rules lists its own as ``RULES``, and monitor.detection.evaluate asks them all.

    ``of_owners``: it judges who should own what. Such a rule rests while the members may be about to assign their
    partitions again (``Facts.is_settling``). ``needs_lag``: it finds nothing where no records wait
    (``Facts.waiting``), so it is left out there. Most groups of a cluster have no lag. ``kinds``: it finds nothing of
    groups of other kinds. Most groups are classic ones.
    """

    find: Callable[[Facts], Iterable[Observation]]
    of_owners: bool
    needs_lag: bool = False
    kinds: frozenset[GroupKind] = frozenset(GroupKind)

    def may_find(self, kind: GroupKind, is_settling: bool, has_lag: bool) -> bool:
        """Whether it may find something of such a group."""
        return kind in self.kinds and not (is_settling and self.of_owners) and (has_lag or not self.needs_lag)
