"""Which commits jump: they pass many more offsets than those before them, so the group may not have read the records.

A commit names the position of the group, and does not show that it has read what came before. A commit that passes far
more than the commits before it is kept, with what the group's log shows about it. Whether the group skipped records
depends on the log of the topic too (monitor.detection.lag.skips).

Rule 1: A jump passes at least MIN_PASSED offsets.
Rule 2: It passes them more than STEEPER times as fast as the commit before it passed its own.
Rule 3: The first commit of a partition jumps if the group has committed partition 0 since before its last rebalance:
        the partition is new to the topic. A group that begins, begins where it wants to.
Rule 4: Of the jumps of an hour, the largest one is kept, and beside it the newest: it may be a skip after a burst. If
        the newest is the largest, the largest before it is kept. A commit that comes an hour later forgets a jump.
Rule 5: A commit of a lower offset refutes the jump before it: the group reads the records after all.
Rule 6: A group without members makes no jumps: an administrator has reset the offsets, or a tool keeps them.
Rule 7: The fastest reading of the group is that between any two commits of a partition that are no jump.
Rule 8: If the offset of a partition was deleted, its next commit jumps from there, after a rebalance: the owner begins
        where it wants to.

The decoder combines commits that follow one another in the log into runs. It knows which of them jump, but for the
first two, which depend on the commits before the run (monitor.protocol.kafka.commit_runs).
"""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import CommitPoint, CommitRun, CommittedOffset, InnerJump, Phase, Rebalance, Value
from monitor.model.commit_history import (
    MAX_PACE,
    MIN_PASSED,
    SHORTEST_MS,
    is_steep,
    newest_step_in,
    points_of,
    tenth_newest_ms,
)
from monitor.model.expiry import DeletedOffset
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


class JumpsDraft:
    """The jumps of a group's commits, and its fastest reading, while a piece of its log is folded in."""

    __slots__ = ("fastest", "readers")

    def __init__(self, fastest: int = 0) -> None:
        self.fastest = fastest
        """The fastest pace of any partition so far, in records per second."""
        self.readers: Readers | None = None
        """Who may have read what a commit passes; None: not known, as a collector reads the group as a whole."""

    def after_commit(self, before: CommittedOffset, offset: int, at_ms: int) -> Jump | None:
        """The jump that is kept of a partition after a commit more. This is done for nearly every record of the log."""
        jump, readers = before.jump, self.readers
        if readers is None:
            return jump
        if jump is not None:
            jump = still_kept(jump, offset, at_ms)
        passed, gap_ms = offset - before.offset, at_ms - before.committed_ms
        is_fast = passed * 1_000 > self.fastest * (gap_ms if gap_ms > SHORTEST_MS else SHORTEST_MS)
        if not is_fast and passed < MIN_PASSED:  # as nearly always
            return jump
        if passed < MIN_PASSED or not is_steep(newest_step_in(before.history), passed, gap_ms):
            if is_fast:
                self._note(pace_of(passed, gap_ms), readers)
        elif not readers.are_none:
            earlier, commit = CommitPoint(before.committed_ms, before.offset), CommitPoint(at_ms, offset)
            return with_jump(jump, jump_of(earlier, commit, tenth_newest_ms(before.history), readers))
        return jump

    def after_first(self, commit: CommitPoint, beside: CommittedOffset | None) -> Jump | None:
        """The jump of the first commit of a partition, beside partition 0 of its topic (None: it is none other)."""
        return None if self.readers is None or beside is None else first_jump(commit, beside, self.readers)

    def after_deletion(self, deleted: DeletedOffset, commit: CommitPoint) -> Jump | None:
        """The jump of the first commit of a partition whose offset was deleted."""
        return None if self.readers is None else jump_after_deletion(deleted, commit, self.readers)

    def after_run(self, jump: Jump | None, before: CommittedOffset | None, run: CommitRun) -> Jump | None:
        """The jump that is kept after a run, from the one that is kept after its first commit."""
        readers = self.readers
        if readers is None:
            return jump
        self._note(run.fastest, readers)
        if run.second is not None:
            jump = self._after_second(jump, before, run.first, run.second, readers)
        if jump is not None and run.lowest is not None:
            jump = still_kept(jump, run.lowest, jump.at_ms)
        for each in run.jumps:
            jump = _after_inner(jump, each, before, readers)
        newest = run.points[-1]
        return None if jump is None else still_kept(jump, newest.offset, newest.committed_ms)

    def _after_second(
        self,
        jump: Jump | None,
        before: CommittedOffset | None,
        first: CommitPoint,
        second: CommitPoint,
        readers: Readers,
    ) -> Jump | None:
        usual, recent_ms = None, None
        if before is not None and before.history:
            usual = first.offset - before.offset, first.committed_ms - before.committed_ms
            recent_ms = tenth_newest_ms(before.history, newer=1)
        passed, gap_ms = second.offset - first.offset, second.committed_ms - first.committed_ms
        if not is_steep(usual, passed, gap_ms):
            self._note(pace_of(passed, gap_ms), readers)
        elif not readers.are_none:
            if jump is not None:
                jump = still_kept(jump, second.offset, second.committed_ms)
            own = jump_of(first, second, first.committed_ms if recent_ms is None else recent_ms, readers)
            return with_jump(jump, own)
        return jump

    def _note(self, pace: int, readers: Readers) -> None:
        """Take a pace that is no jump (rules 6 and 7)."""
        if pace > self.fastest and not readers.are_none:
            self.fastest = pace


def _after_inner(jump: Jump | None, inner: InnerJump, before: CommittedOffset | None, readers: Readers) -> Jump | None:
    """The jump that is kept after one inside of a run, and the commits of the run up to the next one."""
    if jump is not None:
        jump = still_kept(jump, inner.offset, inner.at_ms)
    if not readers.are_none:
        recent_ms = None if before is None else tenth_newest_ms(before.history, newer=inner.preceding)
        earlier, commit = CommitPoint(inner.before_ms, inner.before), CommitPoint(inner.at_ms, inner.offset)
        own = jump_of(earlier, commit, inner.recent_since_ms if recent_ms is None else recent_ms, readers)
        jump = with_jump(jump, own)
    return jump if jump is None or inner.lowest is None else still_kept(jump, inner.lowest, inner.at_ms)


def with_jump(known: Jump | None, jump: Jump) -> Jump:
    """The larger of two jumps, the second of which is the newer one, with the other beside it (rule 4)."""
    if known is None:
        return jump
    if jump.distance < known.distance:
        return replace(known, other=jump)
    return replace(jump, other=known if known.other is None else replace(known, other=None))


def still_kept(known: Jump, offset: int, at_ms: int) -> Jump | None:
    """What is left of the jumps of a partition after a commit of an offset at this instant (rules 4 and 5)."""
    other = None if known.other is None else still_kept(known.other, offset, at_ms)
    if offset < known.offset or at_ms - known.at_ms > JUMP_KEPT_MS:
        return other
    return known if other is known.other else replace(known, other=other)


def jump_of(before: CommitPoint, commit: CommitPoint, recent_since_ms: int | None, readers: Readers) -> Jump:
    """The jump from one commit to the next.

    Args:
        before: the commit before it.
        commit: the one that jumps.
        recent_since_ms: when the oldest of the ten commits before it was made; None: not known.
        readers: of the group, which has members.
    """
    rebalanced_ms = readers.rebalanced_ms
    return Jump(
        before.offset,
        before.committed_ms,
        commit.offset,
        commit.committed_ms,
        max(before.committed_ms, min(readers.since_ms, commit.committed_ms)),
        rebalanced_ms is not None and before.committed_ms <= rebalanced_ms < commit.committed_ms,
        recent_since_ms,
    )


def first_jump(commit: CommitPoint, known: CommittedOffset | None, readers: Readers) -> Jump | None:
    """The jump of the first commit of a partition, beside partition 0 of its topic; None: it makes none (rule 3)."""
    rebalanced_ms = readers.rebalanced_ms
    if commit.offset < MIN_PASSED or known is None or rebalanced_ms is None or readers.are_none:
        return None
    points = points_of(known.history)
    if not points or not _known_since_ms(known, points[0]) <= rebalanced_ms < commit.committed_ms:
        return None
    return Jump(None, None, commit.offset, commit.committed_ms, rebalanced_ms, is_first=True)


def _known_since_ms(known: CommittedOffset, oldest: CommitPoint) -> int:
    """When the oldest commit was made that is known of a partition. One that stands may have only newer ones kept."""
    stands = known.standstill
    return oldest.committed_ms if stands is None else min(oldest.committed_ms, stands.since_ms)


def jump_after_deletion(deleted: DeletedOffset, commit: CommitPoint, readers: Readers) -> Jump | None:
    """The jump of the first commit since the offset was deleted; None: it makes none (rule 8)."""
    rebalanced_ms = readers.rebalanced_ms
    if readers.are_none or rebalanced_ms is None or commit.offset - deleted.offset < MIN_PASSED:
        return None
    if not deleted.committed_ms <= rebalanced_ms < commit.committed_ms:
        return None
    before = deleted.offset, deleted.committed_ms
    return Jump(
        *before,
        commit.offset,
        commit.committed_ms,
        rebalanced_ms,
        is_first=True,
        recent_since_ms=None,
        was_deleted=True,
    )


def pace_of(passed: int, gap_ms: int) -> int:
    """How fast records were read between two commits that followed one another, in records per second (rule 7).

    >>> pace_of(20, 2_000), pace_of(1, 0)
    (10, 10)
    """
    return min(MAX_PACE, max(0, passed) * 1_000 // max(SHORTEST_MS, gap_ms))


def rounded_pace(pace: int) -> int:
    """The pace, rounded up to a power of two: what is stored of a group then changes seldom.

    >>> rounded_pace(0), rounded_pace(10), rounded_pace(16)
    (0, 16, 16)
    """
    return 1 << (pace - 1).bit_length() if pace else 0
