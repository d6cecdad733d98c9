"""Static members that are replaced again and again: two processes that share an id, or one that restarts without end.

The log does not tell the two apart: of a classic group it keeps the client id and host of the first member.

Rule 1: A run of replacements (monitor.tracking.rebalances.static_ids) counts from FEW of them on, once it has lasted
for LASTING_MS. A deployment replaces each static member once. Where its old and new processes overlap, they dispute
their ids for less than that.
Rule 2: It counts until the next replacement is overdue: OVERDUE times the longest time between two, but not sooner than
LASTING_MS. Supervisors wait longer each time, at most twice as long.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.rebalances import StaticReplacements
from monitor.model import FindingKind
from monitor.model.static_ids import StaticIdRun

LASTING_MS: Final = 60_000
FEW: Final = 5
OVERDUE: Final = 3


def find_replaced_members(facts: Facts) -> Iterable[Observation]:
    """The static members whose place passes from one member id to the next without end."""
    runs = [run for run in facts.group.static_ids if _counts(run) and not facts.has_come(_over_ms(run))]
    if not runs:
        return
    ids = {run.instance_id for run in runs}
    yield Observation(
        kind=FindingKind.REBALANCE,
        reason="static_replacements",
        since_ms=facts.not_later_than_now(min(run.first_ms for run in runs)),
        evidence=StaticReplacements(tuple(sorted(runs, key=lambda run: -run.times))),
        members=tuple([member.member_id for member in facts.group.members if member.instance_id in ids]),
    )


def _counts(run: StaticIdRun) -> bool:
    return run.times >= FEW and run.last_ms - run.first_ms >= LASTING_MS


def _over_ms(run: StaticIdRun) -> int:
    return run.last_ms + max(LASTING_MS, OVERDUE * run.longest_gap_ms)


RULES: Final = (Rule(find_replaced_members, of_owners=False),)
