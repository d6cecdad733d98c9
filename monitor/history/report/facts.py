"""What a report on an incident has: facts first, then the sentences made of them. Times are ms since the epoch."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from monitor.history.chronicle.values import (
    GroupPoint,
    LogTruncated,
    MemberThen,
    NeededThen,
    OwnerSpan,
    RewindThen,
    SkipThen,
    TopicChanged,
)
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
    """A member went."""

    at_ms: int
    """When it was gone: of a classic group, when the next generation was stored (ms since the epoch)."""
    member: MemberThen
    """The member."""
    departure: Departure
    """left: its session had not expired, and no rebalance waited for it too long; timed_out: a static member that did
    not come back in time, or was removed; replaced: a static member that restarted; likely_timed_out: its session ended
    just before it was gone; left_or_timed_out: the log does not show which."""
    partitions: tuple[TopicPartition, ...] = ()
    """The partitions that it owned."""
    last_commit_ms: int | None = None
    """The last commit in these while it owned them (ms since the epoch); null: unknown."""
    back_ms: int | None = None
    """When a member with its instance id, or its client id and host, joined (ms since the epoch)."""
    members: int = 0
    """The number of members before that."""

    @property
    def is_uncertain(self) -> bool:
        """Whether the log does not show when it stopped."""
        return self.departure in {Departure.LEFT_OR_TIMED_OUT, Departure.LIKELY_TIMED_OUT}


class MemberJoined(Value):
    """A member came."""

    at_ms: int
    """When it joined: of a classic group, when the generation was stored (ms since the epoch)."""
    member: MemberThen
    """The member."""
    is_back: bool = False
    """Whether such a member had left before."""


class MemberHung(Value):
    """A member was listed, owned partitions and committed nothing in them, while records waited and others went on.

    ``until_ms`` is the end of the report if it is not over. ``reason`` is ``lag/not_committing`` where it is not known
    that others went on.
    """

    member: MemberThen
    """The member."""
    reason: str
    """The reason of the finding: of dead_member, or not_committing."""
    from_ms: int
    """Its last commit (ms since the epoch)."""
    until_ms: int
    """The first commit after that, or when the finding closed (ms since the epoch)."""
    is_over: bool
    """Whether it is over; else it lasted at least until then."""
    partitions: tuple[TopicPartition, ...] = ()
    """Its partitions with lag."""
    is_committed: bool = False
    """Whether it ended with a commit."""


class Unowned(Value):
    """Partitions that no member owned from one instant to another.

    ``is_over``: they have an owner since, or they or the group are gone.
    """

    partitions: tuple[TopicPartition, ...]
    """The partitions."""
    from_ms: int
    """Since when (ms since the epoch)."""
    until_ms: int
    """Until when (ms since the epoch)."""
    is_over: bool
    """Whether it is over; else it lasted at least until then."""
    reason: str = ""
    """Why: the reason of a finding (docs/findings.md), or no_members; absent: unknown."""

    @property
    def is_brief(self) -> bool:
        """Whether it lasted no longer than any handover."""
        return self.until_ms - self.from_ms < SHORT_MS


class OwnedTwice(Value):
    """Partitions that several members owned at once."""

    partitions: tuple[TopicPartition, ...]
    """The partitions."""
    owners: tuple[str, ...]
    """The ids of the members that owned them."""
    from_ms: int
    """Since when (ms since the epoch)."""
    until_ms: int
    """Until when (ms since the epoch)."""
    is_over: bool
    """Whether it is over; else it lasted at least until then."""


class NotCommitted(Value):
    """Partitions none of which was committed from one instant to another.

    That is much longer than usual there.
    """

    partitions: tuple[TopicPartition, ...]
    """The partitions."""
    from_ms: int
    """The last commit in any of them (ms since the epoch)."""
    until_ms: int | None
    """The first commit after that in any of them (ms since the epoch); null: there was none."""
    longest_ms: int
    """The longest time of one of them (ms)."""
    records: int | None = None
    """Records that their first commits after that cover; null: none."""


class Lost(Value):
    """Records that retention removed before the group had committed them."""

    at_ms: int
    """Since when (ms since the epoch)."""
    records: int | None
    """How many records at most; null: unknown."""
    partitions: tuple[TopicPartition, ...] = ()
    """The partitions."""


class LagCourse(Value):
    """How the lag went.

    ``before`` is without that of an earlier incident. ``peak`` is of the polls that saw the rise, else of any time.
    """

    before: int | None = None
    """The largest lag in the minutes before; null: unknown."""
    peak: int | None = None
    """The largest lag that was seen since; null: unknown."""
    peak_ms: int = 0
    """When it was seen (ms since the epoch)."""
    peak_oldest_ms: int | None = None
    """The age of the oldest record of the lag then (ms); null: unknown."""
    oldest_ms: int | None = None
    """The largest age of the oldest record of the lag (ms); null: unknown."""
    oldest_at_ms: int = 0
    """When that was seen (ms since the epoch)."""
    last: int | None = None
    """The lag at the end; null: unknown."""
    last_ms: int = 0
    """When that was seen (ms since the epoch)."""
    caught_up_ms: int | None = None
    """The first instant after the peak at which lag or age were as before (ms since the epoch); null: not by the
    end."""
    caught_up_lag: int | None = None
    """The lag then."""
    caught_up_oldest_ms: int | None = None
    """The age of its oldest record (ms)."""
    rose: bool = False
    """Whether the lag rose: more records than before, the oldest older than before, and than 5 s."""
    rose_ms: int | None = None
    """The first instant at which that was so (ms since the epoch); null: it did not rise."""
    recovered_ms: int | None = None
    """The first instant after that, but before the peak, at which it was as before (ms since the epoch); null: there
    was none."""
    rose_again: bool = False
    """Whether it rose again since it had caught up, up to the end."""


class RebalanceThen(Value):
    """A rebalance that ended.

    ``why`` is a clause. The other fields are those of monitor.model.Rebalance.
    """

    at_ms: int
    """When it ended (ms since the epoch)."""
    generation: int
    """The generation (or epoch) that it led to."""
    why: str
    """Its causes and counts, as words for a person."""
    took_ms: int | None = None
    """How long it took, at least (ms); null: unknown."""
    causes: tuple[RebalanceCause, ...] = ()
    """Its causes, as far as the log shows them."""
    joined: int = 0
    """Members that joined."""
    left: int = 0
    """Members that left."""
    moved: int = 0
    """Partitions that got a different owner."""
    avoidable: int = 0
    """Partitions of these that would have stayed in a sticky assignment."""
    paused_partitions: int = 0
    """Partitions that were committed later than usual around it."""
    pause_ms: int = 0
    """How much later, summed over them (ms): an estimate."""
    burst_records: int = 0
    """Records that their first commits after it cover."""


class FindingThen(Value):
    """A finding of the time."""

    kind: str
    """The kind of finding."""
    reason: str
    severity: Severity
    since_ms: int
    opened_ms: int
    """The first instant at which it was found (ms since the epoch)."""
    until_ms: int
    """The first instant at which it was not, or the end (ms since the epoch)."""
    is_over: bool
    """Whether it closed."""
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    """Its partitions, all that it had."""
    members: tuple[str, ...] = ()
    """Its member ids, all that it had."""

    @property
    def name(self) -> str:
        """Its kind and reason."""
        return f"{self.kind}/{self.reason}"

    @property
    def lasted_ms(self) -> int:
        """How long it was true: from ``since_ms``, not from when it was first found."""
        return max(0, self.until_ms - self.since_ms)


class OffsetsThen(Value):
    """A partition at an instant: what was committed, where the log ended, and who owned it."""

    at_ms: int
    """The instant (ms since the epoch)."""
    topic: str
    partition: PartitionId
    committed: int | None
    """The committed offset; null: none."""
    end: int | None
    """The end of the log by the last poll; null: unknown."""
    lag: int | None
    owner: str | None
    """The id of the owner; null: none."""


class OffsetsInstant(Value):
    """The lag of all partitions at an instant of which there are offsets."""

    at_ms: int
    """The instant (ms since the epoch)."""
    lag: int
    """The lag of all partitions then."""
    more_lag: int = 0
    """How much of that is of partitions that are left out of the offsets."""


class ReportLine(Value):
    """What happened at an instant, in a sentence."""

    at_ms: int
    """When it happened or began (ms since the epoch)."""
    sentence: str


class IncidentReport(Value):
    """What happened to a group from one instant to another.

    ``summary`` are three texts; of several incidents, one for each between two others. ``offsets`` are at the
    ``instants``, also of partitions whose lag is not known.
    """

    cluster: str
    group: str
    kind: GroupKind
    since_ms: int
    """The beginning of the span (ms since the epoch)."""
    until_ms: int
    """Its end, as far as it is recorded (ms since the epoch)."""
    asked_until_ms: int
    """The requested end (ms since the epoch)."""
    step_ms: int
    """The group was evaluated at least so often (ms), and whenever its members changed."""
    began_ms: int | None = None
    """When the first thing happened to it (ms since the epoch); null: nothing did."""
    is_over: bool = False
    """Whether nothing of it went on at the end of the span."""
    summary: tuple[str, ...] = ()
    """What happened, what it did, and how it ended: three texts for a person. Of several incidents: how many there
    were, a text for each, and how it ended. Times are UTC; they have a date if the span has several days."""
    timeline: tuple[ReportLine, ...] = ()
    """What happened, the oldest first; at most 500 lines."""
    left: tuple[MemberLeft, ...] = ()
    """The members that left, the first one first."""
    joined: tuple[MemberJoined, ...] = ()
    """The members that joined."""
    hung: tuple[MemberHung, ...] = ()
    """The members that committed nothing while there was lag."""
    unowned: tuple[Unowned, ...] = ()
    """Partitions without an owner."""
    owned_twice: tuple[OwnedTwice, ...] = ()
    """Partitions with several owners."""
    not_committed: tuple[NotCommitted, ...] = ()
    """Partitions that were not committed for long, around a departure or a finding."""
    rebalances: tuple[RebalanceThen, ...] = ()
    """The rebalances that ended in the span."""
    rewinds: tuple[RewindThen, ...] = ()
    """Commits of lower offsets than before; of several within one step, the newest."""
    redelivered: int = 0
    """The records of all of them, which are delivered again."""
    lost: tuple[Lost, ...] = ()
    """What retention removed before it was committed."""
    topics: tuple[TopicChanged, ...] = ()
    """Topics of the group that grew or were deleted."""
    truncations: tuple[LogTruncated, ...] = ()
    """Partitions of the group whose log went back; of several within one step, the newest."""
    lag: LagCourse = LagCourse()
    """How the lag went."""
    findings: tuple[FindingThen, ...] = ()
    """The findings of the span."""
    hit: tuple[TopicPartition, ...] = ()
    """The partitions that something happened to."""
    offsets: tuple[OffsetsThen, ...] = ()
    """Offsets of partitions with lag or without an owner at the start, the peak of the lag, and the end."""
    more_offsets: int = 0
    """How many such partitions are left out there."""
    calm: int = 0
    """How many other partitions the group has."""
    instants: tuple[OffsetsInstant, ...] = ()
    """The instants of the offsets, with the lag of the whole group."""
    points: tuple[GroupPoint, ...] = ()
    """The group at each step, the oldest first."""
    owners: tuple[OwnerSpan, ...] = ()
    """The owners of each partition over time."""
    members: tuple[MemberThen, ...] = ()
    """All members of the span."""
    alike: tuple[str, ...] = ()
    """Ids of members beside which another one had the same client id and host."""
    first_members: int = 0
    """The number of members at the first step."""
    last_members: int = 0
    """The number of members at the last step."""
    first_generation: int = 0
    """The generation (or epoch) at the first step."""
    last_generation: int = 0
    """The generation (or epoch) at the last step."""
    deleted_ms: int | None = None
    """When the group was deleted (ms since the epoch); null: it was not, or came back."""
    unit: str = "record"
    """The unit of offsets and lag."""
    is_connect: bool = False
    """Whether the group is a Connect cluster, which has no lag of its own."""
    skips: tuple[SkipThen, ...] = ()
    """Commits that passed records, which the group did not read, or perhaps not."""
    cluster_findings: tuple[FindingThen, ...] = ()
    """The findings of the cluster itself that concerned the group. Findings that follow from them are left out."""
    needed: tuple[NeededThen, ...] = ()
    """How many members it needed; absent: no entry `[[scale]]` is for the group."""
