"""Partitions that are not committed while records wait there, and members of which none is: one fact, told once.

A member that is listed sends heartbeats; that does not mean that it works. If none of its partitions is committed
while others of the group go on, it is the member that is told. If nobody commits, or a living member leaves out some
of its partitions, the partitions are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import nlargest
from itertools import pairwise
from math import inf
from statistics import median
from typing import Final

from monitor.commit_history import RECENT, points_of
from monitor.detection.facts import Facts
from monitor.detection.ownership import held_since_ms
from monitor.detection.patience import in_vain_since_ms
from monitor.detection.sentences import dead_members, not_committing
from monitor.detection.transactions import is_held_back
from monitor.model import CommittedOffset, Finding, FindingKind, Member, Phase, TopicPartition, Value

RHYTHMS: Final = 3
"""How many times its usual time between two commits a member may be silent: two commits that stay away are no proof."""

NOTICED: Final = 4 / 3
"""Times its session, a member that has gone is missed at the latest: the others learn of it with their next heartbeat,
and that is sent three times in a session (Kafka's advice for ``heartbeat.interval.ms``)."""

LEFT_FOR_NOW: Final = -2
"""The epoch of a static member that has closed and may come back (``LEAVE_GROUP_STATIC_MEMBER_EPOCH`` of Kafka)."""

Silent = dict[TopicPartition, int]
"""Partitions without a commit while records wait, each with since when."""


class MemberSilence(Value):
    """What makes a member dead, each question for itself. ``since_ms``: since when it would be.

    ``waits``: records wait in a partition of it that it does not commit. ``silent``: it has not committed anything for
    ``commit_silence_ms``, in transactions that are open or were aborted neither. ``settled``: it has had its partitions
    for as long. ``unusual``: the silence is longer than its rhythm explains. ``outlasts_session``: and longer than
    its session by a third: had it gone, the group would have noticed. ``others_go_on``: another member has committed
    well after the silence began, and is not in the same state.
    """

    member_id: str
    since_ms: int
    waits: bool
    silent: bool
    settled: bool
    unusual: bool
    outlasts_session: bool
    others_go_on: bool

    @property
    def is_dead(self) -> bool:
        """Listed, owning, and doing nothing."""
        is_itself = self.waits and self.silent and self.settled and self.unusual and self.outlasts_session
        return is_itself and self.others_go_on


def find_silent(facts: Facts) -> Iterable[Finding]:
    """Dead members, then the partitions that are not committed and are neither theirs nor of somebody new."""
    silent = silent_partitions(facts)
    if not silent:
        return
    dead = _Roll(facts, silent).dead() if _somebody_went_on(facts, silent) else []
    if dead:
        yield _dead(facts, dead)
    others = {member.member_id for member in dead} | _newcomers(facts)
    rest = {place: ms for place, ms in silent.items() if others.isdisjoint(facts.ownership.owners.get(place, ()))}
    if rest:
        partitions = tuple(sorted(rest))
        owners = sorted({own for place in rest for own in facts.ownership.owners.get(place, ())})
        yield Finding(
            kind=FindingKind.LAG,
            reason="not_committing",
            since_ms=min(rest.values()),
            sentence=not_committing(partitions, facts.settings.commit_silence_ms, owners, facts.group),
            partitions=partitions,
        )


def _somebody_went_on(facts: Facts, silent: Silent) -> bool:
    """Whether anything was committed well after the first silence began: else nobody is dead, and none is asked."""
    signs = [commit.committed_ms for commit in (*facts.group.offsets, *facts.group.unconfirmed)]
    return max(signs) > min(silent.values()) + facts.settings.commit_silence_ms // 2


def silent_partitions(facts: Facts) -> Silent:
    """The partitions of a living group that are not committed.

    Partitions without an owner are left out: nobody can commit them, and the finding about the owner says so. So are
    those where an open transaction holds back all that waits: nobody who reads only committed records can have it.
    """
    if facts.group.phase in {Phase.EMPTY, Phase.GONE, Phase.UNSEEN}:
        return {}
    silent: Silent = {}
    for row in facts.waiting:
        if row.orphan is None and not is_held_back(row):
            place = TopicPartition(row.topic, row.partition)
            since_ms = in_vain_since_ms(facts, row, facts.committed[place].committed_ms)
            if since_ms is not None:
                silent[place] = since_ms
    return silent


def _newcomers(facts: Facts) -> frozenset[str]:
    """The members that may not have had what they have for ``commit_silence_ms``.

    They are not to blame yet: the last commit in a partition that they have taken over is of somebody else.
    """
    since_ms = facts.now_ms - facts.settings.commit_silence_ms
    members = facts.group.members
    return frozenset(member.member_id for member in members if held_since_ms(facts.group, member) > since_ms)


def silences(facts: Facts, silent: Silent) -> list[MemberSilence]:
    """What can be said of every member that owns something, in the order of the members' ids."""
    roll = _Roll(facts, silent)
    return [roll.silence(member_id) for member_id in sorted(roll.held)]


class _Roll:
    """The members of a group with what is asked of each, looked up once: there may be thousands."""

    def __init__(self, facts: Facts, silent: Silent) -> None:
        self._facts = facts
        self._silent = silent
        self._members = {member.member_id: member for member in facts.group.members}
        self.held = _held(facts)
        self._signs = _signs(facts, self.held)
        going_on = [(ms, own) for own, ms in self._signs.items() if not _is_stuck(facts, silent, self.held[own], ms)]
        self._newest = nlargest(2, going_on)

    def dead(self) -> list[MemberSilence]:
        """The dead members. If nobody goes on none is, and the rest need not be asked."""
        waiting = {owner for place in self._silent for owner in self._facts.ownership.owners.get(place, ())}
        asked = [self.silence(member_id) for member_id in sorted(waiting)] if self._newest else []
        return [member for member in asked if member.is_dead]

    @cached_property
    def _usual_ms(self) -> float:
        return min(_gaps(self._facts, self._facts.committed), default=inf)

    def silence(self, member_id: str) -> MemberSilence:
        """What can be said of one member."""
        facts, sign_ms, held = self._facts, self._signs[member_id], self.held[member_id]
        patience_ms, quiet_ms = facts.settings.commit_silence_ms, facts.now_ms - sign_ms
        held_ms = _held_since_ms(facts, self._members.get(member_id))
        waiting = [self._silent[place] for place in held if place in self._silent]
        since_ms = max(sign_ms, held_ms, min(waiting, default=0))
        others_ms = max([ms for ms, other in self._newest if other != member_id], default=0)
        return MemberSilence(
            member_id=member_id,
            since_ms=since_ms,
            waits=bool(waiting),
            silent=quiet_ms >= patience_ms,
            settled=facts.now_ms - held_ms >= patience_ms,
            unusual=quiet_ms >= RHYTHMS * min(_gaps(facts, held), default=self._usual_ms),
            outlasts_session=quiet_ms > NOTICED * _session_ms(self._members.get(member_id)),
            others_go_on=others_ms > since_ms + patience_ms // 2,
        )


def _is_stuck(facts: Facts, silent: Silent, places: Iterable[TopicPartition], sign_ms: int) -> bool:
    is_silent = facts.now_ms - sign_ms >= facts.settings.commit_silence_ms
    return is_silent and any(place in silent for place in places)


def _held(facts: Facts) -> dict[str, list[TopicPartition]]:
    """The committed partitions of each member. A member that has never committed gives no evidence of anything."""
    held: dict[str, list[TopicPartition]] = {}
    for place, owners in facts.ownership.owners.items():
        if place in facts.committed:
            for owner in owners:
                held.setdefault(owner, []).append(place)
    return held


def _signs(facts: Facts, held: Mapping[str, Iterable[TopicPartition]]) -> dict[str, int]:
    """The newest commit of any partition of each member, those whose transaction has not ended well included."""
    newest = {place: commit.committed_ms for place, commit in facts.committed.items()}
    for tried in facts.group.unconfirmed:
        place = TopicPartition(tried.topic, tried.partition)
        newest[place] = max(tried.committed_ms, newest.get(place, 0))
    return {member_id: max([newest[place] for place in places]) for member_id, places in held.items()}


def _held_since_ms(facts: Facts, member: Member | None) -> int:
    return facts.group.generation_ms if member is None else held_since_ms(facts.group, member)


def _session_ms(member: Member | None) -> float:
    """After how long without a sign the broker removes the member; never, if it said that it comes back (KIP-848)."""
    standing = member.reconciliation if member is not None else None
    if member is None or (standing is not None and standing.epoch == LEFT_FOR_NOW):
        return inf
    return member.session_timeout_ms


def _gaps(facts: Facts, places: Iterable[TopicPartition]) -> list[float]:
    """The usual times between two commits of the partitions, as far as there are enough. The least of them counts.

    Each is the middle one of the newest: a night without records is no rhythm. Of a member that has hardly committed
    yet the group's counts; if there is none either, nothing is unusual.
    """
    return [gap for place in places if (gap := _gap_ms(facts.committed[place])) is not None]


def _gap_ms(commit: CommittedOffset) -> float | None:
    times = [point.committed_ms for point in points_of(commit.history)[-RECENT:]]
    return median([after - before for before, after in pairwise(times)]) if len(times) > 2 else None


def _dead(facts: Facts, dead: list[MemberSilence]) -> Finding:
    members = tuple(member.member_id for member in dead)
    blamed = frozenset(members)
    owners = facts.ownership.owners.items()
    partitions = tuple(sorted(place for place, own in owners if not blamed.isdisjoint(own) and place in facts.known))
    since_ms = facts.not_later_than_now(min(member.since_ms for member in dead))
    return Finding(
        kind=FindingKind.DEAD_MEMBER,
        reason="silent",
        since_ms=since_ms,
        sentence=dead_members(members, partitions, facts.group),
        partitions=partitions,
        members=members,
    )
