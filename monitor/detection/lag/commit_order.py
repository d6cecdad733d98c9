"""Whether the commits of a partition arrived out of order: then its owner is further than its newest commit.

A client that commits asynchronously has several commits on their way, and the broker may store the older one last. The
group is then committed where it already was, and stays there until new records come. A restart would consume those
records again, but no record waits to be consumed for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.detection.ownership.current import held_since_ms
from monitor.model import CommittedOffset, GroupState
from monitor.model.commit_history import columns_of

LATE_MS: Final = 30_000
"""How long a commit may be on its way (the default of ``request.timeout.ms``)."""


def arrived_late(group: GroupState, owners: Sequence[str], commit: CommittedOffset, end: int | None) -> bool:
    """Whether the newest commit went back behind one of the same owner, and that one was at the end of the log.

    Offsets are reset between two generations, and a new owner may begin further back: neither counts.
    """
    late = commit.last_rewind
    if late is None or end is None or late.before < end or commit.offset < late.after or len(owners) != 1:
        return False
    times, offsets = columns_of(commit.history)
    if not offsets or offsets[-1] != commit.offset:
        return False
    holder = next((member for member in group.members if member.member_id == owners[0]), None)
    held_ms = group.generation_ms if holder is None else held_since_ms(group, holder)
    made = [at_ms for at_ms, offset in zip(times, offsets, strict=True) if offset == late.before]
    return any(held_ms < at_ms and 0 <= late.at_ms - at_ms <= LATE_MS for at_ms in made)
