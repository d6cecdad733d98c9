"""The tables of a recording, each with a struct for its rows. They lie in one folder, by cluster and day (UTC).

The fields of a struct are the table's columns, in their order. A field that a value of the history names otherwise has
the column's name as its ``name``. A field without a text means what that column means in the first table with it. A new
column of a table may be null: the rows that are there have none. Fields in ``_ms`` are milliseconds since the epoch,
except the durations ``lag_ms`` and ``pause_ms``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Generic, TypeVar, Union, get_args, get_origin

from msgspec import field
from msgspec.structs import fields

from monitor.model import GroupKind, Phase, Value
from monitor.model.attribute_texts import attribute_text
from monitor.model.findings import Severity

DAY_MS: Final = 86_400_000

Int = Annotated[int, "INT"]
"""A number of 32 bits: others have 64."""

_TYPES: Final = {str: "STRING", bool: "BOOLEAN", int: "LONG", float: "DOUBLE", bytes: "BINARY"}
"""The types of columns, as Spark writes them."""

RowClass = type[Value]


class Column(Value):
    """A column: its name, its type as Spark writes it, and the field that it is."""

    name: str
    type: str
    field: str
    rows: RowClass

    @property
    def meaning(self) -> str:
        """The text under the field, or else the first under one of the same column."""
        same = (each for table in TABLES for each in table.columns if each.name == self.name)
        texts = (attribute_text(each.rows, each.field) for each in (self, *same))
        return next(text for text in texts if text is not None)


RowT = TypeVar("RowT", bound=Value)


class TypedTable(Value, Generic[RowT]):
    """A table: its folder, and the struct that its rows are."""

    name: str
    rows: type[RowT]

    @property
    def row(self) -> str:
        """What a row is."""
        return " ".join((self.rows.__doc__ or "").split())

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in their order."""
        return _columns(self.rows)

    @property
    def schema(self) -> str:
        """The columns as Spark reads a schema."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)


Table = TypedTable[Any]


@cache
def _columns(rows: RowClass) -> tuple[Column, ...]:
    return tuple(Column(each.encode_name, _spark_type(each.type), each.name, rows) for each in fields(rows))


def _spark_type(kind: Any) -> str:  # noqa: ANN401 -- an annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) is Annotated:
        return str(get_args(kind)[1])
    return next(name for each, name in _TYPES.items() if issubclass(kind, each))


class Place(Value):
    """What every recorded row begins with."""

    cluster: str
    """The cluster's name in the configuration."""
    day: str
    """The UTC date of recorded_ms, or else of the row's first instant, as 2026-11-22."""
    recorded_ms: int
    """The number of the recording, which only grows: its time, unless the clock was wrong."""


class EventsRow(Place):
    """Everything that groupwatch read of a group or topic between two recordings, a minute apart."""

    clock_ms: int | None
    """The machine's clock at the recording; null: of an older groupwatch."""
    entity: str
    """What the row is about: group, topic, pass, listing or connect."""
    name: str
    """The name of the group or topic."""
    position: int
    """Orders the rows of one entity that were recorded together."""
    first_ms: int
    """When the first of these events happened."""
    last_ms: int
    """When the last of these events happened."""
    version: Int
    """The version of the events."""
    events: bytes
    """The events, in MessagePack."""


class StatesRow(Place):
    """What groupwatch knew of a group or topic after a recording; written hourly, but not while a backlog is read."""

    entity: str
    name: str
    state: bytes | None
    """The state, in MessagePack with its version; null: none could be made."""
    unread_rows: Int | None
    """How many rows of events since the states before could not be used; null: none."""


class SettingsRow(Place):
    """The thresholds by which groups were evaluated from then on; written at each start of a job."""

    settings: bytes
    """The thresholds, and which topics have configurations of Connect."""
    ids: str | None
    """The ids of the Kafka cluster and its topics, in JSON; null: of an older groupwatch."""


class ReachRow(Place):
    """How far the recording reaches from then on; written when a backlog begins to be read, and when it is read."""

    until_ms: int | None
    """What happened later may be missing; null: the newest events."""


class DayRow(Value):
    """What a row that follows from the recorded ones begins with."""

    cluster: str
    day: str


class GroupRow(DayRow):
    """What a row about a group begins with."""

    group: str = field(name="group_name")  # the word "group" means something else in SQL
    """The name of the group."""


class FindingRow(GroupRow):
    """What a row about a finding begins with."""

    id: str = field(name="finding_id")
    """The finding's id, as in the topic of findings."""
    kind: str
    """The kind of the finding."""
    reason: str
    """Its reason."""
    severity: Severity
    """Critical, warning or info."""
    from_ms: int
    """Since when the finding was like this."""
    until_ms: int
    """Until when."""


class FindingsRow(FindingRow):
    """A finding while it stayed the same, for at most ten minutes: one that lasts longer has more rows."""

    event: str
    """What happened at from_ms: opened, changed, or continues (nothing)."""
    is_closed: bool
    """Whether the finding closed at until_ms."""
    since_ms: int
    """When the finding began."""
    partition_count: Int = field(name="partitions")
    """The number of its partitions."""
    member_count: Int = field(name="members")
    """The number of its members."""
    topics: str
    """The topics of its partitions, separated by commas."""
    cause: str | None
    """The cause of a drift."""
    sentence: str
    """What a person reads."""


class FindingMembersRow(FindingRow):
    """A member that a row of findings is about."""

    member_id: str
    """The member id."""
    instance_id: str | None
    """The group.instance.id of a static member."""
    client_id: str
    """The client id."""
    host: str
    """The host, as the broker knows it."""
    library: str
    """The client library, if it is known."""


class RebalancesRow(GroupRow):
    """A rebalance, in the day in which it ended."""

    kind: GroupKind = field(name="group_kind")
    """The kind of the group."""
    generation: int
    """The generation, epoch or change; of a rebalance, the one that it led to."""
    started_ms: int
    """When it began, as far as the log shows."""
    ended_ms: int
    """When it ended."""
    causes: str
    """Its causes, separated by commas."""
    joined: Int = field(name="joined_members")
    """How many members joined."""
    left: Int = field(name="left_members")
    """How many members left."""
    moved: Int = field(name="moved_partitions")
    """How many partitions got another owner."""
    avoidable: Int = field(name="avoidable_moves")
    """How many of these could have stayed."""
    paused_partitions: Int
    """How many partitions were paused."""
    pause_ms: int
    """For how long, summed over partitions (ms)."""
    burst_records: int
    """How many records had accumulated by then."""
    libraries: str
    """The client libraries of the group's members, separated by commas."""


class MemberChangesRow(GroupRow):
    """A member that joined or left a group."""

    at_ms: int
    """The time of the record, or the minute."""
    change: str
    """Joined or left."""
    generation: int
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    library: str


class RewindsRow(GroupRow):
    """A commit of a lower offset than the one before it: the records between were delivered again."""

    topic: str
    """The topic."""
    partition: str = field(name="partition_id")
    """The partition."""
    at_ms: int
    before: int = field(name="before_offset")
    """The committed offset before."""
    after: int = field(name="after_offset")
    """The committed offset after."""
    cause: str | None
    """Why: deleted, reset, rebalance, out_of_order, or unknown; null: of an older groupwatch."""


class SkipsRow(GroupRow):
    """A commit that passed records, which the group did not read, or perhaps not; once for each such commit."""

    topic: str
    partition: str = field(name="partition_id")
    at_ms: int
    cause: str
    """Why, as far as it is known: retention, rebalance, new_partition, or deleted."""
    before: int = field(name="before_offset")
    """The committed offset before; 0: nothing was committed."""
    after: int = field(name="after_offset")
    at_least: int
    """So many of the records between were not read, at least."""
    at_most: int
    """So many of the records between were not read, at most."""
    owner: str | None
    """The member id of the owner then, with its client id and host; null: not known."""
    client_id: str | None
    host: str | None


class GroupMinutesRow(GroupRow):
    """A group at a full minute."""

    at_ms: int
    kind: GroupKind = field(name="group_kind")
    phase: Phase = field(name="state")
    """The state of the group."""
    generation: int
    members: Int
    """The number of members."""
    partitions: Int
    """The number of partitions that concern the group."""
    orphaned: Int = field(name="orphaned_partitions")
    """How many of them had no owner, but should."""
    lag: int | None
    """The lag in records (of MetaQ: bytes); null: not known."""
    lag_ms: int | None
    """The age of the oldest record that waits (ms); null: not known."""
    imbalance_ratio: float | None
    """1.0 is as even as it can be; null: not known."""
    is_rebalancing: bool
    """Whether a rebalance was known to be in progress."""


class PartitionMinutesRow(GroupRow, gc=False):
    """A partition of a group at a full minute."""

    topic: str
    partition: str = field(name="partition_id")
    at_ms: int
    committed: int | None = field(name="committed_offset")
    """The committed offset; null: none."""
    end: int | None = field(name="end_offset")
    """The end of the partition; null: not known."""
    lag: int | None
    lag_ms: int | None
    owner: str | None
    """The member id of the owner; null: none."""
    orphan: str | None
    """Why no member owns it, although one should; null: otherwise."""


class EvaluatedRow(DayRow):
    """Ten minutes of which the tables have all rows. It is written last."""

    since_ms: int
    """The first instant."""
    until_ms: int
    """The last instant."""
    groups: Int
    """The number of groups that were evaluated."""
    failed_groups: Int
    """How many could not be: they have no rows in these ten minutes."""


EVENTS: Final = TypedTable("events", EventsRow)
STATES: Final = TypedTable("states", StatesRow)
SETTINGS: Final = TypedTable("settings", SettingsRow)
REACH: Final = TypedTable("reach", ReachRow)

FINDINGS: Final = TypedTable("findings", FindingsRow)
FINDING_MEMBERS: Final = TypedTable("finding_members", FindingMembersRow)
REBALANCES: Final = TypedTable("rebalances", RebalancesRow)
MEMBER_CHANGES: Final = TypedTable("member_changes", MemberChangesRow)
REWINDS: Final = TypedTable("rewinds", RewindsRow)
SKIPS: Final = TypedTable("skips", SkipsRow)
GROUP_MINUTES: Final = TypedTable("group_minutes", GroupMinutesRow)
PARTITION_MINUTES: Final = TypedTable("partition_minutes", PartitionMinutesRow)

EVALUATED: Final = TypedTable("evaluated", EvaluatedRow)

CLOCK: Final = next(column for column in EVENTS.columns if column.name == "clock_ms")
"""For people: nothing is ordered by it."""

RECORDED: Final = (EVENTS, STATES, SETTINGS, REACH)
"""What is recorded: all else follows from these."""

TOLD: Final = (
    FINDINGS,
    FINDING_MEMBERS,
    REBALANCES,
    MEMBER_CHANGES,
    REWINDS,
    SKIPS,
    GROUP_MINUTES,
    PARTITION_MINUTES,
)
"""What follows, for questions in SQL."""

TABLES: Final = (*RECORDED, *TOLD, EVALUATED)


def day_of(at_ms: int) -> str:
    """The UTC date of an instant, as the tables are partitioned.

    >>> day_of(1_790_000_000_000)
    '2026-09-21'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")


def build_from(of: type[RowT], /, *sources: Value, **own: object) -> RowT:
    """A row of a table, or a value of one: its fields are ``own``, or those of the last source that has them.

    >>> from monitor.model import LogGrown
    >>> build_from(LogGrown, LogGrown(partitions=60, before=50), before=40)
    LogGrown(partitions=60, before=40)
    """
    found = {name: getattr(each, name) for each in sources for name in _shared_fields(of, type(each))}
    return of(**(found | own))


@cache
def _shared_fields(of: RowClass, source: RowClass) -> tuple[str, ...]:
    return tuple(name for name in of.__struct_fields__ if hasattr(source, name))
