"""What a rule is: it looks at the facts about a group and says what it has found, in no words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from monitor.detection.ownership.context import Facts
from monitor.findings.observation import Observation
from monitor.model import GroupKind, Value


class Rule(Value):
    """One rule. Each module of rules lists its own as ``RULES``, and monitor.detection.rules.registry has them all.

    ``of_owners``: it judges who should own what. Such a rule rests while the members may be about to assign their
    partitions again (``Facts.is_settling``). ``needs_lag``: it finds nothing where no records wait
    (``Facts.waiting``), so it is left out there. Most groups of a cluster have no lag. ``kinds``: it finds nothing of
    groups of other kinds. Most groups are classic ones. ``needs_tasks``: it finds nothing of groups whose members run
    no tasks, neither of Kafka Streams nor of Connect (``KindTraits.runs_tasks``).
    """

    find: Callable[[Facts], Iterable[Observation]]
    of_owners: bool
    needs_lag: bool = False
    kinds: frozenset[GroupKind] = frozenset(GroupKind)
    needs_tasks: bool = False

    def may_find(self, kind: GroupKind, *, is_settling: bool, has_lag: bool, has_tasks: bool) -> bool:
        """Whether it may find something of such a group."""
        is_resting = self.of_owners and is_settling
        lacks = (self.needs_lag and not has_lag) or (self.needs_tasks and not has_tasks)
        return kind in self.kinds and not is_resting and not lacks
