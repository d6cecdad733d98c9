"""Which commits jump: they pass many more offsets than those before them, so the group may not have read the records.

A commit names the position of the group, and does not show that it has read what came before. A commit that passes far
more than the commits before it is kept, with what the group's log shows about it. Whether the group skipped records
depends on the log of the topic too (monitor.detection.lag.skips).

Rule 1: A jump passes at least MIN_PASSED offsets.
Rule 2: It passes them more than STEEPER times as fast as the commit before it passed its own.
Rule 3: The first commit of a partition jumps if the group has committed partition 0 since before its last rebalance:
        the partition is new to the topic. A group that begins, begins where it wants to.
Rule 4: Of the jumps of an hour, the largest one is kept, and beside it the newest: it may be a skip after a burst. If
        the newest is the largest, the largest before it is kept.
Rule 5: A commit of a lower offset refutes the jump before it: the group reads the records after all.
Rule 6: A group without members makes no jumps: an administrator has reset the offsets, or a tool keeps them.
Rule 7: The fastest reading of the group is that between any two commits of a partition that are no jump.

The decoder combines commits that follow one another in the log into runs; it ends a run before each jump
(monitor.protocol.kafka.commit_runs). So a jump is the first or the second commit of a run, or a single commit.
"""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import CommitPoint, CommittedOffset, Phase, Rebalance, Value
from monitor.model.commit_history import MIN_PASSED, RECENT, SHORTEST_MS, is_steep, newest_two_in, points_of
from monitor.model.jumps import JUMP_KEPT_MS, Jump
from monitor.tracking.rebalances.history import stopped_members


class Readers(Value):
    """Who may have read the partitions of a group by now. Few commits ask for that, so it is worked out on demand.

    Attributes:
        history: The newest rebalances of the group, the oldest first.
        phase: The phase of the group.
    """

    history: tuple[Rebalance, ...]
    phase: Phase

    @property
    def are_none(self) -> bool:
        """Whether the group has no members now."""
        return self.phase is Phase.EMPTY

    @property
    def since_ms(self) -> int:
        """Since when the group has had members without a break (ms since the epoch); 0: not known."""
        ends = (each.ended_ms for each in reversed(self.history) if each.is_first and stopped_members(each))
        return next((ended_ms for ended_ms in ends if ended_ms is not None), 0)

    @property
    def rebalanced_ms(self) -> int | None:
        """When the newest rebalance ended that its members noticed (ms since the epoch); None: not known."""
        ends = (each.ended_ms for each in reversed(self.history) if stopped_members(each))
        return next((ended_ms for ended_ms in ends if ended_ms is not None), None)


def jump_of(before: CommittedOffset, commit: CommitPoint, readers: Readers) -> Jump | None:
    """The jump that a commit makes; None if it passes no more than the commits before it did."""
    passed = commit.offset - before.offset
    if readers.are_none or passed < MIN_PASSED or not is_steep(newest_two_in(before.history), commit):
        return None
    rebalanced_ms = readers.rebalanced_ms
    is_first = rebalanced_ms is not None and before.committed_ms <= rebalanced_ms < commit.committed_ms
    recent = points_of(before.history)[-RECENT:]
    return Jump(
        before.offset,
        before.committed_ms,
        commit.offset,
        commit.committed_ms,
        max(before.committed_ms, min(readers.since_ms, commit.committed_ms)),
        is_first,
        recent[0].committed_ms if recent else None,
    )


def first_jump(commit: CommitPoint, known: CommittedOffset | None, readers: Readers) -> Jump | None:
    """The jump of the first commit of a partition, beside partition 0 of its topic; None: it makes none (rule 3)."""
    rebalanced_ms = readers.rebalanced_ms
    if commit.offset < MIN_PASSED or known is None or rebalanced_ms is None or readers.are_none:
        return None
    points = points_of(known.history)
    if not points or not points[0].committed_ms <= rebalanced_ms < commit.committed_ms:
        return None
    return Jump(None, None, commit.offset, commit.committed_ms, rebalanced_ms, is_first=True)


def larger_jump(known: Jump | None, jump: Jump | None) -> Jump | None:
    """The larger of two jumps, the second of which is the newer one, with the other beside it (rule 4)."""
    if known is None or jump is None:
        return jump or known
    if jump.at_ms - known.at_ms > JUMP_KEPT_MS:
        return larger_jump(known.other, jump)
    if jump.distance < known.distance:
        return replace(known, other=jump)
    return replace(jump, other=replace(known, other=None))


def not_refuted(known: Jump | None, offset: int) -> Jump | None:
    """What is left of the jumps after a commit of an offset (rule 5)."""
    if known is None or (known.other is None and offset >= known.offset):
        return known
    other = None if known.other is None or offset < known.other.offset else known.other
    if offset < known.offset:
        return other
    return known if other is known.other else replace(known, other=other)


def pace_between(before: CommitPoint, after: CommitPoint) -> int:
    """How fast the records between two commits that followed one another were read, in records per second (rule 7).

    >>> pace_between(CommitPoint(0, 5), CommitPoint(2_000, 25)), pace_between(CommitPoint(0, 5), CommitPoint(0, 6))
    (10, 10)
    """
    passed = max(0, after.offset - before.offset)
    return passed * 1_000 // max(SHORTEST_MS, after.committed_ms - before.committed_ms)


def rounded_pace(pace: int) -> int:
    """The pace, rounded up to a power of two: what is stored of a group then changes seldom.

    >>> rounded_pace(0), rounded_pace(10), rounded_pace(16)
    (0, 16, 16)
    """
    return 1 << (pace - 1).bit_length() if pace else 0
