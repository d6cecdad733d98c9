"""What a report on an incident has: facts first, then the sentences made of them. Times are ms since the epoch."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from monitor.history.chronicle.values import GroupPoint, LogTruncated, MemberThen, OwnerSpan, RewindThen, TopicChanged
from monitor.model import GroupKind, PartitionId, RebalanceCause, TopicPartition, Value
from monitor.model.findings import Severity

SHORT_MS: Final = 1_000
"""For less than that, partitions have no owner in any handover."""


class Departure(StrEnum):
    """How a member went, as far as the log can tell."""

    LEFT = "left"
    """Neither its session nor the time that it had to rejoin was over."""
    LEFT_OR_TIMED_OUT = "left_or_timed_out"
    LIKELY_TIMED_OUT = "likely_timed_out"
    """It was gone when its session timeout after its last commit was over, and not much later."""
    TIMED_OUT = "timed_out"
    """A static member: it does not leave when it closes."""
    REPLACED = "replaced"
    """A static member came back under another member id, and took its place at once."""


class MemberLeft(Value):
    """A member went. ``partitions`` are those that it had.

    ``last_commit_ms``: the last commit in any of them while it had them (None: not known). ``back_ms``: when a member
    with its instance id, or with its client id and host, joined after that (None: none did). ``members``: how many the
    group had before.
    """

    at_ms: int
    member: MemberThen
    departure: Departure
    partitions: tuple[TopicPartition, ...] = ()
    last_commit_ms: int | None = None
    back_ms: int | None = None
    members: int = 0

    @property
    def is_uncertain(self) -> bool:
        """Whether the log does not show when it stopped."""
        return self.departure in {Departure.LEFT_OR_TIMED_OUT, Departure.LIKELY_TIMED_OUT}


class MemberJoined(Value):
    """A member came. ``is_back``: it replaces one that left before."""

    at_ms: int
    member: MemberThen
    is_back: bool = False


class MemberHung(Value):
    """A member was listed, owned partitions and committed nothing in them, while records waited and others went on.

    ``from_ms`` is when it had committed last. ``until_ms``: when the first of the partitions was committed again, or
    when the finding closed (``is_over``); else the end of the report. ``is_committed``: it was the former. ``reason``
    is that of the finding: of the kind ``dead_member``, or ``lag/not_committing``, where it is not known that others
    went on.
    """

    member: MemberThen
    reason: str
    from_ms: int
    until_ms: int
    is_over: bool
    partitions: tuple[TopicPartition, ...] = ()
    is_committed: bool = False


class Unowned(Value):
    """Partitions that no member owned from one instant to another. ``reason``: why, where the log tells it.

    ``is_over``: they have an owner since, or they or the group are gone.
    """

    partitions: tuple[TopicPartition, ...]
    from_ms: int
    until_ms: int
    is_over: bool
    reason: str = ""

    @property
    def is_brief(self) -> bool:
        """Whether it lasted no longer than any handover."""
        return self.until_ms - self.from_ms < SHORT_MS


class OwnedTwice(Value):
    """Partitions that several members owned at once."""

    partitions: tuple[TopicPartition, ...]
    owners: tuple[str, ...]
    from_ms: int
    until_ms: int
    is_over: bool


class NotCommitted(Value):
    """Partitions none of which was committed from one instant to another (None: not by the end of the report).

    That is much longer than usual there. ``records`` are covered by the first commits after it (None: there are none).
    ``longest_ms`` is the longest time of a single one of them.
    """

    partitions: tuple[TopicPartition, ...]
    from_ms: int
    until_ms: int | None
    longest_ms: int
    records: int | None = None


class Lost(Value):
    """Records that retention removed before the group had committed them: so many at most."""

    at_ms: int
    records: int | None
    partitions: tuple[TopicPartition, ...] = ()


class LagCourse(Value):
    """How the lag went.

    ``before`` is the most that it was in the minutes before the incident, without those of an earlier one (None: not
    known). ``rose``: it was more than that for some time, and the oldest record older than then, and than 5 s.

    ``peak`` is the most that a poll saw then (else at any time), first at ``peak_ms``. ``peak_oldest_ms`` is the age of
    the oldest record that waited then (None: not known). ``oldest_ms`` is the greatest age of the oldest record that
    waited, seen at ``oldest_at_ms``. ``caught_up_ms``: the first instant after the peak at which the lag or that age
    was as before (None: not by the end). They were ``caught_up_lag`` and ``caught_up_oldest_ms`` then. ``rose_again``:
    since then it rose, and is high at the end. ``rose_ms`` is when it was first more. ``recovered_ms``: it was as
    before once already before the peak, first then (None: it was not).
    """

    before: int | None = None
    peak: int | None = None
    peak_ms: int = 0
    peak_oldest_ms: int | None = None
    oldest_ms: int | None = None
    oldest_at_ms: int = 0
    last: int | None = None
    last_ms: int = 0
    caught_up_ms: int | None = None
    caught_up_lag: int | None = None
    caught_up_oldest_ms: int | None = None
    rose: bool = False
    rose_ms: int | None = None
    recovered_ms: int | None = None
    rose_again: bool = False


class RebalanceThen(Value):
    """A rebalance that ended. ``took_ms`` None: its beginning is not known. ``why`` is a clause.

    The other fields are those of monitor.model.Rebalance.
    """

    at_ms: int
    generation: int
    why: str
    took_ms: int | None = None
    causes: tuple[RebalanceCause, ...] = ()
    joined: int = 0
    left: int = 0
    moved: int = 0
    avoidable: int = 0
    paused_partitions: int = 0
    pause_ms: int = 0
    burst_records: int = 0


class FindingThen(Value):
    """A finding of the time: since when it was true, when it opened here and when it closed (``is_over``) or stayed."""

    kind: str
    reason: str
    severity: Severity
    since_ms: int
    opened_ms: int
    until_ms: int
    is_over: bool
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()


class OffsetsThen(Value):
    """A partition at an instant: what was committed, where the log ended, and who owned it."""

    at_ms: int
    topic: str
    partition: PartitionId
    committed: int | None
    end: int | None
    lag: int | None
    owner: str | None


class OffsetsInstant(Value):
    """The lag of all partitions at an instant of which there are offsets, and how much of it is not in their rows."""

    at_ms: int
    lag: int
    more_lag: int = 0


class ReportLine(Value):
    """What happened at an instant, in a sentence."""

    at_ms: int
    sentence: str


class IncidentReport(Value):
    """What happened to a group from one instant to another.

    ``began_ms`` is when the first thing happened that the summary tells (None: nothing did). ``asked_until_ms`` is
    until when it was asked for, ``until_ms`` until when it was recorded. ``summary`` are three sentences, or fewer.
    ``is_over``: nothing of it goes on at the end. ``offsets`` are at the start, at the peak of the lag and at the end
    (``instants``), of partitions that had lag or no owner, or whose lag is not known; ``more_offsets`` of these are
    left out, and ``calm`` others were never like that. ``step_ms``: the group was evaluated so often at least.
    ``alike`` are ids of members beside which another one had the same client id and host. ``is_connect``: a Connect
    cluster, which has no lag of its own.
    """

    cluster: str
    group: str
    kind: GroupKind
    since_ms: int
    until_ms: int
    asked_until_ms: int
    step_ms: int
    began_ms: int | None = None
    is_over: bool = False
    summary: tuple[str, ...] = ()
    timeline: tuple[ReportLine, ...] = ()
    left: tuple[MemberLeft, ...] = ()
    joined: tuple[MemberJoined, ...] = ()
    hung: tuple[MemberHung, ...] = ()
    unowned: tuple[Unowned, ...] = ()
    owned_twice: tuple[OwnedTwice, ...] = ()
    not_committed: tuple[NotCommitted, ...] = ()
    rebalances: tuple[RebalanceThen, ...] = ()
    rewinds: tuple[RewindThen, ...] = ()
    redelivered: int = 0
    lost: tuple[Lost, ...] = ()
    topics: tuple[TopicChanged, ...] = ()
    truncations: tuple[LogTruncated, ...] = ()
    lag: LagCourse = LagCourse()
    findings: tuple[FindingThen, ...] = ()
    hit: tuple[TopicPartition, ...] = ()
    offsets: tuple[OffsetsThen, ...] = ()
    more_offsets: int = 0
    calm: int = 0
    instants: tuple[OffsetsInstant, ...] = ()
    points: tuple[GroupPoint, ...] = ()
    owners: tuple[OwnerSpan, ...] = ()
    members: tuple[MemberThen, ...] = ()
    alike: tuple[str, ...] = ()
    first_members: int = 0
    last_members: int = 0
    first_generation: int = 0
    last_generation: int = 0
    deleted_ms: int | None = None
    unit: str = "record"
    is_connect: bool = False
