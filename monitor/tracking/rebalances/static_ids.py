"""How often each ``group.instance.id`` of a group passed from one member to the next.

A static member that comes back has a new member id, and the coordinator gives it the place of the old one. If the old
one still runs, it is fenced (FENCED_INSTANCE_ID). A supervisor that starts it again lets it take the place back. The
log shows only that the member id changes: of a classic group, the coordinator keeps the client id and the host of the
first member with the place (``ClassicGroup.replaceStaticMember``). Whether that is a finding is decided in
monitor.detection.rules.static_ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.model import Member
from monitor.model.static_ids import RUN_GAP_MS, StaticIdRun

MAX_IDS: Final = 32
"""Of so many ids of a group it is kept how they were replaced, in some 40 bytes each: those with most replacements."""

KEPT_MS: Final = 3 * RUN_GAP_MS
"""A run that ended so long ago is no longer kept."""


def with_replacements(
    runs: tuple[StaticIdRun, ...], gone: Iterable[Member], come: Iterable[Member], at_ms: int
) -> tuple[StaticIdRun, ...]:
    """The runs of a group after members have gone and others have come, sorted by id.

    Args:
        runs: those before.
        gone: members that are no longer in the group.
        come: members with member ids that were not in the group.
        at_ms: when it happened, by the broker's clock.
    """
    left = {member.instance_id for member in gone if member.instance_id is not None}
    taking = {member.instance_id for member in come if member.instance_id is not None}
    if not left and not taking:
        return runs
    known = {run.instance_id: run for run in runs if at_ms - run.last_ms <= KEPT_MS}
    for instance_id in sorted(left - known.keys()):
        known[instance_id] = StaticIdRun(instance_id, at_ms, at_ms)
    for instance_id in taking & known.keys():
        known[instance_id] = _with_replacement(known[instance_id], at_ms)
    kept = sorted(known.values(), key=lambda run: (-run.times, -run.last_ms, run.instance_id))[:MAX_IDS]
    return tuple(sorted(kept, key=lambda run: run.instance_id))


def _with_replacement(run: StaticIdRun, at_ms: int) -> StaticIdRun:
    gap_ms = max(0, at_ms - run.last_ms)
    if run.times == 0 or gap_ms > RUN_GAP_MS:
        return StaticIdRun(run.instance_id, at_ms, at_ms, times=1)
    return replace(
        run,
        last_ms=max(run.last_ms, at_ms),
        times=run.times + 1,
        longest_gap_ms=max(run.longest_gap_ms, gap_ms),
    )
