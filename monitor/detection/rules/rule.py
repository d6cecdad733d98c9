"""What a rule is: it looks at the facts about a group and says what it has found, in no words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from monitor.detection.ownership.context import Facts
from monitor.findings.observation import Observation
from monitor.model import Value


class Rule(Value):
    """One rule. Each module of rules lists its own as ``RULES``, and monitor.detection.evaluate asks them all.

    ``of_owners``: it judges who should own what. Such a rule rests while the members may be about to assign their
    partitions again (``Facts.is_settling``). ``needs_lag``: it finds nothing where no records wait
    (``Facts.waiting``), so it is left out there. Most groups of a cluster have no lag.
    """

    find: Callable[[Facts], Iterable[Observation]]
    of_owners: bool
    needs_lag: bool = False
