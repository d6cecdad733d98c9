"""Records that may end whoever reads them: owner after owner begins at one offset, and leaves without another commit.

A record that a consumer cannot process ends the consumer, or lets it hang until the group removes it. The partition
goes to the next owner, which meets the same record. One generation shows nothing of that, and a group that is deployed
looks alike for a minute. The departures that the state of a group keeps tell the two apart
(monitor.tracking.offsets.departures).

Rule 1: A partition has a ``stuck_record`` when records have waited there for ``commit_silence_ms``, and FEW owners in a
row began at its committed offset and left. Each must have stood still in all of its partitions for longer than is
usual there, for three usual times between two commits of the group, and for LEAST_MS. Other partitions of the group
must have moved after that, before it had left.
Rule 2: Owners that left sooner count once they are MANY, if other partitions moved meanwhile.
Rule 3: No more other members may have left the group than owners, and for rule 2 no more than a third of them: in a
deployment, everybody leaves.
Rule 4: A living owner refutes it that had the time to hang, and has moved other partitions since.
Rule 5: There is none where an open transaction holds back what waits, or where transactions are not committed.
Rule 6: Sinks of Connect and tasks of Kafka Streams may commit everything at once, so there is none for them.
Rule 7: Where no other partition moved, a record cannot be distinguished from a database that is down. Then ALONE
owners of rule 1 are reported with ``not_committing``, and no record is accused (rule 16 of stalled_commits).
Rule 8: So are MANY owners that left sooner, once records have waited in vain for longer than an owner of rule 1 must
have stood. If too many others left for rule 2, or nothing is known of how often the group commits, no partition of it
may have moved for DEPLOYED times ``commit_silence_ms``.
Rule 9: Rule 8 is for no partition whose commits repeat the offset while others move: that may be paused.
Rule 10: Such a group is empty most of the time. Rules 7 and 8 hold until it has been for ``commit_silence_ms``, and for
RHYTHMS times as long as it ever took from one owner to the next. Only then the group is unattended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from monitor.detection.lag.commit_cadence import RHYTHMS, longest_usual_ms, usual_gap_ms
from monitor.detection.lag.standstill import moved_ms, standstill_of
from monitor.detection.lag.waiting import in_vain_since_ms
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.current import began_ms
from monitor.detection.rules.open_transaction import Markers, is_held_back
from monitor.detection.rules.rule import Rule
from monitor.detection.rules.transactions import failing_attempts, owners_that_wait
from monitor.findings.lag import StuckRecord
from monitor.findings.observation import Observation
from monitor.model import CommittedOffset, FindingKind, Phase, TopicPartition, Value
from monitor.model.commit_history import newest_in
from monitor.model.departures import Departures, longest_standing_ms

FEW: Final = 2
"""So many owners that stood for long are no accident, where the group continues elsewhere."""

MANY: Final = 5
"""So many owners that left at once are no accident, where hardly another member left."""

ALONE: Final = 3
"""So many owners that stood for long are worth a word where nothing else moved."""

LEAST_MS: Final = 5_000
"""A consumer that begins needs so long for its first commit (``auto.commit.interval.ms``)."""

DEPLOYED: Final = 5
"""Times ``commit_silence_ms``: by then, members that leave do not do so for a deployment."""

_WITH_CONSUMERS: Final = frozenset({Phase.STABLE, Phase.ASSIGNING, Phase.RECONCILING, Phase.EMPTY})


class Stuck(Value):
    """A partition whose owners left one after the other. ``is_alone``: they accuse no record.

    ``is_awaited``: the group has members, or the next owner may be about to come.
    """

    since_ms: int
    offset: int
    owners: int
    distance: int
    is_alone: bool
    is_awaited: bool


def stuck_records(facts: Facts) -> dict[TopicPartition, Stuck]:
    """The partitions of rules 1 and 2."""
    return {place: each for place, each in _stuck(facts) if not each.is_alone}


def owners_that_left_alone(facts: Facts) -> dict[TopicPartition, Stuck]:
    """The partitions of rules 7 and 8, in a group that has members, or will have again (rule 10)."""
    return {place: each for place, each in _stuck(facts) if each.is_alone and each.is_awaited}


def is_between_owners(facts: Facts) -> bool:
    """Whether the group has no members, and only until the next of the owners that leave comes."""
    return facts.group.phase is Phase.EMPTY and any(each.is_awaited for _, each in _stuck(facts))


def _stuck(facts: Facts) -> Iterator[tuple[TopicPartition, Stuck]]:
    departures = [each for each in facts.group.departures if each.owners >= FEW]
    if not departures or facts.group.phase not in _WITH_CONSUMERS or _may_commit_at_once(facts):
        return
    rows = {TopicPartition(row.topic, row.partition): row for row in facts.waiting}
    excused = owners_that_wait(facts).keys() | failing_attempts(facts).keys()
    markers = Markers(facts)
    for each in departures:
        place = TopicPartition(each.topic, each.partition)
        row, commit = rows.get(place), facts.committed.get(place)
        if row is None or commit is None or place in excused or is_held_back(row) or not _is_in_log(commit):
            continue
        since_ms = in_vain_since_ms(facts, row, moved_ms(commit))
        if since_ms is None or markers.alone_wait(row) or _is_refuted(facts, place):
            continue
        is_alone = _is_alone(facts, place, each, since_ms)
        if is_alone is not None:
            is_awaited = _is_owner_awaited(facts, each)
            yield place, Stuck(since_ms, commit.offset, each.owners, each.distance, is_alone, is_awaited)


def _may_commit_at_once(facts: Facts) -> bool:
    is_sink = facts.sink is not None or bool(facts.sinks)
    return is_sink or facts.traits.reads_by_task or facts.deliveries is not None


def _is_in_log(commit: CommittedOffset) -> bool:
    """Whether the log's own offset counts, and not what the broker says of an aborted transaction."""
    newest = newest_in(commit.history)
    return newest is not None and newest.offset == commit.offset


def _is_alone(facts: Facts, place: TopicPartition, departures: Departures, since_ms: int) -> bool | None:
    """Whether only this partition is known to have been read; None: the owners prove nothing."""
    patience_ms = _patience_ms(facts, place)
    left = [each for each in departures.newest if each.left_ms > since_ms]
    are_many, have_others_left = len(left) >= MANY, 3 * departures.others > departures.owners
    if patience_ms is None:
        return True if are_many and _moves_nothing(facts, since_ms) else None
    spans = [(max(each.stood_ms, since_ms), each) for each in left]
    stood = [(from_ms, each) for from_ms, each in spans if each.left_ms - from_ms >= patience_ms]
    beside = [each for from_ms, each in stood if each.others_ms >= from_ms + patience_ms]
    if len(beside) >= FEW and departures.others <= departures.owners:
        return False
    began_ms = max(departures.newest[0].stood_ms, since_ms)
    went_on = max([each.others_ms for each in left], default=0) >= began_ms + patience_ms
    if are_many and went_on and not have_others_left:
        return False
    if len(stood) - len(beside) >= ALONE and departures.others <= departures.owners:
        return True
    if not are_many:
        return None
    is_told = _moves_nothing(facts, since_ms) if have_others_left else _is_in_vain(facts, place, since_ms + patience_ms)
    return True if is_told else None


def _is_in_vain(facts: Facts, place: TopicPartition, until_ms: float) -> bool:
    """Whether records have waited until then, and the partition does not look like one that is paused."""
    is_repeated = standstill_of(facts.committed[place]) is not None
    return facts.has_come(until_ms) and not (is_repeated and _newest_group_move_ms(facts) > until_ms)


def _moves_nothing(facts: Facts, since_ms: int) -> bool:
    """Whether no partition of the group has moved for longer than a deployment keeps them from it."""
    still_ms = max(since_ms, _newest_group_move_ms(facts))
    return facts.has_come(still_ms + DEPLOYED * facts.settings.commit_silence_ms)


def _newest_group_move_ms(facts: Facts) -> int:
    return max(map(moved_ms, facts.committed.values()))


def _is_owner_awaited(facts: Facts, departures: Departures) -> bool:
    """Whether the group has members, or has not been without for longer than it was between owners before.

    Whatever starts a consumer again may wait longer each time. The owners after the first two may not be kept.
    """
    if facts.group.phase is not Phase.EMPTY:
        return True
    newest = departures.newest[2 if departures.owners > len(departures.newest) else 0 :]
    pauses = [after.left_ms - before.left_ms for before, after in pairwise(newest)]
    absence_ms = max(facts.settings.commit_silence_ms, RHYTHMS * max(pauses, default=0))
    return not facts.has_come(facts.group.phase_ms + absence_ms)


def _patience_ms(facts: Facts, place: TopicPartition) -> float | None:
    """For how long an owner must have stood; None: nothing is known of how often the group commits."""
    gaps = [gap for commit in facts.committed.values() if (gap := usual_gap_ms(commit)) is not None]
    if not gaps:
        return None
    own_ms = longest_usual_ms(facts.committed[place], facts.known[place]) or 0
    return max(RHYTHMS * min(gaps), own_ms, LEAST_MS)


def _is_refuted(facts: Facts, place: TopicPartition) -> bool:
    """Whether an owner of the partition lives on, and works elsewhere."""
    owners = facts.ownership.owners.get(place, ())
    for member in facts.group.members if owners else ():
        if member.member_id in owners:
            had_time_ms = began_ms(facts.group, member) + longest_standing_ms(member)
            if facts.has_come(had_time_ms) and _newest_move_ms(facts, member.member_id) > had_time_ms:
                return True
    return False


def _newest_move_ms(facts: Facts, owner: str) -> int:
    owners = facts.ownership.owners
    return max([moved_ms(commit) for place, commit in facts.committed.items() if owner in owners.get(place, ())])


def find_stuck_records(facts: Facts) -> Iterable[Observation]:
    """All of them in one finding, with the partition that most owners left as the example."""
    found = stuck_records(facts)
    if not found:
        return
    partitions = tuple(sorted(found))
    example = max(partitions, key=lambda place: found[place].owners)
    stuck = found[example]
    yield Observation(
        kind=FindingKind.LAG,
        reason="stuck_record",
        since_ms=facts.not_later_than_now(min(each.since_ms for each in found.values())),
        evidence=StuckRecord(example, stuck.offset, stuck.owners, stuck.distance),
        partitions=partitions,
    )


RULES: Final = (Rule(find_stuck_records, of_owners=False, needs_lag=True),)
