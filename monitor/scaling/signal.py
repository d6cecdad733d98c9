"""The number of members that an autoscaler reads: what is enough, held where that says nothing, lowered late.

Nothing that is missing makes the number lower. Where the group cannot be judged, there is no number at all; where
another number would not help, the latest number stays, and no less than the members that there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import ceil
from typing import Final, NamedTuple

from msgspec.structs import replace

from monitor.detection.evaluation_input import QuestionError
from monitor.detection.lag.throughput import Progress, progress_of
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import began_ms
from monitor.messages.formatting import age, counted
from monitor.model import (
    CommittedOffset,
    GroupState,
    GroupVerdict,
    Member,
    PartitionVerdict,
    TopicPartition,
    Value,
)
from monitor.model.commit_history import columns_of
from monitor.model.scaling import EnoughMembers, ScaleHold, ScaleMemory, ScaleTarget, Scaling
from monitor.scaling.capacity import (
    APART_MS,
    Capacity,
    OwnedProgress,
    capacity_of,
    saturated_rates,
    with_rates,
)
from monitor.scaling.holds import UNMEASURED, Held, crowded_hold, find_hold, why_unknown
from monitor.scaling.loads import Loads, partition_loads
from monitor.scaling.plan import MOST_PARTITIONS, Choice, Situation, choose_members, plan_row
from monitor.scaling.shares import ShareTable

RENEWED_MS: Final = 30_000
"""A number is made again after this time: the rates that it is made of change while nothing happens."""
CROWDED_FOR_MS: Final = 300_000
"""A short burst in one partition is over by then."""
KNOWN_MS: Final = 1
"""``since_ms`` of a group that counts as known for long."""
LATEST_FOR_MS: Final = 300_000
"""After so long without a number, the latest one counts no more: the group may have got another one since."""
_MOTION: Final = frozenset({ScaleHold.REBALANCE, ScaleHold.SETTLING})
"""While members come and go, the members that there are say nothing of those that are to be."""

_Commits = Mapping[TopicPartition, CommittedOffset]


class ScaleCase(NamedTuple):
    """A group at the instant of its verdict; ``table`` has who would own what."""

    group: GroupState
    verdict: GroupVerdict
    topics: Topics
    owners: Owners
    table: ShareTable
    target: ScaleTarget

    @property
    def now_ms(self) -> int:
        """The instant."""
        return self.verdict.evaluated_ms


class Signal(Value):
    """A number of members, what is to be remembered of it, and until when it holds if nothing happens (ms).

    ``until_ms`` None: for as long as nothing does.
    """

    scaling: Scaling
    memory: ScaleMemory
    until_ms: int | None
    crowded: tuple[TopicPartition, ...] = ()
    """The partitions that bring more than one member reads, and have done so for CROWDED_FOR_MS."""


class Measured(NamedTuple):
    """What a number of members is made of; None: unknown."""

    loads: Loads | None
    capacity: Capacity | None

    def situation(self, target: ScaleTarget) -> Situation | None:
        """All that a plan is made of; None: something of it is unknown."""
        if self.loads is None or self.capacity is None:
            return None
        return Situation(target, self.loads, self.capacity)


def judge_scaling(case: ScaleCase, memory: ScaleMemory) -> Signal:
    """How many members the group needs. ``memory`` is that of its last signal; empty: there was none."""
    return judge_measured(case, *measure(case, memory))


def judge_measured(case: ScaleCase, measured: Measured, memory: ScaleMemory) -> Signal:
    """As :func:`judge_scaling`, by what was measured and the memory with it."""
    situation = measured.situation(case.target)
    if situation is None:
        return _judge_situation(case, memory, measured, None)
    crowded = situation.crowded_partitions()
    memory = replace(memory, crowded_ms=(memory.crowded_ms or case.now_ms) if crowded else 0)
    found = _judge_situation(case, memory, measured, situation)
    if not crowded or memory.crowded_ms + CROWDED_FOR_MS > case.now_ms:
        return found
    return replace(found, crowded=tuple(sorted([each.place for each in crowded])))


def _judge_situation(case: ScaleCase, memory: ScaleMemory, measured: Measured, situation: Situation | None) -> Signal:
    shown = _describe(case, measured, situation)
    unknown = next(why_unknown(case.verdict), None)
    if unknown is None and measured.loads is None:
        unknown = "What comes into its partitions is unknown: polls have begun less than a minute ago, or have stopped."
    if unknown is None and case.table.partitions > MOST_PARTITIONS:
        unknown = f"groupwatch has numbers for groups of at most {MOST_PARTITIONS} partitions."
    if unknown is not None:
        return _unknown(case, memory, shown, unknown)
    held = find_hold(case.group, case.verdict, case.topics)
    if held is not None:
        least = 0 if situation is None or not held.may_rise else _needed_by_inflow(case, situation)
        return _hold_number(case, memory, shown, held, least)
    if situation is None:
        return _hold_number(case, memory, shown, UNMEASURED)
    try:
        return _calculate_number(case, memory, shown, situation)
    except QuestionError as error:
        return _unknown(case, memory, shown, str(error))


# --- what is measured -------------------------------------------------------------------------------------------------


def measure(case: ScaleCase, memory: ScaleMemory) -> tuple[Measured, ScaleMemory]:
    """What the partitions bring and what members read, with a memory that has the rates that are measured now."""
    commits = {TopicPartition(each.topic, each.partition): each for each in case.group.offsets}
    last = {each.member_id: each.at_ms for each in memory.rates}
    owned = _owned_progress(case, commits, {name for name, at_ms in last.items() if at_ms + APART_MS > case.now_ms})
    rates = with_rates(memory.rates, saturated_rates(owned), case.now_ms)
    loads = partition_loads(_read_rows(case), case.topics, commits, case.now_ms, case.target.down_after_ms)
    return Measured(loads, capacity_of(rates)), replace(memory, rates=rates)


def _read_rows(case: ScaleCase) -> Sequence[PartitionVerdict]:
    """The partitions that members read or should read."""
    return [row for row in case.verdict.partitions if row.owners or row.orphan is not None]


def _owned_progress(case: ScaleCase, commits: _Commits, left_out: AbstractSet[str]) -> Iterator[OwnedProgress]:
    """The members for which records wait, each with its partitions. Those of ``left_out`` were measured a moment ago.

    One that shares a partition, or that reads one of which nothing is known, is left out: it reads more than is seen.
    """
    lagging = {row.owners[0] for row in case.verdict.partitions if row.lag and len(row.owners) == 1}
    for member in case.group.members:
        if member.member_id in lagging and member.member_id not in left_out:
            owned = [place for place, ids in case.owners.items() if member.member_id in ids]
            if all(case.owners[place] == (member.member_id,) and _is_seen(case, place, commits) for place in owned):
                yield _member_progress(case, member, owned, commits)


def _is_seen(case: ScaleCase, place: TopicPartition, commits: _Commits) -> bool:
    """Whether the progress of a partition is known. One without records has none."""
    state = case.topics.places(place.topic).get(place)
    return state is not None and (place in commits or state.end is None or state.end <= (state.earliest or 0))


def _member_progress(
    case: ScaleCase, member: Member, own: Sequence[TopicPartition], commits: _Commits
) -> OwnedProgress:
    found = [progress for place in own if (progress := _progress(case, place, commits))]
    removed_ms = max([_removed_ms(case, place, commits) for place in own], default=0)
    known = [commit.jump for place in own if (commit := commits.get(place)) is not None and commit.jump is not None]
    jumps = tuple([jump for each in known for jump in each.both])
    return OwnedProgress(
        member.member_id, member.host, began_ms(case.group, member), tuple(found), removed_ms=removed_ms, jumps=jumps
    )


def _progress(case: ScaleCase, place: TopicPartition, commits: _Commits) -> Progress | None:
    """How a partition went on; None: it has no commit, or no poll has seen it."""
    commit, state = commits.get(place), case.topics.places(place.topic).get(place)
    return None if commit is None or state is None else progress_of(commit, state)


def _removed_ms(case: ScaleCase, place: TopicPartition, commits: _Commits) -> int:
    """When a partition last committed an offset before those that are retained (ms); 0: never, as far as is known.

    Retention may have moved its reader on from there.
    """
    commit, state = commits.get(place), case.topics.places(place.topic).get(place)
    if commit is None or state is None:
        return 0
    times, offsets = columns_of(commit.history)
    cut = [at_ms for at_ms, offset in zip(times, offsets, strict=True) if offset < (state.earliest or 0)]
    return max(cut, default=0)


def members_per_replica(members: Sequence[Member], target: ScaleTarget) -> int | None:
    """How many members a replica has: one, if each member has a host of its own; None: it is not known.

    Several members of one host may be threads of one replica, or replicas behind one address.
    """
    if target.members_per_replica is not None:
        return target.members_per_replica
    hosts = {member.host for member in members if member.host}
    return 1 if members and len(hosts) == len(members) else None


def _describe(case: ScaleCase, measured: Measured, situation: Situation | None) -> Scaling:
    """All but the number: what is known of the group as it is."""
    loads, capacity = measured
    brought = None if loads is None else list(loads.values())
    members = case.group.members
    drain_ms = None
    if situation is not None and members:
        drain_ms = plan_row(len(members), case.table.of(len(members)), situation).drain_ms
    return Scaling(
        target_ms=case.target.target_ms,
        sentence="",
        members=len(members),
        members_per_replica=members_per_replica(members, case.target),
        drain_ms=drain_ms,
        capacity_per_s=None if capacity is None else round(capacity.per_s, 3),
        capacity_samples=0 if capacity is None else capacity.samples,
        incoming_per_s=None if brought is None else round(sum([each.incoming_per_s for each in brought]), 3),
        waiting=None if brought is None else round(sum([each.waiting for each in brought])),
    )


# --- the number -------------------------------------------------------------------------------------------------------


def _unknown(case: ScaleCase, memory: ScaleMemory, shown: Scaling, reason: str) -> Signal:
    """No number. What was enough before says nothing of the time in between, and the latest one soon nothing at all."""
    since_ms = memory.unknown_ms or case.now_ms
    latest = memory.latest if case.now_ms - since_ms <= LATEST_FOR_MS else None
    forgotten = replace(memory, since_ms=0, enough=(), latest=latest, unknown_ms=since_ms)
    forgets_ms = None if latest is None else since_ms + LATEST_FOR_MS + 1
    due_ms = case.now_ms + RENEWED_MS if case.verdict.members else forgets_ms
    return Signal(replace(shown, sentence=reason), forgotten, due_ms)


def _await_number(case: ScaleCase, memory: ScaleMemory, shown: Scaling, enough: tuple[EnoughMembers, ...]) -> Signal:
    """No number yet: the members that there are may be fewer than there are to be, and nothing was known before."""
    kept = replace(memory, since_ms=memory.since_ms or case.now_ms, enough=enough, unknown_ms=0)
    wait = age(case.target.down_after_ms)
    sentence = f"groupwatch has not known the group for {wait}, so its members may be fewer than usual."
    known_ms = kept.since_ms + case.target.down_after_ms
    return Signal(replace(shown, sentence=sentence), kept, min(known_ms, _renewed_ms(case, shown) or known_ms))


def _needed_by_inflow(case: ScaleCase, situation: Situation) -> int:
    """How many members what comes in needs, whatever waits; 0: unknown."""
    loads = {place: replace(load, waiting=0.0) for place, load in situation.loads.items()}
    try:
        return choose_members(case.table, replace(situation, loads=loads)).members
    except QuestionError:
        return 0


def _hold_number(case: ScaleCase, memory: ScaleMemory, shown: Scaling, held: Held, least: int = 0) -> Signal:
    """The latest number; while members come and go, those that there are say nothing. ``least``: it rises to that."""
    is_moving = held.reason in _MOTION
    wanted = memory.latest or 0 if is_moving else max(memory.latest or 0, len(case.group.members))
    rises, sentence = least > max(wanted, len(case.group.members)), held.sentence
    if rises:
        wanted, sentence = least, f"{held.sentence} What comes in needs {counted(least, 'member')}."
    enough = memory.enough if is_moving and not rises else _with_enough(memory.enough, case, wanted)
    if memory.latest is None and not _is_known_for_long(case, memory):
        return _await_number(case, memory, replace(shown, hold=None), enough)
    if not wanted:
        return _unknown(case, memory, shown, held.sentence)
    told = _within_limits(case, wanted)
    since_ms = memory.since_ms or case.now_ms
    kept = replace(memory, since_ms=since_ms, enough=enough, latest=told, unknown_ms=0)
    scaling = replace(_wanting(shown, told), sentence=sentence, hold=held.reason)
    return Signal(scaling, kept, held.until_ms or _renewed_ms(case, shown))


def _renewed_ms(case: ScaleCase, shown: Scaling) -> int | None:
    """When the number is made again though nothing happens; None: nothing comes in or waits, so no rate changes."""
    is_quiet = shown.incoming_per_s == 0 and shown.waiting == 0
    return None if is_quiet else case.now_ms + RENEWED_MS


def _is_known_for_long(case: ScaleCase, memory: ScaleMemory) -> bool:
    return bool(memory.since_ms) and memory.since_ms + case.target.down_after_ms <= case.now_ms


def _calculate_number(case: ScaleCase, memory: ScaleMemory, shown: Scaling, situation: Situation) -> Signal:
    """The number that is enough now, and no lower than those that were enough in the last minutes."""
    choice = choose_members(case.table, situation)
    needed = choice.members
    crowded = crowded_hold(situation.crowded_partitions())
    baseline = max(memory.latest or 0, len(case.group.members))
    if crowded is not None and needed <= baseline:
        return _hold_number(case, memory, shown, crowded)
    enough = _with_enough(memory.enough, case, needed)
    wanted = max(each.members for each in enough)
    if wanted < baseline and not _is_known_for_long(case, memory):
        wanted = baseline
    if memory.latest is None and wanted <= baseline and not _is_known_for_long(case, memory):
        return _await_number(case, memory, shown, enough)
    told = _within_limits(case, wanted)
    kept = replace(memory, since_ms=memory.since_ms or case.now_ms, enough=enough, latest=told, unknown_ms=0)
    sentence = _why(choice, told, case, situation)
    return Signal(replace(_wanting(shown, told), sentence=sentence), kept, _due_ms(case, kept, shown, needed))


def _due_ms(case: ScaleCase, memory: ScaleMemory, shown: Scaling, needed: int) -> int | None:
    """When the number may become another one if nothing happens: where nothing comes in, only once it may fall."""
    if (renewed_ms := _renewed_ms(case, shown)) is not None:
        return renewed_ms
    if memory.latest == _within_limits(case, needed):
        return None
    falls_ms = memory.since_ms if len(memory.enough) == 1 else memory.enough[0].until_ms + RENEWED_MS + 1
    return max(case.now_ms + 1, falls_ms + case.target.down_after_ms)


def _with_enough(known: tuple[EnoughMembers, ...], case: ScaleCase, members: int) -> tuple[EnoughMembers, ...]:
    """What was enough in the last minutes, and what is now. What a later, higher number covers is left out.

    A number counts for RENEWED_MS after it was seen, as it is looked at so often, and is noted no more often.
    """
    oldest_ms = case.now_ms - case.target.down_after_ms - RENEWED_MS
    higher = [each for each in known if each.members > members and each.until_ms >= oldest_ms]
    last = known[-1] if known else None
    if last is not None and last.members == members and case.now_ms - last.until_ms < RENEWED_MS // 2:
        return (*higher, last)
    return (*higher, EnoughMembers(case.now_ms, members))


def _within_limits(case: ScaleCase, members: int) -> int:
    """The number that is between those of the entry."""
    target = case.target
    return max(target.least, members if target.most is None else min(members, target.most))


def _wanting(shown: Scaling, members: int) -> Scaling:
    each = shown.members_per_replica
    return replace(shown, wanted_members=members, wanted_replicas=None if each is None else ceil(members / each))


def _why(choice: Choice, wanted: int, case: ScaleCase, situation: Situation) -> str:
    needed, is_short = choice.members, not choice.is_enough or bool(situation.crowded_partitions())
    target = case.target
    row = plan_row(needed, case.table.of(needed), situation)
    closest = f"{counted(needed, 'member')} {'comes' if needed == 1 else 'come'} closest"
    if is_short and not row.is_in_time:
        return f"No number of members reads all that waits within {age(target.target_ms)}; {closest}."
    if is_short and not row.has_headroom:
        return f"No number of members leaves the headroom of {1 - target.headroom:.0%}; {closest}."
    verb = "is" if needed == 1 else "are"
    enough = f"{counted(needed, 'member')} {verb} enough to read all that waits within {age(target.target_ms)}"
    if wanted > needed:
        return f"{enough}; the number falls once that has been so for {age(target.down_after_ms)}."
    return f"{enough}."
