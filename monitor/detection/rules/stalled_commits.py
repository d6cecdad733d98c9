"""Partitions without progress while records wait there, and members that make none: one fact, one finding.

A member that is listed sends heartbeats, or did until its session ends; that does not mean that it works. If none of
its partitions is committed while others of the group are, the finding names the member. If no member commits, or a
living member leaves out some of its partitions, it names the partitions. There is no finding while what is usual there
explains the silence (:class:`_Habits`).

Rule 1: A partition is silent when records have waited there for ``commit_silence_ms`` without a commit.
Rule 2: A rebalance of a classic group that collectors have seen excuses silence, and so does an outage of its
coordinator, or a partition of the offsets topic that takes no records. The silence then counts from the end of that.
Rule 3: A silence that was long enough before such a disturbance began is not excused.
Rule 4: A partition is not silent where all that waits is behind an open transaction, or is a transaction's marker, or
was committed before by the same owner, whose commits arrived out of order.
Rule 5: Nor is it where transactions keep the owner from committing (monitor.detection.rules.transactions).
Rule 6: A silence is usual for three times the usual time between two commits. If that is unknown, it is usual for as
long as the member may take between two polls.
Rule 7: A member is ``silent`` when it owns a silent partition, and has committed nothing for ``commit_silence_ms``. The
silence must be unusual, and longer than its session by a third, and another member must go on.
Rule 8: A member of rule 7 that does not answer the broker is ``no_answer`` instead.
Rule 9: A member for which only the session is too long for rule 7 is ``unnoticed``, unless that session ends soon.
Rule 10: A silent partition of no such member is ``not_committing``, unless its silence is usual there.
Rule 11: A member that has had its partitions for less than ``commit_silence_ms`` excuses them and itself.
Rule 12: Rules 2 and 11 excuse nothing in a group that rebalances again and again while records wait.
Rule 13: A partition whose commits repeat one offset is ``not_committing``, too, by rules 1 to 5, 11 and 12. Who commits
lives, and may be busy with one batch, so this counts after the time that a member may take between two polls.
Rule 14: Rule 13 accuses no owner that has moved another partition since the records wait. It may commit all that it has
whenever one moves (but see repeated_beside). For the same reason, rule 13 is for no sink of Connect, and for no task of
Kafka Streams.
Rule 15: Nor is a partition silent where a record may have ended its owners (monitor.detection.rules.stuck_records).
Rule 16: A partition whose owners left one after the other is ``not_committing``, however new its owner is. So it is in
a group without members, while the next owner may come.
Rule 17: Groups that MirrorMaker 2 keeps are judged by monitor.detection.rules.kept_groups instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from heapq import nlargest
from math import inf
from typing import Final

from monitor.detection.lag.commit_cadence import FEWEST_COMMITS, RHYTHMS, longest_usual_ms, usual_gap_ms
from monitor.detection.lag.commit_order import arrived_late
from monitor.detection.lag.standstill import moved_ms, standstill_of
from monitor.detection.lag.waiting import in_vain_since_ms
from monitor.detection.offsets_topic import fault_of
from monitor.detection.ownership.catalog_view import is_older_than_generation
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.current import held_since_ms
from monitor.detection.rules.open_transaction import Markers, is_held_back
from monitor.detection.rules.rebalance import rebalancing_since_ms
from monitor.detection.rules.rule import Rule
from monitor.detection.rules.stuck_records import Stuck, owners_that_left_alone, stuck_records
from monitor.detection.rules.transactions import failing_attempts, owners_that_wait
from monitor.findings.lag import Left, NotCommitting, Repeated
from monitor.findings.members import SilentMembers, UnansweringMembers, UnnoticedMembers
from monitor.findings.observation import Evidence, Observation
from monitor.kinds.kept_groups import checkpoints_topic
from monitor.model import (
    STATIC_LEAVE_EPOCH,
    Assigner,
    CommittedOffset,
    FindingKind,
    Member,
    PartitionVerdict,
    Phase,
    Source,
    TopicPartition,
    Value,
)
from monitor.model.commit_history import count_of
from monitor.model.members import BATCH_MS, batch_limit_ms
from monitor.protocol.kafka.group_metadata import group_partition

NOTICED: Final = 4 / 3
"""Times its session, a member that has gone is missed at the latest: the others learn of it with their next heartbeat,
and that is sent three times in a session (Kafka's advice for ``heartbeat.interval.ms``)."""

WORTH_TELLING: Final = 2
"""Times ``commit_silence_ms``: what the group will have noticed by then is awaited. To tell first that a member may be
gone, and a moment later that it is not, would be two findings for one fact."""

SHUFFLES: Final = 5
"""So many rebalances while records wait in a partition, and so many times ``commit_silence_ms``: no owner is given the
time that a new one has any more."""

_NOBODY: Final = ("",)
"""Stands for the owner of partitions that have none."""

_UNATTENDED: Final = (Phase.EMPTY, Phase.GONE, Phase.UNSEEN)

Silent = dict[TopicPartition, int]
"""Partitions without a commit while records wait, each with since when."""


class MemberSilence(Value):
    """What makes a member dead, each question for itself. ``since_ms``: since when it would be.

    ``waits``: records wait in a partition of it that it does not commit. ``silent``: it has not committed anything for
    ``commit_silence_ms``, in transactions that are open or were aborted neither. ``settled``: it has had its partitions
    for as long. ``unusual``: the silence is longer than its rhythm explains. ``outlasts_session``: and longer than
    its session by a third: had it gone, the group would have noticed. ``others_go_on``: another member has committed
    well after the silence began, and is not in the same state. ``session_ms``: how long the group would take to notice
    (inf: that long nobody waits for it, or it is not known).
    """

    member_id: str
    since_ms: int
    waits: bool
    silent: bool
    settled: bool
    unusual: bool
    outlasts_session: bool
    others_go_on: bool
    session_ms: float = inf

    @property
    def is_dead(self) -> bool:
        """Listed, owning, and doing nothing."""
        return self.outlasts_session and self._does_nothing

    @property
    def is_unnoticed(self) -> bool:
        """The same, but it may as well be gone: its session is not over yet."""
        return not self.outlasts_session and self.session_ms < inf and self._does_nothing

    @property
    def _does_nothing(self) -> bool:
        return self.waits and self.silent and self.settled and self.unusual and self.others_go_on


def find_silent(facts: Facts) -> Iterable[Observation]:
    """Members that do nothing, then partitions without commits that are neither theirs nor of a new member."""
    if not facts.waiting or checkpoints_topic(facts.group, facts.catalog.topics) is not None:
        return
    silent, standing, deserted = silent_partitions(facts), standing_partitions(facts), owners_that_left_alone(facts)
    if not silent and not standing and not deserted:
        return
    beside = moved_beside(facts, standing)
    standing = {place: since_ms for place, since_ms in standing.items() if place not in beside}
    habits = _Habits(facts)
    blamed = _Roll(facts, silent, habits).blamed() if silent and _somebody_went_on(facts, silent) else []
    unanswering = {member.member_id for member in facts.group.members if not member.answers}
    dead = [own for own in blamed if own.is_dead and own.member_id not in unanswering]
    hung = [own for own in blamed if own.is_dead and own.member_id in unanswering]
    worth_ms = WORTH_TELLING * facts.settings.commit_silence_ms / NOTICED
    unnoticed = [own for own in blamed if own.is_unnoticed and own.session_ms >= worth_ms]
    if dead:
        yield _finding(_Told(facts, dead), "silent", SilentMembers())
    if hung:
        yield _finding(_Told(facts, hung), "no_answer", UnansweringMembers())
    if unnoticed:
        own = _Told(facts, unnoticed)
        yield _finding(own, "unnoticed", UnnoticedMembers(own.session_ms))
    told, owners_of = {member.member_id for member in blamed}, facts.ownership.owners.get
    stopped = _without_excuse(facts, silent, told, habits.explain_place)
    stuck = _without_excuse(facts, standing, told, habits.explain_standstill)
    left = {place: each for place, each in deserted.items() if told.isdisjoint(owners_of(place, ()))}
    if stopped or stuck or left:
        since = {place: each.since_ms for place, each in left.items()} | stopped | stuck
        yield _not_committing(facts, since, stuck.keys() - silent.keys(), left)


def unusual_silences(facts: Facts) -> Silent:
    """The silent partitions of a group without members, where the silence is not usual."""
    return _without_excuse(facts, silent_partitions(facts), frozenset(), _Habits(facts).explain_place)


def _without_excuse(
    facts: Facts, places: Silent, told: AbstractSet[str], explain: Callable[[TopicPartition, int], bool]
) -> Silent:
    """Those of which neither reported members nor new ones are owners, and that are not usual."""
    if not places:
        return places
    newcomers, owners = _newcomers(facts), facts.ownership.owners
    return {
        place: since_ms
        for place, since_ms in places.items()
        if told.isdisjoint(own := owners.get(place, ()))
        and (newcomers.isdisjoint(own) or _goes_from_hand_to_hand(facts, since_ms))
        and not explain(place, since_ms)
    }


def _not_committing(
    facts: Facts, since: Silent, repeated: Iterable[TopicPartition], left: Mapping[TopicPartition, Stuck]
) -> Observation:
    holders = {own for place in since for own in facts.ownership.owners.get(place, ())}
    evidence = NotCommitting(
        facts.settings.commit_silence_ms,
        owners=tuple(sorted(holders)),
        repeated=repeated_offsets(facts, repeated),
        left=tuple([Left(place, left[place].offset, left[place].owners) for place in sorted(left)]),
    )
    return Observation(
        kind=FindingKind.LAG,
        reason="not_committing",
        since_ms=min(since.values()),
        evidence=evidence,
        partitions=tuple(sorted(since)),
    )


def repeated_offsets(facts: Facts, places: Iterable[TopicPartition]) -> tuple[Repeated, ...]:
    """The offsets that are committed again and again, by partition."""
    found = ((place, facts.committed[place]) for place in sorted(places))
    return tuple(
        [Repeated(place, commit.offset, stands.commits) for place, commit in found if (stands := standstill_of(commit))]
    )


def blamed_members(facts: Facts) -> frozenset[str]:
    """The members that are found dead, or may be gone."""
    silent = silent_partitions(facts)
    if not silent or not _somebody_went_on(facts, silent):
        return frozenset()
    return frozenset(each.member_id for each in _Roll(facts, silent, _Habits(facts)).blamed())


def _somebody_went_on(facts: Facts, silent: Silent) -> bool:
    """Whether anything was committed well after the first silence began: otherwise no member can be dead."""
    signs = [commit.committed_ms for commit in (*facts.group.offsets, *facts.group.unconfirmed)]
    return max(signs) > min(silent.values()) + facts.settings.commit_silence_ms // 2


def silent_partitions(facts: Facts) -> Silent:
    """The partitions of a living group that are not committed.

    Partitions without an owner are left out: no member can commit them, and the finding about the owner shows that, or
    will once the members have had the time to share them out, or a pass of the collectors has shown that they are still
    there. So are those where an open transaction holds back all that waits: nobody who reads only committed records
    can have it, and those where nothing but the marker of a transaction is left. Last, so are those where transactions
    keep the owner from committing: monitor.detection.rules.transactions reports these.
    """
    return _in_vain(facts, facts.waiting, lambda commit: commit.committed_ms)


def standing_partitions(facts: Facts) -> Silent:
    """As :func:`silent_partitions`, those where one offset is committed again and again: since when it has stood."""
    if not [commit for commit in facts.committed.values() if commit.standstill]:  # as nearly always
        return {}
    places = ((row, facts.committed.get(TopicPartition(row.topic, row.partition))) for row in facts.waiting)
    standing = [row for row, commit in places if commit is not None and standstill_of(commit)]
    if not standing or facts.sink is not None or facts.sinks or facts.traits.reads_by_task:
        return {}
    return _in_vain(facts, standing, moved_ms)


def moved_beside(facts: Facts, standing: Silent) -> Silent:
    """Those whose owners have moved another partition since. All without an owner may have the same reader."""
    if not standing:
        return standing
    owners, newest_ms = facts.ownership.owners, dict[str, int]()
    for place, commit in facts.committed.items():
        for owner in owners.get(place) or _NOBODY:
            newest_ms[owner] = max(newest_ms.get(owner, 0), moved_ms(commit))
    return {
        place: since_ms
        for place, since_ms in standing.items()
        if any(newest_ms[owner] > since_ms for owner in owners.get(place) or _NOBODY)
    }


def _in_vain(facts: Facts, waiting: Iterable[PartitionVerdict], sign_of: Callable[[CommittedOffset], int]) -> Silent:
    """The partitions where records have waited for too long since a sign of their commits, each with since when."""
    if facts.group.phase in _UNATTENDED or facts.deliveries is not None:
        return {}  # a share group commits nothing: see monitor.detection.rules.deliveries
    found = _long_waiting(facts, waiting, sign_of)
    if not found:  # as nearly always
        return {}
    disturbed, markers = newest_disturbance(facts), Markers(facts)
    silent: Silent = {}
    for row, place, waiting_ms in found:
        since_ms = waiting_ms if disturbed is None else _silence_start_ms(facts, waiting_ms, disturbed)
        if since_ms is not None and not markers.alone_wait(row):
            silent[place] = since_ms
    return _without_known_causes(facts, silent) if silent else silent


def _long_waiting(
    facts: Facts, waiting: Iterable[PartitionVerdict], sign_of: Callable[[CommittedOffset], int]
) -> list[tuple[PartitionVerdict, TopicPartition, int]]:
    """The partitions that should have been read, with since when their records have waited for that in vain."""
    is_owner_awaited = facts.is_settling or (
        facts.ownership.is_lived_in and is_older_than_generation(facts.catalog, facts.group)
    )
    found = []
    for row in waiting:
        is_nobodys = row.orphan is not None or (is_owner_awaited and not row.owners)
        if is_nobodys or is_held_back(row):
            continue
        commit = facts.committed[place := TopicPartition(row.topic, row.partition)]
        since_ms = in_vain_since_ms(facts, row, sign_of(commit))
        if since_ms is not None and not arrived_late(facts.group, row.owners, commit, row.end):
            found.append((row, place, since_ms))
    return found


def _without_known_causes(facts: Facts, silent: Silent) -> Silent:
    waiting, failing, stuck = owners_that_wait(facts), failing_attempts(facts), stuck_records(facts)
    if not waiting and not failing and not stuck:  # as nearly always
        return silent
    excused = waiting.keys() | failing.keys() | stuck.keys()
    return {place: since_ms for place, since_ms in silent.items() if place not in excused}


class Disturbance(Value):
    """What keeps members from committing without their fault; ``ended_ms`` None: it lasts.

    ``began_ms`` None: it is not known when it began. It excuses no silence that was too long before.
    """

    ended_ms: int | None
    began_ms: int | None = None


def newest_disturbance(facts: Facts) -> Disturbance | None:
    """The newest disturbance of the group, as of its coordinator; None: none is known."""
    found = [each for each in (_rebalance(facts), _outage(facts), _fault(facts)) if each is not None]
    goes_on = next((each for each in found if each.ended_ms is None), None)
    return goes_on or max(found, key=lambda each: each.ended_ms or 0, default=None)


def _rebalance(facts: Facts) -> Disturbance | None:
    """A rebalance of a classic group, of which collectors know: until it ends, a member waits for the others.

    A generation that ends one makes newcomers of all members. A member of a group of another kind consumes during a
    rebalance, and may be the one that delays it.
    """
    seen = facts.group.sampled
    if facts.traits.assigns is not Assigner.LEADER or seen is None:
        return None
    goes_on = rebalancing_since_ms(facts.group, facts.moment) is not None
    return Disturbance(ended_ms=None if goes_on else seen.last_ms, began_ms=seen.first_ms)


def _outage(facts: Facts) -> Disturbance | None:
    """That the group's partition of the offsets topic could not be read: its leader is the coordinator.

    Who cannot reach that cannot commit either, and has to find the new one first.
    """
    catalog = facts.catalog
    if not catalog.outages or not catalog.log_partitions or facts.group.source is not Source.LOG:
        return None
    partition = group_partition(facts.group.group, catalog.log_partitions)
    outage = catalog.outages.get(partition)
    return None if outage is None else Disturbance(ended_ms=outage.ended_ms, began_ms=outage.began_ms)


def _fault(facts: Facts) -> Disturbance | None:
    """That the group's partition of the offsets topic takes no records: a finding of the cluster reports it."""
    fault = fault_of(facts.group, facts.catalog)
    return None if fault is None else Disturbance(ended_ms=fault.ended_ms, began_ms=fault.before_ms)


def _silence_start_ms(facts: Facts, since_ms: int, disturbed: Disturbance) -> int | None:
    """Since when a silence counts that began then; None: not for ``commit_silence_ms`` yet.

    Where rebalances follow each other and no member reads between them, they are no excuse.
    """
    was_silent = disturbed.began_ms is not None and since_ms + facts.settings.commit_silence_ms <= disturbed.began_ms
    if was_silent or _goes_from_hand_to_hand(facts, since_ms):
        return since_ms
    if disturbed.ended_ms is None:
        return None
    counted_ms = max(since_ms, disturbed.ended_ms)
    return counted_ms if facts.has_come(counted_ms + facts.settings.commit_silence_ms) else None


def _newcomers(facts: Facts) -> frozenset[str]:
    """The members that may not have had what they have for ``commit_silence_ms``.

    They are not to blame yet: the last commit in a partition that they have taken over is of another member.
    """
    patience_ms, members = facts.settings.commit_silence_ms, facts.group.members
    return frozenset(m.member_id for m in members if not facts.has_come(held_since_ms(facts.group, m) + patience_ms))


def _goes_from_hand_to_hand(facts: Facts, since_ms: int) -> bool:
    """Whether a group rebalances repeatedly while records wait: then its owners are always new, and no member reads.

    What lies before its members came back does not count: they may have to read for a while until they commit.
    """
    returned_ms = [each.ended_ms for each in facts.group.history if each.is_first and each.ended_ms is not None]
    began_ms = max([since_ms, *returned_ms])
    patience_ms = facts.settings.commit_silence_ms
    if not facts.has_come(began_ms + SHUFFLES * patience_ms):
        return False
    ends = [each.ended_ms for each in facts.group.history if each.ended_ms is not None]
    return sum(began_ms < ended_ms for ended_ms in ends) >= SHUFFLES


def silences(facts: Facts, silent: Silent) -> list[MemberSilence]:
    """The state of every member that owns something, in the order of the members' ids."""
    roll = _Roll(facts, silent, _Habits(facts))
    return [roll.silence(member_id) for member_id in sorted(roll.held)]


class _Habits:
    """What silence is usual in a group.

    These are examined in this order, until something is known:

    - the commits of the partitions themselves, whoever made them: a hang must not pass for the habit of who is next;
    - the least usual time between two commits in any partition of the owner, but not more than such a time may be in
      which nobody knows whether records waited: there may have been none for hours;
    - how long the owner may take between two polls: the rebalance timeout that it joined with is
      ``max.poll.interval.ms`` in Java's consumer and in librdkafka's, after which they leave the group by themselves.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._limits_ms: dict[str, float | None] = {}
        self._batches_ms: dict[str, int] = {}

    @cached_property
    def held(self) -> dict[str, list[TopicPartition]]:
        """The committed partitions of each member. A member that has never committed gives no evidence of anything."""
        held: dict[str, list[TopicPartition]] = {}
        for place, owners in self._facts.ownership.owners.items():
            if place in self._facts.committed:
                for owner in owners:
                    held.setdefault(owner, []).append(place)
        return held

    @cached_property
    def members(self) -> dict[str, Member]:
        return {member.member_id: member for member in self._facts.group.members}

    @cached_property
    def group_gap_ms(self) -> float | None:
        """The least usual time between two commits of the group's partitions."""
        return min(usual_gaps(self._facts, self._facts.committed), default=None)

    def explain_place(self, place: TopicPartition, since_ms: int) -> bool:
        """Whether a partition's silence since then is usual there, or for one of its owners."""
        facts, commit = self._facts, self._facts.committed[place]
        owners = facts.ownership.owners.get(place, ())
        if count_of(commit.history) >= FEWEST_COMMITS:  # else it shows nothing, and often of every partition
            batch_ms = max([self._longest_batch_ms(owner) for owner in owners], default=BATCH_MS)
            patience_ms = longest_usual_ms(commit, facts.known[place], batch_ms)
            if patience_ms is not None:
                return not facts.has_come(since_ms + patience_ms)
        for owner in owners:
            limit_ms = self._limit_ms(owner)
            if limit_ms is not None and not facts.has_come(since_ms + limit_ms):
                return True
        return False

    def explain_standstill(self, place: TopicPartition, since_ms: int) -> bool:
        """Whether an owner may have been busy with what it polled then, when it last repeated its commit.

        A commit counts, not the time since: who commits every ten minutes repeats an offset while nothing comes.
        """
        owners = self._facts.ownership.owners.get(place, ())
        limit_ms = max([BATCH_MS, *[self._longest_batch_ms(owner) for owner in owners]])
        return self._facts.committed[place].committed_ms < since_ms + limit_ms

    def explain(self, owner: str, places: Iterable[TopicPartition], since_ms: int) -> bool | None:
        """Whether the silence of a member in some of its partitions since then is usual; None: nothing is known of it.

        By the commits of the partitions, the one with the least patience counts.
        """
        facts, batch_ms = self._facts, self._longest_batch_ms(owner)
        known = (longest_usual_ms(facts.committed[place], facts.known[place], batch_ms) for place in places)
        limit_ms: float | None = min([each for each in known if each is not None], default=None)
        if limit_ms is None:
            limit_ms = self._limit_ms(owner)
        return None if limit_ms is None else not facts.has_come(since_ms + limit_ms)

    def _limit_ms(self, owner: str) -> float | None:
        """How long an owner is usually silent, whatever the partition; None: nothing is known of it."""
        if owner not in self._limits_ms:
            gap_ms = min(usual_gaps(self._facts, self.held.get(owner, ())), default=None)
            if gap_ms is None:
                self._limits_ms[owner] = batch_limit_ms(self.members.get(owner))
            else:
                self._limits_ms[owner] = RHYTHMS * min(gap_ms, self._longest_batch_ms(owner))
        return self._limits_ms[owner]

    def _longest_batch_ms(self, owner: str) -> int:
        """How long an owner may take with what it has polled."""
        if owner not in self._batches_ms:
            self._batches_ms[owner] = batch_limit_ms(self.members.get(owner)) or BATCH_MS
        return self._batches_ms[owner]


class _Roll:
    """The members of a group with the facts about each, looked up once: there may be thousands."""

    def __init__(self, facts: Facts, silent: Silent, habits: _Habits) -> None:
        self._facts = facts
        self._silent = silent
        self._habits = habits
        self.held = habits.held
        self._signs = _signs(facts, self.held)
        going_on = [(ms, own) for own, ms in self._signs.items() if not _is_stuck(facts, silent, self.held[own], ms)]
        self._newest = nlargest(2, going_on)

    def blamed(self) -> list[MemberSilence]:
        """The members that do nothing; none if no other member commits, and then the rest is not examined."""
        waiting = {owner for place in self._silent for owner in self._facts.ownership.owners.get(place, ())}
        asked = [self.silence(member_id) for member_id in sorted(waiting)] if self._newest else []
        return [member for member in asked if member.is_dead or member.is_unnoticed]

    def silence(self, member_id: str) -> MemberSilence:
        """The state of one member."""
        facts, sign_ms, held = self._facts, self._signs[member_id], self.held[member_id]
        member, patience_ms = self._habits.members.get(member_id), facts.settings.commit_silence_ms
        held_ms = _held_since_ms(facts, member)
        waiting = [place for place in held if place in self._silent]
        since_ms = max(sign_ms, held_ms, min([self._silent[place] for place in waiting], default=0))
        others_ms = max([ms for ms, other in self._newest if other != member_id], default=0)
        session_ms = _session_ms(member)
        return MemberSilence(
            member_id=member_id,
            since_ms=since_ms,
            waits=bool(waiting),
            silent=facts.has_come(sign_ms + patience_ms),
            settled=facts.has_come(held_ms + patience_ms),
            unusual=self._is_unusual(member_id, waiting, since_ms),
            outlasts_session=facts.has_passed(since_ms + NOTICED * session_ms),
            others_go_on=others_ms > since_ms + patience_ms // 2,
            session_ms=session_ms,
        )

    def _is_unusual(self, member_id: str, waiting: Iterable[TopicPartition], since_ms: int) -> bool:
        """Of a member of which nothing is known, the group's rhythm counts; if there is none, nothing is unusual."""
        explained = self._habits.explain(member_id, waiting, since_ms)
        if explained is None:
            gap_ms = self._habits.group_gap_ms
            return gap_ms is not None and self._facts.has_come(since_ms + RHYTHMS * gap_ms)
        return not explained


def _is_stuck(facts: Facts, silent: Silent, places: Iterable[TopicPartition], sign_ms: int) -> bool:
    is_silent = facts.has_come(sign_ms + facts.settings.commit_silence_ms)
    return is_silent and any(place in silent for place in places)


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
    """After how long without a sign the broker removes the member; never, if it has announced its return (KIP-848)."""
    reconciliation = member.reconciliation if member is not None else None
    if member is None or (reconciliation is not None and reconciliation.epoch == STATIC_LEAVE_EPOCH):
        return inf
    return member.session_timeout_ms


def usual_gaps(facts: Facts, places: Iterable[TopicPartition]) -> list[float]:
    """The usual times between two commits of the partitions, as far as there are enough. The least of them counts.

    Each is the middle one of the newest, whether records waited or not: a night without records is no rhythm.
    """
    return [gap for place in places if (gap := usual_gap_ms(facts.committed[place])) is not None]


def _finding(own: _Told, reason: str, evidence: Evidence) -> Observation:
    return Observation(
        kind=FindingKind.DEAD_MEMBER,
        reason=reason,
        since_ms=own.since_ms,
        evidence=evidence,
        partitions=own.partitions,
        members=own.members,
    )


class _Told:
    """Members that do nothing, with all their partitions."""

    def __init__(self, facts: Facts, silences: list[MemberSilence]) -> None:
        self.members = tuple(member.member_id for member in silences)
        blamed, owners = frozenset(self.members), facts.ownership.owners.items()
        own = (place for place, holders in owners if not blamed.isdisjoint(holders) and place in facts.known)
        self.partitions = tuple(sorted(own))
        self.since_ms = facts.not_later_than_now(min(member.since_ms for member in silences))
        self.session_ms = int(max([member.session_ms for member in silences if member.session_ms < inf], default=0))


RULES: Final = (Rule(find_silent, of_owners=False, needs_lag=True),)
