"""Who left, joined or hung, and how that is known."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile
from operator import attrgetter
from typing import Final

from monitor.history.chronicle.values import Chronicle, CommitGap, MembersChanged, MemberThen, OwnerSpan
from monitor.history.report.facts import Departure, FindingThen, MemberHung, MemberJoined, MemberLeft
from monitor.model import KINDS, FindingKind, TopicPartition, Value

Place = TopicPartition

_LEFT_MS: Final[Callable[[MemberLeft], int]] = attrgetter("at_ms")

NOT_COMMITTING: Final = "not_committing"
"""The reason of the finding about partitions without commits: it is known for their owners, not for others."""


USUAL_COMMITS_MS: Final = 5_000
"""The default of auto.commit.interval.ms: a member may have died so long after its last commit."""

REMOVAL_MS: Final = 5_000
"""So long after its session it may be gone at the latest: the other members rejoin with their next heartbeat."""


class Owned:
    """Which partitions a member had at an instant."""

    def __init__(self, spans: Iterable[OwnerSpan]) -> None:
        self._spans: defaultdict[str, list[OwnerSpan]] = defaultdict(list)
        for span in spans:
            for owner in span.owners:
                self._spans[owner].append(span)

    def before(self, member_id: str, at_ms: int) -> tuple[OwnerSpan, ...]:
        """The spans that had begun before the instant and lasted until it or longer."""
        return tuple([span for span in self._spans[member_id] if span.from_ms < at_ms <= span.until_ms])

    def during(self, member_id: str, from_ms: int, until_ms: int) -> tuple[OwnerSpan, ...]:
        """The spans that overlap a span of time."""
        return tuple([span for span in self._spans[member_id] if span.from_ms <= until_ms and span.until_ms >= from_ms])


class Gaps:
    """Gaps between commits, by partition."""

    def __init__(self, gaps: Iterable[CommitGap]) -> None:
        self._gaps: defaultdict[Place, list[CommitGap]] = defaultdict(list)
        for gap in gaps:
            self._gaps[Place(gap.topic, gap.partition)].append(gap)

    def at(self, place: Place, at_ms: int) -> CommitGap | None:
        """The gap in which an instant lies; None: it is not known."""
        for gap in self._gaps[place]:
            if gap.from_ms <= at_ms and (gap.until_ms is None or at_ms < gap.until_ms):
                return gap
        return None


def place_of(span: OwnerSpan) -> Place:
    """The partition that was owned."""
    return Place(span.topic, span.partition)


def members_left(chronicle: Chronicle, owned: Owned, gaps: Gaps) -> Iterator[MemberLeft]:
    """Every member that went, in the order of time."""
    later = _Later(chronicle.changes, namesakes(chronicle))
    for change in chronicle.changes:
        for member in change.left:
            spans = owned.before(member.member_id, change.at_ms)
            last_ms = _last_commit_ms(spans, gaps, change.at_ms)
            yield MemberLeft(
                at_ms=change.at_ms,
                member=member,
                departure=_departure(
                    chronicle, change, member, _silence(chronicle, spans, gaps, change.at_ms, last_ms)
                ),
                partitions=tuple(sorted(map(place_of, spans))),
                last_commit_ms=last_ms,
                back_ms=later.back_ms(member, change.at_ms),
                members=change.members - len(change.joined) + len(change.left),
            )


def _last_commit_ms(spans: Iterable[OwnerSpan], gaps: Gaps, at_ms: int) -> int | None:
    """The last commit in partitions by who had them; an earlier one was of another member."""
    found = [(gaps.at(place_of(span), at_ms), span.from_ms) for span in spans]
    return max([gap.from_ms for gap, since_ms in found if gap is not None and gap.from_ms > since_ms], default=None)


class _Silence(Value):
    """How long a member had committed nothing when it was gone, what is usual, and whether it had records to commit."""

    ms: int
    usual_ms: int
    had_records: bool


def _silence(
    chronicle: Chronicle, spans: Iterable[OwnerSpan], gaps: Gaps, at_ms: int, last_ms: int | None
) -> _Silence | None:
    """None: its last commit is not known."""
    if last_ms is None:
        return None
    own = [gap for span in spans if (gap := gaps.at(place_of(span), at_ms)) is not None]
    return _Silence(
        ms=at_ms - last_ms,
        usual_ms=max([USUAL_COMMITS_MS, *(gap.usual_ms or 0 for gap in own)]),
        had_records=any(has_records(gap, chronicle) for gap in own),
    )


def has_records(gap: CommitGap, chronicle: Chronicle) -> bool:
    """Whether there was anything to commit: who takes over may commit first where the other one was."""
    if gap.until_offset is not None and gap.until_offset > gap.from_offset:
        return True
    end_ms = chronicle.until_ms if gap.until_ms is None else gap.until_ms
    own = [each for each in chronicle.extremes if (each.topic, each.partition) == (gap.topic, gap.partition)]
    return any((each.lag or 0) > 0 for each in own if gap.from_ms < each.at_ms <= end_ms)


def _departure(chronicle: Chronicle, change: MembersChanged, member: MemberThen, silence: _Silence | None) -> Departure:
    if member.instance_id is not None:
        is_back = any(each.instance_id == member.instance_id for each in change.joined)
        return Departure.REPLACED if is_back else Departure.TIMED_OUT
    if not KINDS[chronicle.kind].has_generations or silence is None or not member.session_ms:
        return Departure.LEFT_OR_TIMED_OUT
    if silence.ms < member.session_ms:
        limit_ms = _longest_rebalance_ms(chronicle, change)
        in_time = limit_ms is not None and limit_ms < member.rebalance_ms
        return Departure.LEFT if in_time else Departure.LEFT_OR_TIMED_OUT
    return Departure.LIKELY_TIMED_OUT if _fits_timeout(member, silence) else Departure.LEFT_OR_TIMED_OUT


def _fits_timeout(member: MemberThen, silence: _Silence) -> bool:
    """Whether it had records to commit, and was gone when its session was over, but before it had to poll again.

    Kafka's Java client leaves by itself after max.poll.interval.ms, which is its rebalance timeout.
    """
    is_in_time = silence.ms <= member.session_ms + silence.usual_ms + REMOVAL_MS
    return silence.had_records and is_in_time and not 0 < member.rebalance_ms <= silence.ms


def _longest_rebalance_ms(chronicle: Chronicle, change: MembersChanged) -> int | None:
    """How long the rebalance took at most by which a member was missed; None: that is not known."""
    own = next((each for each in chronicle.rebalances if each.ended_ms == change.at_ms), None)
    if own is not None and own.uncertainty_ms is not None:
        return change.at_ms - own.started_ms + own.uncertainty_ms
    ends = [each.ended_ms or 0 for each in chronicle.rebalances]
    place = bisect_left(ends, change.at_ms)
    return change.at_ms - ends[place - 1] if place else None


class _Later:
    """Who joined when, by what a member that comes back has in common with the one that left."""

    def __init__(self, changes: Iterable[MembersChanged], alike: AbstractSet[str]) -> None:
        self._alike = alike
        self._joined: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for change in changes:
            for member in change.joined:
                self._joined[identity(member, alike)].append(change.at_ms)

    def back_ms(self, member: MemberThen, at_ms: int) -> int | None:
        """When such a member joined, at that instant or later."""
        times = self._joined[identity(member, self._alike)]
        place = bisect_left(times, at_ms)
        return times[place] if place < len(times) else None


def identity(member: MemberThen, alike: AbstractSet[str]) -> tuple[str, ...]:
    """What a member that restarts has again: its instance id, or its client id and host.

    If others of ``alike`` (see :func:`namesakes`) had these at the same time, they are not unique: its id is.
    """
    if member.instance_id is not None:
        return ("instance", member.instance_id)
    if member.member_id in alike or not member.client_id:
        return ("member", member.member_id)
    return ("client", member.client_id, member.host)


def members_joined(chronicle: Chronicle, left: Sequence[MemberLeft]) -> Iterator[MemberJoined]:
    """Every member that came, in the order of time; not those that took over the place of a static one."""
    alike = namesakes(chronicle)
    gone: defaultdict[tuple[str, ...], list[MemberLeft]] = defaultdict(list)
    for each in left:
        gone[identity(each.member, alike)].append(each)
    for change in chronicle.changes:
        for member in change.joined:
            before = gone.get(identity(member, alike), [])
            at_once = before[bisect_left(before, change.at_ms, key=_LEFT_MS) :]
            now = takewhile(lambda each: each.at_ms == change.at_ms, at_once)  # noqa: B023 -- used up at once
            if not any(each.departure is Departure.REPLACED for each in now):
                yield MemberJoined(change.at_ms, member, is_back=bool(before) and before[0].at_ms <= change.at_ms)


def members_hung(
    chronicle: Chronicle, findings: Iterable[FindingThen], owned: Owned, gaps: Gaps
) -> Iterator[MemberHung]:
    """Members that committed nothing in their partitions, by the findings about them."""
    known = {member.member_id: member for member in chronicle.members}
    for finding in findings:
        is_of_partitions = (finding.kind, finding.reason) == (FindingKind.LAG, NOT_COMMITTING)
        if finding.kind != FindingKind.DEAD_MEMBER and not is_of_partitions:
            continue
        told = set(finding.partitions)
        names = _owners(chronicle.owners, finding) if is_of_partitions else finding.members
        for name in names:
            spans = owned.during(name, finding.opened_ms, finding.opened_ms)
            places = tuple(sorted({place_of(span) for span in spans} & told))
            yield _hung(known.get(name, MemberThen(name)), finding, places, gaps)


def _owners(spans: Iterable[OwnerSpan], finding: FindingThen) -> tuple[str, ...]:
    told = set(finding.partitions)
    found = [span.owners for span in spans if place_of(span) in told and _covers(span, finding.opened_ms)]
    return tuple(sorted({owner for owners in found for owner in owners}))


def _covers(span: OwnerSpan, at_ms: int) -> bool:
    return span.from_ms <= at_ms <= span.until_ms


def _hung(member: MemberThen, finding: FindingThen, places: tuple[Place, ...], gaps: Gaps) -> MemberHung:
    """The finding opens when it is certain; the commits tell when it began and ended."""
    found = [gap for place in places if (gap := gaps.at(place, finding.opened_ms)) is not None]
    again = [gap.until_ms for gap in found if gap.until_ms is not None]
    first_ms = min(again, default=None)
    is_known = first_ms is not None and first_ms <= finding.until_ms
    return MemberHung(
        member=member,
        reason=finding.reason,
        from_ms=max([gap.from_ms for gap in found], default=finding.since_ms),
        until_ms=first_ms if is_known and first_ms is not None else finding.until_ms,
        is_over=is_known or finding.is_over,
        partitions=places,
        is_committed=is_known,
    )


def lives(chronicle: Chronicle) -> Mapping[str, tuple[int, int]]:
    """From when to when each member was there, as far as the chronicle reaches."""
    joined = {member.member_id: change.at_ms for change in chronicle.changes for member in change.joined}
    left = {member.member_id: change.at_ms for change in chronicle.changes for member in change.left}
    return {
        each.member_id: (
            joined.get(each.member_id, chronicle.since_ms),
            left.get(each.member_id, chronicle.until_ms),
        )
        for each in chronicle.members
    }


def namesakes(chronicle: Chronicle) -> frozenset[str]:
    """The members beside which, at the same time, another one had the same client id and host."""
    there = lives(chronicle)
    alike: defaultdict[tuple[str, str], list[tuple[int, int, str]]] = defaultdict(list)
    for member in chronicle.members:
        alike[member.client_id, member.host].append((*there[member.member_id], member.member_id))
    found: set[str] = set()
    for same in alike.values():
        last_ms, last = -1, ""
        for from_ms, until_ms, name in sorted(same):
            if from_ms < last_ms:
                found |= {last, name}
            if until_ms > last_ms:
                last_ms, last = until_ms, name
    return frozenset(found)
