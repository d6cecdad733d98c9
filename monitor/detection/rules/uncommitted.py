"""Partitions with records in which a group has no committed offset, although its members own them, or are gone.

No commit alone is no proof: a consumer that starts at ``latest`` in a partition without new records may commit nothing
for ever, and is healthy (librdkafka stores the position behind a record that the application got). So an owner is
accused only of records that came while it had the partition, and only while it goes on to commit elsewhere.

Rule 1: A partition counts if its records hide the lag (monitor.detection.lag.uncommitted).
Rule 2: Records have come for an owner if the log grew after the first poll that is 5 s younger than its assignment.
Rule 3: They do not count while a transaction holds them back. Where transactions end, fewer than ten may be markers.
Rule 4: A partition is ``never`` if records came for its owner before all of these: ``commit_silence_ms``, the time that
the owner may take between two polls, and three times the usual time between two commits of the owner, or else of the
group.
Rule 5: The owner must have committed elsewhere at three times or more since rule 4 is true. If it has committed no
other partition, the group must have. The group must also have committed since the owner has the partition.
Rule 6: A rebalance or an outage of the coordinator excuses silence, as in monitor.detection.rules.stalled_commits. So
does a sink of Connect that is paused or stopped.
Rule 7: A partition of a member that is found dead is left out.
Rule 8: In a group without members a partition is ``unattended`` if records came after the last sign of the group, and
it has committed others. A group that one process used, as others before or after it, is not expected back: it has none.
Rule 9: Any other partition with an owner, or of a group without members, is ``at_risk`` after ``commit_silence_ms``:
without new records, or in a group that commits nothing. It is also ``at_risk`` after twice the time of rule 4, if rule
5 is not true.
Rule 10: A partition with a commit in a transaction that is open or was aborted is none of these. Nor is one with a
commit of an offset below 0 (monitor.detection.rules.invalid_commits).
Rule 11: Where transactions end, a partition with an owner is ``at_risk`` at most: what came may be an aborted batch,
which no member receives. So is a partition of a sink of Connect, which may commit none until it has enough records.
Rule 12: Where the brokers deleted the offset while the group had members, as they do with a topic, the group did commit
there. So rule 5 need not be true of a topic that was recreated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from monitor.detection.brokers import readable_since_ms
from monitor.detection.lag.commit_cadence import FEWEST_COMMITS, RHYTHMS
from monitor.detection.lag.uncommitted import invalid_places
from monitor.detection.lag.waiting import stays_from_ms
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.current import held_since_ms
from monitor.detection.rules.rule import Rule
from monitor.detection.rules.stalled_commits import blamed_members, newest_disturbance, usual_gaps
from monitor.findings.observation import Evidence, Observation
from monitor.findings.uncommitted import AtRisk, LeftUncommitted, NeverCommitted
from monitor.model import FindingKind, PartitionState, Phase, TopicPartition, Value
from monitor.model.commit_history import columns_of
from monitor.model.members import BATCH_MS, batch_limit_ms

START_MS: Final = 5_000
"""How long an owner may take from its assignment until it asks where the log ends, if it starts at ``latest``."""

FEWEST_RECORDS: Final = 10
"""Fewer offsets than these may all be markers of transactions, in a topic where some ended."""

Since = dict[TopicPartition, int]
"""Partitions, each with since when it is so."""


class Growth(Value):
    """What the ends of a partition show after an instant.

    ``came_ms`` is when records were first seen to have come after it; None: none came. ``stood_ms`` is since when the
    log is known to stand where the first poll after the instant found it.
    """

    came_ms: int | None
    stood_ms: int


def growth_since(state: PartitionState, start_ms: int, has_markers: bool = False) -> Growth | None:
    """What came to a partition after an instant; None: no poll shows it yet.

    Of a log that has been busy for long, only the newest day is remembered: what came is then seen later.
    """
    points = (*state.older, *state.ends)
    first = next((point for point in points if point.at_ms >= start_ms), None)
    if first is None:
        return None
    fewest = FEWEST_RECORDS if has_markers else 1
    stable = state.end if state.stable is None else state.stable
    is_readable = stable is not None and stable >= first.offset + fewest
    later = [point.at_ms for point in points if point.at_ms > first.at_ms and point.offset >= first.offset + fewest]
    stood_ms = next(point.at_ms for point in points if point.offset >= first.offset)
    return Growth(later[0] if later and is_readable else None, stood_ms)


def find_uncommitted(facts: Facts) -> Iterable[Observation]:
    """What the members leave out, what no member reads, and what a restart may pass over."""
    is_resting = facts.sink is not None and facts.sink.is_resting
    if not facts.uncommitted or not facts.traits.has_reset_policy or is_resting:
        return
    if facts.group.phase is Phase.EMPTY:
        yield from () if facts.losses.is_one_off else _without_members(facts)
    elif facts.ownership.is_lived_in:
        yield from _with_members(facts)


def _without_members(facts: Facts) -> Iterator[Observation]:
    sign_ms = max(facts.group.phase_ms, max([each.committed_ms for each in facts.committed.values()], default=0))
    if not facts.has_come(sign_ms + facts.settings.commit_silence_ms):
        return
    left: Since = {}
    at_risk: Since = {}
    for place in _partitions_never_tried(facts):
        growth = _growth(facts, place, sign_ms)
        if growth is not None and growth.came_ms is not None and facts.committed:
            if _has_lasted(facts, growth.came_ms) and _came_to_stay(facts, place, growth.came_ms):
                left[place] = max(sign_ms, growth.came_ms)
        elif growth is not None and _has_lasted(facts, growth.came_ms or growth.stood_ms):
            at_risk[place] = sign_ms
    if left:
        yield _finding(facts, "unattended", left, LeftUncommitted())
    if at_risk:
        yield _finding(facts, "at_risk", at_risk, _at_risk(facts))


def _with_members(facts: Facts) -> Iterator[Observation]:
    disturbed = newest_disturbance(facts)
    if disturbed is not None and disturbed.ended_ms is None:
        return
    excused_ms = 0 if disturbed is None or disturbed.ended_ms is None else disturbed.ended_ms
    holders = _Holders(facts)
    newest_ms = max([each.committed_ms for each in facts.committed.values()], default=0)
    never: Since = {}
    unproven: Since = {}
    at_risk: Since = {}
    deleted = _deletions_in_use(facts)
    for place, held_ms, growth in _partitions_with_growth(facts, holders, excused_ms):
        is_in_use = place in deleted and max(newest_ms, deleted[place]) >= held_ms
        if is_in_use and holders.commits_are_due(place, growth, excused_ms):
            never[place] = max(held_ms, growth.came_ms or held_ms)
        elif growth.came_ms is None or newest_ms < held_ms or holders.is_excused(place):
            if _has_lasted(facts, growth.came_ms or growth.stood_ms):
                at_risk[place] = held_ms  # nothing came, the group commits nothing, or that is no proof
        elif _came_to_stay(facts, place, growth.came_ms):
            counts_ms = max(growth.came_ms, excused_ms)
            if holders.go_on_elsewhere(place, counts_ms):
                never[place] = max(held_ms, growth.came_ms)
            elif facts.has_come(counts_ms + 2 * holders.patience_ms(place)):
                unproven[place] = held_ms
    dead = blamed_members(facts) if never or unproven else frozenset[str]()
    yield from _left_out_by_owners(facts, _without_owners_among(facts, never, dead))
    at_risk |= _without_owners_among(facts, unproven, dead)
    if at_risk:
        yield _finding(facts, "at_risk", at_risk, _at_risk(facts))


def _at_risk(facts: Facts) -> AtRisk:
    deleted_ms = max([each.deleted_ms for each in facts.group.deleted_offsets], default=0)
    return AtRisk(commits=bool(facts.committed), deleted_ms=deleted_ms)


def _deletions_in_use(facts: Facts) -> dict[TopicPartition, int]:
    """When brokers deleted the offsets of a group that had members, by partition (rule 12)."""
    return {
        TopicPartition(each.topic, each.partition): each.deleted_ms
        for each in facts.group.deleted_offsets
        if each.deleted_ms and each.kept_since_ms is None
    }


def _partitions_with_growth(
    facts: Facts, holders: _Holders, excused_ms: int
) -> Iterator[tuple[TopicPartition, int, Growth]]:
    """The partitions that owners have had for long enough, each with since when, and what came to it."""
    for place in _partitions_never_tried(facts):
        held_ms = holders.held_ms(place)
        led_ms = readable_since_ms(facts.catalog, place.topic, place.partition)
        if held_ms is not None and _has_lasted(facts, max(held_ms, excused_ms, led_ms)):
            growth = _growth(facts, place, held_ms)
            if growth is not None:
                yield place, held_ms, growth


class _Holders:
    """The owners of partitions, with what is the same for all partitions of an owner."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._held_ms = {each.member_id: held_since_ms(facts.group, each) for each in facts.group.members}
        self._batch_ms = {each.member_id: batch_limit_ms(each) or BATCH_MS for each in facts.group.members}
        self._patience_ms: dict[tuple[str, ...], float] = {}
        self._times_ms: dict[tuple[str, ...], list[int]] = {}
        self._sinks = frozenset(each.member_id for each in facts.sinks)

    def held_ms(self, place: TopicPartition) -> int | None:
        """Since when its owners have a partition; None: it has none, or one that drops it."""
        owners = self._facts.ownership.owners.get(place, ())
        if place in self._facts.ownership.dropped:
            return None
        return max([self._held_ms[owner] for owner in owners if owner in self._held_ms], default=None)

    def is_excused(self, place: TopicPartition) -> bool:
        """Whether records without a commit prove nothing against its owners (rule 11)."""
        owners = self._facts.ownership.owners[place]
        is_sink = self._facts.sink is not None or not self._sinks.isdisjoint(owners)
        return is_sink or _has_markers(self._facts, place)

    def patience_ms(self, place: TopicPartition) -> float:
        """How long its owners, or else the group, may take between two commits, or its owners with a batch."""
        owners = self._facts.ownership.owners[place]
        if owners not in self._patience_ms:
            self._patience_ms[owners] = self._usual_ms(owners)
        return self._patience_ms[owners]

    def commits_are_due(self, place: TopicPartition, growth: Growth, excused_ms: int) -> bool:
        """Whether its owners have had records for longer than the patience."""
        if growth.came_ms is None or self.is_excused(place) or not _came_to_stay(self._facts, place, growth.came_ms):
            return False
        return self._facts.has_come(max(growth.came_ms, excused_ms) + self.patience_ms(place))

    def go_on_elsewhere(self, place: TopicPartition, counts_ms: int) -> bool:
        """Whether commits go on elsewhere after the patience from then on: rules 4 and 5."""
        until_ms = counts_ms + self.patience_ms(place)
        return self._facts.has_come(until_ms) and self._commits_after(place, until_ms) >= FEWEST_COMMITS

    def _commits_after(self, place: TopicPartition, instant_ms: float) -> int:
        """How often its owners have committed elsewhere since then, as far as is remembered; else how often the group.

        Commits of several partitions at once are one.
        """
        owners = self._facts.ownership.owners[place]
        if owners not in self._times_ms:
            commits = [self._facts.committed[each] for each in self._own(owners) or self._facts.committed]
            times = {at_ms for commit in commits for at_ms in (commit.committed_ms, *columns_of(commit.history)[0])}
            self._times_ms[owners] = sorted(times)
        times_ms = self._times_ms[owners]
        return len(times_ms) - bisect_right(times_ms, instant_ms)

    def _own(self, owners: tuple[str, ...]) -> list[TopicPartition]:
        """The committed partitions of these members."""
        facts, wanted = self._facts, frozenset(owners)
        return [each for each in facts.committed if not wanted.isdisjoint(facts.ownership.owners.get(each, ()))]

    def _usual_ms(self, owners: tuple[str, ...]) -> float:
        facts = self._facts
        gap_ms = min(usual_gaps(facts, self._own(owners)), default=None)
        if gap_ms is None:
            gap_ms = min(usual_gaps(facts, facts.committed), default=0)
        batches_ms = [self._batch_ms.get(owner, BATCH_MS) for owner in owners]
        return max(facts.settings.commit_silence_ms, RHYTHMS * gap_ms, *batches_ms)


def _left_out_by_owners(facts: Facts, never: Since) -> Iterator[Observation]:
    if never:
        owners = sorted({owner for place in never for owner in facts.ownership.owners[place]})
        deleted = _deletions_in_use(facts)
        deleted_ms = min([deleted.get(place, 0) for place in never])
        evidence = NeverCommitted(facts.settings.commit_silence_ms, tuple(owners), deleted_ms)
        yield _finding(facts, "never", never, evidence, tuple(owners))


def _without_owners_among(facts: Facts, since: Since, dead: frozenset[str]) -> Since:
    """The partitions of members that are not found dead: the finding of those has all their partitions."""
    return {place: ms for place, ms in since.items() if dead.isdisjoint(facts.ownership.owners[place])}


def _partitions_never_tried(facts: Facts) -> Iterator[TopicPartition]:
    """The partitions without a commit, those left out in which a transaction has tried one, or one is below 0."""
    tried = {TopicPartition(each.topic, each.partition) for each in facts.group.unconfirmed}
    invalid = invalid_places(facts.group)
    return (place for place in facts.uncommitted if place not in tried and place not in invalid)


def _growth(facts: Facts, place: TopicPartition, since_ms: int) -> Growth | None:
    return growth_since(facts.known[place], since_ms + START_MS, has_markers=_has_markers(facts, place))


def _has_markers(facts: Facts, place: TopicPartition) -> bool:
    topic = facts.catalog.topics.get(place.topic)
    return topic is not None and topic.has_markers


def _has_lasted(facts: Facts, since_ms: float) -> bool:
    return facts.has_come(since_ms + facts.settings.commit_silence_ms)


def _came_to_stay(facts: Facts, place: TopicPartition, came_ms: int) -> bool:
    """Whether records were seen to come then, and the next poll does not move that sight."""
    ends = facts.known[place].ends
    return came_ms != ends[-1].at_ms or facts.has_come(stays_from_ms(ends))


def _finding(facts: Facts, reason: str, since: Since, evidence: Evidence, members: tuple[str, ...] = ()) -> Observation:
    return Observation(
        kind=FindingKind.UNCOMMITTED,
        reason=reason,
        since_ms=facts.not_later_than_now(min(since.values())),
        evidence=evidence,
        partitions=tuple(sorted(since)),
        members=members,
    )


RULES: Final = (Rule(find_uncommitted, of_owners=False),)
